"""PostgreSQL as the stores meet it: shared by processes, stopped and started, or not fit to be used."""

from __future__ import annotations

import asyncio
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, select, text, true
from sqlalchemy.dialects.postgresql.base import PGDialect

from nur.adapters.sql.columns import PgVector
from nur.adapters.sql.filters import chunks_matching
from nur.adapters.sql.postgres.engine import make_engine
from nur.adapters.sql.postgres.lexical_index import PostgresLexicalIndex
from nur.adapters.sql.postgres.stores import PostgresStores
from nur.adapters.sql.tables import memory_notes, metadata
from nur.domain.errors import BadConfiguration, BadRequest, Conflict, DataFolderInUse, StoreDown, StoreForeign
from nur.domain.notes import ChunkKey, Kind
from tests.servers.postgres_server import PostgresCluster, shared_cluster
from tests.store_notes import ALL, START, a_note, after, at, creation, description, remove, replacement, store, write
from tests.store_queries import keys_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from sqlalchemy import Connection

    from nur.domain.notes import Note
    from nur.ports.chunks import StoredWord


@pytest.fixture
def address() -> str:
    """An empty database."""
    return shared_cluster().create()


@pytest.fixture
async def two(address: str, tmp_path: Path) -> AsyncIterator[list[PostgresStores]]:
    """The stores of one database as two processes have them."""
    both = [PostgresStores(address, tmp_path / name, allow_unsynced=True) for name in ("one", "two")]
    await asyncio.gather(*(stores.open(START) for stores in both))  # both find it empty: one of them migrates
    yield both
    for stores in both:
        await stores.close()


