"""Which collection holds a note's records: the names of the specification's section 3.1, and `notes` for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.kinds import KINDS, collections_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nur.domain.notes import Kind

ARTIFACTS = "artifacts"  #: whole artifacts, and the parents of chunked ones

ALL = tuple(collections_of(frozenset(KINDS)))


def of_record(kind: Kind, *, is_chunked: bool) -> str:
    """The collection for a record of this kind."""
    return KINDS[kind].chunk_collection if is_chunked else KINDS[kind].collection


def of_kinds(kinds: Iterable[Kind]) -> tuple[str, ...]:
    """The collections to query for these kinds, without duplicates."""
    return tuple(collections_of(frozenset(kinds)))


def kinds_in(collection: str) -> frozenset[Kind]:
    """The kinds whose records are in this collection."""
    return frozenset(kind for kind, spec in KINDS.items() if collection in (spec.collection, spec.chunk_collection))
