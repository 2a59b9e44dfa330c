"""A tool whose arguments and failures are ours to word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver.tools import Tool
from pydantic import Field, SkipValidation

from nur.domain.errors import NurError
from nur.entrypoints.mcp import answers
from nur.entrypoints.mcp.arguments import Arguments, arguments_of, check, schema_of
from nur.observability.events import EventLog, traced

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.mcpserver import Context
    from mcp_types import ToolAnnotations

log = EventLog("Tools")


class CheckedTool(Tool):
    """Checks the arguments by our rules and answers failures as results, never as protocol errors."""

    arguments: SkipValidation[type[Arguments]] = Field(exclude=True)

    @classmethod
    def make(cls, function: Callable[..., Any], annotations: ToolAnnotations) -> CheckedTool:
        """A tool of a function; its docstring tells the model when to use it."""
        base = Tool.from_function(function, annotations=annotations, structured_output=False)
        skip = frozenset({base.context_kwarg} if base.context_kwarg else ())
        model = arguments_of(function, skip)
        return cls(
            **{name: getattr(base, name) for name in Tool.model_fields if name not in ("parameters", "description")},
            description=" ".join(base.description.split()),
            parameters=schema_of(model),
            arguments=model,
        )

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Check, call, and turn what goes wrong into a result that says so."""
        del convert_result
        passed = {self.context_kwarg: context} if self.context_kwarg else {}
        with traced():
            try:
                return await self.fn(**check(self.arguments, arguments), **passed)
            except NurError as error:
                log.warning("tool_failed", tool=self.name, error=error.code)
                return answers.failure(error)
            except Exception:  # noqa: BLE001  # a bug: the client learns that, the log learns where
                log.crash("tool_crashed", tool=self.name)
                return answers.failure(NurError("Internal error. The server's log has the details."))
