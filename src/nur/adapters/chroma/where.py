"""Converts a NoteFilter to Chroma's `where`.

Chroma 1.5.9 looks up all ids that match a `where` before it searches, at 6 to 10 microseconds each. Over 30,000 records
a search takes 18 ms without a `where` and 200 ms with `tenant = default`, which nearly all records match. So there are
two groups of clauses. Selective clauses come from the caller, usually match few records, and are always sent. Common
clauses match nearly all records: they are first checked on the results (`passes_common`), and sent only if too few
results pass.

Chroma's rules: `$and` and `$or` need at least two clauses; an empty `where` is an error; ranges compare only numbers; a
range with a fraction is truncated when the stored values are integers, so every number here is a float; a record
without a key matches only `$ne` and `$nin` on that key.
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


def selective(note_filter: NoteFilter, collection: str) -> list[Clause]:
    """Clauses from the caller's filter that apply to this collection."""
    return [
        *_equal(note_filter),
        *_confident(note_filter),
        *_occurred(note_filter),
        *_kinds_and_conversation(note_filter, collection),
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


def _confident(note_filter: NoteFilter) -> list[Clause]:
    if note_filter.min_confidence is None:
        return []
    enough: Clause = {"confidence": {"$gte": float(note_filter.min_confidence)}}
    return [{"$or": [enough, {"has_confidence": False}]}]


def _occurred(note_filter: NoteFilter) -> list[Clause]:
    limits = {"$gte": note_filter.occurred_from, "$lte": note_filter.occurred_to}
    return [{"ts_epoch": {operator: moment.timestamp()}} for operator, moment in limits.items() if moment is not None]


def _kinds_and_conversation(note_filter: NoteFilter, collection: str) -> list[Clause]:
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


def common(note_filter: NoteFilter, collection: str, now: datetime) -> list[Clause]:
    """Clauses that every search needs and nearly every record matches."""
    clauses: list[Clause] = [{"tenant": note_filter.tenant}, {"expires_epoch": {"$gt": now.timestamp()}}]
    if collection == names.ARTIFACTS:
        clauses.append({"is_chunked": False})
    return clauses


def passes_common(metadata: Mapping[str, object], note_filter: NoteFilter, now: datetime) -> bool:
    """Whether a record matches the common clauses."""
    expires = metadata.get("expires_epoch")
    return (
        metadata.get("tenant") == note_filter.tenant
        and metadata.get("is_chunked") is not True
        and isinstance(expires, float)
        and expires > now.timestamp()
    )


def conjunction(clauses: list[Clause]) -> Clause | None:
    """All clauses as one `where`; None if there are none."""
    if len(clauses) > 1:
        return {"$and": clauses}
    return clauses[0] if clauses else None
