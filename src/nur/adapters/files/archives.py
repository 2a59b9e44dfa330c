"""Zip archives, within bounds: office documents and exports are such."""

from __future__ import annotations

import io
import zipfile

from nur.adapters.files.source import Unreadable

#: What an archive says that it unpacks to. A larger one is refused before anything is unpacked.
MOST_UNPACKED_BYTES = 512 * 1024 * 1024
MOST_MEMBERS = 50_000
BEGINNING = b"PK\x03\x04"


def opened(data: bytes) -> zipfile.ZipFile:
    """The archive. Raises Unreadable for one that is damaged, encrypted, or unpacks to too much."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise Unreadable("It is a damaged archive.") from error
    members = archive.infolist()
    if len(members) > MOST_MEMBERS or sum(member.file_size for member in members) > MOST_UNPACKED_BYTES:
        raise Unreadable(f"It unpacks to more than {MOST_UNPACKED_BYTES // 2**20} MB, or {MOST_MEMBERS:,} files.")
    if any(member.flag_bits & 1 for member in members):
        raise Unreadable("It is protected by a password.")
    return archive


def member(archive: zipfile.ZipFile, name: str) -> bytes:
    """One member's bytes, never more than it says. Raises Unreadable."""
    try:
        with archive.open(name) as file:
            return file.read(archive.getinfo(name).file_size + 1)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, OSError) as error:
        raise Unreadable("It is a damaged archive.") from error
