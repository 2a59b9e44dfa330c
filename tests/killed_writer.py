"""A process that writes until it is killed, and checks of the store it leaves behind.

Run as a program, it creates, replaces, updates and deletes notes in a data folder, several at a time so that writes
share commits, and prints `{public id} {revision}` for each acknowledged write. Texts are derived from their note and
version, so that the checks can tell whether a text is complete.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nur.adapters.sql.sqlite.files import FILE
from nur.adapters.sql.sqlite.stores import SqliteStores
from nur.domain.chunks import sha256
from nur.domain.notes import Note, Status
from nur.ports.clock import SystemClock
from tests.store_notes import EMBEDDING, a_note, at, chunks_of, creation, description, replacement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.ports.notes import NoteWrite

ROOT = Path(__file__).parent.parent
WRITERS = 4
PIECES = 5
OPENING = "opening"


def text_of(public_id: str, version: int) -> str:
    """The text of a version, with enough words for every chunk."""
    return " ".join(f"{public_id} v{version} word{place}" for place in range(PIECES * 4))


async def _write_forever(stores: SqliteStores, numbers: Iterator[int]) -> None:
    async def keep(write: NoteWrite) -> Note:
        await stores.notes.write(write, at())
        return _acknowledge(write.note)

    for number in numbers:
        public_id = f"mem_{number}"
        text = text_of(public_id, 1)
        note = await keep(creation(a_note(text, pieces=PIECES, public_id=public_id), text))
        if number % 2:
            note = await keep(replacement(note, text_of(public_id, 2), PIECES))
        if number % 3 == 0:
            note = await keep(description(note, title=f"Title {number}"))
        if number % 5 == 0:
            _acknowledge(await stores.notes.remove(note, at(), action="delete", indexed=False))


def _acknowledge(note: Note) -> Note:
    print(note.public_id, note.revision, flush=True)
    return note


async def _main(folder: Path, first: int) -> None:
    print(OPENING, flush=True)
    stores = SqliteStores(folder)
    await stores.open(SystemClock().now())
    numbers = iter(range(first, first + 1_000_000))
    await asyncio.gather(*(_write_forever(stores, numbers) for _ in range(WRITERS)))


class LeftStore:
    """The store that a writer left behind."""

    def __init__(self, folder: Path) -> None:
        self.stores = SqliteStores(folder)
        self._address = f"{(folder / FILE).absolute().as_uri()}?mode=ro"

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Query the file over a separate connection."""
        with closing(sqlite3.connect(self._address, uri=True)) as connection:
            return connection.execute(query, values).fetchall()


@dataclass(slots=True)
class KilledWriter:
    """Runs writers on a folder, kills them, and checks the store."""

    folder: Path
    seed: int
    acknowledged: dict[str, int] = field(default_factory=dict)  #: revision by public id
    rounds: int = 0

    async def survive(self, rounds: int) -> None:
        """Kill one writer per round, every fourth while it opens the store; then check everything."""
        moments = random.Random(self.seed)
        for number in range(rounds):
            self.rounds += 1
            acknowledgements = 0 if number % 4 == 3 else moments.randrange(1, 40)
            self._run_and_kill(acknowledgements, moments.uniform(0.0, 0.1))
            await self._look()

    def _run_and_kill(self, acknowledgements: int, later_seconds: float) -> None:
        """Send SIGKILL shortly after this many acknowledgements."""
        command = [sys.executable, "-m", "tests.killed_writer", str(self.folder), str(self.rounds * 1_000_000)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline().strip() == OPENING
            for _ in range(acknowledgements):
                self._hear(child.stdout.readline())
            try:
                child.wait(later_seconds)
            except subprocess.TimeoutExpired:
                child.kill()
            else:
                raise AssertionError("the writer ended by itself")
            for line in child.stdout:  # lines printed before the kill count too, except an incomplete one
                if line.endswith("\n"):
                    self._hear(line)

    def _hear(self, line: str) -> None:
        public_id, revision = line.split()
        self.acknowledged[public_id] = int(revision)

    async def _look(self) -> None:
        store = LeftStore(self.folder)
        await store.stores.open(SystemClock().now())
        try:
            notes = self._notes(store)
            for public_id, revision in self.acknowledged.items():
                assert notes.get(public_id, 0) >= revision, f"{public_id} was acknowledged at revision {revision}"
            for public_id in notes:
                await self._check(store, public_id)
            _check_the_file(store)
        finally:
            await store.stores.close()

    def _notes(self, store: LeftStore) -> dict[str, int]:
        return dict(store.rows("SELECT public_id, revision FROM memory_notes"))

    async def _check(self, store: LeftStore, public_id: str) -> None:
        """Check that the note is complete, without missing or leftover rows."""
        note = await store.stores.notes.get("default", public_id)
        assert note is not None
        text = text_of(public_id, note.version)
        assert note.content_hash == sha256(text)
        assert await store.stores.notes.texts([note.note_id]) == {note.note_id: text}
        previous = dict(store.rows("SELECT version, text FROM note_versions WHERE note_id = ?", note.note_id.hex))
        assert previous == {version: text_of(public_id, version) for version in range(1, note.version)}

        expected = chunks_of(text, note.chunk_count) if note.status is Status.ACTIVE else []
        chunks = await store.stores.chunks.of_note(note.note_id)
        keys = [stored.chunk_key for stored in chunks]
        assert [stored.chunk for stored in chunks] == [new.chunk for new in expected]
        vectors = await store.stores.vectors.of_chunks(keys, EMBEDDING)
        assert [vectors[key].tobytes() for key in keys] == [
            new.vector.tobytes() for new in expected if new.vector is not None
        ]
        rows = [store.rows("SELECT terms FROM piece_terms WHERE rowid >> 24 = ? ORDER BY rowid", key) for key in keys]
        assert rows == [[(terms,) for terms in new.terms] for new in expected]
        pooled = await store.stores.vectors.of_notes([note.note_id], EMBEDDING)
        assert bool(pooled) == bool(expected)

        audit = store.rows("SELECT revision FROM audit_log WHERE public_id = ? ORDER BY audit_id", public_id)
        assert audit == [(revision,) for revision in range(1, note.revision + 1)]
        open_jobs = store.rows("SELECT revision, state FROM indexing_outbox WHERE note_id = ?", note.note_id.hex)
        assert open_jobs == [(note.revision, "pending")]


def _check_the_file(store: LeftStore) -> None:
    """Check that counts agree and that SQLite reports no damage."""
    ((chunks, terms),) = store.rows("SELECT count(*), coalesce(sum(term_count), 0) FROM memory_note_chunks")
    assert store.rows("SELECT sum(chunks), sum(terms) FROM lexical_totals") == [(chunks, terms)]
    assert store.rows("SELECT sum(pieces) FROM lexical_totals") == store.rows("SELECT count(*) FROM piece_terms")
    for table in ("chunk_pieces", "note_chunk_embeddings"):
        assert store.rows(f"SELECT count(*) FROM {table}") == [(chunks,)]
    assert store.rows("PRAGMA integrity_check") == [("ok",)]
    assert store.rows("PRAGMA foreign_key_check") == []


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), int(sys.argv[2])))
