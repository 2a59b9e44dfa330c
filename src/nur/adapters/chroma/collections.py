"""Which collection a note's records are in: the names of the specification's section 3.1, and one for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.kinds import KINDS, collections_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nur.domain.notes import Kind

ARTIFACTS = "artifacts"  #: whole artifacts, and the parents of chunked ones

ALL = tuple(collections_of(frozenset(KINDS)))


def of_record(kind: Kind, *, is_chunked: bool) -> str:
    """The collection of a chunk's record."""
    return KINDS[kind].chunk_collection if is_chunked else KINDS[kind].collection


def of_kinds(kinds: Iterable[Kind]) -> tuple[str, ...]:
    """The collections to query for these kinds, each once."""
    return tuple(collections_of(frozenset(kinds)))


def kinds_in(collection: str) -> frozenset[Kind]:
    """The kinds that share a collection."""
    return frozenset(kind for kind, spec in KINDS.items() if collection in (spec.collection, spec.chunk_collection))
