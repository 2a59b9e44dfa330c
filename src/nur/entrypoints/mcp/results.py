"""What tools answer: the specification's text and the same as structured content."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult, TextContent

if TYPE_CHECKING:
    from nur.domain.errors import NurError

#: Characters of a memory that the receipt repeats.
RECEIPT = 100
#: Before each further line of stored text.
INDENT = " " * 4


def answer(text: str, structured: dict[str, Any]) -> CallToolResult:
    """A text for the model, and the same for programs."""
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured)


def as_json(structured: dict[str, Any]) -> CallToolResult:
    """For the tools that the specification lets return a dictionary."""
    return answer(json_text(structured), structured)


def json_text(structured: dict[str, Any]) -> str:
    """A dictionary as a text for the model."""
    return json.dumps(structured, ensure_ascii=False, indent=2)


def failure(error: NurError, text: str) -> CallToolResult:
    """An error result: the message, a stable code, and whether to retry."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content={"code": error.code, "message": text, "retryable": error.retryable},
        is_error=True,
    )


def one_line(text: str) -> str:
    """Stored text on one line, so that its line breaks cannot forge another hit."""
    return " ".join(text.split())


def quoted(text: str) -> str:
    """Stored text with its own lines, each after the first indented, so that none can forge another hit.

    Rows of a table, lines of code, list items and messages say less on one line. Blank lines are left out.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return f"\n{INDENT}".join([lines[0].lstrip(), *lines[1:]]) if lines else ""


def shortened(text: str, most: int = RECEIPT) -> str:
    """One line, cut with dots where it is longer."""
    line = one_line(text)
    return line if len(line) <= most else line[:most].rstrip() + "..."
