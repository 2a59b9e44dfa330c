"""Reads the properties that all Office formats share: title, author, time of change."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

from nur.adapters.files import archives
from nur.adapters.files.source import Unreadable, iso_time

if TYPE_CHECKING:
    import zipfile
    from datetime import datetime

_CORE = "docProps/core.xml"
_HEAD_BYTES = 2000
_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"


class Properties(NamedTuple):
    """A document's own properties."""

    title: str | None = None
    author: str | None = None
    changed_at: datetime | None = None


def _check_parts(archive: zipfile.ZipFile) -> None:
    """Reject declared entities: no Office program writes any, and they can expand a millionfold."""
    for name in archive.namelist():
        if name.endswith((".xml", ".rels")):
            with archive.open(name) as part:
                head = part.read(_HEAD_BYTES)
            if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
                raise Unreadable("It is damaged or malicious: it declares XML entities.")


def properties(data: bytes) -> Properties:
    """The document's properties; empty if it has none. Raises Unreadable if the archive is unsafe to unpack."""
    archive = archives.open_archive(data)
    _check_parts(archive)
    if _CORE not in archive.namelist():
        return Properties()
    try:
        root = ElementTree.fromstring(archives.read_member(archive, _CORE))  # noqa: S314  # checked above
    except ElementTree.ParseError:
        return Properties()
    changed = root.findtext(f"{_TERMS}modified") or root.findtext(f"{_TERMS}created")
    return Properties(root.findtext(f"{_DC}title"), root.findtext(f"{_DC}creator"), iso_time(changed))
