"""WordPiece and unigram tokens."""

from __future__ import annotations

import pytest

from nur.adapters.sentences.unigram import Unigrams
from nur.adapters.sentences.wordpiece import WordPieces
from tests.sentence_models import UNIGRAMS, VOCABULARY, unigram_model

WORDS = WordPieces.from_lines("\n".join(VOCABULARY).encode())
PIECES = Unigrams.from_model(unigram_model(UNIGRAMS))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Tea in the evening!", ["tea", "in", "the", "even", "##ing", "!"]),
        ("téa", ["tea"]),  # accents do not count
        ("tea\u00adin", ["[UNK]"]),  # a soft hyphen is no end of a word
        ("茶茶", ["茶", "茶"]),  # each Chinese character is a word
        ("teapot", ["[UNK]"]),  # a word with an unknown part is unknown as a whole
        ("", []),
    ],
)
def test_words_are_cut_into_the_longest_known_beginnings(text: str, tokens: list[str]) -> None:
    assert [VOCABULARY[id_] for id_ in WORDS.encode(text, 99)] == ["[CLS]", *tokens, "[SEP]"]


def test_a_long_text_is_cut_off_and_still_ends_with_its_mark() -> None:
    ids = WORDS.encode("tea " * 50, 8)
    assert [VOCABULARY[id_] for id_ in ids] == ["[CLS]", *["tea"] * 6, "[SEP]"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("tea", ["▁tea"]),  # not "▁te" and "a", which are less likely together
        ("  the \n cat ", ["▁the", "▁cat"]),
        ("teas", ["▁tea", "s"]),
        ("tax", ["▁t", "a", "<unk>"]),
        ("ｔｅａ", ["▁tea"]),  # full-width letters are letters
        (" ", ["<unk>"]),
    ],
)
def test_the_most_likely_pieces_are_chosen(text: str, tokens: list[str]) -> None:
    assert [UNIGRAMS[id_] for id_ in PIECES.encode(text)] == ["<s>", *tokens, "</s>"]
