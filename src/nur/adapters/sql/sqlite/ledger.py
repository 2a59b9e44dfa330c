"""SqliteLedger: the port over one file, its transaction bodies run by threads."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from sqlalchemy import insert, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from nur.adapters.sql import desk, migrations, notes, outbox, reading, searching
from nur.adapters.sql import traces as trace_rows
from nur.adapters.sql.sqlite.condition import Condition
from nur.adapters.sql.sqlite.desk import SqliteDesk
from nur.adapters.sql.sqlite.failures import translate
from nur.adapters.sql.sqlite.files import FILE, STORE_ID, StoreFiles
from nur.adapters.sql.sqlite.folder import DataFolder
from nur.adapters.sql.sqlite.integrity import BackgroundCheck, refuse_damaged
from nur.adapters.sql.sqlite.threads import ReaderThreads, WriterThread, make_engine
from nur.adapters.sql.sqlite.upkeep import SqliteUpkeep
from nur.adapters.sql.tables import store_facts
from nur.domain.errors import NurError, StoreDamaged, StoreFull
from nur.observability.events import EventLog
from nur.ports.ledger import Order

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from pathlib import Path
    from uuid import UUID

    from sqlalchemy import Connection

    from nur.domain.filters import NoteFilter
    from nur.domain.notes import ChunkKey, Note, NoteId
    from nur.domain.traces import Trace, TraceItem
    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats
    from nur.ports.ledger import (
        ChunkWithNote,
        CorpusStatistics,
        LexicalHit,
        NoteWrite,
        PageCursor,
        ScoringView,
        StoredChunk,
        Written,
    )

__all__ = ["FILE", "SqliteLedger"]

log = EventLog("Store")

#: Rewritten to find out whether the store can be written again.
WRITE_PROBE = "write_probe"


class SqliteLedger(SqliteUpkeep, SqliteDesk):
    """The store of record in `nur.db` of a data folder that this process owns."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        super().__init__(clock)
        self._folder = DataFolder(folder)

    async def open(self) -> None:
        """Take the folder's lock, bring the schema up to date, start the threads."""
        self._folder.acquire()
        try:
            files = StoreFiles(self._folder.path)
            files.refuse_lost()
            self._start(files)
        except BaseException:
            self._folder.release()
            raise
        try:
            await self._mark(files)
        except BaseException:
            await self.close()
            raise

    def _start(self, files: StoreFiles) -> None:
        path, is_new = files.database, not files.exists
        writing, reading = make_engine(path, read_only=False), make_engine(path, read_only=True)
        try:
            if not is_new:
                # A writing connection sets the journal mode, and that would change somebody else's file. What a
                # reading one cannot open (a log that wants recovery) is the writing one's to judge.
                with contextlib.suppress(SQLAlchemyError):
                    migrations.check(reading)
                if not files.closed_cleanly:
                    refuse_damaged(path)
                with writing.connect() as connection:
                    files.refuse_foreign(_stored_id(connection))
            migrations.migrate(writing)
        except SQLAlchemyError as error:
            raise _unreadable(path, error) from error
        path.chmod(0o600)
        self._engines = [writing, reading]
        self._condition = Condition(files)
        self._writer = WriterThread(writing, self._condition, first=partial(_take_over, now=self._clock.now()))
        self._readers = ReaderThreads(reading, self._condition)
        self._check = BackgroundCheck(self._condition)

    async def _mark(self, files: StoreFiles) -> None:
        """Give the store an id and a marker that names it. A full disk keeps no store from being opened."""
        try:
            store_id = await self.set_if_absent(STORE_ID, uuid4().hex)
            files.remember()
            if files.marked_id() != store_id:
                await asyncio.to_thread(self._empty_log)  # the file alone, without its log, must tell its id
                files.mark(store_id)
        except (StoreFull, OSError) as error:
            files.remember()
            log.warning("marker_not_written", error=type(error).__name__)

    async def close(self) -> None:
        """Finish what is queued and let go of the folder."""
        if self._engines:
            self._check.close()
            self._readers.close()
            self._writer.close()
            for engine in self._engines:
                engine.dispose()
            self._engines = []
        self._folder.release()

    async def ping(self) -> None:
        """Read something; and write something, if the last write failed. Raises why the store cannot be used."""
        await self._read(lambda connection: connection.execute(text("SELECT 1")))
        self._condition.check_files()
        if self._condition.problem is not None:
            await self.set_fact(WRITE_PROBE, self._clock.now().isoformat())
        if self._condition.problem is not None:
            raise self._condition.problem

    async def fact(self, name: str) -> str | None:
        """One of the store's own facts."""
        return await self._read(_fact, name)

    async def set_if_absent(self, name: str, value: str) -> str:
        """Set a fact unless it is set already; gives back the one that holds."""
        found = await self.fact(name)
        return await self._write(_settle, name, value) if found is None else found

    async def set_fact(self, name: str, value: str) -> None:
        """Set a fact, whatever it was."""
        await self._write(_set_fact, name, value)

    async def write(self, write: NoteWrite) -> Written:
        """Commit one write."""
        return await self._write(notes.write, self._lexical_index, write, self._context())

    async def remove(self, note: Note, *, action: str, principal: str, indexed: bool) -> Note:
        """Move a note to the trash."""
        context = self._context()
        return await self._write(
            notes.remove, self._lexical_index, note, action, principal, indexed=indexed, context=context
        )

    async def note(self, tenant: str, public_id: str) -> Note | None:
        """A note by its public id, in the trash or not."""
        return await self._read(reading.by_public_id, tenant, public_id)

    async def by_identity(self, tenant: str, identity: str) -> Note | None:
        """The active note with this identity, else the one last deleted."""
        return await self._read(reading.by_identity, tenant, identity)

    async def by_ids(self, note_ids: Sequence[NoteId]) -> dict[NoteId, Note]:
        """Notes by their internal ids."""
        return await self._read(reading.by_ids, note_ids)

    async def notes(
        self, where: NoteFilter, *, order: Order = Order.NEWEST, limit: int, after: str | PageCursor | None = None
    ) -> list[Note]:
        """A page of active notes."""
        return await self._read(reading.page, where, order, limit, after, self._clock.now())

    async def count(self, where: NoteFilter) -> int:
        """How many active notes are selected."""
        return await self._read(reading.count, where, self._clock.now())

    async def texts(self, note_ids: Sequence[NoteId]) -> dict[NoteId, str]:
        """The full texts of notes."""
        return await self._read(reading.texts, note_ids)

    async def chunks(self, note_id: NoteId) -> list[StoredChunk]:
        """A note's chunks, in order."""
        return await self._read(reading.chunks, note_id)

    async def vectors(self, keys: Sequence[ChunkKey], embedding_version: str) -> dict[ChunkKey, Floats]:
        """Stored vectors; a chunk without one is left out."""
        return await self._read(searching.vectors, keys, embedding_version)

    async def lexical(self, terms: Sequence[str], where: NoteFilter, limit: int) -> list[LexicalHit]:
        """Chunks that hold any of the terms, best first."""
        return await self._read(searching.lexical, self._lexical_index, terms, where, limit, self._clock.now())

    async def corpus(self, terms: Sequence[str]) -> CorpusStatistics:
        """Statistics of what is stored, for these terms."""
        return await self._read(searching.corpus, self._lexical_index, terms)

    async def unindexed(self, where: NoteFilter, embedding_version: str, limit: int) -> tuple[list[ChunkKey], Floats]:
        """Chunks whose index record is not at their note's revision, with their vectors."""
        return await self._read(searching.unindexed, where, embedding_version, limit, self._clock.now())

    async def selected_vectors(
        self, where: NoteFilter, embedding_version: str, limit: int
    ) -> tuple[list[ChunkKey], Floats]:
        """Chunks in the selection with their vectors, whatever the index holds."""
        return await self._read(searching.selected_vectors, where, embedding_version, limit, self._clock.now())

    async def scoring_views(self, keys: Sequence[ChunkKey], where: NoteFilter) -> list[ScoringView]:
        """Look at chunks; what is deleted, expired or outside the selection is left out."""
        return await self._read(searching.scoring_views, keys, where, self._clock.now())

    async def turns_near(self, places: Collection[tuple[str, int]], where: NoteFilter) -> list[ScoringView]:
        """Look at the chunks of the turns at these places."""
        return await self._read(searching.turns_near, places, where, self._clock.now())

    async def candidates(self, keys: Sequence[ChunkKey], where: NoteFilter) -> list[ChunkWithNote]:
        """Re-read chunks with their notes; what is deleted, expired or outside the selection is left out."""
        return await self._read(searching.candidates, keys, where, self._clock.now())

    async def chunk_range(self, note_id: NoteId, first: int, last: int) -> list[StoredChunk]:
        """A note's chunks from one index to another, both included."""
        return await self._read(reading.chunks, note_id, None, (first, last))

    async def save_traces(self, traces: Sequence[Trace]) -> None:
        """Keep traces of searches."""
        await self._write(trace_rows.save, traces)

    async def trace(self, tenant: str, name: UUID) -> Trace | None:
        """A trace by its own id or by its search's."""
        return await self._read(trace_rows.by_id, tenant, name)

    async def trace_item(self, tenant: str, item_id: UUID) -> TraceItem | None:
        """One hit of a trace."""
        return await self._read(trace_rows.item, tenant, item_id)

    async def purge_traces(self, before: datetime) -> int:
        """Let go of traces made before then."""
        return await self._write(trace_rows.purge, before)


