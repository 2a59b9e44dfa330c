"""Contract tests of all rerankers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nur.adapters.rerank.http import HttpReranker
from nur.adapters.rerank.onnx import OnnxReranker
from tests.onnx_models import weigh_words
from tests.servers.rerank_stub import RerankStub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from nur.ports.reranker import Reranker

QUERY = "green tea"
WORDS = {"green": 1.0, "tea": 2.0, "bridge": -1.0, "is": 0.0}


@pytest.fixture(params=["cohere", "voyage", "tei", "onnx", "onnx_two_labels"])
async def reranker(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Reranker]:
    if request.param.startswith("onnx"):
        labels = 2 if request.param == "onnx_two_labels" else 1
        yield OnnxReranker(weigh_words(tmp_path / "model", WORDS, labels=labels))
        return
    with RerankStub(request.param) as stub:
        made = HttpReranker(stub.url, model=None if request.param == "tei" else "m", api_key="k")
        yield made
        await made.close()


async def test_scores_are_in_the_order_of_the_passages(reranker: Reranker) -> None:
    first, second, third = await reranker.score(QUERY, ["the bridge", "tea is green tea", "tea"])
    assert second > third > first


async def test_a_passage_scores_the_same_whatever_stands_beside_it(reranker: Reranker) -> None:
    many = [f"tea {'green ' * (number % 7)}is" for number in range(40)]
    together = await reranker.score(QUERY, many)
    alone = [(await reranker.score(QUERY, [passage]))[0] for passage in many]
    assert together == pytest.approx(alone)


async def test_no_passages_have_no_scores(reranker: Reranker) -> None:
    assert await reranker.score(QUERY, []) == []


@pytest.mark.parametrize("passage", ["", " ", "☕ ทดสอบ 茶", "tea " * 5000, "\n\t<|endoftext|>"])
async def test_any_text_has_a_score(reranker: Reranker, passage: str) -> None:
    assert isinstance((await reranker.score(QUERY, [passage]))[0], float)


async def test_it_says_how_much_it_reads_and_what_it_is(reranker: Reranker) -> None:
    assert reranker.max_chars > 0
    assert reranker.name
