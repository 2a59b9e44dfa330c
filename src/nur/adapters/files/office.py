"""What office documents have in common: an archive with the document's properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

from nur.adapters.files import archives
from nur.adapters.files.source import Unreadable, moment

if TYPE_CHECKING:
    import zipfile
    from datetime import datetime

_CORE = "docProps/core.xml"
_HEAD = 2000
_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"


class Properties(NamedTuple):
    """What a document says of itself."""

    title: str | None = None
    author: str | None = None
    changed_at: datetime | None = None


def _check_parts(archive: zipfile.ZipFile) -> None:
    """No office program writes a document type, and one may hold entities that grow a million times."""
    for name in archive.namelist():
        if name.endswith((".xml", ".rels")):
            with archive.open(name) as part:
                head = part.read(_HEAD)
            if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
                raise Unreadable("It is damaged, or made to harm: it declares entities.")


def properties(data: bytes) -> Properties:
    """The properties; empty where there are none. Raises Unreadable for an archive that must not be unpacked."""
    archive = archives.opened(data)
    _check_parts(archive)
    if _CORE not in archive.namelist():
        return Properties()
    try:
        root = ElementTree.fromstring(archives.member(archive, _CORE))  # noqa: S314  # checked above
    except ElementTree.ParseError:
        return Properties()
    changed = root.findtext(f"{_TERMS}modified") or root.findtext(f"{_TERMS}created")
    return Properties(root.findtext(f"{_DC}title"), root.findtext(f"{_DC}creator"), moment(changed))
