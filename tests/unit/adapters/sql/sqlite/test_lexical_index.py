"""Terms as FTS5 reads them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, create_engine

from nur.adapters.sql.lexical_index import COMMON, Totals
from nur.adapters.sql.sqlite.lexical_index import CREATE, Fts5LexicalIndex, match_expression
from nur.domain.notes import ChunkKey

if TYPE_CHECKING:
    from collections.abc import Iterator


def of(pieces: int) -> Totals:
    """A store of so many pieces."""
    return Totals(chunks=pieces, pieces=pieces, terms=pieces)


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
        for rowid, words in ((1, "zzzzzzzz"), (2, "zzzzzzzz yyyyyyyy")):
            connection.execute("INSERT INTO piece_terms (rowid, terms) VALUES (?, ?)", (rowid, words))
        query = "SELECT rowid FROM piece_terms WHERE piece_terms MATCH ?"
        assert connection.execute(query, (match_expression(asked),)).fetchall() == []  # nor do they mean anything
        assert connection.execute(query, (match_expression([*asked, "yyyyyyyy"]),)).fetchall() == [(2,)]


@given(st.lists(st.from_regex(r"[0-9a-f]{8}", fullmatch=True), min_size=1, max_size=8, unique=True))
def test_term_numbers_are_found_as_they_were_written(numbers: list[str]) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in CREATE:
            connection.execute(statement)
        connection.execute("INSERT INTO piece_terms (rowid, terms) VALUES (1, ?)", (" ".join(numbers),))
        for number in numbers:
            query = "SELECT rowid FROM piece_terms WHERE piece_terms MATCH ?"
            assert connection.execute(query, (match_expression([number]),)).fetchall() == [(1,)]
        found = connection.execute("SELECT term, doc FROM piece_vocabulary ORDER BY term").fetchall()
        assert found == [(number, 1) for number in sorted(numbers)]


@pytest.fixture
def connection() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    with engine.connect() as opened:
        for statement in CREATE:
            opened.exec_driver_sql(statement)
        yield opened
    engine.dispose()


def add(lexical_index: Fts5LexicalIndex, connection: Connection, first: int, count: int, terms: str) -> None:
    lexical_index.add(connection, {ChunkKey(first + number): [terms] for number in range(count)}, {})


def test_a_rare_term_is_counted_each_time(connection: Connection) -> None:
    lexical_index = Fts5LexicalIndex()
    for stored in range(1, 4):
        add(lexical_index, connection, stored, 1, "tea")
        assert lexical_index.frequencies(connection, ["tea"], of(100_000))["tea"] == (stored, stored)


def test_a_common_terms_count_lags_by_a_hundredth_at_most(connection: Connection) -> None:
    lexical_index = Fts5LexicalIndex()
    add(lexical_index, connection, 1, 10 * COMMON, "tea tea")
    stored = 10 * COMMON
    for chunk in range(stored + 1, stored + 200):
        lexical_index.add(connection, {ChunkKey(chunk): ["tea tea"]}, {})
        found = lexical_index.frequencies(connection, ["tea"], of(chunk))["tea"]
        assert chunk * 0.99 <= found.pieces + 1 <= chunk + 1
        assert found.occurrences == 2 * found.pieces


def test_a_common_term_that_goes_is_forgotten(connection: Connection) -> None:
    lexical_index = Fts5LexicalIndex()
    add(lexical_index, connection, 1, COMMON, "tea")
    assert lexical_index.frequencies(connection, ["tea"], of(COMMON))["tea"].pieces == COMMON
    lexical_index.remove(connection, {ChunkKey(key): 1 for key in range(1, COMMON + 1)})
    assert lexical_index.frequencies(connection, ["tea"], of(0)) == {}
