"""Terms as FTS5 reads them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nur.adapters.ledger.sqlite.lexicon import CREATE, match_expression


@pytest.mark.parametrize(
    ("terms", "expression"),
    [
        (["tea"], '"tea"'),
        (["tea", "milk"], '"tea" OR "milk"'),
        (["tea", "milk", "tea"], '"tea" OR "milk"'),  # each once: FTS5 would count it twice
        (['say "tea"'], '"say ""tea"""'),
        (['"'], '""""'),
        (["OR", "NOT", "NEAR(a b)", "a*", "-a", "^a", "terms:a"], None),
        ([], ""),
    ],
)
def test_every_term_is_quoted(terms: list[str], expression: str | None) -> None:
    quoted = " OR ".join(f'"{term}"' for term in terms) if expression is None else expression
    assert match_expression(terms) == quoted


# What the analyzer can make of a text: anything but spaces, control characters and surrogates, in lower case.
terms = st.text(
    st.characters(categories=["Ll", "Lo", "Lm", "Mn", "Mc", "Nd", "Nl", "No", "P", "S", "Co"], max_codepoint=0xFFFD),
    min_size=1,
    max_size=5,
)


@given(st.lists(terms, min_size=1, max_size=4))
def test_no_terms_make_fts5_stumble(asked: list[str]) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(CREATE[0])
        connection.execute("INSERT INTO chunk_terms (rowid, terms) VALUES (1, 'x')")
        connection.execute("SELECT rowid FROM chunk_terms WHERE chunk_terms MATCH ?", (match_expression(asked),))


@given(st.lists(st.from_regex(r"[0-9a-f]{8}", fullmatch=True), min_size=1, max_size=8, unique=True))
def test_term_numbers_are_found_as_they_were_written(numbers: list[str]) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in CREATE:
            connection.execute(statement)
        connection.execute("INSERT INTO chunk_terms (rowid, terms) VALUES (1, ?)", (" ".join(numbers),))
        for number in numbers:
            query = "SELECT rowid FROM chunk_terms WHERE chunk_terms MATCH ?"
            assert connection.execute(query, (match_expression([number]),)).fetchall() == [(1,)]
        found = connection.execute("SELECT term, doc FROM chunk_vocabulary ORDER BY term").fetchall()
        assert found == [(number, 1) for number in sorted(numbers)]
