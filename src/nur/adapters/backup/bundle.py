"""The backup file format: a gzipped tar of a manifest and the files it lists with size and SHA-256."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
import zlib
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import IO, TYPE_CHECKING, Any

from nur.adapters.backup.encryption import DecryptingReader, EncryptingWriter, is_encrypted
from nur.domain.errors import BadRequest, StoreDamaged, StoreNewer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FORMAT = "nur-backup"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
#: gzip level. Text shrinks to a third; a higher level takes twice as long to save another tenth.
COMPRESSION = 3
MAX_MANIFEST_BYTES = 1024 * 1024
_PIECE_BYTES = 1024 * 1024
_FORMAT_ERRORS = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, ValueError, KeyError, TypeError)


@dataclass(frozen=True, slots=True)
class BundledFile:
    """Size and hash of one file in a bundle."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Contents of a backup."""

    created_at: str
    program: str  #: version of Nur that wrote it
    schema: str
    store_id: str
    notes: int
    files: dict[str, BundledFile]


def describe_file(path: Path) -> BundledFile:
    """Size and hash of a file."""
    with path.open("rb") as file:
        return BundledFile(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def write(
    target: Path, manifest: Manifest, folder: Path, passphrase: str | None, progress: Callable[[int], None]
) -> None:
    """Write the manifest and its files from the folder. `progress` is called with the number of bytes just read."""
    with ExitStack() as stack:
        file = stack.enter_context(open(target, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)))
        raw: Any = file if passphrase is None else stack.enter_context(EncryptingWriter(file, passphrase))
        zipped = stack.enter_context(gzip.GzipFile("", "wb", COMPRESSION, raw))
        tar = stack.enter_context(tarfile.open(fileobj=zipped, mode="w|", format=tarfile.PAX_FORMAT))
        _add(tar, MANIFEST, io.BytesIO(_encoded(manifest)), len(_encoded(manifest)))
        for name, entry in manifest.files.items():
            with (folder / name).open("rb") as content:
                _add(tar, name, _ProgressReader(content, progress), entry.bytes)
    with target.open("rb") as written:
        os.fsync(written.fileno())


def read(path: Path, passphrase: str | None, folder: Path | None, progress: Callable[[int], None]) -> Manifest:
    """Read the whole bundle and verify every hash. Files are extracted to the folder, if one is given.

    Raises StoreDamaged, StoreNewer, BadRequest.
    """
    try:
        with _unpacked(path, passphrase) as tar:
            manifest = _decoded(_manifest_bytes(tar))
            missing = dict(manifest.files)
            while (member := tar.next()) is not None:
                expected = missing.pop(member.name)
                actual = _copy(tar, member, None if folder is None else folder / member.name, progress)
                if actual != expected:
                    raise StoreDamaged(f"The backup is damaged: {member.name} has changed since it was written.")
    except _FORMAT_ERRORS as error:
        raise StoreDamaged(f"{path} is not a Nur backup, or it is damaged ({type(error).__name__}).") from error
    if missing:
        raise StoreDamaged(f"The backup is damaged: {min(missing)} is missing.")
    return manifest


class _ProgressReader(io.RawIOBase):
    """A file that reports how many bytes were read."""

    def __init__(self, file: IO[bytes], progress: Callable[[int], None]) -> None:
        self._file, self._progress = file, progress

    def read(self, size: int = -1, /) -> bytes:
        piece = self._file.read(size)
        self._progress(len(piece))
        return piece


def _add(tar: tarfile.TarFile, name: str, content: Any, size: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    tar.addfile(member, content)


@contextmanager
def _unpacked(path: Path, passphrase: str | None) -> Iterator[tarfile.TarFile]:
    with ExitStack() as stack:
        file = stack.enter_context(path.open("rb"))
        raw: Any = file
        if is_encrypted(file):
            if passphrase is None:
                raise BadRequest(f"{path} is encrypted: give its passphrase (--ask-passphrase or BACKUP_PASSPHRASE).")
            raw = io.BufferedReader(DecryptingReader(file, passphrase), _PIECE_BYTES)
        zipped = stack.enter_context(gzip.GzipFile(fileobj=raw, mode="rb"))
        yield stack.enter_context(tarfile.open(fileobj=zipped, mode="r|"))


def _manifest_bytes(tar: tarfile.TarFile) -> bytes:
    member = tar.next()
    content = tar.extractfile(member) if member is not None and member.name == MANIFEST else None
    if content is None:
        raise ValueError("no manifest")
    return content.read(MAX_MANIFEST_BYTES)


def _copy(
    tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path | None, progress: Callable[[int], None]
) -> BundledFile:
    """Read a member, and write it to the new file `target` unless that is None. Returns its size and hash."""
    content, size, digest = tar.extractfile(member), 0, hashlib.sha256()
    if content is None:
        raise ValueError("not a file")
    with ExitStack() as stack:
        file: IO[bytes] | None = None
        if target is not None:
            file = stack.enter_context(open(target, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)))
        while piece := content.read(_PIECE_BYTES):
            size += len(piece)
            digest.update(piece)
            progress(len(piece))
            if file is not None:
                file.write(piece)
    return BundledFile(size, digest.hexdigest())


def _encoded(manifest: Manifest) -> bytes:
    return json.dumps({"format": FORMAT, "format_version": FORMAT_VERSION, **asdict(manifest)}, indent=2).encode()


def _decoded(content: bytes) -> Manifest:
    values = json.loads(content)
    if values.pop("format") != FORMAT:
        raise ValueError("not a Nur backup")
    if values.pop("format_version") != FORMAT_VERSION:
        raise StoreNewer("The backup was written by a newer version. Update nur-memory; nothing was changed.")
    files = {name: BundledFile(**entry) for name, entry in values.pop("files").items()}
    if any("/" in name or "\\" in name or name.startswith(".") for name in files):
        raise ValueError("a file name that leaves the folder")
    return Manifest(files=files, **values)
