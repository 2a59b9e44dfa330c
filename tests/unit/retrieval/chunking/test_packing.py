from __future__ import annotations

import hashlib
from itertools import pairwise

import pytest

from nur.domain.chunks import chunk_public_id, sha256
from nur.retrieval.chunking import WHOLE, WINDOW, ChunkingPolicy, chunk
from nur.retrieval.text.tokens import Tokens, count, tokenise
from tests.stitching import expand, rebuild

PROSE = "Rivers carry stones to the sea, and the sea grinds them to sand; nobody hurries it. "


def _text(tokens: int) -> str:
    """Text of exactly so many tokens, no two sentences alike."""
    text = " word" * tokens
    assert count(text) == tokens
    return text


def _numbered(sentences: int) -> str:
    return "".join(f"Sentence {number}: {PROSE}" for number in range(sentences))


@pytest.mark.parametrize("tokens", [1, 1199, 1200])
def test_should_chunk_below_threshold(tokens: int) -> None:
    chunks = chunk(_text(tokens), WINDOW)
    assert [(each.index, each.token_count) for each in chunks] == [(0, tokens)]
    assert chunks[0].content == _text(tokens)


def test_should_chunk_above_threshold() -> None:
    chunks = chunk(_text(1201), WINDOW)
    assert [each.token_count for each in chunks] == [900, 401]


@pytest.mark.parametrize(
    ("tokens", "sizes"),
    [
        (1700, [900, 900]),  # ends with the second window: the seed's loop adds a third inside it
        (1701, [900, 900, 101]),
        (5400, [900] * 6 + [600]),  # the seed's example says 6
    ],
)
def test_windows_stop_when_one_reaches_the_end(tokens: int, sizes: list[int]) -> None:
    assert [each.token_count for each in chunk(_text(tokens), WINDOW)] == sizes


def test_chunk_text_overlaps() -> None:
    text = _numbered(200)
    chunks = chunk(text, WINDOW)
    tokens = tokenise(text)
    assert len(chunks) > 3
    for one, other in pairwise(chunks):
        shared = text[other.start_char : one.end_char]
        assert one.content.endswith(shared)
        assert other.content.startswith(shared)
        assert tokens.touching(other.start_char, one.end_char) == 100


def test_chunk_text_deterministic_ids() -> None:
    def ids() -> list[str]:
        chunks = chunk(_numbered(200), WINDOW)
        return [chunk_public_id("art_9f2ca8b1", each.index, sha256(each.content)) for each in chunks]

    assert ids() == ids()
    assert len(set(ids())) == len(ids())
    digest = hashlib.sha256(chunk(_numbered(200), WINDOW)[1].content.encode()).hexdigest()
    assert ids()[1] == f"art_9f2ca8b1::chunk::001::{digest[:8]}"


@pytest.mark.parametrize(
    "unit", [PROSE, "我们昨天去了北京，天气很好。", "नमस्ते दुनिया। ", "👩‍👩‍👧🇩🇪😀", "naïve café\r\n"]
)
def test_chunk_text_character_offsets(unit: str) -> None:
    text = unit * 400
    chunks = chunk(text, WINDOW)
    assert len(chunks) > 1
    assert all(each.content == text[each.start_char : each.end_char] for each in chunks)
    assert all("\N{REPLACEMENT CHARACTER}" not in each.content for each in chunks)
    assert rebuild(chunks) == text


def test_expand_chunk_neighbors() -> None:
    text = _numbered(180)
    chunks = chunk(text, WINDOW)
    assert len(chunks) == 6
    before, target, after = expand(chunks, 3).split("\n[CHUNK BOUNDARY]\n")
    assert target == chunks[3].content
    assert before + target + after == text[chunks[2].start_char : chunks[4].end_char]


def test_the_whole_policy_never_cuts() -> None:
    text = _text(5000)
    assert [(each.content, each.token_count) for each in chunk(text, WHOLE)] == [(text, 5000)]


def test_an_empty_text_is_one_empty_chunk() -> None:
    (only,) = chunk("", WINDOW)
    assert (only.content, only.start_char, only.end_char, only.token_count) == ("", 0, 0, 0)


def test_a_character_of_more_tokens_than_the_target_stays_whole() -> None:
    chunks = chunk("😀😀", ChunkingPolicy("window", 1, 1, 0))
    assert [each.content for each in chunks] == ["😀", "😀"]


def test_the_text_is_tokenised_once() -> None:
    asked: list[str] = []

    def counting(text: str) -> Tokens:
        asked.append(text)
        return tokenise(text)

    text = _numbered(200)
    for strategy in ("window", "sentences", "structure"):
        chunk(text, ChunkingPolicy.parse(f"{strategy}:1200:900:100"), tokeniser=counting)
    assert asked == [text] * 3
