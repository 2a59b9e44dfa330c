"""The wheel in an environment of its own, as a user installs it."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from typing import TYPE_CHECKING

import pytest

from tests.dist.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(1800)

MAX_INSTALL_MIB = 150
#: What `python -m venv` puts there itself.
NOT_OURS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
PROGRAMS = "Scripts" if sys.platform == "win32" else "bin"


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel. Nothing is compiled: neither packages from source nor bytecode."""
    folder = tmp_path_factory.mktemp("install") / "venv"
    venv.create(folder, with_pip=True)
    command = [str(folder / PROGRAMS / "python"), "-m", "pip", "install", "--quiet", "--no-compile"]
    command += ["--only-binary=:all:", "-c", str(ROOT / "requirements/run.txt"), str(wheel)]
    subprocess.run(command, check=True)
    return folder


def run(environment: Path, *arguments: str, data: Path) -> subprocess.CompletedProcess[str]:
    command = [str(environment / PROGRAMS / arguments[0]), *arguments[1:]]
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "PATH", "SYSTEMROOT")}
    variables = {**kept, "NUR_DATA_DIR": str(data), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, env=variables, cwd=data, capture_output=True, text=True, check=False)


def test_an_install_is_small(environment: Path) -> None:
    (packages,) = [path for path in environment.rglob("site-packages") if path.is_dir()]
    ours = [path for path in packages.iterdir() if not path.name.startswith(NOT_OURS)]
    files = [file for path in ours for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()]
    used = sum(file.stat().st_blocks * 512 for file in files)
    assert used / 2**20 <= MAX_INSTALL_MIB


@pytest.mark.parametrize("name", ["nur", "nur-memory"])
def test_both_names_run(environment: Path, tmp_path: Path, name: str) -> None:
    shown = run(environment, name, "--version", data=tmp_path)
    assert (shown.returncode, shown.stdout.split()[-1]) == (0, "2.0.0"), shown.stderr
    alone = run(environment, name, data=tmp_path)
    assert alone.returncode == 0, alone.stderr
    assert f"  {name} serve " in alone.stdout


def test_what_is_stored_is_found_by_other_words(environment: Path, tmp_path: Path) -> None:
    stored = run(environment, "nur", "remember", "Anna's train to Vienna leaves on Friday at 07:40.", data=tmp_path)
    assert stored.returncode == 0, stored.stderr
    run(environment, "nur", "remember", "The invoices of the garden project are due in May.", data=tmp_path)
    found = run(environment, "nur", "search", "when does she travel by rail?", "--limit", "1", data=tmp_path)
    assert "07:40" in found.stdout, found.stderr
