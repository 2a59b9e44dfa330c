"""One process owns a data folder."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from nur.adapters.sql.folder import DataFolder
from nur.adapters.sql.sqlite.files import FILE
from nur.adapters.sql.sqlite.stores import SqliteStores
from nur.domain.errors import BadConfiguration, DataFolderInUse
from tests.store_notes import START

if TYPE_CHECKING:
    from pathlib import Path

OWNER = """
import sys
from pathlib import Path
from nur.adapters.sql.folder import DataFolder

folder = DataFolder(Path(sys.argv[1]))
folder.acquire()
print("owned", flush=True)
sys.stdin.read()
"""


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_second_handle_is_told_who_owns_the_folder(tmp_path: Path) -> None:
    owner = DataFolder(tmp_path / "data")
    owner.acquire()

    with pytest.raises(DataFolderInUse, match=rf"{tmp_path}/data is in use by process {os.getpid()}\."):
        DataFolder(tmp_path / "data").acquire()

    owner.release()
    owner.acquire()
    owner.release()


async def test_a_second_store_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    first, second = (SqliteStores(tmp_path) for _ in range(2))
    await first.open(START)

    with pytest.raises(DataFolderInUse):
        await second.open(START)
    await second.close()

    assert await first.facts.set_if_absent("a", "s") == "s"
    await first.close()


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == "owned\n"
        with pytest.raises(DataFolderInUse, match=f"process {child.pid}"):
            DataFolder(tmp_path).acquire()
        child.kill()
        child.wait()

    folder = DataFolder(tmp_path)
    folder.acquire()  # what is left in the lock file is information only
    folder.release()


def test_a_deleted_lock_file_makes_no_second_owner(tmp_path: Path) -> None:
    owner = DataFolder(tmp_path)
    owner.acquire()
    (tmp_path / "lock").unlink()

    with pytest.raises(DataFolderInUse):
        DataFolder(tmp_path).acquire()

    owner.release()


async def test_nobody_else_can_read_what_is_stored(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    stores = SqliteStores(folder)
    await stores.open(START)
    await stores.facts.set("a", "b")

    assert mode_of(folder) == 0o700
    assert {path.name: mode_of(path) for path in folder.iterdir()} == dict.fromkeys(
        [FILE, f"{FILE}-shm", f"{FILE}-wal", "lock", "nur.id"], 0o600
    )
    await stores.close()


@pytest.mark.parametrize("name", ["a b", "what?", "c#", "100%41", "é@host:1", "a;b&mode=memory"])
async def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    for expected in (None, "kept"):
        stores = SqliteStores(tmp_path / name)
        await stores.open(START)
        assert await stores.facts.get("a") == expected
        await stores.facts.set("a", "kept")
        await stores.close()

    assert sorted(path.name for path in (tmp_path / name).iterdir()) == ["lock", FILE, "nur.id"]


def test_a_folder_that_cannot_be_made_is_a_matter_of_configuration(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadConfiguration, match="NUR_DATA_DIR: cannot write to"):
        DataFolder(tmp_path / "file" / "data").acquire()
