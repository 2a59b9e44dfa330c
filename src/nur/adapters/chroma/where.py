"""A selection as Chroma's `where`.

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

from nur.adapters.chroma import names
from nur.domain.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from nur.domain.selection import Selection

Clause: TypeAlias = "dict[str, object]"


def asked(selection: Selection, collection: str) -> list[Clause]:
    """What the caller asked for, as far as it narrows this collection."""
    return [*_equal(selection), *_certain(selection), *_when(selection), *_within(selection, collection)]


def _equal(selection: Selection) -> list[Clause]:
    fields = {
        "type": selection.type,
        "source_system": selection.source_system,
        "sensitivity": selection.sensitivity,
        "visibility_scope": selection.visibility,
        "project": selection.project,
        "agent": selection.agent,
        "scope": selection.scope,
    }
    return [{name: str(value)} for name, value in fields.items() if value is not None]


def _certain(selection: Selection) -> list[Clause]:
    if selection.min_confidence is None:
        return []
    enough: Clause = {"confidence": {"$gte": float(selection.min_confidence)}}
    return [{"$or": [enough, {"has_confidence": False}]}]


def _when(selection: Selection) -> list[Clause]:
    limits = {"$gte": selection.occurred_from, "$lte": selection.occurred_to}
    return [{"ts_epoch": {way: moment.timestamp()}} for way, moment in limits.items() if moment is not None]


def _within(selection: Selection, collection: str) -> list[Clause]:
    if collection == names.HISTORY and selection.conversation_id is not None:
        return [{"conversation_id": selection.conversation_id}]
    if collection == names.NOTES and not {Kind.NOTE, Kind.EVENT} <= selection.kinds:
        kind = Kind.NOTE if Kind.NOTE in selection.kinds else Kind.EVENT
        return [{"kind": str(kind)}]
    return []


def standing(selection: Selection, collection: str, now: datetime) -> list[Clause]:
    """What every search asks for and nearly every record meets."""
    clauses: list[Clause] = [{"tenant": selection.tenant}, {"expires_epoch": {"$gt": now.timestamp()}}]
    if collection == names.ARTIFACTS:
        clauses.append({"is_chunked": False})
    return clauses


def stands(metadata: Mapping[str, object], selection: Selection, now: datetime) -> bool:
    """Whether a record meets the standing clauses."""
    expires = metadata.get("expires_epoch")
    return (
        metadata.get("tenant") == selection.tenant
        and metadata.get("is_chunked") is not True
        and isinstance(expires, float)
        and expires > now.timestamp()
    )


def conjunction(clauses: list[Clause]) -> Clause | None:
    """All of them at once, in the only spellings Chroma takes."""
    if len(clauses) > 1:
        return {"$and": clauses}
    return clauses[0] if clauses else None
