"""Lexical rows: what each database does its own way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection

    from nur.domain.notes import ChunkKey
    from nur.ports.chunks import TermFrequency


class LexicalIndex(Protocol):
    """Finds chunks by their analysed terms, inside the transaction it is given."""

    def add(self, connection: Connection, terms: Mapping[ChunkKey, str]) -> None:
        """Write the lexical rows of new chunks."""
        ...

    def remove(self, connection: Connection, keys: Sequence[ChunkKey]) -> None:
        """Remove the lexical rows of chunks that go."""
        ...

    def search(
        self, connection: Connection, terms: Sequence[str], where: ColumnElement[bool], limit: int
    ) -> list[ChunkKey]:
        """Chunks with any of the terms whose notes fulfil the condition, best first."""
        ...

    def frequencies(self, connection: Connection, terms: Sequence[str], chunks: int) -> dict[str, TermFrequency]:
        """How common each term is among so many chunks, to within a hundredth; unknown terms are left out."""
        ...
