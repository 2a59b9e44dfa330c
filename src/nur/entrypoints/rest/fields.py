"""Fields that several bodies share, with their limits as the schema states them."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

from nur.domain.urls import RULE, is_source_url

MOST_CHARACTERS = 10_000_000
MOST_METADATA_BYTES = 64 * 1024
MOST_METADATA_DEPTH = 16
MOST_DAYS = 36_500

NO_NUL = r"^[^\x00]*$"
SOMETHING = r"^[^\x00]*[^\s\x00][^\x00]*$"  #: not blanks alone


class Body(BaseModel):
    """Exactly these fields."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


def _utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("must lie between the years 1 and 9999") from None


def _url(text: str) -> str:
    if not is_source_url(text):
        raise ValueError(RULE)
    return text


def _depth(value: Any) -> int:
    """How deep a JSON value is nested; counted level by level, since a recursion could be too deep itself."""
    depth, level = 0, [value]
    while level and depth <= MOST_METADATA_DEPTH:
        depth += 1
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return depth


def _metadata(value: dict[str, Any]) -> dict[str, Any]:
    if _depth(value) > MOST_METADATA_DEPTH:
        raise ValueError(f"must be nested at most {MOST_METADATA_DEPTH} deep")
    try:
        size = len(json.dumps(value, allow_nan=False, ensure_ascii=False).encode())
    except (ValueError, UnicodeEncodeError):
        raise ValueError("must be JSON: no NaN, no Infinity, no lone surrogates") from None
    if size > MOST_METADATA_BYTES:
        raise ValueError(f"must have at most {MOST_METADATA_BYTES} bytes as JSON")
    return value


Text = Annotated[
    str,
    Field(min_length=1, max_length=MOST_CHARACTERS, pattern=SOMETHING, description="the text; not blanks alone"),
]
Name = Annotated[str, Field(max_length=200, pattern=NO_NUL)]
Key = Annotated[str, Field(min_length=1, max_length=200, pattern=NO_NUL)]
Title = Annotated[str, Field(max_length=1000, pattern=NO_NUL)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Moment = Annotated[AwareDatetime, AfterValidator(_utc)]
Days = Annotated[float, Field(gt=0, le=MOST_DAYS, description="expires so many days from now")]
Url = Annotated[str, Field(max_length=4000, pattern=NO_NUL), AfterValidator(_url)]
Metadata = Annotated[
    dict[str, JsonValue],
    AfterValidator(_metadata),
    Field(
        description=f"anything of yours, at most {MOST_METADATA_BYTES} bytes of JSON, {MOST_METADATA_DEPTH} levels deep"
    ),
]


class Source(Body):
    """Where a note comes from."""

    system: Name | None = Field(default=None, examples=["github"])
    id: Name | None = Field(default=None, examples=["issues/5"])
    url: Url | None = Field(default=None, examples=["https://example.com/issues/5"])
