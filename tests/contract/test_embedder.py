"""Contract tests of all embedders."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nur.adapters.local.embedder import LocalEmbedder
from nur.adapters.onnx.embedder import OnnxEmbedder
from nur.adapters.openai.embedder import OpenAIEmbedder
from nur.adapters.sentences.embedder import SentenceEmbedder
from nur.domain.embedding import EmbeddingModel
from tests.doubles.clock import ManualClock
from tests.doubles.embedder import InMemoryEmbedder
from tests.onnx_models import embed_words
from tests.sentence_models import installed
from tests.servers.openai_stub import OpenAIStub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from nur.ports.embedder import Embedder

TEXTS = ["tea in the morning", "the cat sleeps", "deploy on Fridays", "tea in the evening"]
ODD = {
    "emoji": "👩‍👩‍👧‍👦 🎉",
    "control characters": "\x01\x02\x1b[31m\x7f",
    "10k tokens": "memory " * 10_000,
    "only spaces": "   ",
    "a run of spaces": " " * 100_000,
    "line breaks": "\n\n\t\n",
    "punctuation": "?!…—",
    "right to left": "مرحبا بالعالم",
    "no spaces": "記憶" * 5_000,
    "one character": "a",
    "special token": "<|endoftext|></s>",
}


#: One orthogonal vector per word of the texts.
_WORDS = sorted({word for text in TEXTS for word in text.split()})
WORDS = dict(zip(_WORDS, np.eye(len(_WORDS)).tolist(), strict=True))


@pytest.fixture(scope="module")
def local() -> Iterator[LocalEmbedder]:
    """Shared by all tests: loading its weights takes longer than they do."""
    embedder = LocalEmbedder()
    yield embedder
    asyncio.run(embedder.close())


@pytest.fixture(scope="module")
def sentences(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SentenceEmbedder]:
    """With random weights: the package with the real ones is not installed in the test environment."""
    with installed(tmp_path_factory.mktemp("models")):
        embedder = SentenceEmbedder()
        yield embedder
        asyncio.run(embedder.close())


@pytest.fixture(params=["openai", "local", "models", "onnx", "in_memory"])
async def embedder(
    request: pytest.FixtureRequest,
    local: LocalEmbedder,
    sentences: SentenceEmbedder,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Embedder]:
    if request.param == "openai":
        with OpenAIStub() as stub:
            model = EmbeddingModel("openai", "text-embedding-3-small", 64)
            openai = OpenAIEmbedder(model, api_key="sk-test", count_tokens=len, base_url=stub.url, clock=ManualClock())
            yield openai
            await openai.close()
        return
    if request.param == "models":
        yield sentences
        return
    if request.param == "onnx":
        onnx = OnnxEmbedder(embed_words(tmp_path_factory.mktemp("model"), WORDS))
        yield onnx
        await onnx.close()
        return
    yield local if request.param == "local" else InMemoryEmbedder()


async def test_a_vector_a_text_in_float32_at_unit_length(embedder: Embedder) -> None:
    vectors = await embedder.embed(TEXTS)
    assert (vectors.shape, vectors.dtype.name) == ((4, embedder.model.dimensions), "float32")
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


async def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    vectors = await embedder.embed([])
    assert (vectors.shape, vectors.dtype.name) == ((0, embedder.model.dimensions), "float32")


async def test_a_vector_does_not_depend_on_its_neighbours(embedder: Embedder) -> None:
    together = await embedder.embed(TEXTS)
    backwards = await embedder.embed(TEXTS[::-1])
    alone = [(await embedder.embed([text]))[0] for text in TEXTS]
    np.testing.assert_allclose(together, backwards[::-1], atol=1e-6)
    np.testing.assert_allclose(together, alone, atol=1e-5)  # a batch sums in another order


async def test_the_same_text_has_the_same_vector(embedder: Embedder) -> None:
    first, second = await asyncio.gather(embedder.embed(TEXTS), embedder.embed(TEXTS))
    np.testing.assert_array_equal(first, second)


async def test_many_texts_keep_their_order(embedder: Embedder) -> None:
    texts = [f"number {place}" for place in range(333)]
    vectors = await embedder.embed(texts)
    np.testing.assert_allclose(vectors[217], (await embedder.embed(["number 217"]))[0], atol=1e-6)


async def test_progress_grows_to_the_number_of_texts(embedder: Embedder) -> None:
    told: list[int] = []
    await embedder.embed([f"number {place}" for place in range(333)], told.append)
    assert told == sorted(told)
    assert told[-1] == 333


async def test_texts_with_words_in_common_are_nearer(embedder: Embedder) -> None:
    vectors = await embedder.embed(TEXTS)
    assert vectors[0] @ vectors[3] > vectors[0] @ vectors[2]


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
async def test_odd_texts_have_usable_vectors(embedder: Embedder, text: str) -> None:
    vectors = await embedder.embed([text, "tea"])
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


async def test_a_query_is_one_unit_vector_near_its_own_text(embedder: Embedder) -> None:
    query = await embedder.embed_query(TEXTS[1])
    assert (query.shape, query.dtype.name) == ((embedder.model.dimensions,), "float32")
    assert np.linalg.norm(query) == pytest.approx(1.0, abs=1e-5)
    assert int(np.argmax(await embedder.embed(TEXTS) @ query)) == 1


async def test_a_probe_of_a_healthy_embedder_says_so(embedder: Embedder) -> None:
    probe = await embedder.probe()
    assert (probe.healthy, probe.dimensions, probe.error) == (True, embedder.model.dimensions, None)
    assert probe.latency_ms >= 0


async def test_its_model_and_longest_input_are_known(embedder: Embedder) -> None:
    assert EmbeddingModel.parse(embedder.model.version) == embedder.model
    assert embedder.max_tokens > 0
