"""Kinds of notes, as a table: a new kind is one row of `KINDS` and its tests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias
from uuid import uuid4

from nur.domain.access import DEFAULT_TENANT
from nur.domain.chunks import sha256
from nur.domain.notes import ARTIFACT_TYPES, MEMORY_TYPES, Kind, Note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nur.domain.notes import NoteMetadata

#: Values that identify a note: two writes with equal parts are the same note. None: the rule does not apply.
Parts: TypeAlias = "list[str | int | None] | None"
IdentityRule: TypeAlias = "Callable[[Kind, str, NoteMetadata, str], Parts]"


class Chunking(StrEnum):
    """Which of the configured chunking policies a kind uses."""

    WINDOW = "window"
    ARTIFACT = "artifact"
    NOTE = "note"


def _by_turn(_kind: Kind, _owner: str, meta: NoteMetadata, _content_hash: str) -> Parts:
    return [meta.conversation_id, meta.turn_index]


def _by_key(_kind: Kind, _owner: str, meta: NoteMetadata, _content_hash: str) -> Parts:
    return None if meta.key is None else [meta.project, meta.agent, meta.scope, meta.key]


def _by_source(_kind: Kind, _owner: str, meta: NoteMetadata, _content_hash: str) -> Parts:
    return None if meta.source_id is None else [meta.source_system, meta.source_id]


def _by_content(_kind: Kind, _owner: str, _meta: NoteMetadata, content_hash: str) -> Parts:
    return [content_hash]


def _by_text(_kind: Kind, owner: str, meta: NoteMetadata, content_hash: str) -> Parts:
    return [owner, meta.project, meta.agent, meta.scope, content_hash]


def _by_text_and_time(_kind: Kind, owner: str, meta: NoteMetadata, content_hash: str) -> Parts:
    """Include the time: the same text at two times is two events."""
    occurred = None if meta.occurred_at is None else meta.occurred_at.isoformat()
    return [owner, meta.project, meta.agent, meta.scope, occurred, content_hash]


def _random_ids(spec: KindSpec, _note: Note) -> Iterator[str]:
    while True:
        yield f"{spec.id_prefix}_{uuid4().hex[:12]}"


def _turn_id(_spec: KindSpec, note: Note) -> Iterator[str]:
    yield f"{note.meta.conversation_id}_turn_{note.meta.turn_index}"


def _hashed_ids(spec: KindSpec, note: Note) -> Iterator[str]:
    """Yield ids of growing length: with 8 hex digits, half of all stores of 77,000 artifacts have a collision."""
    name = f"{note.meta.source_system}:{note.meta.source_id}"
    if note.tenant != DEFAULT_TENANT:
        name = f"{note.tenant}:{name}"
    digest = sha256(name) if note.meta.source_id is not None else note.content_hash
    yield from (f"{spec.id_prefix}_{digest[:length]}" for length in range(8, 65, 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class KindSpec:
    """Everything that depends on a note's kind."""

    label: str  #: plural, shown to users
    identity: tuple[tuple[str, IdentityRule], ...]  #: (name, rule); the first rule that applies decides
    id_prefix: str  #: prefix of public ids; "" if they have none
    ids: Callable[[KindSpec, Note], Iterator[str]]  #: public ids to try for a new note, best first
    ids_collide: bool = False  #: two notes may be given the same public id
    ids_reveal_content: bool = False  #: the public id contains a conversation's name or a hash of the source
    chunking: Chunking
    collection: str  #: vector collection, as named in the specification
    chunk_collection: str  #: collection for notes with several chunks
    hit_type: str
    chunk_hit_type: str  #: hit type for notes with several chunks
    id_field: str = "note"  #: name of the public id in logs
    type_field: str = "type"  #: name of the type parameter in tools
    types: tuple[str, ...] = ()  #: allowed types; empty: any
    has_editable_text: bool = False  #: False: the text changes only by storing the note again
    has_key: bool = False
    is_turn: bool = False  #: a conversation turn: has no heading; of identical turns the best ranked is shown
    is_repeatable: bool = False  #: the same text at another time is another note
    has_fixed_source: bool = False  #: identified by its source, which an edit cannot change


