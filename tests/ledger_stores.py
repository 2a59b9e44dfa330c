"""The ledgers under test, each with a way to look behind the port."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from nur.adapters.in_memory.ledger import InMemoryLedger
from nur.adapters.sql.sqlite.ledger import FILE, SqliteLedger
from tests.ledger_notes import EMBEDDING

if TYPE_CHECKING:
    from pathlib import Path

    from nur.domain.notes import NoteId
    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats
    from nur.ports.ledger import Ledger


class Store(Protocol):
    """A ledger and what no method of the port gives back."""

    @property
    def ledger(self) -> Ledger: ...

    def former_texts(self, note_id: NoteId) -> dict[int, str]:
        """The texts that a note had before, by version."""
        ...

    def pooled(self, note_id: NoteId) -> Floats | None:
        """A note's own vector."""
        ...

    def audit(self) -> list[tuple[str, str, str | None, int]]:
        """Principal, action, public id and revision, in order."""
        ...


class InMemoryStore:
    def __init__(self, clock: Clock) -> None:
        self.ledger = InMemoryLedger(clock)

    def former_texts(self, note_id: NoteId) -> dict[int, str]:
        return self.ledger.former_texts(note_id)

    def pooled(self, note_id: NoteId) -> Floats | None:
        return self.ledger.own_vectors.get((note_id, EMBEDDING))

    def audit(self) -> list[tuple[str, str, str | None, int]]:
        return [(line.principal, line.action, line.public_id, line.revision) for line in self.ledger.audit]


class SqliteStore:
    def __init__(self, folder: Path, clock: Clock) -> None:
        self.ledger = SqliteLedger(folder, clock)
        self._address = f"{(folder / FILE).absolute().as_uri()}?mode=ro"

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """What the file holds, seen over a connection of the test's own."""
        with closing(sqlite3.connect(self._address, uri=True)) as connection:
            return connection.execute(query, values).fetchall()

    def former_texts(self, note_id: NoteId) -> dict[int, str]:
        return dict(self.rows("SELECT version, text FROM note_versions WHERE note_id = ?", note_id.hex))

    def pooled(self, note_id: NoteId) -> Floats | None:
        query = "SELECT vec FROM note_embeddings WHERE note_id = ? AND embedding_version = ?"
        found = self.rows(query, note_id.hex, EMBEDDING)
        return np.frombuffer(found[0][0], dtype=np.float32) if found else None

    def audit(self) -> list[tuple[str, str, str | None, int]]:
        return self.rows("SELECT principal, action, public_id, revision FROM audit_log ORDER BY audit_id")