def _take_over(connection: Connection, now: datetime) -> None:
    """Whoever owned the store before is dead: nobody waits for the calls and leases that it left."""
    desk.expire_reservations(connection, now)
    outbox.release_all(connection)


def _unreadable(path: Path, error: SQLAlchemyError) -> NurError:
    ours = translate(error)
    if isinstance(ours, StoreFull):
        return StoreFull("The disk is full, so the store cannot be opened. Free some space, then start again.")
    return StoreDamaged(
        f"{path} cannot be read. Restore a backup, or move the folder away to start with a new store; "
        "nothing was deleted."
    )


def _stored_id(connection: Connection) -> str | None:
    """The id of a store that may be empty, or another's."""
    return _fact(connection, STORE_ID) if migrations.held_revision(connection) else None


def _fact(connection: Connection, name: str) -> str | None:
    return connection.execute(select(store_facts.c.value).where(store_facts.c.name == name)).scalar()


def _settle(connection: Connection, name: str, value: str) -> str:
    existing = _fact(connection, name)
    if existing is None:
        connection.execute(insert(store_facts).values(name=name, value=value))
        return value
    return existing


def _set_fact(connection: Connection, name: str, value: str) -> None:
    if _fact(connection, name) is None:
        connection.execute(insert(store_facts).values(name=name, value=value))
    else:
        connection.execute(update(store_facts).where(store_facts.c.name == name).values(value=value))
