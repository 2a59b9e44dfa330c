"""Parameters and annotations that several tools share."""

from __future__ import annotations

from typing import Annotated

from mcp_types import ToolAnnotations
from pydantic import Field

from nur.domain.errors import BadRequest

Query = Annotated[str, Field(min_length=1, max_length=500, description="What to look for, in plain words")]
Confidence = Annotated[float, Field(ge=0.0, le=1.0, description="Least confidence")]

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


def checked_text(name: str, text: str) -> str:
    """The text, if there is anything in it but blanks."""
    if not text.strip():
        raise BadRequest(f"{name.capitalize()} must not be blank")
    return text
