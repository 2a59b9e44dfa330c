"""Kills an import repeatedly: no note may be partly stored, and the last run must complete the store."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from nur.adapters.sql.sqlite.files import FILE
from nur.adapters.sql.sqlite.integrity import thorough_check
from nur.domain.archive import ArchivedNote, NoteVersion
from nur.domain.chunks import sha256
from nur.domain.notes import Kind, NoteId, Status
from nur.domain.records import encode, end, header
from tests.cli import Cli
from tests.servers.nur_server import clean_environment
from tests.store_notes import START, a_note

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE_SECONDS = 90.0


def an_export(notes: int) -> bytes:
    """Notes with previous texts, every fifth of them in the trash."""
    return header() + b"".join(encode(_archived(number)) for number in range(notes)) + end(notes)


def _archived(number: int) -> ArchivedNote:
    text = f"Note {number}: " + "the lamp in the hall. " * (number % 40 + 1)
    old = f"Note {number} as it was."
    gone: dict[str, Any] = {"status": Status.DELETED, "deleted_at": START} if number % 5 == 4 else {}
    note = a_note(
        text, kind=Kind.NOTE, public_id=f"note_{number:012x}", version=2, revision=3, **gone, occurred_at=START
    )
    version = NoteVersion(version=1, content_hash=sha256(old), title=None, replaced_at=START, text=old)
    return ArchivedNote(replace(note, note_id=NoteId(UUID(int=number + 1))), text, (version,))


@dataclass
class KilledImport:
    """Imports the same file into one folder, and is killed after some notes each time."""

    folder: Path
    file: Path
    seed: int

    def survive(self, notes: int, rounds: int) -> None:
        """Kill one import per round and check the store; then let the last one finish."""
        whole, moments = an_export(notes), random.Random(self.seed)
        self.file.write_bytes(whole)
        for number in range(rounds):
            self._run_and_kill(self._count() + moments.randrange(notes // (rounds + 1)))
            thorough_check(self.folder / FILE)
            self._check_each_note()
            assert self._count() >= number
        cli = Cli(self.folder)
        report = cli.json("import", str(self.file))
        assert report["failed"] == 0
        assert report["created"] + report["unchanged"] == notes
        assert cli("export").encode() == whole

    def _run_and_kill(self, notes: int) -> None:
        """Send SIGKILL as soon as more than this many notes are stored."""
        command = [sys.executable, "-m", "nur", "import", str(self.file)]
        with subprocess.Popen(command, env=clean_environment(self.folder), stdout=subprocess.DEVNULL) as child:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while self._count() <= notes:
                assert child.poll() is None, "the import ended before it was killed"
                assert time.monotonic() < deadline
                time.sleep(0.002)
            child.kill()

    def _count(self) -> int:
        return int(self._rows("SELECT count(*) FROM memory_notes")[0][0])

    def _check_each_note(self) -> None:
        """Every stored note has its previous text and, unless it is in the trash, its chunks and lexical rows."""
        no_version = "LEFT JOIN note_versions v USING (note_id) WHERE v.version IS NULL"
        assert self._rows(f"SELECT public_id FROM memory_notes {no_version}") == []
        chunks = "(SELECT count(*) FROM memory_note_chunks c WHERE c.note_id = n.note_id)"
        other_chunks = f"(status = 'active') != (n.chunk_count = {chunks})"
        assert self._rows(f"SELECT public_id FROM memory_notes n WHERE {other_chunks}") == []

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        address = f"{(self.folder / FILE).absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=30)) as connection:
            return connection.execute(query).fetchall()
