"""Damage in the store's file is told: at the start, in health, by reads and by nur doctor."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

import httpx2
import pytest

from nur.entrypoints.cli.app import run
from tests.servers.nur_server import NurProcess, clean_environment

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE_SECONDS = 60.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with one memory in it."""
    made = tmp_path / "kept"
    assert run(["remember", "The lamp is in the hall.", "--data-dir", str(made)]) == 0
    return made


def zero_a_page(folder: Path) -> None:
    """Lose a page that neither the start nor a search reads."""
    file = folder / "nur.db"
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as database:
        page = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'memory_hits'").fetchone()[0]
        size = database.execute("PRAGMA page_size").fetchone()[0]
    with file.open("r+b") as pages:
        pages.seek((page - 1) * size)
        pages.write(bytes(size))


def change_text(folder: Path, replacement: bytes) -> None:
    """Change bytes of the stored text behind the store's back."""
    file = folder / "nur.db"
    before = file.read_bytes()
    assert b"The lamp" in before
    file.write_bytes(before.replace(b"The lamp", replacement))


def test_a_lost_page_makes_a_running_server_unhealthy(folder: Path) -> None:
    zero_a_page(folder)
    with NurProcess(folder) as server:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (health := httpx2.get(f"{server.url}/health")).status_code == 200 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert health.json()["checks"]["store"]["code"] == "store_unusable"
        ready = httpx2.get(f"{server.url}/readyz")
        assert (ready.status_code, "damaged" in ready.text) == (503, True)
        assert '"level": "CRITICAL"' in server.log.read_text()


def test_a_lost_page_stops_the_start_after_an_unclean_end(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = NurProcess(folder)
    server.start()
    httpx2.post(f"{server.url}/v2/notes", json={"text": "In the log."}).raise_for_status()
    server.kill()
    zero_a_page(folder)
    log = (folder / "nur.db-wal").read_bytes()
    assert run(["list", "--data-dir", str(folder)]) == 4
    assert "is damaged. Restore a backup" in capsys.readouterr().err
    assert (folder / "nur.db-wal").read_bytes() == log


def test_a_text_that_cannot_be_read_is_no_reason_to_try_again(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "nur.db")) as database:
        database.execute("UPDATE memory_notes SET text = CAST(x'54ff20fe' AS TEXT)")  # not UTF-8
        (name,) = database.execute("SELECT public_id FROM memory_notes").fetchone()
        database.commit()
    with NurProcess(folder) as server:
        answer = httpx2.get(f"{server.url}/v2/notes/{name}")
        assert (answer.json()["code"], answer.json()["retryable"]) == ("store_unusable", False)
        assert (httpx2.get(f"{server.url}/health").status_code, httpx2.get(f"{server.url}/readyz").status_code) == (
            503,
            503,
        )


def test_a_text_that_is_not_the_stored_one_is_not_shown_as_if_it_were(folder: Path) -> None:
    change_text(folder, b"The lump")
    with NurProcess(folder) as server:
        (note,) = httpx2.get(f"{server.url}/v2/notes").json()["notes"]
        answer = httpx2.get(f"{server.url}/v2/notes/{note['note_id']}")
    assert (answer.status_code, answer.json()["code"]) == (500, "store_unusable")
    assert "does not match its hash" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (zero_a_page, "nur.db"),
        (lambda folder: change_text(folder, b"The lump"), "is not the text that was stored"),
        (lambda folder: change_text(folder, b"The \xff\xfe\xfd\xfc"), "cannot be read"),
    ],
)
def test_doctor_finds_any_damage(folder: Path, damage: object, says: str) -> None:
    assert integrity_of(folder)["result"] == "ok"
    assert callable(damage)
    damage(folder)
    found = integrity_of(folder)
    assert found["result"] == "failed"
    assert says in found["detail"]


def integrity_of(folder: Path) -> dict[str, str]:
    """What `nur doctor` says about the store."""
    left = subprocess.run(
        [sys.executable, "-m", "nur", "doctor", "--json"],
        env=clean_environment(folder),
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    (found,) = [check for check in json.loads(left.stdout)["checks"] if check["check"] == "integrity"]
    return dict(found)
