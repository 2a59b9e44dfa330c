"""PDF, Word, PowerPoint and spreadsheets: pages, slides, sheets, rows, and what cannot be read."""

from __future__ import annotations

import io
import subprocess
import sys
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pptx
import pytest
from pptx.util import Inches

from nur.adapters.files.source import Unreadable
from nur.domain.documents import location
from tests.office_files import pdf, sheets, slides, word
from tests.parsed import read, read_one

if TYPE_CHECKING:
    from nur.domain.documents import Document


def place(document: Document, words: str) -> str | None:
    """Where some words stand."""
    kept = [[found.start_char, found.label] for found in document.places]
    start = document.text.index(words)
    return location({"places": kept}, start, start + len(words))


def test_a_pdf_keeps_its_pages_and_what_it_says_of_itself() -> None:
    pages: list[list[str | list[list[str]]]] = [
        ["Größe der Straße."],
        [],
        ["The lease ends on 30 June.", [["Item", "Cost"], ["Rent", "4,200"]]],
    ]
    document = read_one("lease.pdf", pdf(pages, title="The lease", author="Mira"))
    assert (document.title, document.author, document.metadata["pages"]) == ("The lease", "Mira", 3)
    assert document.text == "Größe der Straße.\n\nThe lease ends on 30 June.\nItem Cost\nRent 4,200"
    assert (place(document, "Größe"), place(document, "lease")) == ("page 1", "page 3")
    assert document.occurred_at is not None


def test_a_pdf_is_known_by_its_bytes() -> None:
    assert read_one("lease.txt", pdf([["Words."]])).text == "Words."


def test_words_that_a_line_break_cut_are_whole() -> None:
    narrow = "The com-<br/>pany moves; well-<br/>Known words stay."
    assert "The company moves; well-Known words" in read_one("a.pdf", pdf([[narrow]])).text


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"%PDF-1.7 nothing more", "damaged PDF"),
        (pdf([["Words."]])[:300], "damaged PDF"),
        (pdf([[]]), "OCR"),
        (pdf([["Secret."]], encrypt="password"), "password"),
    ],
    ids=["no PDF", "cut", "no text", "encrypted"],
)
def test_a_pdf_that_cannot_be_read_says_why(data: bytes, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        read("a.pdf", data)


def test_a_word_document_becomes_headings_paragraphs_and_rows() -> None:
    data = word("Lease", {"Term": "It ends on 30 June.", "Rent": "4,200 euros."}, [["Item", "Cost"], ["Heat", "310"]])
    document = read_one("lease.docx", data)
    assert document.text.split("\n\n") == [
        "# Lease",
        "## Term",
        "It ends on 30 June.",
        "## Rent",
        "4,200 euros.",
        "Columns: Item, Cost\n- row 2: Item: Heat; Cost: 310",
    ]
    assert (document.title, document.author) == ("Lease", "Mira")
    assert document.occurred_at == datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_slides_keep_titles_points_notes_and_tables() -> None:
    presentation = pptx.Presentation(
        io.BytesIO(slides([("Plan", ["Ship in May", "Hire two"], "Mention the budget"), ("", ["Only text"], "")]))
    )
    table = presentation.slides[1].shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for cell, words in zip(table.iter_cells(), ["Who", "When", "Ada", "June"], strict=True):
        cell.text = words
    buffer = io.BytesIO()
    presentation.save(buffer)
    document = read_one("plan.pptx", buffer.getvalue())
    assert document.text.split("\n\n") == [
        "## Plan",
        "- Ship in May\n- Hire two",
        "Notes: Mention the budget",
        "## Slide 2",
        "Only text",
        "Columns: Who, When\n- row 2: Who: Ada; When: June",
    ]
    assert (place(document, "budget"), place(document, "Ada")) == ("slide 1", "slide 2")


def test_sheets_keep_row_numbers_and_column_names() -> None:
    staff: list[list[object]] = [
        ["name", "since", "pay", "here"],
        ["Ada", date(2026, 3, 1), 4200.5, True],
        ["Bob", None, 12.0, None],
    ]
    document = read_one("staff.xlsx", sheets({"Staff": staff, "Empty": [], "Codes": [[1, 2]]}, empty_rows=2))
    assert document.text.splitlines() == [
        "## Staff",
        "",
        "Columns: name, since, pay, here",
        "- row 4: name: Ada; since: 2026-03-01; pay: 4200.5; here: yes",
        "- row 5: name: Bob; pay: 12",
        "",
        "## Codes",
        "",
        "- row 3: 1; 2",
    ]
    assert (place(document, "Ada"), place(document, "row 3: 1")) == ("sheet Staff", "sheet Codes")


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx"])
def test_the_bytes_say_which_office_document_it_is(name: str) -> None:
    assert "It ends in June" in read_one(name, word("Lease", {"Term": "It ends in June."})).text


@pytest.mark.parametrize("make", [word, sheets], ids=["docx", "xlsx"])
def test_a_damaged_office_document_fails(make: object) -> None:
    data = word("Lease", {"Term": "June"}) if make is word else sheets({"A": [["x", "y"], ["1", "2"]]})
    with pytest.raises(Unreadable, match="damaged"):
        read("a.docx", data[: len(data) // 2])


@pytest.mark.parametrize(
    ("module", "name", "data"),
    [
        ("pypdfium2", "a.pdf", pdf([["Words."]])),
        ("mammoth", "a.docx", word("Lease", {"Term": "June"})),
        ("pptx", "a.pptx", slides([("Plan", ["Ship"], "")])),
        ("python_calamine", "a.xlsx", sheets({"A": [["x"], ["1"]]})),
    ],
)
def test_without_the_extra_the_reason_says_what_to_install(module: str, name: str, data: bytes) -> None:
    program = (
        "import sys; sys.modules[sys.argv[1]] = None\n"
        "from nur.adapters.files.reading import documents\n"
        "from nur.adapters.files.source import SourceFile, Unreadable\n"
        "try: list(documents(SourceFile(sys.argv[2], sys.stdin.buffer.read())))\n"
        "except Unreadable as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, module, name], input=data, capture_output=True, check=True)
    assert b"needs an extra: pip install 'nur-memory[files]'" in done.stdout
