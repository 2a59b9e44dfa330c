"""A rerank endpoint that misbehaves: no answer of its own making is ever taken for an order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nur.adapters.rerank.http import HttpReranker
from nur.domain.errors import RerankerDown
from tests.servers import faults
from tests.servers.faults import Fault
from tests.servers.rerank_stub import RerankStub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PASSAGES = ["tea", "green tea", "bridge"]
KEY = "rk-very-secret"


@pytest.fixture
async def reranker(rerank_stub: RerankStub) -> AsyncIterator[HttpReranker]:
    made = HttpReranker(rerank_stub.url, model="rerank-9", api_key=KEY)
    yield made
    await made.close()


async def test_the_request_has_the_shape_that_the_endpoints_share(
    reranker: HttpReranker, rerank_stub: RerankStub
) -> None:
    await reranker.score("green tea", PASSAGES)
    headers, payload = rerank_stub.requests[0]
    assert headers["authorization"] == f"Bearer {KEY}"
    assert payload == {"model": "rerank-9", "query": "green tea", "documents": PASSAGES, "top_n": 3}


async def test_an_endpoint_that_refuses_top_n_is_asked_without_it_from_then_on() -> None:
    with RerankStub("voyage") as stub:
        reranker = HttpReranker(stub.url, model="rerank-2.5", api_key=KEY)
        await reranker.score("tea", PASSAGES)
        await reranker.score("tea", PASSAGES)
        await reranker.close()
        assert ["top_n" in payload for _, payload in stub.requests] == [True, False, False]


async def test_a_server_of_one_model_gets_texts_and_no_key() -> None:
    with RerankStub("tei") as stub:
        reranker = HttpReranker(stub.url)
        await reranker.score("tea", PASSAGES)
        await reranker.close()
        headers, payload = stub.requests[0]
        assert payload == {"query": "tea", "texts": PASSAGES}
        assert "authorization" not in headers


@pytest.mark.parametrize(
    "fault",
    [
        faults.status(500),
        faults.status(401),
        faults.status(429),
        faults.HTML,
        faults.EMPTY_BODY,
        faults.NOT_AN_OBJECT,  # a list, but of nothing
        Fault("no results", body=b'{"message": "ok"}'),
        Fault("results of another shape", body=b'{"results": [0.5, 0.4, 0.3]}'),
        Fault("null", body=b"null"),
        Fault("index missing", tamper=lambda results: results[:-1]),
        Fault("index twice", tamper=lambda results: [results[0], results[0], results[1]]),
        Fault("index beyond", tamper=lambda results: [{**results[0], "index": 3}, *results[1:]]),
        Fault("index below", tamper=lambda results: [{**results[0], "index": -1}, *results[1:]]),
        Fault("no score", tamper=lambda results: [{"index": 0}, *results[1:]]),
        Fault("NaN", tamper=lambda results: [{**results[0], "relevance_score": float("nan")}, *results[1:]]),
        Fault("score in words", tamper=lambda results: [{**results[0], "relevance_score": "high"}, *results[1:]]),
    ],
    ids=lambda fault: fault.name,
)
async def test_a_bad_answer_is_an_outage_that_tells_nothing(
    reranker: HttpReranker, rerank_stub: RerankStub, fault: Fault
) -> None:
    rerank_stub.fail_forever(fault)
    with pytest.raises(RerankerDown) as caught:
        await reranker.score("green tea", PASSAGES)
    assert KEY not in str(caught.value)
    assert "tea" not in str(caught.value)
    rerank_stub.heal()
    assert len(await reranker.score("green tea", PASSAGES)) == 3


async def test_results_in_any_order_are_put_in_ours(reranker: HttpReranker, rerank_stub: RerankStub) -> None:
    straight = await reranker.score("green tea", PASSAGES)
    rerank_stub.fail_forever(faults.SHUFFLED)
    assert await reranker.score("green tea", PASSAGES) == straight == [1.0, 2.0, 0.0]


async def test_nobody_there_is_an_outage() -> None:
    reranker = HttpReranker("http://127.0.0.1:9/rerank", model="m")
    with pytest.raises(RerankerDown, match="cannot be reached"):
        await reranker.score("tea", PASSAGES)
    await reranker.close()
