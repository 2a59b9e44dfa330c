"""A NoteFilter as Chroma's `where`.

Chroma 1.5.9 looks up all ids that meet a `where` before it searches, 6 to 10 microseconds each: over 30,000 records a
search takes 18 ms without one and 200 ms with `tenant = default`, which nearly all of them meet. So there are two sorts
of clauses. What the caller asked for is usually met by few, and always sent. The standing ones, met by nearly all, are
first checked on what comes back (`stands`), and sent only when that leaves too little.

Chroma's ways: `$and` and `$or` take two clauses or more; an empty `where` is an error; ranges compare numbers alone; a
range with a fraction over stored integers truncates it, so every number here is a float; and a record without a key
meets no clause on it but `$ne` and `$nin`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nur.adapters.chroma import collections as names
from nur.domain.kinds import TURNS
from nur.domain.notes import SHARED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from nur.domain.filters import NoteFilter

Clause: TypeAlias = "dict[str, object]"


def asked(note_filter: NoteFilter, collection: str) -> list[Clause]:
    """What the caller asked for, as far as it narrows this collection."""
    return [
        *_equal(note_filter),
        *_certain(note_filter),
        *_when(note_filter),
        *_within(note_filter, collection),
        *_visible(note_filter),
    ]


def _equal(note_filter: NoteFilter) -> list[Clause]:
    fields = {
        "type": note_filter.type,
        "source_system": note_filter.source_system,
        "sensitivity": note_filter.sensitivity,
        "visibility_scope": note_filter.visibility,
        "project": note_filter.project,
        "agent": note_filter.agent,
        "scope": note_filter.scope,
    }
    return [{name: str(value)} for name, value in fields.items() if value is not None]


def _certain(note_filter: NoteFilter) -> list[Clause]:
    if note_filter.min_confidence is None:
        return []
    enough: Clause = {"confidence": {"$gte": float(note_filter.min_confidence)}}
    return [{"$or": [enough, {"has_confidence": False}]}]


def _when(note_filter: NoteFilter) -> list[Clause]:
    limits = {"$gte": note_filter.occurred_from, "$lte": note_filter.occurred_to}
    return [{"ts_epoch": {way: moment.timestamp()}} for way, moment in limits.items() if moment is not None]


def _within(note_filter: NoteFilter, collection: str) -> list[Clause]:
    kinds = names.kinds_in(collection)
    clauses: list[Clause] = []
    if TURNS & kinds and note_filter.conversation_id is not None:
        clauses.append({"conversation_id": note_filter.conversation_id})
    if not kinds <= note_filter.kinds:
        clauses.append({"kind": {"$in": sorted(str(kind) for kind in kinds & note_filter.kinds)}})
    return clauses


def _visible(note_filter: NoteFilter) -> list[Clause]:
    if note_filter.visible_to is None:
        return []
    shared: Clause = {"visibility_scope": {"$in": sorted(str(scope) for scope in SHARED)}}
    return [{"$or": [shared, {"owner": note_filter.visible_to}]}]


def standing(note_filter: NoteFilter, collection: str, now: datetime) -> list[Clause]:
    """What every search asks for and nearly every record meets."""
    clauses: list[Clause] = [{"tenant": note_filter.tenant}, {"expires_epoch": {"$gt": now.timestamp()}}]
    if collection == names.ARTIFACTS:
        clauses.append({"is_chunked": False})
    return clauses


def stands(metadata: Mapping[str, object], note_filter: NoteFilter, now: datetime) -> bool:
    """Whether a record meets the standing clauses."""
    expires = metadata.get("expires_epoch")
    return (
        metadata.get("tenant") == note_filter.tenant
        and metadata.get("is_chunked") is not True
        and isinstance(expires, float)
        and expires > now.timestamp()
    )


def conjunction(clauses: list[Clause]) -> Clause | None:
    """All of them at once, in the only spellings Chroma takes."""
    if len(clauses) > 1:
        return {"$and": clauses}
    return clauses[0] if clauses else None
