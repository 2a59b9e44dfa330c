"""Lexical rows of pieces: what each database does its own way."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection

    from nur.domain.notes import ChunkKey
    from nur.ports.chunks import StoredWord, TermFrequency


class FoundByWords(NamedTuple):
    """Chunks whose pieces contain what was asked for."""

    chunks: Sequence[ChunkKey]  #: by their best piece, best first
    has_more: bool  #: as many pieces were found as were asked for


class LexicalIndex(Protocol):
    """Finds pieces by their analysed terms, inside the transaction it is given."""

    def add(self, connection: Connection, terms: Mapping[ChunkKey, Sequence[str]], words: Mapping[int, str]) -> None:
        """Write the lexical rows of new chunks, one for each of their pieces, and the words of their terms."""
        ...

    def remove(self, connection: Connection, pieces: Mapping[ChunkKey, int]) -> None:
        """Remove the lexical rows of chunks that go, which have so many pieces."""
        ...

    def search(
        self, connection: Connection, terms: Sequence[str], where: ColumnElement[bool], limit: int
    ) -> FoundByWords:
        """The chunks of the best `limit` pieces with any of the terms whose notes fulfil the condition."""
        ...

    def words(self, connection: Connection, after: int, limit: int) -> list[StoredWord]:
        """The words that were stored after this one, in order."""
        ...

    def frequencies(self, connection: Connection, terms: Sequence[str], pieces: int) -> dict[str, TermFrequency]:
        """How common each term is among so many pieces, to within a hundredth; unknown terms are left out."""
        ...
