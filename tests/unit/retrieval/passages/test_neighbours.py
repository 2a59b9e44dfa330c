from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nur.domain.chunks import Chunk
from nur.retrieval.chunking import ChunkingPolicy, chunk
from nur.retrieval.passages.neighbours import expand_chunk
from tests.stitching import expand

TEXT = "one two three four five six"
CHUNKS = [Chunk(0, "one two three", 0, 13, 3), Chunk(1, "three four five", 8, 23, 3), Chunk(2, "five six", 19, 27, 2)]


def test_neighbours_lose_what_the_chunk_itself_holds() -> None:
    assert expand(CHUNKS, 1) == "one two \n[CHUNK BOUNDARY]\nthree four five\n[CHUNK BOUNDARY]\n six"


@pytest.mark.parametrize(
    ("index", "expanded"),
    [
        (0, "one two three\n[CHUNK BOUNDARY]\n four five"),
        (2, "three four \n[CHUNK BOUNDARY]\nfive six"),
    ],
)
def test_markers_stand_only_between(index: int, expanded: str) -> None:
    assert expand(CHUNKS, index) == expanded


def test_a_chunk_alone_has_no_marker() -> None:
    assert expand(CHUNKS[1:2], 0) == "three four five"


def test_the_parts_joined_are_a_slice_of_the_text() -> None:
    around = expand_chunk(CHUNKS[1], CHUNKS[0], CHUNKS[2])
    assert around.before + around.target + around.after == TEXT[around.start_char : around.end_char]


def test_neighbours_that_do_not_overlap_stay_whole() -> None:
    apart = [Chunk(0, "ab", 0, 2, 1), Chunk(1, "cd", 2, 4, 1), Chunk(2, "ef", 4, 6, 1)]
    assert expand(apart, 1) == "ab\n[CHUNK BOUNDARY]\ncd\n[CHUNK BOUNDARY]\nef"


@settings(deadline=None)
@given(st.text(max_size=300), st.integers(4, 12), st.integers(0, 3))
def test_any_chunk_with_its_neighbours_is_a_slice_of_the_text(text: str, target: int, overlap: int) -> None:
    chunks = chunk(text, ChunkingPolicy("window", target, target, overlap))
    for previous, target_chunk, following in zip([None, *chunks], chunks, [*chunks[1:], None], strict=False):
        around = expand_chunk(target_chunk, previous, following)
        assert around.before + around.target + around.after == text[around.start_char : around.end_char]
