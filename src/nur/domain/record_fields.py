"""Readers for the fields of export records: each checks a JSON value and converts it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from nur.domain.decisions import DecisionKind
from nur.domain.errors import BadRequest
from nur.domain.notes import MAX_CHARACTERS, Kind, NoteId, Retention, Sensitivity, Status, Visibility
from nur.domain.urls import RULE, is_source_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from enum import StrEnum

T = TypeVar("T", bound="StrEnum")

MAX_NAME_CHARACTERS = 4_000
MAX_COUNT = 2**31 - 1


def read_fields(
    values: Mapping[str, Any], readers: Mapping[str, Callable[[Any], Any]], prefix: str = ""
) -> dict[str, Any]:
    """Convert JSON values with the reader of each field; null counts as missing.

    Raises BadRequest with `prefix` and the field's name.
    """
    unknown = values.keys() - readers.keys()
    if unknown:
        raise BadRequest(f"{prefix}{min(unknown)[:60]}: there is no such field")
    converted: dict[str, Any] = {}
    for name, value in values.items():
        if value is None:
            continue
        try:
            converted[name] = readers[name](value)
        except (ValueError, TypeError, OverflowError) as error:
            raise BadRequest(f"{prefix}{name}: {error}") from None
    return converted


def refuse_unstorable(value: object) -> None:
    """Raise BadRequest if a JSON value contains a string that a database cannot store."""
    for text in _strings(value):
        if "\0" in text:
            raise BadRequest("a text contains a NUL character")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise BadRequest("a text contains half a character (a lone surrogate)") from None


def _strings(value: object) -> Iterator[str]:
    """Yield every string in a JSON value, object keys included. Iterative, because nesting may be deep."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            pending += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            pending += item


def string(value: object) -> str:
    """Read a short string."""
    if not isinstance(value, str):
        raise TypeError("must be a string")
    if len(value) > MAX_NAME_CHARACTERS:
        raise ValueError(f"must have at most {MAX_NAME_CHARACTERS} characters")
    return value


def content(value: object) -> str:
    """Read a note's text."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be a string that is not blank")
    if len(value) > MAX_CHARACTERS:
        raise ValueError(f"must have at most {MAX_CHARACTERS} characters")
    return value


def moment(value: object) -> datetime:
    """Read a time with a zone, as UTC."""
    if not isinstance(value, str):
        raise TypeError("must be a time such as 2026-01-05T09:30:00Z")
    try:
        parsed = datetime.fromisoformat(value)
        if parsed.tzinfo is None:
            raise ValueError
        return parsed.astimezone(UTC)
    except ValueError:
        raise ValueError("must be a time with its zone, such as 2026-01-05T09:30:00Z") from None


def one_of(values: type[T]) -> Callable[[Any], T]:
    """Return a reader that accepts the values of an enumeration."""

    def read(value: Any) -> T:
        if value not in list(values):
            raise ValueError(f"must be one of: {', '.join(values)}")
        return values(value)

    return read


def count(value: object) -> int:
    """Read a whole number of at least 1."""
    if type(value) is not int or not 1 <= value <= MAX_COUNT:
        raise ValueError("must be a whole number, at least 1")
    return value


def _fraction(value: object) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1:  # type: ignore[operator]
        raise ValueError("must be a number between 0 and 1")
    return float(value)  # type: ignore[arg-type]


def _index(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise ValueError("must be a whole number, at least 0")
    return value


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("must be a list of strings")
    return tuple(map(string, value))


def _mapping(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError("must be an object")
    return value


def _url(value: object) -> str:
    url = string(value)
    if not is_source_url(url):
        raise ValueError(RULE)
    return url


def _public_id(value: object) -> str:
    public_id = string(value)
    if not public_id:
        raise ValueError("must not be empty")
    return public_id


def _content_hash(value: object) -> str:
    digest = string(value)
    if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise ValueError("must be the SHA-256 of the text, in hex")
    return digest


def _note_id(value: object) -> NoteId:
    return NoteId(UUID(string(value)))


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("must be a list")
    return value


#: Readers of NoteMetadata's fields, in its order.
METADATA: Mapping[str, Callable[[Any], Any]] = {
    "type": string,
    "confidence": _fraction,
    "importance": _fraction,
    "title": string,
    "author": string,
    "participants": _names,
    "source_system": string,
    "source_id": string,
    "source_url": _url,
    "conversation_id": string,
    "turn_index": _index,
    "role": string,
    "key": string,
    "project": string,
    "agent": string,
    "scope": string,
    "sensitivity": one_of(Sensitivity),
    "visibility": one_of(Visibility),
    "retention": one_of(Retention),
    "occurred_at": moment,
    "expires_at": moment,
    "metadata": _mapping,
}
#: Readers of a note's fields, in the order in which an export writes them.
NOTE: Mapping[str, Callable[[Any], Any]] = {
    "public_id": _public_id,
    "note_id": _note_id,
    "owner": string,
    "kind": one_of(Kind),
    "status": one_of(Status),
    "version": count,
    "revision": count,
    "ingested_at": moment,
    "updated_at": moment,
    "deleted_at": moment,
    "resolved_at": moment,
    "content_hash": _content_hash,
    "meta": _mapping,
    "text": content,
    "versions": _list,
}
VERSION: Mapping[str, Callable[[Any], Any]] = {
    "version": count,
    "title": string,
    "replaced_at": moment,
    "content_hash": _content_hash,
    "text": content,
}

DECISION: Mapping[str, Callable[[Any], Any]] = {
    "newer": _note_id,
    "older": _note_id,
    "kind": one_of(DecisionKind),
    "newer_hash": _content_hash,
    "older_hash": _content_hash,
    "decided_by": string,
    "decided_at": moment,
}
