"""A process that dies between storing a note and deriving its rows leaves the job to the next one."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from nur.adapters.sql.sqlite.files import FILE
from nur.adapters.sql.sqlite.stores import SqliteStores
from nur.ports.clock import SystemClock
from tests.servers.nur_server import NurProcess
from tests.store_notes import a_note, at, creation

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
COMMITTED = "committed"
TEXT = "The green lamp in the long hall burns all night."
PATIENCE_SECONDS = 120.0


async def _store_without_deriving(folder: Path) -> None:
    stores = SqliteStores(folder)
    await stores.open(SystemClock().now())
    await stores.notes.write(replace(creation(a_note(TEXT), TEXT, embedded=False), is_derived=False), at())
    print(COMMITTED, flush=True)
    await asyncio.sleep(PATIENCE_SECONDS)  # until it is killed


def rows(folder: Path) -> list[tuple[int, int, int]]:
    """Of each derived note: its revision, that of what is derived, and how many bands there are."""
    query = (
        "SELECT memory_notes.revision, derivations.revision, count(*) FROM memory_notes"
        " JOIN derivations USING (note_id) JOIN fingerprint_bands USING (derivation_id) GROUP BY note_id"
    )
    with closing(sqlite3.connect(folder / FILE)) as connection:
        return connection.execute(query).fetchall()


def wait_until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_the_next_process_derives_what_the_killed_one_did_not(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with NurProcess(folder):
        pass  # the store is complete and closed
    command = [sys.executable, "-m", "tests.integration.test_kill_before_derive", str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == COMMITTED
        child.kill()
    assert rows(folder) == []

    with NurProcess(folder) as server, httpx2.Client(base_url=server.url, timeout=30) as client:
        wait_until(lambda: client.get("/v2/admin/outbox").json()["pending"] == 0)
        assert client.get("/v2/admin/outbox").json()["dead"] == 0
        assert rows(folder) == [(1, 1, 4)]


if __name__ == "__main__":
    asyncio.run(_store_without_deriving(Path(sys.argv[1])))
