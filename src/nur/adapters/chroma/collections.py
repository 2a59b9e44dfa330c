"""Which collection a note's records are in: the names of the specification's section 3.1, and one for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

MEMORY = "memory"
HISTORY = "history"
ARTIFACTS = "artifacts"  #: whole artifacts, and the parents of cut ones
ARTIFACT_CHUNKS = "artifact_chunks"
NOTES = "notes"  #: notes and events

ALL = (MEMORY, HISTORY, ARTIFACTS, ARTIFACT_CHUNKS, NOTES)

_OF_KIND = {
    Kind.MEMORY: (MEMORY,),
    Kind.TURN: (HISTORY,),
    Kind.ARTIFACT: (ARTIFACTS, ARTIFACT_CHUNKS),
    Kind.NOTE: (NOTES,),
    Kind.EVENT: (NOTES,),
}


def of_record(kind: Kind, *, is_chunked: bool) -> str:
    """Where a chunk's record goes. Only artifacts keep whole and cut ones apart."""
    return _OF_KIND[kind][-1 if is_chunked else 0]


def of_kinds(kinds: Iterable[Kind]) -> tuple[str, ...]:
    """The collections to ask for these kinds, each once."""
    return tuple(dict.fromkeys(name for kind in sorted(kinds) for name in _OF_KIND[kind]))
