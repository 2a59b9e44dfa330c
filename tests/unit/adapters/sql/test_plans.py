"""Which way SQLite goes: a read that starts at the wrong end is right and a hundred times too slow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event

from nur.adapters.sql import migrations, outbox, reading, searching
from nur.adapters.sql.sqlite.lexical_index import Fts5LexicalIndex
from nur.adapters.sql.sqlite.threads import make_engine
from nur.domain.filters import NoteFilter
from nur.domain.notes import ChunkKey, Kind
from tests.ledger_notes import EMBEDDING, START, a_note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Connection

SELECTION = NoteFilter(kinds=frozenset({Kind.MEMORY}))
KEYS = [ChunkKey(key) for key in range(200)]  #: as many as a search re-reads: of two keys, SQLite thinks otherwise
NOTE_ID = a_note().note_id

READS: dict[str, Callable[[Connection], object]] = {
    "a note by its identity": lambda connection: reading.by_identity(connection, "default", "i"),
    "candidates": lambda connection: searching.candidates(connection, KEYS, SELECTION, START),
    "glances": lambda connection: searching.scoring_views(connection, KEYS, SELECTION, START),
    "what is not indexed": lambda connection: searching.unindexed(connection, SELECTION, EMBEDDING, 50_000, START),
    "chunks by words": lambda connection: searching.lexical(
        connection, Fts5LexicalIndex(), ["tea"], SELECTION, 50, START
    ),
    "turns at places": lambda connection: searching.turns_near(connection, [("c", 1)], NoteFilter(), START),
    "jobs that are due": lambda connection: outbox.lease(connection, "w", 16, START, 60),
    "a note's open job": lambda connection: outbox.enqueue(connection, NOTE_ID, 1, START),
}
#: A whole table row by row, or all notes of a tenant or of one kind.
WALKS = re.compile(r"^SCAN (?!chunk_terms|.* USING .*ix_chunks_unindexed)|\(tenant_id=\?( AND kind=\?)?\)")


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    engine = make_engine(tmp_path / "nur.db", read_only=False)
    migrations.migrate(engine)
    with engine.connect() as opened:
        yield opened


def steps(connection: Connection, read: Callable[[Connection], object]) -> list[str]:
    """How SQLite would carry out every statement of a read."""
    statements: list[tuple[str, tuple[object, ...]]] = []

    def note(_: object, __: object, statement: str, parameters: tuple[object, ...], *___: object) -> None:
        statements.append((statement, parameters))

    event.listen(connection, "before_cursor_execute", note)
    read(connection)
    event.remove(connection, "before_cursor_execute", note)
    return [
        step.detail
        for statement, parameters in statements
        for step in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        if "subquery" not in step.detail and "CONSTANT" not in step.detail  # an empty list of values
    ]


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_read_walks_no_more_than_it_asks_for(connection: Connection, read: Callable[[Connection], object]) -> None:
    plan = steps(connection, read)
    assert plan
    assert [step for step in plan if WALKS.search(step)] == []
