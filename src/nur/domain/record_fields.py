"""The fields of a record: how each one is read from JSON, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from nur.domain.decisions import DecisionKind
from nur.domain.errors import BadRequest
from nur.domain.notes import Kind, NoteId, Retention, Sensitivity, Status, Visibility
from nur.domain.urls import RULE, is_source_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from enum import StrEnum

T = TypeVar("T", bound="StrEnum")

MOST_CHARACTERS = 10_000_000  #: of a text
MOST_NAME_CHARACTERS = 4_000
MOST_COUNT = 2**31 - 1


def read_fields(
    values: Mapping[str, Any], table: Mapping[str, Callable[[Any], Any]], place: str = ""
) -> dict[str, Any]:
    """The values as Python has them; null and a missing field are the same. Raises BadRequest, naming the field."""
    unknown = values.keys() - table.keys()
    if unknown:
        raise BadRequest(f"{place}{min(unknown)[:60]}: there is no such field")
    found: dict[str, Any] = {}
    for name, value in values.items():
        if value is None:
            continue
        try:
            found[name] = table[name](value)
        except (ValueError, TypeError, OverflowError) as error:
            raise BadRequest(f"{place}{name}: {error}") from None
    return found


def refuse_unstorable(value: object) -> None:
    """Refuse strings that no database stores. Raises BadRequest."""
    for text in _strings(value):
        if "\0" in text:
            raise BadRequest("a text holds a NUL character")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise BadRequest("a text holds half a character (a lone surrogate)") from None


def _strings(value: object) -> Iterator[str]:
    """Every string in a JSON value, names included; without recursion, which could be too deep."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            waiting += one


def string(value: object) -> str:
    """A short text."""
    if not isinstance(value, str):
        raise TypeError("must be a text")
    if len(value) > MOST_NAME_CHARACTERS:
        raise ValueError(f"must have at most {MOST_NAME_CHARACTERS} characters")
    return value


def content(value: object) -> str:
    """A note's text."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be a text that holds more than blanks")
    if len(value) > MOST_CHARACTERS:
        raise ValueError(f"must have at most {MOST_CHARACTERS} characters")
    return value


def moment(value: object) -> datetime:
    """A time with its zone, as UTC."""
    if not isinstance(value, str):
        raise TypeError("must be a time such as 2026-01-05T09:30:00Z")
    try:
        found = datetime.fromisoformat(value)
        if found.tzinfo is None:
            raise ValueError
        return found.astimezone(UTC)
    except ValueError:
        raise ValueError("must be a time with its zone, such as 2026-01-05T09:30:00Z") from None


def one_of(values: type[T]) -> Callable[[Any], T]:
    """A reader of these values."""

    def read(value: Any) -> T:
        if value not in list(values):
            raise ValueError(f"must be one of: {', '.join(values)}")
        return values(value)

    return read


def count(value: object) -> int:
    """A number that counts from 1."""
    if type(value) is not int or not 1 <= value <= MOST_COUNT:
        raise ValueError("must be a whole number, at least 1")
    return value


def _share(value: object) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1:  # type: ignore[operator]
        raise ValueError("must be a number between 0 and 1")
    return float(value)  # type: ignore[arg-type]


def _index(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise ValueError("must be a whole number, at least 0")
    return value


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("must be a list of texts")
    return tuple(map(string, value))


def _mapping(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError("must be an object")
    return value


def _url(value: object) -> str:
    found = string(value)
    if not is_source_url(found):
        raise ValueError(RULE)
    return found


def _public_id(value: object) -> str:
    found = string(value)
    if not found:
        raise ValueError("must not be empty")
    return found


def _content_hash(value: object) -> str:
    found = string(value)
    if len(found) != 64 or not set(found) <= set("0123456789abcdef"):
        raise ValueError("must be the SHA-256 of the text, in hex")
    return found


def _note_id(value: object) -> NoteId:
    return NoteId(UUID(string(value)))


def _listed(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("must be a list")
    return value


#: Of NoteMetadata, in its order.
METADATA: Mapping[str, Callable[[Any], Any]] = {
    "type": string,
    "confidence": _share,
    "importance": _share,
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
#: Of a whole note, in the order in which they are written.
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
    "versions": _listed,
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
