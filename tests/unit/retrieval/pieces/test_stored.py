from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nur.retrieval.pieces.analyse import analyse, cut, piece_vectors
from nur.retrieval.pieces.stored import decode_atoms, decode_pieces
from nur.retrieval.pieces.vectors import decode_vectors, mean_vectors, quantised
from nur.retrieval.text.analysis import ANALYZER
from tests.doubles.token_table import HashedTokens

TABLE = HashedTokens()
TEXTS = st.lists(
    st.sampled_from(
        ["Tea at four.", "# Kitchen\n", "The kettle broke.\n\n", "a,b,c,d\n1,2,3,4\n5,6,7,8\n", "日本語の文。"]
    ),
    max_size=30,
).map(" ".join)


@given(TEXTS, TEXTS)
def test_what_is_stored_of_two_chunks_is_read_back_together(one: str, other: str) -> None:
    stored, expected = [], []
    for text in (one, other):
        pieces = cut(text)
        stored.append(analyse(text, pieces, "", piece_vectors(text, pieces, TABLE), ANALYZER))
        expected.append(pieces)
    table = decode_pieces([found.pieces for found in stored])
    assert table.starts.tolist() == [piece.start for pieces in expected for piece in pieces]
    assert table.ends.tolist() == [piece.end for pieces in expected for piece in pieces]
    assert table.chunks.tolist() == [0] * len(expected[0]) + [1] * len(expected[1])
    assert table.counts.size == table.ids.size == table.term_counts.sum()
    assert table.context_ids.size == table.context_counts.sum()
    assert sum(found.term_count for found in stored) == table.words.sum()


@given(TEXTS)
def test_atoms_add_up_to_their_pieces(text: str) -> None:
    pieces = cut(text)
    stored = analyse(text, pieces, "", piece_vectors(text, pieces, TABLE), ANALYZER)
    table, atoms = decode_pieces([stored.pieces]), decode_atoms(stored.atoms)
    assert atoms.per_piece.tolist() == [len(piece.atoms) for piece in pieces]
    assert atoms.characters.sum() == len(text)
    assert atoms.words.sum() == table.words.sum()
    assert atoms.terms.size == atoms.term_counts.sum() == table.counts.sum()


def test_an_empty_blob_has_no_pieces() -> None:
    assert len(decode_pieces([b"", b""])) == 0


def test_line_breaks_do_not_change_the_digest_and_words_do() -> None:
    def digest(text: str) -> bytes:
        pieces = cut(text)
        return analyse(text, pieces, "", piece_vectors(text, pieces, TABLE), ANALYZER).digest

    text = "Tea is drunk at four. " * 20
    assert digest(text) == digest(text.replace(". ", ".\n\n")) != digest(text.replace("four", "five", 1))


def test_a_byte_per_dimension_keeps_the_cosine() -> None:
    vectors = mean_vectors([f"word{number} and word{number % 7}" for number in range(50)], TABLE)
    again = decode_vectors([quantised(vectors).tobytes()], 50)
    assert np.abs((vectors * again).sum(axis=1) - 1).max() < 0.001
    assert np.abs(vectors @ vectors.T - again @ again.T).max() < 0.01


def test_a_text_without_tokens_is_like_nothing() -> None:
    assert not mean_vectors(["", "tea"], TABLE)[0].any()
