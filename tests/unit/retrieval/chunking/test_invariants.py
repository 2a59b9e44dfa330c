"""What DESIGN §3 promises of every policy, on every script."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import example, given, settings
from hypothesis import strategies as st

from nur.domain.notes import ARTIFACT_TYPES
from nur.retrieval.chunking import ChunkingPolicy, chunk
from nur.retrieval.text.sentences import split
from nur.retrieval.text.tokens import tokenise
from tests.stitching import rebuild

if TYPE_CHECKING:
    from nur.domain.chunks import Chunk
    from nur.retrieval.text.tokens import Tokens

_WORDS = {
    "latin": ["hello ", "world. ", "It's ", "Über ", "naïve, ", "e.g. ", "Mr. ", "3.14 ", "end!\n", "São "],
    "cjk": ["我们", "北京", "。", "，", "天气很好", "！", "日本語", "です", "한국어 ", "龘", "𠮷"],
    "devanagari": ["नमस्ते ", "दुनिया", "। ", "क्षत्रिय ", "हूँ", "॥", "ॐ "],
    "arabic": ["مرحبا ", "العالم", "؟ ", "۔ ", "بِسْمِ ", "لا "],
    "emoji": ["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "😀", "❤️", "🏴\U000e0067\U000e0062\U000e007f", " "],
    "long": ["a" * 90, "Donaudampfschifffahrt", " " * 70, "\t" * 9, "\n" * 12, "=" * 40, "0" * 50],
    "lines": ["one\r\n", "two.\r\n\r\n", "\r", "\n", "\x0c", "\u2028", "- item\n", "  indented\n"],
    "special": ["<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|> ", "<|", "|>", "\N{REPLACEMENT CHARACTER}", "\x00"],
    "structure": [
        "# Guide\n",
        "## Install\n",
        "text. ",
        "```\n",
        "def f(x):\n",
        "    return x\n",
        "class A:\n",
        "Bob: hi\n",
    ],
    "mail": [
        "On Monday Bob wrote:\n",
        "> quoted\n",
        ">> twice\n",
        "From: a\nTo: b\nSubject: c\n\n",
        "answer.\n",
        "---\n",
    ],
}
_TEXTS = st.one_of(
    st.sampled_from(sorted(_WORDS)).flatmap(lambda kind: st.lists(st.sampled_from(_WORDS[kind]), max_size=60)),
    st.lists(st.sampled_from([word for words in _WORDS.values() for word in words]), max_size=60),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=30),
).map("".join)


@st.composite
def _policies(draw: st.DrawFn) -> ChunkingPolicy:
    target = draw(st.integers(4, 24))
    overlap = draw(st.integers(0, target - 1))
    strategy = draw(st.sampled_from(["window", "sentences", "structure"]))
    return ChunkingPolicy.parse(f"{strategy}:{target + draw(st.integers(0, 9))}:{target}:{overlap}")


def _limit(policy: ChunkingPolicy, chunks: list[Chunk]) -> int:
    return policy.target if len(chunks) > 1 else policy.whole_max


def _breaks(text: str, tokens: Tokens, policy: ChunkingPolicy) -> list[int]:
    """Where a chunk may begin or end: between sentences, and anywhere in one that is longer than a chunk."""
    if policy.strategy == "window":
        return list(range(len(text) + 1))
    marks = [0, *(end for _, end in split(text))]
    long = [(one, other) for one, other in pairwise(marks) if tokens.touching(one, other) > policy.target]
    return sorted({*marks, *(char for one, other in long for char in range(one, other))})


def _longest_overlap(one: Chunk, breaks: list[int], tokens: Tokens, policy: ChunkingPolicy) -> int:
    """How far back the chunk after this one can begin: within the overlap, and with room for what comes next."""
    following = min(place for place in breaks if place > one.end_char)
    return min(
        place
        for place in breaks
        if place == one.end_char
        or (
            place < one.end_char
            and tokens.touching(place, one.end_char) <= policy.overlap
            and tokens.touching(place, following) <= policy.target
        )
    )


@settings(max_examples=500, deadline=None)
@given(_TEXTS, _policies(), st.sampled_from([None, *ARTIFACT_TYPES]))
@example("😀" * 9, ChunkingPolicy("window", 4, 4, 3), None)  # cuts fall into characters, the stride is one token
@example("龘" * 9, ChunkingPolicy("sentences", 4, 4, 3), None)
def test_every_policy_keeps_the_promises(text: str, policy: ChunkingPolicy, artifact_type: str | None) -> None:
    chunks = chunk(text, policy, artifact_type)
    tokens = tokenise(text)

    assert [each.index for each in chunks] == list(range(len(chunks)))
    for each in chunks:
        assert each.content == text[each.start_char : each.end_char]
        assert each.token_count == tokens.touching(each.start_char, each.end_char) <= _limit(policy, chunks)

    assert (chunks[0].start_char, chunks[-1].end_char) == (0, len(text))
    breaks = _breaks(text, tokens, policy)
    for one, other in pairwise(chunks):
        assert one.start_char < other.start_char <= one.end_char < other.end_char  # no gap, none in another
        assert tokens.touching(other.start_char, one.end_char) <= policy.overlap
        if (
            policy.strategy != "structure"
        ):  # whose sections share nothing; tests/unit/retrieval/chunking/test_structure.py
            assert other.start_char == _longest_overlap(one, breaks, tokens, policy)

    rebuilt = rebuild(chunks)
    assert hashlib.sha256(rebuilt.encode()).digest() == hashlib.sha256(text.encode()).digest()
    assert chunk(text, policy, artifact_type) == chunks


@settings(max_examples=200, deadline=None)
@given(_TEXTS, st.integers(8, 24), st.integers(0, 4))
def test_windows_are_full_and_overlap_by_what_was_asked(text: str, target: int, overlap: int) -> None:
    chunks = chunk(text, ChunkingPolicy("window", target, target, overlap))
    tokens = tokenise(text)
    for one, other in pairwise(chunks):
        # A character has at most four tokens: so far may a cut move to keep it whole.
        assert target - 3 <= one.token_count <= target
        assert overlap - 3 <= tokens.touching(other.start_char, one.end_char) <= overlap


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(codec="ascii"), max_size=400), st.integers(1, 24), st.integers(0, 23))
def test_ascii_windows_are_exact(text: str, target: int, overlap: int) -> None:
    overlap = min(overlap, target - 1)
    chunks = chunk(text, ChunkingPolicy("window", target, target, overlap))
    tokens = tokenise(text)
    for one, other in pairwise(chunks):
        assert one.token_count == target
        assert tokens.touching(other.start_char, one.end_char) == overlap
