"""Which files are read, by their names and first bytes."""

from __future__ import annotations

import codecs

import pytest

from nur.domain.file_formats import FORMATS, HEAD_BYTES, can_be_read, is_text, suffix_format, utf16_without_mark


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"", True),
        (b"tea", True),
        ("Tee für Ägä".encode("latin-1"), True),
        (b"\x7fELF\x02\x01\x01\0\0\0", False),
        (codecs.BOM_UTF16_LE + "tea".encode("utf-16-le"), True),
        (codecs.BOM_UTF32_BE + "tea".encode("utf-32-be"), True),
        ("tea\r\n\tcup".encode("utf-16-le"), True),  # no mark, but every second byte is zero
        ("tea".encode("utf-16-be"), True),
        (b"\0\0\0\0\x01\x02", False),
    ],
)
def test_text_is_told_from_other_data(head: bytes, expected: bool) -> None:
    assert is_text(head) is expected


def test_utf16_without_a_mark_is_known_by_where_the_zeros_are() -> None:
    assert utf16_without_mark("tea".encode("utf-16-le")) == "utf-16-le"
    assert utf16_without_mark("tea".encode("utf-16-be")) == "utf-16-be"
    assert utf16_without_mark(b"") is None
    assert utf16_without_mark(b"\x01\0\x02\0") is None  # control characters


def test_the_last_character_of_a_beginning_may_be_cut_in_half() -> None:
    pair = "\U0001f375".encode("utf-16-le")  # two units of two bytes
    cut = ("t" * (HEAD_BYTES // 2 - 1)).encode("utf-16-le") + pair[:2]
    assert len(cut) == HEAD_BYTES
    assert utf16_without_mark(cut) == "utf-16-le"
    assert utf16_without_mark(cut[2:]) is None  # a whole file that ends so is damaged


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("a.pdf", b"\0", True),
        ("A.PDF", b"\0", True),  # whatever case
        ("a", b"%PDF-1.7\0", True),  # known by its beginning
        ("a.doc", b"\0", True),  # tried, to say what to do instead
        ("a.unknown", b"text", True),
        ("a.bin", b"\0\x01\x02", False),
    ],
)
def test_a_file_is_tried_if_its_name_or_its_beginning_is_known(name: str, head: bytes, expected: bool) -> None:
    assert can_be_read(name, head) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.md", "markdown"), ("a.tar.zip", "export"), ("a.py", "code"), ("README", None), (".md", None)],
)
def test_an_ending_stands_for_a_format(name: str, expected: str | None) -> None:
    found = suffix_format(name)
    assert (found and found.name) == expected


def test_office_files_are_no_text_and_need_an_extra() -> None:
    binary = {name for name, known in FORMATS.items() if not known.is_text}
    assert binary == {"pdf", "docx", "pptx", "xlsx", "export"}
    assert {name for name, known in FORMATS.items() if known.extra} == binary - {"export"}
