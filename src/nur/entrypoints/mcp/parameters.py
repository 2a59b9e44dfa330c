"""Parameters, annotations and small checks that several tools share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

from mcp_types import ToolAnnotations
from pydantic import Field

from nur.domain.errors import BadRequest
from nur.domain.times import in_utc, parse_moment
from nur.domain.urls import RULE, is_source_url

if TYPE_CHECKING:
    from nur.domain.times import Zone

Query = Annotated[str, Field(min_length=1, max_length=500, description="What to look for, in plain words")]
Confidence = Annotated[float, Field(ge=0.0, le=1.0, description="Least confidence")]
Said = Annotated[str | None, Field(description="When it was said, ISO 8601; else now")]
When = Annotated[str | None, Field(max_length=100, description="Time to prefer: 2026-05, last week")]
Project = Annotated[str | None, Field(max_length=200, description="Only this project")]
AsOf = Annotated[str | None, Field(description="Answer from what was stored by then, ISO 8601")]
Limit = Annotated[int, Field(ge=1, le=50, description="Most results")]
Neighbours = Annotated[bool, Field(description="Show the chunks before and after, too")]

MaxChars = Annotated[int, Field(ge=200, le=20_000, description="Characters of passages in all")]
Format = Literal["concise", "detailed"]
ResponseFormat = Annotated[Format, Field(description="detailed: ranks, offsets, provenance")]
DETAILED = "detailed"

ArtifactType = Literal["email", "doc", "chat", "transcript", "note"]
SensitivityName = Literal["normal", "sensitive", "highly_sensitive"]
VisibilityName = Literal["me", "team", "org", "custom"]
RetentionName = Literal["forever", "1y", "until_resolved", "custom"]

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


def checked_text(name: str, text: str) -> str:
    """The text, if there is anything in it but blanks."""
    if not text.strip():
        raise BadRequest(f"{name if '_' in name else name.capitalize()} must not be blank")
    return text


def checked_said(name: str, text: str | None, zone: Zone) -> datetime | None:
    """When something was said, as UTC: without an offset it is in `zone`, and a date alone is its noon there."""
    if text is None:
        return None
    try:
        return in_utc(parse_moment(text), zone)
    except ValueError as error:
        raise BadRequest(f"{name} {error}") from None


def checked_moment(name: str, text: str | None) -> datetime | None:
    """An ISO 8601 time as UTC; without a zone it is UTC already."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadRequest(f"{name} must be an ISO 8601 time such as 2025-12-25T10:30:00Z") from None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise BadRequest(f"{name} must lie between the years 1 and 9999") from None


def checked_range(start: str | None, end: str | None) -> tuple[datetime | None, datetime | None]:
    """`time_range_start` and `time_range_end` as UTC, in this order."""
    first, last = checked_moment("time_range_start", start), checked_moment("time_range_end", end)
    if first is not None and last is not None and first > last:
        raise BadRequest("time_range_start must not be after time_range_end")
    return first, last


def checked_url(name: str, text: str | None) -> str | None:
    """A URL of a harmless scheme."""
    if text is not None and not is_source_url(text):
        raise BadRequest(f"{name} {RULE}")
    return text


def utc(moment: datetime | None) -> str | None:
    """ISO 8601 with a Z, or None."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def utc_seconds(moment: datetime | None) -> str | None:
    """ISO 8601 with a Z, without fractions of a second, or None: for short answers."""
    return utc(moment.replace(microsecond=0)) if moment is not None else None
