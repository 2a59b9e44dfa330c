"""What every tool shares: checked arguments, and results for the model and for programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, SkipValidation

from nur.domain.access import LOCAL, Caller
from nur.domain.errors import EmbedderDown, KeyRefused, NurError, StoreDown
from nur.entrypoints.mcp.arguments import Arguments, arguments_of, check, schema_of
from nur.observability.events import EventLog, traced

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from mcp.server.mcpserver import Context

    from nur.bootstrap import Services

    ServicesProvider: TypeAlias = Callable[[], AbstractAsyncContextManager[Services]]  #: entered once per call

log = EventLog("Tools")

#: Names the client's project, percent-encoded.
PROJECT_HEADER = "X-Nur-Project"
MAX_PROJECT_CHARACTERS = 200
#: Parameters of a tool's function that we pass, not the caller.
SERVICES, CONTEXT, CALLER = "services", "context", "caller"
#: Most characters of a memory that the receipt repeats.
RECEIPT = 100
#: Indent of further lines of stored text.
INDENT = " " * 4


def verbatim(error: NurError) -> str:
    """The error's own message."""
    return str(error)


def prefixed(prefix: str) -> Callable[[NurError], str]:
    """The specification's prefix for failures of the provider or the store."""

    def worded(error: NurError) -> str:
        return f"{prefix}: {error}" if isinstance(error, EmbedderDown | KeyRefused | StoreDown) else str(error)

    return worded


def search_failed(error: NurError) -> str:
    """The specification's prefixes for failures of a search."""
    if isinstance(error, EmbedderDown | KeyRefused):
        return f"Failed to generate query embedding: {error}"
    return f"Failed to merge search results: {error}" if isinstance(error, StoreDown) else str(error)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A function that becomes a tool; its docstring tells the model when to use it."""

    function: Callable[..., Any]
    annotations: ToolAnnotations
    worded: Callable[[NurError], str] = verbatim  #: the text of its failures
    has_default_project: bool = False  #: whether a missing `project` means the client's own


class CheckedTool(Tool):
    """Checks arguments by our rules and returns failures as results, never as protocol errors."""

    arguments: SkipValidation[type[Arguments]] = Field(exclude=True)
    services: SkipValidation[Any] = Field(exclude=True)  #: a ServicesProvider: the store may still be opening
    worded: SkipValidation[Any] = Field(exclude=True)  #: NurError -> str
    needs_caller: bool = Field(exclude=True)
    has_default_project: bool = Field(exclude=True)

    @classmethod
    def make(cls, spec: ToolSpec, services: ServicesProvider) -> CheckedTool:
        """The tool of a spec."""
        model = arguments_of(spec.function, skip=frozenset({SERVICES, CONTEXT, CALLER}))
        base = Tool.from_function(_nothing, name=spec.function.__name__, structured_output=False)
        return cls(
            fn=spec.function,
            name=base.name,
            description=" ".join((spec.function.__doc__ or "").split()),
            parameters=schema_of(model),
            fn_metadata=base.fn_metadata,
            is_async=True,
            context_kwarg=CONTEXT if CONTEXT in signature(spec.function).parameters else None,
            annotations=spec.annotations,
            arguments=model,
            services=services,
            worded=spec.worded,
            needs_caller=CALLER in signature(spec.function).parameters,
            has_default_project=spec.has_default_project,
        )

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Check the arguments, call the tool, and turn errors into error results."""
        del convert_result
        passed: dict[str, Any] = {self.context_kwarg: context} if self.context_kwarg else {}
        with traced() as call_id:
            if self.needs_caller:
                passed[CALLER] = Caller(LOCAL, call_id)
            try:
                checked = check(self.arguments, arguments)
                async with self.services() as services:
                    if self.has_default_project and checked["project"] is None:
                        checked["project"] = _client_project(context) or services.settings.nur_project
                    return await self.fn(**checked, **passed, services=services)
            except NurError as error:
                log.warning("tool_failed", tool=self.name, error=error.code)
                return failure(error, self.worded(error))
            except Exception:  # noqa: BLE001  # a bug: the client gets a short message, the log the details
                log.crash("tool_crashed", tool=self.name)
                bug = NurError("Internal error. The server's log has the details.")
                return failure(bug, str(bug))


def _client_project(context: Context[Any, Any]) -> str | None:
    """The project in the request's header, which `nur stdio` sends if it knows one."""
    request = getattr(context.request_context, "request", None)
    named = None if request is None else request.headers.get(PROJECT_HEADER)
    return None if named is None else unquote(named)[:MAX_PROJECT_CHARACTERS]


async def _nothing() -> None:
    """Stand-in for the SDK, which reads a signature; ours are read by `arguments_of`."""


def answer(text: str, structured: dict[str, Any]) -> CallToolResult:
    """A result with text for the model and the same content for programs."""
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured)


def as_json(structured: dict[str, Any]) -> CallToolResult:
    """A result of JSON only, for tools that return a dictionary by specification."""
    return answer(json_text(structured), structured)


def json_text(structured: dict[str, Any]) -> str:
    """Format a dictionary as text for the model."""
    return json.dumps(structured, ensure_ascii=False, indent=2)


def failure(error: NurError, text: str) -> CallToolResult:
    """An error result: the message, a stable code, and whether to retry."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content={"code": error.code, "message": text, "retryable": error.retryable},
        is_error=True,
    )


def one_line(text: str) -> str:
    """Put stored text on one line, so that its line breaks cannot forge another hit."""
    return " ".join(text.split())


def quoted(text: str) -> str:
    """Indent all lines of stored text but the first, so that none can forge another hit.

    Tables, code, lists and messages are hard to read on one line. Blank lines are left out.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return f"\n{INDENT}".join([lines[0].lstrip(), *lines[1:]]) if lines else ""


def shortened(text: str, most: int = RECEIPT) -> str:
    """Put a text on one line and truncate it with dots."""
    line = one_line(text)
    return line if len(line) <= most else line[:most].rstrip() + "..."


def utc(moment: datetime | None) -> str | None:
    """Format a time as ISO 8601 with Z; None stays None."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def utc_seconds(moment: datetime | None) -> str | None:
    """Format a time as ISO 8601 with Z, without fractions of a second; None stays None."""
    return utc(moment.replace(microsecond=0)) if moment is not None else None
