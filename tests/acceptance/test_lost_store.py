"""A store whose files are lost, moved, replaced or damaged is never taken for a new or a sound one."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from contextlib import closing
from typing import TYPE_CHECKING

import httpx2
import pytest

from nur.entrypoints.cli.app import run
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MARKER = "nur.id"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with one memory in it."""
    made = tmp_path / "kept"
    assert run(["remember", "The lamp is in the hall.", "--data-dir", str(made)]) == 0
    return made


def copied(source: Path, target: Path) -> Path:
    """Another store, made from a copy of the test's empty one."""
    target.mkdir()
    shutil.copy(source / "nur.db", target / "nur.db")
    assert run(["remember", "Another store.", "--data-dir", str(target)]) == 0
    return target


def leave_log(folder: Path) -> bytes:
    """End a server without letting it fold its log into the file; returns the log."""
    server = NurProcess(folder)
    server.start()
    try:
        httpx2.post(f"{server.url}/v2/notes", json={"text": "In the log alone."}).raise_for_status()
    finally:
        server.kill()
    return (folder / "nur.db-wal").read_bytes()


def delete(folder: Path) -> None:
    (folder / "nur.db").unlink()


def empty(folder: Path) -> None:
    (folder / "nur.db").write_bytes(b"")


def put_empty_database(folder: Path) -> None:
    (folder / "nur.db").unlink()
    with closing(sqlite3.connect(folder / "nur.db")) as database:
        database.execute("PRAGMA user_version = 1")


@pytest.mark.parametrize("lose", [delete, empty, put_empty_database])
def test_a_lost_store_is_not_a_new_one(
    folder: Path, lose: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    kept = (folder / "nur.db").read_bytes()
    lose(folder)
    assert run(["list", "--data-dir", str(folder)]) == 4
    told = capsys.readouterr().err
    assert "Restore a backup" in told
    assert str(folder / MARKER) in told

    (folder / "nur.db").write_bytes(kept)  # the backup
    assert run(["list", "--data-dir", str(folder)]) == 0
    assert "lamp" in capsys.readouterr().out


def test_deleting_the_marker_starts_a_new_store(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    delete(folder)
    (folder / MARKER).unlink()
    capsys.readouterr()
    assert run(["list", "--json", "--data-dir", str(folder)]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_a_store_from_before_the_marker_gets_one(folder: Path) -> None:
    marked = (folder / MARKER).read_text()
    (folder / MARKER).unlink()
    assert run(["list", "--data-dir", str(folder)]) == 0
    assert (folder / MARKER).read_text() == marked
    assert stat.S_IMODE((folder / MARKER).stat().st_mode) == 0o600


def test_a_log_without_its_file_is_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = leave_log(folder)
    moved = (folder / "nur.db").rename(folder.parent / "nur.db")
    (folder / MARKER).unlink()  # the log alone must be enough
    assert run(["list", "--data-dir", str(folder)]) == 4
    assert "nur.db-wal holds writes" in capsys.readouterr().err
    assert (folder / "nur.db-wal").read_bytes() == kept

    moved.rename(folder / "nur.db")
    assert run(["list", "--data-dir", str(folder)]) == 0
    assert "In the log alone." in capsys.readouterr().out


def test_another_store_in_its_place_is_refused_and_can_be_accepted(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = copied(tmp_path / "data", tmp_path / "other")
    kept = leave_log(folder)
    shutil.copy(other / "nur.db", folder / "nur.db")
    assert run(["list", "--data-dir", str(folder)]) == 4
    assert f"delete {folder / MARKER}" in capsys.readouterr().err
    assert (folder / "nur.db-wal").read_bytes() == kept

    for name in (MARKER, "nur.db-wal", "nur.db-shm"):
        (folder / name).unlink()
    assert run(["list", "--data-dir", str(folder)]) == 0
    assert "Another store." in capsys.readouterr().out


@pytest.mark.parametrize("link", ["hardlink_to", "symlink_to"])
def test_a_second_name_for_the_file_makes_no_second_owner(
    folder: Path, tmp_path: Path, link: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "second").mkdir()
    getattr(tmp_path / "second" / "nur.db", link)(folder / "nur.db")
    assert run(["list", "--data-dir", str(tmp_path / "second")]) == 2
    assert "two servers could write to it" in capsys.readouterr().err


@pytest.fixture
def server(folder: Path) -> Iterator[NurProcess]:
    with NurProcess(folder) as running:
        yield running


def replace(folder: Path) -> None:
    shutil.copy(folder / "nur.db", folder / "copy.db")
    (folder / "copy.db").rename(folder / "nur.db")


def move_folder(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))


def delete_log(folder: Path) -> None:
    (folder / "nur.db-wal").unlink()


@pytest.mark.parametrize("lose", [delete, replace, move_folder, delete_log])
def test_files_lost_while_running_are_noticed_before_the_next_answer(
    server: NurProcess, lose: Callable[[Path], None]
) -> None:
    url = server.url
    lose(server.folder)
    refused = httpx2.post(f"{url}/v2/notes", json={"text": "Not kept."})
    assert (refused.status_code, refused.json()["code"], refused.json()["retryable"]) == (500, "store_unusable", False)
    assert "was deleted, moved or replaced while the server ran" in refused.json()["detail"]
    assert str(server.folder) not in refused.text + httpx2.get(f"{url}/readyz").text  # asked without a token
    assert (httpx2.get(f"{url}/health").status_code, httpx2.get(f"{url}/readyz").status_code) == (503, 503)
    assert httpx2.post(f"{url}/v2/searches", json={"query": "lamp"}).json()["kept"] is False
    lines = [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]
    assert [line["error"] for line in lines if line["level"] == "CRITICAL"] == ["store_unusable"]
    assert server.stop() == 0


def test_files_put_back_are_taken_on_again(server: NurProcess) -> None:
    url = server.url
    move_folder(server.folder)
    assert httpx2.get(f"{url}/readyz").status_code == 503
    assert httpx2.post(f"{url}/v2/notes", json={"text": "Not kept."}).status_code == 500
    server.folder.with_name("moved").rename(server.folder)
    assert httpx2.get(f"{url}/readyz").status_code == 200
    assert httpx2.post(f"{url}/v2/notes", json={"text": "Kept."}).status_code == 201