#: The order in which kinds and collections are listed.
KINDS: dict[Kind, KindSpec] = {
    Kind.ARTIFACT: KindSpec(
        label="documents",
        identity=(("source", _by_source), ("text", _by_content)),
        id_prefix="art",
        ids=_hashed_ids,
        ids_collide=True,
        ids_reveal_content=True,
        chunking=Chunking.ARTIFACT,
        collection="artifacts",
        chunk_collection="artifact_chunks",
        hit_type="artifact",
        chunk_hit_type="artifact_chunk",
        id_field="artifact_id",
        type_field="artifact_type",
        types=ARTIFACT_TYPES,
        has_fixed_source=True,
    ),
    Kind.MEMORY: KindSpec(
        label="memories",
        identity=(("key", _by_key), ("text", _by_text)),
        id_prefix="mem",
        ids=_random_ids,
        chunking=Chunking.WINDOW,
        collection="memory",
        chunk_collection="memory",
        hit_type="memory",
        chunk_hit_type="memory",
        type_field="memory_type",
        types=MEMORY_TYPES,
        has_editable_text=True,
    ),
    Kind.NOTE: KindSpec(
        label="notes",
        identity=(("key", _by_key), ("source", _by_source), ("text", _by_text)),
        id_prefix="note",
        ids=_random_ids,
        chunking=Chunking.NOTE,
        collection="notes",
        chunk_collection="notes",
        hit_type="note",
        chunk_hit_type="note",
        has_editable_text=True,
        has_key=True,
    ),
    Kind.EVENT: KindSpec(  # one source may report many events
        label="events",
        identity=(("key", _by_key), ("text", _by_text_and_time)),
        id_prefix="evt",
        ids=_random_ids,
        chunking=Chunking.NOTE,
        collection="notes",
        chunk_collection="notes",
        hit_type="event",
        chunk_hit_type="event",
        has_editable_text=True,
        has_key=True,
        is_repeatable=True,
    ),
    Kind.TURN: KindSpec(
        label="conversations",
        identity=(("", _by_turn),),
        id_prefix="",
        ids=_turn_id,
        ids_reveal_content=True,
        chunking=Chunking.WINDOW,
        collection="history",
        chunk_collection="history",
        hit_type="history",
        chunk_hit_type="history",
        is_turn=True,
    ),
}

#: The kinds that belong to a conversation.
TURNS = frozenset(kind for kind, spec in KINDS.items() if spec.is_turn)


def identity(kind: Kind, owner: str, meta: NoteMetadata, content_hash: str) -> str:
    """Return the identity of a note: two writes with the same identity are the same note.

    Unique among a tenant's active notes. The first part names the kind, so notes of different kinds never share one.
    JSON separates the parts: ("a:b", "c") and ("a", "b:c") differ.
    """
    for name, rule in KINDS[kind].identity:
        parts = rule(kind, owner, meta, content_hash)
        if parts is not None:
            return json.dumps([f"{kind} {name}".strip(), *parts], ensure_ascii=False)
    raise ValueError(f"{kind} has no identity rule that always applies")


def identity_of(note: Note) -> str:
    """Return the identity of a stored note."""
    return identity(note.kind, note.owner, note.meta, note.content_hash)


def turn_identity(conversation_id: str, turn_index: int) -> str:
    """Return the identity of a conversation turn."""
    return json.dumps([str(Kind.TURN), conversation_id, turn_index], ensure_ascii=False)


def public_ids(note: Note) -> Iterator[str]:
    """Yield public ids to try for a new note, best first."""
    spec = KINDS[note.kind]
    return spec.ids(spec, note)


def collection_of(note: Note) -> str:
    """Return the specification's collection that holds a note's vectors."""
    spec = KINDS[note.kind]
    return spec.chunk_collection if note.is_chunked else spec.collection


def collections_of(kinds: frozenset[Kind]) -> list[str]:
    """Return the specification's collections for these kinds, without repeats."""
    specs = [spec for kind, spec in KINDS.items() if kind in kinds]
    return list(dict.fromkeys(name for spec in specs for name in (spec.collection, spec.chunk_collection)))
