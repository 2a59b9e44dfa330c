"""Texts of any length have one vector each."""

from __future__ import annotations

import numpy as np
import pytest

from nur.retrieval.pieces.vectors import pool
from nur.services.indexing.chunk_vectors import embed_texts
from tests.doubles.embedder import InMemoryEmbedder, hashed_words

WORDS = "tea milk water wine lamp hall door roof wall lane".split()


@pytest.mark.parametrize("words", [8, 9, 10])
async def test_a_text_is_embedded_whole_up_to_the_models_input_and_by_its_windows_beyond(words: int) -> None:
    embedder = InMemoryEmbedder()
    embedder.max_tokens = 9
    text = " ".join(WORDS[:words])
    vectors = await embed_texts(embedder, ["short", text, "other"])
    assert len(vectors) == 3
    windows = [text] if words <= 9 else [" ".join(WORDS[:9]), f" {WORDS[9]}"]
    assert embedder.embedded == 2 + len(windows)
    rows = np.stack([hashed_words(window, 64) for window in windows])
    assert vectors[1] == pytest.approx(rows[0] if len(rows) == 1 else pool(rows))
    assert vectors[0] == pytest.approx(hashed_words("short", 64))
    assert vectors[2] == pytest.approx(hashed_words("other", 64))
