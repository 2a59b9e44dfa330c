"""Which way SQLite goes: a read that starts at the wrong end is right and a hundred times too slow."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event

from nur.adapters.sql import (
    candidates,
    chunks,
    derivations,
    index_marks,
    migrations,
    note_writes,
    notes,
    outbox,
    vectors,
)
from nur.adapters.sql.chunk_times import by_time
from nur.adapters.sql.sqlite.lexical_index import Fts5LexicalIndex
from nur.adapters.sql.sqlite.threads import make_engine
from nur.domain.notes import ChunkKey, Kind
from nur.ports.chunks import AskedWindow
from nur.ports.vector_index import Neighbour
from tests.store_notes import ALL, EMBEDDING, START, a_note, a_query, at, creation, vector_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Connection

MEMORIES = replace(ALL, kinds=frozenset({Kind.MEMORY}))
KEYS = [ChunkKey(key) for key in range(200)]  #: as many as a search reads: of two keys, SQLite thinks otherwise
NOTE_ID = a_note().note_id
MONTH = AskedWindow(START.toordinal(), START.toordinal() + 30, START, START + timedelta(days=30))
LEXICAL = Fts5LexicalIndex()
QUERY = a_query(
    where=MEMORIES,
    terms=["tea"],
    vector=vector_of("tea"),
    neighbours=[Neighbour(key, a_note().note_id, 0.5) for key in KEYS],
    limit=200,
    max_compared=50_000,
    turn_distance=2,
)

READS: dict[str, Callable[[Connection], object]] = {
    "a note by its public id": lambda connection: notes._get(connection, "default", "mem_1"),
    "a note by its identity": lambda connection: notes._by_identity(connection, "default", "i"),
    "candidates": lambda connection: candidates.candidates(connection, LEXICAL, QUERY),
    "the latest of a month": lambda connection: by_time(connection, LEXICAL, replace(QUERY, windows=[MONTH])),
    "everything compared": lambda connection: candidates.to_compare(connection, replace(QUERY, where=ALL)),
    "the chunks of one note": lambda connection: candidates.candidates_of(connection, NOTE_ID, QUERY),
    "scoring views": lambda connection: candidates.scoring_views(connection, KEYS, MEMORIES, START),
    "what is shown": lambda connection: chunks._show(
        connection, dict.fromkeys(KEYS, NOTE_ID), MEMORIES, START, with_neighbours=True, with_texts=True
    ),
    "neighbouring turns": lambda connection: candidates.turns_near(connection, [("c", 1)], ALL, START),
    "whether a note is indexed": lambda connection: index_marks.is_indexed(connection, NOTE_ID),
    "notes with the same bands": lambda connection: derivations.similar(connection, NOTE_ID, MEMORIES, START, 20),
    "vectors of chunks": lambda connection: vectors.vectors_of(connection, KEYS, EMBEDDING),
    "jobs that are due": lambda connection: outbox.lease(connection, "w", 16, START, 60),
    "a note's open job": lambda connection: outbox.enqueue(connection, NOTE_ID, 1, START),
}
#: A whole table row by row, or all notes of a tenant or of one kind.
WALKS = re.compile(r"^SCAN (?!piece_terms|.* USING .*ix_chunks_unindexed)|\(tenant_id=\?( AND kind=\?)?\)")


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    engine = make_engine(tmp_path / "nur.db", read_only=False)
    migrations.migrate(engine)
    with engine.connect() as opened:
        note_writes.write_note(
            opened, LEXICAL, creation(a_note(pieces=2)), at()
        )  # so that candidates and shown chunks are read
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
