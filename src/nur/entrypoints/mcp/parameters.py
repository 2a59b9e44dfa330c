"""Parameters and annotations that several tools share."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp_types import ToolAnnotations
from pydantic import Field

Query = Annotated[str, Field(min_length=1, max_length=500, description="What to look for, in plain words")]
Confidence = Annotated[float, Field(ge=0.0, le=1.0, description="Minimum confidence")]
Said = Annotated[str | None, Field(description="When it was said, ISO 8601; else now")]
When = Annotated[str | None, Field(max_length=100, description="Time to prefer: 2026-05, last week")]
Project = Annotated[str | None, Field(max_length=200, description="Only this project")]
AsOf = Annotated[str | None, Field(description="Answer from what was stored by then, ISO 8601")]
Limit = Annotated[int, Field(ge=1, le=50, description="Max results")]
Neighbours = Annotated[bool, Field(description="Show the chunks before and after, too")]

MaxChars = Annotated[int, Field(ge=200, le=20_000, description="Total characters of passages")]
Format = Literal["concise", "detailed"]
ResponseFormat = Annotated[Format, Field(description="detailed: ranks, offsets, provenance")]
DETAILED = "detailed"

SensitivityName = Literal["normal", "sensitive", "highly_sensitive"]
VisibilityName = Literal["me", "team", "org", "custom"]
RetentionName = Literal["forever", "1y", "until_resolved", "custom"]

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
