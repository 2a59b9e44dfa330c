"""Rows of the outbox: at most one open row per note and task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from nur.adapters.sql import migrations, outbox
from nur.adapters.sql.sqlite.threads import make_engine
from nur.adapters.sql.tables import indexing_outbox
from tests.store_notes import START, a_note, after

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection

NOTE_ID = a_note().note_id
OPEN = {"note_id": NOTE_ID, "revision": 1, "state": "pending", "available_at": START, "created_at": START}


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    engine = make_engine(tmp_path / "nur.db", read_only=False)
    migrations.migrate(engine)
    with engine.connect() as opened:
        yield opened


def rows(connection: Connection) -> list[tuple[Any, ...]]:
    columns = indexing_outbox.c
    query = select(columns.task, columns.revision, columns.state).order_by(columns.outbox_id)
    return [tuple(row) for row in connection.execute(query)]


def test_asking_for_one_task_leaves_the_others_of_the_note_alone(connection: Connection) -> None:
    connection.execute(insert(indexing_outbox).values(**OPEN, task="another"))
    outbox.enqueue(connection, NOTE_ID, 2, START)
    outbox.enqueue(connection, NOTE_ID, 3, after(1))
    assert rows(connection) == [("another", 1, "pending"), ("index", 3, "pending")]


def test_a_note_has_one_open_row_per_task_and_any_number_that_are_done(connection: Connection) -> None:
    connection.execute(insert(indexing_outbox).values(**OPEN))
    with pytest.raises(IntegrityError):
        connection.execute(insert(indexing_outbox).values(**OPEN))
    connection.execute(update(indexing_outbox).values(state="done"))
    outbox.enqueue(connection, NOTE_ID, 2, START)
    assert rows(connection) == [("index", 1, "done"), ("index", 2, "pending")]
