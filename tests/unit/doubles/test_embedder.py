"""The embedder for tests can be told to fail, and counts."""

from __future__ import annotations

import pytest

from nur.domain.errors import EmbedderDown, EmbedderRefused
from tests.doubles.embedder import InMemoryEmbedder, hashed_words


async def test_it_fails_when_told_to_and_recovers() -> None:
    embedder = InMemoryEmbedder()
    embedder.down = True
    with pytest.raises(EmbedderDown) as down:
        await embedder.embed(["a", "b"])
    assert (down.value.failed, down.value.total, down.value.retryable) == (2, 2, True)
    assert not (await embedder.probe()).healthy
    embedder.down, embedder.refuse = False, True
    with pytest.raises(EmbedderRefused):
        await embedder.embed_query("a")
    embedder.refuse = False
    await embedder.embed(["a", "b"])
    assert embedder.embedded == 2


@pytest.mark.parametrize("text", ["", "  ", "?!", "tea", "tea tea", "tea coffee"])
def test_a_vector_is_never_zero(text: str) -> None:
    assert (hashed_words(text, 1) ** 2).sum() == pytest.approx(1.0)  # one dimension: words do cancel out


def test_case_does_not_matter() -> None:
    assert hashed_words("Tea", 64).tolist() == hashed_words("tea", 64).tolist()