_READ_IN_FULL = "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'memory_note_chunks'"
PROJECT = Path(__file__).parents[2]
#: Another process that reserves a key and never gets to answer.
DYING = """
import asyncio, pathlib, sys
from nur.adapters.sql.postgres.stores import PostgresStores
from tests.store_notes import ALL, START, at

async def main():
    stores = PostgresStores(sys.argv[1], pathlib.Path(sys.argv[2]), allow_unsynced=True)
    await stores.open(START)
    assert await stores.idempotency.reserve("key", "hash", at(call_id="dying")) is None
    print("reserved", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def own_cluster() -> Iterator[PostgresCluster]:
    """A server that the test may stop."""
    cluster = PostgresCluster()
    yield cluster
    cluster.remove()


async def test_the_tables_are_as_they_are_described(
    two: list[PostgresStores], address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PGDialect.ischema_names, "vector", PgVector)
    engine = create_engine(address.replace("postgresql:", "postgresql+psycopg:"))
    with closing(engine.connect()) as connection:
        context = MigrationContext.configure(
            connection, opts={"include_name": lambda name, kind, _: kind != "table" or name != "piece_terms"}
        )
        assert compare_metadata(context, metadata) == []
    engine.dispose()


async def test_what_one_process_wrote_the_other_reads_at_once(two: list[PostgresStores]) -> None:
    one, other = two
    note = await store(one, "tea at four")
    found = await other.notes.get(note.tenant, note.public_id)
    assert found is not None
    assert (await other.chunks.statistics(["tea"])).frequencies == {"tea": (1, 1)}
    await write(other, description(found, title="Tea"))
    with pytest.raises(Conflict):
        await one.notes.write(description(note, title="Milk"), at())


async def test_a_job_goes_to_one_of_two_processes(two: list[PostgresStores]) -> None:
    notes = {(await store(two[0], f"tea {number}")).note_id for number in range(40)}
    leases = [stores.outbox.lease(f"w{turn}", 5, START, 60) for turn in range(8) for stores in two]
    jobs = [job for leased in await asyncio.gather(*leases) for job in leased]
    assert len(jobs) == len(notes)
    assert {job.note_id for job in jobs} == notes


async def test_a_lease_of_a_running_process_outlives_another_ones_start(
    two: list[PostgresStores], address: str, tmp_path: Path
) -> None:
    await store(two[0])
    assert len(await two[0].outbox.lease("w", 5, START, 60)) == 1
    third = PostgresStores(address, tmp_path / "three", allow_unsynced=True)
    await third.open(after(1))
    assert await third.outbox.lease("v", 5, after(1), 60) == []
    await third.close()


async def test_counts_stay_right_when_two_processes_write_replace_and_remove(two: list[PostgresStores]) -> None:
    async def live(stores: PostgresStores, number: int) -> None:
        note = await store(stores, f"tea milk {number}")
        note = await write(stores, replacement(note, f"tea tea {number} wine"))
        if number % 3 == 0:
            await remove(stores, note)
        elif number % 3 == 1:
            await stores.notes.purge(note, at(), indexed=False)

    await asyncio.gather(*(live(two[number % 2], number) for number in range(30)))
    counted = await two[0].chunks.statistics(["tea", "milk", "wine"])
    assert (counted.chunks, counted.pieces, counted.terms) == (10, 10, 40)
    assert counted.frequencies == {"tea": (10, 20), "wine": (10, 10)}


async def test_of_two_processes_that_replace_one_note_exactly_one_wins(two: list[PostgresStores]) -> None:
    note = await store(two[0])
    for _ in range(5):

        async def replace_it(stores: PostgresStores, text: str, note: Note = note) -> bool:
            try:
                await stores.notes.write(replacement(note, text), at())
            except Conflict:
                return False
            return True

        won = await asyncio.gather(*(replace_it(two[number % 2], f"text {number}") for number in range(6)))
        assert sum(won) == 1
        found = await two[0].notes.get(note.tenant, note.public_id)
        assert found is not None
        assert found.revision == note.revision + 1
        note = found
    assert (await two[1].chunks.statistics()).chunks == 1


async def test_memories_are_found_to_compare_with_however_many_documents_use_their_words(
    two: list[PostgresStores],
) -> None:
    new, old = await store(two[0], "alarm code unit 3386"), await store(two[0], "alarm code unit 4417")
    for number in range(80):  # more than are looked at, and each a better match
        text = f"alarm code unit 3386 {number}"
        await write(two[0], creation(a_note(text, kind=Kind.ARTIFACT, source_id=text, source_system="s"), text))
    memories = replace(ALL, kinds=frozenset({Kind.MEMORY}))
    found = await two[1].decisions.alike(new.note_id, ["alarm", "code", "unit", "3386"], memories, START, 3)
    assert [one.note_id for one in found] == [old.note_id]


@pytest.mark.parametrize("term", ["back\\slash", r"\N", r"\.", "a tab\there", "line\nend", "\r", "quo'te"])
async def test_lexical_rows_keep_every_character_of_a_term(two: list[PostgresStores], address: str, term: str) -> None:
    engine = make_engine(address, 1)
    with closing(engine.connect()) as connection:
        PostgresLexicalIndex().add(connection, {ChunkKey(1): [f"tea {term}"]}, {})
        rows = connection.execute(text("SELECT term FROM piece_terms")).scalars().all()
    assert sorted(rows) == sorted(["tea", *term.split(" ")])
    engine.dispose()


async def test_a_write_may_find_terms_where_nothing_was_counted_yet(two: list[PostgresStores], address: str) -> None:
    """Its statements see what is committed when each of them starts: the first memories of a store, stored at once."""
    index = PostgresLexicalIndex()
    engine = create_engine(address.replace("postgresql:", "postgresql+psycopg:"))
    await store(two[0], "alarm code")
    with closing(engine.connect()) as connection:
        connection.execute(text("DELETE FROM lexical_totals"))  # as they were before
        assert len(index.sharing(connection, ["alarm"], true, 3)) == 1
    engine.dispose()


async def test_postgresql_expects_as_many_notes_of_a_tenant_as_there_are(
    two: list[PostgresStores], address: str
) -> None:
    """Else it walks every note, and compares every vector, instead of asking the index for the nearest."""
    for number in range(40):
        await store(two[0], f"tea {number}")
    engine = create_engine(address.replace("postgresql:", "postgresql+psycopg:"))
    with closing(engine.connect()) as connection:
        connection.execute(text("ANALYZE memory_notes"))
        matching = select(memory_notes.c.note_id).where(chunks_matching(ALL, START))
        query = matching.compile(dialect=engine.dialect, compile_kwargs={"literal_binds": True})
        (plan,) = connection.execute(text(f"EXPLAIN (FORMAT JSON) {query}")).scalar_one()
    engine.dispose()
    assert plan["Plan"]["Plan Rows"] == 40


async def test_a_statement_that_is_often_read_is_prepared_once(two: list[PostgresStores]) -> None:
    """A rollback makes the driver forget its prepared statements: every search would be planned from scratch."""
    for _ in range(8):  # the driver prepares a statement when it comes for the sixth time
        await two[0].chunks.statistics()
    prepared = text("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%lexical_totals%'")
    assert await two[0].run.read(lambda connection: connection.execute(prepared).scalar()) == 1


async def test_reads_one_after_the_other_share_a_connection(two: list[PostgresStores]) -> None:
    """Each connection prepares and plans every statement by itself."""
    process = text("SELECT pg_backend_pid() FROM pg_sleep(0.05)")

    async def read() -> object:
        return await two[0].run.read_one(lambda connection: connection.execute(process).scalar())

    assert len(set(await asyncio.gather(*(read() for _ in range(4))))) > 1
    assert len({await read() for _ in range(4)}) == 1


async def test_what_is_not_indexed_is_found_by_its_own_index(two: list[PostgresStores], address: str) -> None:
    """PostgreSQL expects nearly every chunk there, and would read them all with each search."""
    for number in range(40):
        await write(two[0], creation(a_note(f"tea {number}"), f"tea {number}", indexed=True))
    late = await store(two[0], "milk")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE memory_note_chunks")
        before = connection.execute(_READ_IN_FULL).fetchone()
        found = connection.execute("SELECT stale_chunks(100)").fetchall()
        connection.execute("SELECT pg_stat_force_next_flush()")
        assert connection.execute(_READ_IN_FULL).fetchone() == before
    assert [key for (key,) in found] == await keys_of(two[0], late)


async def test_a_word_that_is_committed_late_is_read_all_the_same(two: list[PostgresStores], address: str) -> None:
    """Its key is smaller than that of a word which was committed, and read, before it."""
    known: dict[int, str] = {}

    async def read() -> list[StoredWord]:
        found: list[StoredWord] = []

        def keep(words: Sequence[StoredWord]) -> list[str]:
            found.extend(words)
            return []

        await two[0].chunks.look_up(max(known, default=0), 10, keep)
        return found

    async def read_new() -> list[str]:
        found = await read()
        new = [word.word for word in found if word.key not in known]
        known.update((word.key, word.word) for word in found)
        return new

    insert = "INSERT INTO lexical_words (term, word) VALUES (%s, %s)"
    with psycopg.connect(address) as late, psycopg.connect(address, autocommit=True) as early:
        late.execute(insert, (2, "tea"))
        early.execute(insert, (4, "milk"))
        for expected in (["milk"], [], [], []):
            assert await read_new() == expected
        late.commit()
        assert await read_new() == ["tea"]
        early.execute(insert, (6, "wine"))
        assert await read_new() == ["wine"]
        for _ in range(3):
            assert await read_new() == []
    assert await read() == []  # nobody writes: nothing is read twice for ever


async def test_a_key_is_reserved_by_one_of_two_processes(two: list[PostgresStores]) -> None:
    reserving = (two[number % 2].idempotency.reserve("key", "hash", at(call_id=str(number))) for number in range(8))
    records = await asyncio.gather(*reserving)
    assert records.count(None) == 1
    assert {record.request_hash for record in records if record is not None} == {"hash"}


async def test_the_key_of_a_killed_process_is_free_at_once(
    two: list[PostgresStores], address: str, tmp_path: Path
) -> None:
    arguments = [sys.executable, "-c", DYING, address, str(tmp_path / "dying")]
    dying = await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE, cwd=PROJECT)
    assert dying.stdout is not None
    assert await dying.stdout.readline() == b"reserved\n"
    assert await two[0].idempotency.reserve("key", "hash", at(call_id="again")) is not None
    dying.kill()
    await dying.wait()
    async with asyncio.timeout(30):  # PostgreSQL notices the closed connection by itself; no time passes for Nur
        while await two[0].idempotency.reserve("key", "hash", at(call_id="again")) is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert await two[1].idempotency.reserve("key", "hash", at(call_id="third")) is not None  # its process runs
    assert await two[0].idempotency.reserve("key", "hash", at(call_id="third")) is not None  # asked of itself


async def test_transactions_that_wait_for_each_other_are_run_again(two: list[PostgresStores]) -> None:
    for name in ("a", "b"):
        await two[0].facts.set(name, "")
    met = asyncio.Barrier(2)
    loop = asyncio.get_running_loop()
    runs: list[str] = []

    def append(connection: Connection, first: str, second: str) -> None:
        runs.append(first)
        change = text("UPDATE store_facts SET value = value || :by WHERE name = :name")
        connection.execute(change, {"name": first, "by": first})
        if len(runs) <= 2:  # only the first run of each holds a row while the other wants it
            asyncio.run_coroutine_threadsafe(met.wait(), loop).result(30)
        connection.execute(change, {"name": second, "by": first})

    await asyncio.gather(two[0].run.write(append, "a", "b"), two[1].run.write(append, "b", "a"))
    assert len(runs) >= 3, "one of them was run again; on a busy machine more than once"
    assert {"".join(sorted(str(await two[0].facts.get(name)))) for name in ("a", "b")} == {"ab"}


async def test_a_server_that_stops_is_told_plainly_and_used_again_when_it_is_back(
    own_cluster: PostgresCluster, tmp_path: Path
) -> None:
    stores = PostgresStores(own_cluster.url(), tmp_path / "data", allow_unsynced=True)
    await stores.open(START)
    try:
        note = await store(stores, "tea")
        own_cluster.stop()
        with pytest.raises(StoreDown, match="PostgreSQL does not answer"):
            await stores.notes.get(note.tenant, note.public_id)
        with pytest.raises(StoreDown, match="PostgreSQL does not answer"):
            await stores.notes.write(creation(a_note("milk"), "milk"), at())
        assert isinstance(stores.problem, StoreDown)
        with pytest.raises(StoreDown):
            await stores.ping()

        own_cluster.start()
        assert await stores.notes.get(note.tenant, note.public_id) is not None
        assert stores.problem is None
        await store(stores, "milk")
        own_cluster.stop()
        own_cluster.start()  # every connection of the pool is broken, which nobody notices
        await asyncio.gather(*(store(stores, f"wine {number}") for number in range(20)))
        await stores.ping()
    finally:
        await stores.close()


async def test_a_server_that_may_lose_what_it_acknowledged_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match=r"fsync off.*DATABASE_ALLOW_UNSYNCED=1"):
        await PostgresStores(address, tmp_path).open(START)
    with psycopg.connect(address) as connection:
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)


async def test_somebody_elses_database_is_left_as_it_was(address: str, tmp_path: Path) -> None:
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE theirs (a int)")
    with pytest.raises(StoreForeign, match="not Nur's"):
        await PostgresStores(address, tmp_path, allow_unsynced=True).open(START)
    with psycopg.connect(address) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert tables == [("theirs",)]


async def test_a_wrong_address_is_named_without_its_password(tmp_path: Path) -> None:
    address = f"postgresql://nur:secret@/nowhere?host={shared_cluster().folder}"
    with pytest.raises(BadConfiguration, match=r'DATABASE_URL: .*database "nowhere" does not exist') as refused:
        await PostgresStores(address, tmp_path).open(START)
    assert "secret" not in str(refused.value)
    with pytest.raises(BadConfiguration, match="must look like postgresql://"):
        await PostgresStores("nonsense", tmp_path).open(START)


async def test_a_nul_is_the_callers_error(two: list[PostgresStores]) -> None:
    with pytest.raises(BadRequest, match="NUL"):
        await two[0].notes.write(creation(a_note("a\0b"), "a\0b"), at())
    assert two[0].problem is None


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (
            ["tea", "", "NULL", "a,b", "{c}", 'd"e', "f\\g", " h ", "茶\n"],
            "text",
        ),  # what arrays quote
        ([1, -(2**62)], "bigint"),
        ([0.1, 1e-300], "float8"),
        ([UUID(int=0), UUID(int=2**127)], "uuid"),
        ([], "bigint"),
    ],
)
async def test_a_list_arrives_as_it_was_sent(two: list[PostgresStores], sent: list[object], kind: str) -> None:
    def echo(connection: Connection) -> object:
        return connection.exec_driver_sql(f"SELECT %s::{kind}[]", (sent,)).scalar_one()

    assert await two[0].run.read(echo) == sent


async def test_a_nul_in_a_list_is_the_callers_error(two: list[PostgresStores]) -> None:
    with pytest.raises(BadRequest):
        await two[0].run.read(lambda connection: connection.exec_driver_sql("SELECT %s::text[]", (["a\0b"],)).all())


async def test_two_servers_need_two_folders(two: list[PostgresStores], address: str, tmp_path: Path) -> None:
    with pytest.raises(DataFolderInUse):
        await PostgresStores(address, tmp_path / "one", allow_unsynced=True).open(START)
