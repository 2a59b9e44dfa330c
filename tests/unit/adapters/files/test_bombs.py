"""Files that are made to stop their reader stop themselves alone."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import TYPE_CHECKING

import openpyxl
import pytest
import pytest_asyncio

from nur.adapters.files.child import ChildFileReader
from nur.domain.errors import FileRefused
from tests.chat_files import zipped
from tests.office_files import word

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE d ['
    '<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]><w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'>"
    "<w:body><w:p><w:r><w:t>&j;</w:t></w:r></w:p></w:body></w:document>"
)


@pytest_asyncio.fixture
async def reader() -> AsyncIterator[ChildFileReader]:
    made = ChildFileReader(15, 400)
    yield made
    await made.close()


def zip_bomb() -> bytes:
    """A Word document that says that it unpacks to 600 MB."""
    return saying(600 * 1024 * 1024)


def lying_bomb() -> bytes:
    """One of 64 MB that says 1,000 bytes."""
    return saying(1000)


def saying(size: int) -> bytes:
    data = bytearray(zipped({"word/document.xml": b"\0" * 64 * 1024 * 1024}))
    struct.pack_into("<I", data, data.rindex(b"PK\x01\x02") + 24, size)
    return bytes(data)


def replaced(name: str, content: str) -> bytes:
    """A Word document with another part in it."""
    parts = {}
    with zipfile.ZipFile(io.BytesIO(word("Lease", {"Term": "June"}))) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    return zipped({**parts, name: content})


def far_cell() -> bytes:
    """A sheet with its only other cell in the last row and column."""
    book = openpyxl.Workbook()
    book.worksheets[0]["A1"] = "near"
    book.worksheets[0]["XFD1048576"] = "far"
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "bomb.docx": (zip_bomb, "unpacks to more than 512 MB"),
    "liar.docx": (lying_bomb, "damaged"),
    "laughs.docx": (lambda: replaced("word/document.xml", LAUGHS), "declares XML entities"),
    "deep.docx": (lambda: replaced("word/document.xml", "<a>" * 300_000), "damaged|nested|memory|seconds"),
    "far.xlsx": (far_cell, "memory|crashed"),
    "deep.json": (lambda: b"[" * 1_000_000, "nested too deeply"),
    "wide.json": (lambda: b"[" + b"[]," * 8_000_000 + b"[]]", "memory|seconds"),
}


@pytest.mark.parametrize("name", BOMBS)
async def test_a_bomb_fails_alone(reader: ChildFileReader, name: str) -> None:
    make, words = BOMBS[name]
    with pytest.raises(FileRefused, match=words):
        await reader.read(name, make())
    (document,) = await reader.read("next.txt", b"The next file is read.")
    assert document.text == "The next file is read."
