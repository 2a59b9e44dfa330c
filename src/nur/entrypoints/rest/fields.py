"""Field types that several request bodies share, with their limits."""

import itertools
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from typing import Annotated, Any, Self

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

from nur.domain.notes import MAX_CHARACTERS, Retention, Sensitivity, Visibility
from nur.domain.times import EXAMPLES, Zone, in_utc, parse_moment
from nur.domain.urls import RULE, is_source_url
from nur.domain.writes import Protection

MAX_METADATA_BYTES = 64 * 1024
MAX_METADATA_DEPTH = 16
MAX_DAYS = 36_500
MAX_UNKNOWN = 10  #: unknown field names that an error lists

NO_NUL = r"^[^\x00]*$"
SOMETHING = r"^[^\x00]*[^\s\x00][^\x00]*$"  #: not blank


class Body(BaseModel):
    """A request body; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _few_unknown(cls, value: Any) -> Any:
        """Drop all but a few unknown fields: each one becomes an error with a copy of its value."""
        if not isinstance(value, dict):
            return value
        known = (name for name in cls.model_fields if name in value)
        unknown = itertools.islice((name for name in value if name not in cls.model_fields), MAX_UNKNOWN)
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


def _bound(value: Any) -> datetime:
    try:
        return datetime.combine(date.fromisoformat(value), time.min)
    except (TypeError, ValueError):
        return _said(value)


def _url(text: str) -> str:
    if not is_source_url(text):
        raise ValueError(RULE)
    return text


def _levels(value: Any) -> Iterator[list[Any]]:
    """Yield a JSON value's parts level by level, keys included. Iterative, because nesting may be deep."""
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
        if depth > MAX_METADATA_DEPTH:
            raise ValueError(f"must be nested at most {MAX_METADATA_DEPTH} deep")
        characters += sum(len(part) for part in level if isinstance(part, str))
        if characters > MAX_METADATA_BYTES:  # check before encoding a huge value
            raise ValueError(f"must have at most {MAX_METADATA_BYTES} bytes as JSON")
    try:
        size = len(json.dumps(value, allow_nan=False, ensure_ascii=False).encode())
    except (ValueError, UnicodeEncodeError):
        raise ValueError("must be JSON: no NaN, no Infinity, no lone surrogates") from None
    if size > MAX_METADATA_BYTES:
        raise ValueError(f"must have at most {MAX_METADATA_BYTES} bytes as JSON")
    return value


Text = Annotated[
    str,
    Field(min_length=1, max_length=MAX_CHARACTERS, pattern=SOMETHING, description="the text; must not be blank"),
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
        description="when it was said; default: now. ISO 8601; NUR_TIMEZONE without an offset; noon for a date alone"
    ),
]
Bound = Annotated[datetime, BeforeValidator(_bound)]  #: like Said, but a date alone means its start
AsOf = Annotated[
    datetime,
    BeforeValidator(_said),
    Field(description="search only what was stored by then. ISO 8601; NUR_TIMEZONE without an offset"),
]
Days = Annotated[float, Field(gt=0, le=MAX_DAYS, description="expires this many days from now")]
Url = Annotated[str, Field(max_length=4000, pattern=NO_NUL), AfterValidator(_url)]
Metadata = Annotated[
    dict[str, JsonValue],
    AfterValidator(_metadata),
    Field(description=f"your own values, at most {MAX_METADATA_BYTES} bytes of JSON, {MAX_METADATA_DEPTH} levels deep"),
]


class Source(Body):
    """Where a note comes from."""

    system: Name | None = Field(default=None, examples=["github"])
    id: Name | None = Field(default=None, examples=["issues/5"])
    url: Url | None = Field(default=None, examples=["https://example.com/issues/5"])


_KEPT = "default: the stored value if the note exists, else"
_SOURCES = "for a source in SENSITIVE_SOURCES"


def as_utc(sent: datetime | None, zone: Zone) -> datetime | None:
    """Convert an optional time to UTC; without an offset it is in `zone`."""
    return None if sent is None else in_utc(sent, zone)


class NoteFields(Body):
    """Fields that notes, events and artifacts share."""

    title: Title | None = None
    project: Name = ""
    agent: Name = ""
    scope: Name = ""
    importance: Share | None = None
    ts: Said | None = None
    occurred_at: Said | None = Field(default=None, description="another name for ts; not together with it")
    expires_at: Moment | None = Field(default=None, description="when it is deleted")
    sensitivity: Sensitivity | None = Field(default=None, description=f"{_KEPT} normal, or highly_sensitive {_SOURCES}")
    visibility_scope: Visibility | None = Field(default=None, description=f"{_KEPT} me")
    retention_policy: Retention | None = Field(default=None, description=f"{_KEPT} forever")
    metadata: Metadata = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_time(self) -> Self:
        if self.ts is not None and self.occurred_at is not None:
            raise ValueError("ts and occurred_at are the same: send one of them")
        return self

    def occurred(self, zone: Zone) -> datetime | None:
        """Return when it happened, as UTC; a time without an offset is in `zone`."""
        return as_utc(self.ts or self.occurred_at, zone)

    def protection(self) -> Protection:
        """Return the stated privacy and retention."""
        return Protection(
            sensitivity=self.sensitivity,
            visibility=self.visibility_scope,
            retention=self.retention_policy,
            expires_at=self.expires_at,
        )
