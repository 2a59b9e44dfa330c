"""Reads zip archives safely: office documents and chat exports are zip files."""

from __future__ import annotations

import io
import zipfile

from nur.adapters.files.source import Unreadable

#: Limit on an archive's declared unpacked size, checked before anything is unpacked.
MAX_UNPACKED_BYTES = 512 * 1024 * 1024
MAX_MEMBERS = 50_000
SIGNATURE = b"PK\x03\x04"


def open_archive(data: bytes) -> zipfile.ZipFile:
    """Open an archive. Raises Unreadable if it is damaged, encrypted, or unpacks to too much."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise Unreadable("It is a damaged archive.") from error
    members = archive.infolist()
    if len(members) > MAX_MEMBERS or sum(member.file_size for member in members) > MAX_UNPACKED_BYTES:
        raise Unreadable(f"It unpacks to more than {MAX_UNPACKED_BYTES // 2**20} MB or {MAX_MEMBERS:,} files.")
    if any(member.flag_bits & 1 for member in members):
        raise Unreadable("It is protected by a password.")
    return archive


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """One member's bytes, at most one more than its declared size. Raises Unreadable."""
    try:
        with archive.open(name) as file:
            return file.read(archive.getinfo(name).file_size + 1)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, OSError) as error:
        raise Unreadable("It is a damaged archive.") from error
