"""Fields that several bodies share, with their limits as the schema states them."""

import itertools
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    Strict,
    model_validator,
)

from nur.domain.moments import EXAMPLES, parse_moment
from nur.domain.urls import RULE, is_source_url

MOST_CHARACTERS = 10_000_000
MOST_METADATA_BYTES = 64 * 1024
MOST_METADATA_DEPTH = 16
MOST_DAYS = 36_500
MOST_UNKNOWN = 10  #: unknown names that an answer lists

NO_NUL = r"^[^\x00]*$"
SOMETHING = r"^[^\x00]*[^\s\x00][^\x00]*$"  #: not blanks alone


class Body(BaseModel):
    """Exactly these fields."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _few_unknown(cls, value: Any) -> Any:
        """Every unknown name becomes an error with a copy of its value: a few are as good as a million."""
        if not isinstance(value, dict):
            return value
        known = (name for name in cls.model_fields if name in value)
        unknown = itertools.islice((name for name in value if name not in cls.model_fields), MOST_UNKNOWN)
        return {name: value[name] for name in (*known, *unknown)}


def _utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("must lie between the years 1 and 9999") from None


def _said(value: Any) -> datetime:
    if not isinstance(value, str):
        raise ValueError(f"must be {EXAMPLES}")  # noqa: TRY004 - pydantic turns a ValueError into an answer
    return parse_moment(value)


def _url(text: str) -> str:
    if not is_source_url(text):
        raise ValueError(RULE)
    return text


def _levels(value: Any) -> Iterator[list[Any]]:
    """A JSON value's parts, level by level with their names, since a recursion could be too deep itself."""
    level = [value]
    while level:
        yield level
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in ((*outer, *outer.values()) if isinstance(outer, dict) else outer)
        ]


def _metadata(value: dict[str, Any]) -> dict[str, Any]:
    characters = 0
    for depth, level in enumerate(_levels(value), start=1):
        if depth > MOST_METADATA_DEPTH:
            raise ValueError(f"must be nested at most {MOST_METADATA_DEPTH} deep")
        characters += sum(len(part) for part in level if isinstance(part, str))
        if characters > MOST_METADATA_BYTES:  # before a huge one is encoded
            raise ValueError(f"must have at most {MOST_METADATA_BYTES} bytes as JSON")
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
Flag = Annotated[bool, Strict()]  #: true or false, not "yes" or 1
Moment = Annotated[AwareDatetime, AfterValidator(_utc)]
Said = Annotated[
    datetime,
    BeforeValidator(_said),
    Field(
        description="when it was said; else now. ISO 8601: without an offset in NUR_TIMEZONE, a date alone is its noon"
    ),
]
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
