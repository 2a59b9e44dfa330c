"""One writer that commits in groups, and readers that see one moment each."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event, insert, select, text
from sqlalchemy.exc import IntegrityError

from nur.adapters.sql import migrations
from nur.adapters.sql.sqlite.files import FilesCondition, StoreFiles
from nur.adapters.sql.sqlite.threads import GROUP, ReaderThreads, WriterThread, make_engine
from nur.adapters.sql.tables import note_chunk_embeddings, store_facts
from nur.domain.errors import Conflict, StoreDown
from tests.store_notes import START, vector_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Connection, Engine

PATIENCE_SECONDS = 10.0  #: for threads that must come; no test waits this long when all is well


@pytest.fixture
def path(tmp_path: Path) -> Path:
    migrations.migrate(make_engine(tmp_path / "nur.db", read_only=False))
    return tmp_path / "nur.db"


@pytest.fixture
def engine(path: Path) -> Engine:
    return make_engine(path, read_only=False)


@pytest.fixture
def condition(path: Path) -> FilesCondition:
    return FilesCondition(StoreFiles(path.parent))


@pytest.fixture
def writer(engine: Engine, condition: FilesCondition) -> Iterator[WriterThread]:
    made = WriterThread(engine, condition)
    yield made
    made.close()


@pytest.fixture
def readers(path: Path, writer: WriterThread, condition: FilesCondition) -> Iterator[ReaderThreads]:
    made = ReaderThreads(make_engine(path, read_only=True), condition)
    yield made
    made.close()


def put(*names: str) -> Callable[[Connection], None]:
    def body(connection: Connection) -> None:
        for name in names:
            connection.execute(insert(store_facts).values(name=name, value=""))

    return body


def facts(connection: Connection) -> set[str]:
    return set(connection.execute(select(store_facts.c.name)).scalars())


class Gate:
    """A body that holds its thread until it is opened."""

    def __init__(self) -> None:
        self.reached, self._opened = threading.Event(), threading.Event()

    def __call__(self, _: Connection) -> None:
        self.reached.set()
        assert self._opened.wait(PATIENCE_SECONDS)

    def open(self) -> None:
        self._opened.set()


async def queue(writer: WriterThread, *bodies: Callable[[Connection], None]) -> list[asyncio.Task[None]]:
    """Have the bodies wait together behind a gate, then open it: they are one group."""
    gate = Gate()
    waiting: list[Callable[[Connection], None]] = [gate, *bodies]
    tasks = [asyncio.create_task(writer.run(body)) for body in waiting]
    await asyncio.sleep(0)  # each task has put its body in the queue
    gate.open()
    return tasks[1:]


async def test_a_failing_body_takes_back_itself_alone(
    engine: Engine, writer: WriterThread, readers: ReaderThreads
) -> None:
    commits: list[object] = []
    event.listen(engine, "commit", commits.append)

    def fails(connection: Connection) -> None:
        put("taken back")(connection)
        raise ValueError("no")

    first, bad, last = await queue(writer, put("first"), fails, put("last"))

    await first
    await last
    with pytest.raises(ValueError, match="no"):
        await bad
    assert await readers.run(facts) == {"first", "last"}
    assert len(commits) <= 2  # the gate's, and one for all three


async def test_a_taken_name_is_a_conflict_and_anything_else_a_store_that_is_down(writer: WriterThread) -> None:
    await writer.run(put("taken"))
    with pytest.raises(Conflict) as conflict:
        await writer.run(put("free", "taken"))
    with pytest.raises(StoreDown) as down:
        await writer.run(lambda connection: connection.execute(text("SELECT secret FROM nowhere")))

    assert isinstance(conflict.value.__cause__, IntegrityError)
    assert "secret" not in str(down.value)  # SQL and contents stay behind, as the cause
    assert await writer.run(facts) == {"taken"}


async def test_a_write_returns_only_when_it_is_committed(engine: Engine, writer: WriterThread) -> None:
    gate = Gate()

    def hold_the_commit(connection: Connection, _: object, statement: str, *__: object) -> None:
        if statement == "COMMIT":
            gate(connection)

    event.listen(engine, "before_cursor_execute", hold_the_commit)
    writing = asyncio.create_task(writer.run(put("a")))
    await asyncio.to_thread(gate.reached.wait, PATIENCE_SECONDS)
    for _ in range(10):
        await asyncio.sleep(0)  # an answer that was given would have arrived by now

    assert not writing.done()
    gate.open()
    await writing


async def test_when_the_commit_itself_fails_nobody_is_told_it_was_kept(writer: WriterThread) -> None:
    def breaks_at_commit(connection: Connection) -> None:
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        orphan = {"chunk_key": 99, "embedding_version": "v", "embedding_dim": 1, "created_at": START}
        connection.execute(insert(note_chunk_embeddings).values(**orphan, vec=vector_of("x")))

    good, bad = await queue(writer, put("good"), breaks_at_commit)

    for task in (good, bad):
        with pytest.raises(Conflict):
            await task
    assert await writer.run(facts) == set()
    await writer.run(put("later"))
    assert await writer.run(facts) == {"later"}


async def test_a_write_whose_caller_has_gone_is_kept_whole(writer: WriterThread, readers: ReaderThreads) -> None:
    gate = Gate()
    waiting = asyncio.create_task(writer.run(gate))
    gone = asyncio.create_task(writer.run(put("one half", "other half")))
    failing = asyncio.create_task(writer.run(lambda _: 1 / 0))
    await asyncio.sleep(0)
    gone.cancel()
    failing.cancel()
    for task in (gone, failing):
        with pytest.raises(asyncio.CancelledError):
            await task

    gate.open()
    await waiting
    await writer.run(put("after"))

    assert await readers.run(facts) == {"one half", "other half", "after"}


async def test_more_writes_than_a_group_holds_are_all_kept_in_order(writer: WriterThread) -> None:
    order: list[int] = []

    def note(number: int) -> Callable[[Connection], None]:
        return lambda _: order.append(number)

    for task in await queue(writer, *map(note, range(3 * GROUP))):
        await task
    assert order == list(range(3 * GROUP))


async def test_closing_finishes_what_is_queued(engine: Engine, path: Path, condition: FilesCondition) -> None:
    writer = WriterThread(engine, condition)
    tasks = await queue(writer, *(put(f"fact {i}") for i in range(2 * GROUP)))

    writer.close()

    assert not path.with_name("nur.db-wal").exists()
    await asyncio.gather(*tasks)
    with make_engine(path, read_only=True).connect() as connection:
        assert len(facts(connection)) == 2 * GROUP


async def test_what_is_committed_is_on_the_disk(writer: WriterThread) -> None:
    def pragmas(connection: Connection) -> dict[str, object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        return {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names}

    full = 2
    assert await writer.run(pragmas) == {
        "journal_mode": "wal",
        "synchronous": full,
        "foreign_keys": 1,
        "secure_delete": 1,
    }


async def test_a_reader_sees_one_moment_however_long_it_reads(writer: WriterThread, readers: ReaderThreads) -> None:
    await writer.run(put("before"))
    gate = Gate()

    def read_twice(connection: Connection) -> tuple[set[str], set[str]]:
        first = facts(connection)
        gate(connection)
        return first, facts(connection)

    reading = asyncio.create_task(readers.run(read_twice))
    await asyncio.to_thread(gate.reached.wait, PATIENCE_SECONDS)
    await writer.run(put("meanwhile"))  # a reader keeps no writer waiting
    gate.open()

    assert await reading == ({"before"}, {"before"})
    assert await readers.run(facts) == {"before", "meanwhile"}


async def test_a_reader_cannot_write(readers: ReaderThreads, writer: WriterThread) -> None:
    with pytest.raises(StoreDown):
        await readers.run(put("no"))
    assert await readers.run(facts) == set()
