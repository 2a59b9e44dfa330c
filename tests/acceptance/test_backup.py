"""nur backup and nur restore: under load, encrypted, damaged, and every night."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Self

import httpx2
import pytest

from nur.adapters.sql.sqlite.files import FILE, MARKER
from nur.entrypoints.cli.app import run
from tests.cli import Cli
from tests.empty_store import copy_store
from tests.servers.nur_server import NurProcess, clean_environment

PATIENCE_SECONDS = 90.0


class Load:
    """Clients that write until told to stop, and what was acknowledged."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._write, args=(place,)) for place in range(3)]
        self.acknowledged: list[str] = []

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, notes: int) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(self.acknowledged) < notes:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def _write(self, place: int) -> None:
        number = 0
        with httpx2.Client(base_url=self._url, timeout=60) as client:
            while not self._stop.is_set():
                number += 1
                text = f"Client {place} wrote note {number}: {'the lamp in the hall. ' * (number % 50)}"
                note = client.post("/v2/notes", json={"text": text, "key": f"{place} {number % 40}"}).json()
                self.acknowledged.append(note["note_id"])


def in_a_process(*arguments: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nur", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment(folder, **settings),
    )


def test_a_backup_under_load_restores_to_a_store_that_passes_doctor(tmp_path: Path) -> None:
    file = tmp_path / "b.tar.gz"
    with NurProcess(tmp_path / "data") as server, Load(server.url) as load:
        load.wait_for(30)
        before = set(load.acknowledged)
        written = len(load.acknowledged)
        made = in_a_process("backup", "--output", str(file), folder=server.folder)
        assert made.returncode == 0, made.stderr
        assert "verified" in made.stdout
        load.wait_for(written + 30)  # writers were not held up for good
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []

    new = tmp_path / "new"
    restored = in_a_process("restore", str(file), folder=new)
    assert restored.returncode == 0, restored.stderr
    stored = {note["note_id"] for note in Cli(new).json("list", "--limit", "10000")}
    assert before <= stored
    with NurProcess(new):
        checked = in_a_process("doctor", "--json", folder=new)
        assert checked.returncode == 0, checked.stdout


@pytest.fixture
def filled(tmp_path: Path) -> Cli:
    cli = Cli(tmp_path / "data")
    cli("remember", "Prefers tea to coffee.", "--type", "preference")
    cli("forget", cli.json("remember", "Wrong.", "--kind", "note")["note_id"])
    return cli


def test_a_backup_brings_back_what_was_there_and_keeps_what_it_replaces(filled: Cli, tmp_path: Path) -> None:
    before = filled("export")
    made = filled.json("backup", "--output", str(tmp_path))
    assert (made["notes"], made["encrypted"]) == (2, False)
    later = filled.json("remember", "Said after the backup.")
    assert "is valid: 2 notes" in filled("restore", made["file"], "--check")
    assert later["note_id"] in filled("list")

    told = filled("restore", made["file"], "--yes")
    assert "2 notes restored" in told
    assert filled("export") == before
    assert "tea" in filled("search", "what does she prefer, tea?", "--mode", "dense")
    (aside,) = filled.folder.glob("before-restore-*")
    assert later["note_id"] in Cli(aside)("list")
    assert aside.stat().st_mode & 0o777 == 0o700


def test_a_passphrase_keeps_others_out(
    filled: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = filled("export")
    monkeypatch.setenv("BACKUP_PASSPHRASE", "open sesame")
    made = filled.json("backup", "--output", str(tmp_path))
    assert made["encrypted"]
    assert made["file"].endswith(".tar.gz.enc")
    assert b"tea" not in Path(made["file"]).read_bytes()
    monkeypatch.delenv("BACKUP_PASSPHRASE")
    assert run(["restore", made["file"], "--data-dir", str(tmp_path / "new")]) == 2
    assert "is encrypted" in capsys.readouterr().err
    monkeypatch.setenv("BACKUP_PASSPHRASE", "open barley")
    assert run(["restore", made["file"], "--data-dir", str(tmp_path / "new")]) == 2
    assert "The passphrase is wrong" in capsys.readouterr().err
    assert not (tmp_path / "new" / FILE).exists()
    monkeypatch.setenv("BACKUP_PASSPHRASE", "open sesame")
    new = Cli(tmp_path / "new")
    new("restore", made["file"])
    assert new("export") == before


def test_a_damaged_backup_replaces_nothing(filled: Cli, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "b.tar.gz"
    filled("backup", "--output", str(file))
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    before = filled("export")
    assert run(["restore", str(file), "--yes", "--data-dir", str(filled.folder)]) == 4
    assert "damaged" in capsys.readouterr().err
    assert filled("export") == before
    assert sorted(path.name for path in filled.folder.iterdir() if "restore" in path.name) == []


def test_another_stores_backup_is_refused_unless_that_is_meant(
    filled: Cli, empty_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "b.tar.gz"
    filled("backup", "--output", str(file))
    other = Cli(copy_store(empty_store, tmp_path / "other"))
    other("remember", "Another store.")
    assert run(["restore", str(file), "--yes", "--data-dir", str(other.folder)]) == 4
    assert "--other-store" in capsys.readouterr().err
    assert "Another store." in other("list")
    other("restore", str(file), "--yes", "--other-store")
    assert other("export") == filled("export")
    assert (other.folder / MARKER).read_text() == (filled.folder / MARKER).read_text()


def test_a_running_servers_store_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "b.tar.gz"
    with NurProcess(tmp_path / "data") as server:
        Cli(server.folder)("remember", "Prefers tea.")
        Cli(server.folder)("backup", "--output", str(file))
        assert run(["restore", str(file), "--yes", "--data-dir", str(server.folder)]) == 3
        assert "is in use by process" in capsys.readouterr().err
        assert "Prefers tea." in Cli(server.folder)("list")


def test_what_is_not_there_exits_5(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["backup", "--output", str(tmp_path), "--data-dir", str(tmp_path / "none")]) == 5
    assert run(["restore", str(tmp_path / "none.tar.gz")]) == 5
    assert not (tmp_path / "none").exists()
    assert "There is no store" in capsys.readouterr().err


def test_a_server_backs_itself_up_and_says_when_it_cannot(tmp_path: Path) -> None:
    backups = tmp_path / "backups"
    with NurProcess(tmp_path / "data", BACKUP_DIR=str(backups), BACKUP_KEEP="2") as server:
        check = _backup_check(server, "last_at")
        assert check["status"] == "healthy"
    (made,) = backups.iterdir()
    assert "is valid" in Cli(server.folder)("restore", str(made), "--check")

    (tmp_path / "file").write_text("not a folder")
    with NurProcess(tmp_path / "data", BACKUP_DIR=str(tmp_path / "file" / "backups")) as server:
        check = _backup_check(server, "error")
        assert check["status"] == "unhealthy"
        health = httpx2.get(f"{server.url}/health")
        assert (health.status_code, health.json()["status"]) == (200, "degraded")
        events = [json.loads(line)["event"] for line in server.log.read_text().splitlines() if line.startswith("{")]
        assert "backup_failed" in events


def _backup_check(server: NurProcess, field: str) -> Any:
    """The check, once it has this field."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        check = httpx2.get(f"{server.url}/health").json()["checks"]["backup"]
        if check.get(field):
            return check
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("arguments", [("backup",), ("restore", "file.nurbackup", "--yes")])
def test_a_store_in_postgresql_is_left_to_its_own_tools(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://nur@localhost/nur")
    assert run(list(arguments)) == 2
    assert "pg_dump" in capsys.readouterr().err
