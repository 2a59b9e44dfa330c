from __future__ import annotations

import pytest

from nur.retrieval.ranking.term_vectors import MAX_FIRST_LINE_CHARACTERS, decode_heading, encode_heading, heading
from nur.retrieval.text.analysis import ANALYZER, term_id

LINE = "x" * MAX_FIRST_LINE_CHARACTERS


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        ("Kitchen\nThe kettle is broken.", None, "Kitchen"),
        ("Kitchen\nThe kettle is broken.", "Home", "Home"),  # a title wins
        ("\n\n Kitchen\nThe kettle is broken.", None, "Kitchen"),
        ("The kettle is broken.", None, ""),  # all there is
        ("The kettle is broken.\n\n ", None, ""),
        (f"{LINE}\nmore", None, LINE),
        (f"{LINE}x\nmore", None, ""),  # a paragraph
        ("", None, ""),
    ],
)
def test_a_title_or_a_short_first_line_is_the_heading(text: str, title: str | None, expected: str) -> None:
    assert heading(text, title) == expected


def test_the_content_words_of_a_heading_are_stored() -> None:
    stored = decode_heading(encode_heading("The kettle of the kitchen", ANALYZER))
    assert stored.tolist() == decode_heading(encode_heading("kitchen, kettle", ANALYZER)).tolist()
    assert set(stored.tolist()) == {term_id(term) for term in ANALYZER.terms("kettle kitchen")}
    assert encode_heading("", ANALYZER) == b""
