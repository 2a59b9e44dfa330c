"""Text in whatever encoding, Markdown, code, and what is no text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from nur.adapters.files.source import Unreadable
from tests.parsed import read, read_one

WORDS = "Grüße aus Köln, Łódź und 東京.\nZweite Zeile."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_text_is_read_with_and_without_a_mark(encoding: str) -> None:
    assert read_one("a.txt", WORDS.encode(encoding)).text == WORDS


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_text_of_older_systems_keeps_its_letters(encoding: str) -> None:
    assert read_one("a.txt", "Grüße aus Köln\r\nà bientôt".encode(encoding)).text == "Grüße aus Köln\nà bientôt"


def test_nul_characters_are_left_out() -> None:
    assert read_one("a.txt", b"a" * 9000 + b"\0b").text == "a" * 9000 + "b"


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.txt", b"", "empty"),
        ("a.txt", b" \n\t ", "empty"),
        ("a.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not text"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100, "save it as .docx"),
        ("a.rtf", rb"{\rtf1 Hello}", "save it as .docx"),
        ("a.html", b"<html><script>let a = 1</script></html>", "no text"),
    ],
)
def test_what_cannot_be_read_says_why(name: str, data: bytes, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        read(name, data)


def test_a_text_longer_than_the_store_takes_is_refused() -> None:
    with pytest.raises(Unreadable, match="10,000,000 characters"):
        read("a.txt", "ab " * 3_400_000)


def test_markdown_is_kept_as_it_is_and_named_by_its_front_matter() -> None:
    matter = 'title: "Release plan"\nauthor: Mira\ndate: 2026-03-01\nurl: https://example.com/plan'
    text = f"---\n{matter}\n---\n# Plan\n\nShip."
    document = read_one("plan.md", text)
    assert document.text == text
    assert (document.title, document.author, document.url) == ("Release plan", "Mira", "https://example.com/plan")
    assert document.occurred_at == datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("notes/plan.md", "# The plan #\n\nShip.", "The plan"),  # the first heading
        ("notes/plan.md", "Ship.", "plan.md"),  # none: the file's name
        ("shop/src/cart.py", "def total(): ...", "shop/src/cart.py"),  # code: many files have the same name
        ("README", "Ship.", "README"),  # no ending
    ],
)
def test_a_document_has_a_title(name: str, text: str, title: str) -> None:
    assert read_one(name, text).title == title
