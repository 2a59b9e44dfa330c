"""Converts a NoteFilter to Qdrant's filter. Every field used here has a payload index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdrant_client import models

from nur.domain.notes import SHARED, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

    from nur.domain.filters import NoteFilter
    from nur.domain.notes import NoteId

_KEYWORD = models.PayloadSchemaType.KEYWORD
_NUMBER = models.PayloadSchemaType.FLOAT

#: Payload fields that filters use. Points are grouped by tenant, so that a search reads only its own tenant's.
INDEXED_FIELDS: dict[str, models.PayloadSchemaType | models.KeywordIndexParams | models.IntegerIndexParams] = {
    "tenant": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    "owner": _KEYWORD,
    "kind": _KEYWORD,
    "type": _KEYWORD,
    "source_system": _KEYWORD,
    "sensitivity": _KEYWORD,
    "visibility": _KEYWORD,
    "conversation_id": _KEYWORD,
    "project": _KEYWORD,
    "agent": _KEYWORD,
    "scope": _KEYWORD,
    "confidence": _NUMBER,
    "occurred_at": _NUMBER,
    "expires_at": _NUMBER,
    "note_id": _KEYWORD,
    "revision": models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=False, range=True),
}


def matching(where: NoteFilter, now: datetime) -> models.Filter:
    """Points whose notes match the filter at the time `now`."""
    return models.Filter(must=list(_conditions(where, now)))


def of_note(
    note_id: NoteId, *, newer_than: int | None = None, up_to: int | None = None, but: Sequence[UUID] = ()
) -> models.Filter:
    """Points of one note: those newer than a revision, or up to one; without the points `but`."""
    must: list[models.Condition] = [_equal("note_id", str(note_id))]
    if newer_than is not None:
        must.append(_range("revision", gt=newer_than))
    if up_to is not None:
        must.append(_range("revision", lte=up_to))
    return models.Filter(
        must=must, must_not=[models.HasIdCondition(has_id=[str(point) for point in but])] if but else None
    )


def not_newer(revision: int) -> models.Filter:
    """Points that a write of this revision may replace."""
    return models.Filter(must=[_range("revision", lte=revision)])


def _conditions(where: NoteFilter, now: datetime) -> Iterable[models.Condition]:
    fields = {
        "tenant": where.tenant,
        "type": where.type,
        "source_system": where.source_system,
        "sensitivity": where.sensitivity,
        "visibility": where.visibility,
        "project": where.project,
        "agent": where.agent,
        "scope": where.scope,
    }
    yield from (_equal(name, str(value)) for name, value in fields.items() if value is not None)
    yield _range("expires_at", gt=now.timestamp())
    if where.kinds != frozenset(Kind):
        yield _any_of("kind", where.kinds)
    if where.min_confidence is not None:
        yield _range("confidence", gte=where.min_confidence)
    if where.occurred_from is not None:
        yield _range("occurred_at", gte=where.occurred_from.timestamp())
    if where.occurred_to is not None:
        yield _range("occurred_at", lte=where.occurred_to.timestamp())
    if where.conversation_id is not None:
        others = _any_of("kind", frozenset(Kind) - {Kind.TURN})
        yield models.Filter(should=[others, _equal("conversation_id", where.conversation_id)])
    if where.visible_to is not None:
        yield models.Filter(should=[_any_of("visibility", SHARED), _equal("owner", where.visible_to)])


def _equal(name: str, value: str) -> models.FieldCondition:
    return models.FieldCondition(key=name, match=models.MatchValue(value=value))


def _any_of(name: str, values: Iterable[str]) -> models.FieldCondition:
    return models.FieldCondition(key=name, match=models.MatchAny(any=sorted(str(value) for value in values)))


def _range(name: str, **limits: float) -> models.FieldCondition:
    return models.FieldCondition(key=name, range=models.Range(**limits))
