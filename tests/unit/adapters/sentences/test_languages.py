"""Which of the two models reads a text, and what it counts; the models have random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from nur.adapters.sentences import universal
from nur.adapters.sentences.embedder import QUERY_ENGLISH, STORED_ENGLISH, UNKNOWN_LANGUAGE, SentenceEmbedder
from tests.sentence_models import installed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nur.ports.embedder import Floats


@pytest.fixture
def embedder(tmp_path: Path) -> Iterator[SentenceEmbedder]:
    with installed(tmp_path / "site"):
        yield SentenceEmbedder()


def english_length(vector: Floats) -> float:
    return float(np.linalg.norm(vector[universal.DIMENSIONS :]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat drinks tea in the morning", STORED_ENGLISH),
        ("Le chat boit du thé le matin", 0.0),
        ("Mujhe subah chai chahiye, aur tum?", UNKNOWN_LANGUAGE * STORED_ENGLISH),
        ("Πότε φεύγει το τρένο;", UNKNOWN_LANGUAGE * STORED_ENGLISH),
    ],
)
async def test_the_english_model_reads_english_and_what_no_model_knows(
    embedder: SentenceEmbedder, text: str, expected: float
) -> None:
    (vector,) = await embedder.embed_pieces([text])
    assert english_length(vector) == pytest.approx(expected, abs=1e-3)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)


async def test_an_unknown_language_is_read_in_english_words(embedder: SentenceEmbedder) -> None:
    """Both are the same words in English, so their vectors have the same direction."""
    hindi, english = await embedder.embed_pieces(["mujhe subah chai hai", "mujhe morning tea hai"])
    assert embedder.similarity(np.stack([hindi]), english)[0] > 0
    np.testing.assert_allclose(hindi, english, atol=1e-3)


async def test_a_similarity_to_an_unknown_language_counts_half(embedder: SentenceEmbedder) -> None:
    text = "mujhe subah chai hai"
    (stored,) = await embedder.embed_pieces([text])
    query = await embedder.embed_query(text)
    assert english_length(query) == pytest.approx(UNKNOWN_LANGUAGE * QUERY_ENGLISH, abs=1e-3)
    (same,) = await embedder.embed_pieces(["The cat drinks tea in the morning"])
    asked = await embedder.embed_query("The cat drinks tea in the morning")
    full, half = embedder.similarity(np.stack([same]), asked)[0], embedder.similarity(np.stack([stored]), query)[0]
    assert half == pytest.approx(UNKNOWN_LANGUAGE * full, abs=1e-2)
