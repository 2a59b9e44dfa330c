"""The real client against a server that misbehaves in every way we know."""

from __future__ import annotations

import asyncio
import logging
import socket
from datetime import timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nur.adapters.openai.batches import BatchLimits
from nur.adapters.openai.embedder import OpenAIEmbedder
from nur.adapters.openai.retries import RetryPolicy
from nur.domain.embedding import EmbeddingModel
from nur.domain.errors import EmbedderDown, EmbedderRefused, KeyRefused
from nur.observability import metrics
from nur.observability.events import JsonFormatter
from tests.doubles.clock import ManualClock
from tests.doubles.embedder import hashed_words
from tests.servers import faults
from tests.servers.openai_stub import OpenAIStub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.servers.faults import Fault

MODEL = EmbeddingModel("openai", "text-embedding-3-large", 32)
KEY = "sk-canary-key"
RATE_LIMITED = "Failed after 3 attempts due to rate limiting. Try again later."
UNAVAILABLE = "OpenAI service unavailable after 3 attempts."


def words(text: str) -> int:
    return len(text.split())


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def make(openai_stub: OpenAIStub, clock: ManualClock) -> AsyncIterator[Callable[..., OpenAIEmbedder]]:
    """Build embedders that talk to the stub, and close them."""
    made: list[OpenAIEmbedder] = []

    def build(**options: Any) -> OpenAIEmbedder:
        defaults = {"base_url": openai_stub.url, "clock": clock, "jitter": lambda: 0.0}
        made.append(OpenAIEmbedder(MODEL, api_key=KEY, count_tokens=words, **{**defaults, **options}))
        return made[-1]

    yield build
    for embedder in made:
        await embedder.close()


@pytest.fixture
def embedder(make: Callable[..., OpenAIEmbedder]) -> OpenAIEmbedder:
    return make()


def expected(*texts: str) -> np.ndarray[Any, Any]:
    return np.stack([hashed_words(text, MODEL.dimensions) for text in texts])


def events(caplog: pytest.LogCaptureFixture) -> list[tuple[str, dict[str, Any]]]:
    return [(record.getMessage(), record.fields) for record in caplog.records if hasattr(record, "fields")]


# The specification's own four tests, under its names.


async def test_generate_embedding_success(embedder: OpenAIEmbedder, openai_stub: OpenAIStub) -> None:
    vectors = await embedder.embed(["tea in the morning"])
    np.testing.assert_allclose(vectors, expected("tea in the morning"), atol=1e-6)
    (request,) = openai_stub.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert (request.payload["model"], request.payload["dimensions"]) == (MODEL.name, MODEL.dimensions)


async def test_generate_embedding_retry_on_rate_limit(
    embedder: OpenAIEmbedder, openai_stub: OpenAIStub, clock: ManualClock
) -> None:
    openai_stub.fail(*[faults.status(429)] * 3)
    assert (await embedder.embed(["tea"])).shape == (1, MODEL.dimensions)
    assert clock.sleeps == [1.0, 2.0, 4.0]
    assert len(openai_stub.requests) == 4


@pytest.mark.parametrize("code", [401, 403])
async def test_generate_embedding_no_retry_on_auth_error(
    embedder: OpenAIEmbedder, openai_stub: OpenAIStub, clock: ManualClock, code: int
) -> None:
    openai_stub.fail_forever(faults.status(code))
    with pytest.raises(KeyRefused) as caught:
        await embedder.embed(["tea"])
    assert str(caught.value) == "OpenAI API key is invalid or missing. Check OPENAI_API_KEY environment variable."
    assert (len(openai_stub.requests), clock.sleeps) == (1, [])


async def test_generate_embeddings_batch(make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub) -> None:
    texts = [f"text number {place}" for place in range(250)]
    done: list[int] = []
    vectors = await make().embed(texts, done.append)
    np.testing.assert_allclose(vectors, expected(*texts), atol=1e-6)
    assert sorted(request.batch_size for request in openai_stub.requests) == [50, 100, 100]
    assert (done[-1], done) == (250, sorted(done))


# Waiting and giving up.


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (faults.status(429), RATE_LIMITED),
        (faults.status(500), UNAVAILABLE),
        (faults.status(502), UNAVAILABLE),
        (faults.status(503), UNAVAILABLE),
        (faults.RESET, UNAVAILABLE),
        (faults.CUT_OFF, UNAVAILABLE),
        (faults.HANG, "Request failed after 3 timeouts."),
        (faults.slow(30), "Request failed after 3 timeouts."),
        (faults.EMPTY_BODY, "OpenAI returned no usable embeddings in 3 attempts: not JSON."),
        (faults.HTML, "OpenAI returned no usable embeddings in 3 attempts: not JSON."),
        (faults.TRUNCATED_JSON, "OpenAI returned no usable embeddings in 3 attempts: not JSON."),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
async def test_a_passing_fault_is_survived_and_a_lasting_one_named(
    make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub, clock: ManualClock, fault: Fault, message: str
) -> None:
    embedder = make(retry_policy=RetryPolicy(timeout_seconds=0.6))
    openai_stub.fail(fault)
    np.testing.assert_allclose(await embedder.embed(["tea"]), expected("tea"), atol=1e-6)

    openai_stub.fail_forever(fault)
    with pytest.raises(EmbedderDown) as caught:
        await embedder.embed(["tea", "coffee"])
    error = caught.value
    assert (str(error), error.failed, error.total, error.retryable) == (message, 2, 2, True)
    assert error.__cause__ is not None
    assert clock.sleeps == [1.0, 1.0, 2.0, 4.0]
    assert len(openai_stub.requests) == 6


@pytest.mark.parametrize(
    "fault",
    [
        faults.NAN,
        faults.INFINITY,
        faults.NULL_NUMBER,
        faults.NULL_VECTOR,
        faults.ZERO_VECTOR,
        faults.FEWER_ITEMS,
        faults.MORE_ITEMS,
        faults.TWICE_THE_SAME_INDEX,
        faults.NOT_AN_OBJECT,
    ],
    ids=lambda fault: fault.name,
)
async def test_a_wrong_answer_is_asked_again_and_never_returned(
    make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub, fault: Fault
) -> None:
    embedder = make()
    openai_stub.fail(fault)
    np.testing.assert_allclose(await embedder.embed(["tea", "coffee"]), expected("tea", "coffee"), atol=1e-6)
    openai_stub.fail_forever(fault)
    with pytest.raises(EmbedderDown, match="no usable embeddings"):
        await embedder.embed(["tea", "coffee"])


async def test_a_shuffled_answer_is_put_in_order(embedder: OpenAIEmbedder, openai_stub: OpenAIStub) -> None:
    openai_stub.fail(faults.SHUFFLED)
    texts = ["tea", "coffee", "water"]
    np.testing.assert_allclose(await embedder.embed(texts), expected(*texts), atol=1e-6)
    assert len(openai_stub.requests) == 1


async def test_another_dimension_is_not_asked_again(embedder: OpenAIEmbedder, openai_stub: OpenAIStub) -> None:
    openai_stub.fail_forever(faults.WRONG_DIMENSION)
    with pytest.raises(EmbedderDown, match="31 dimensions instead of 32") as caught:
        await embedder.embed(["tea"])
    assert "OPENAI_EMBED_DIMS" in str(caught.value)
    assert len(openai_stub.requests) == 1


async def test_a_refused_text_is_not_sent_again(
    embedder: OpenAIEmbedder, openai_stub: OpenAIStub, clock: ManualClock
) -> None:
    openai_stub.fail_forever(faults.status(400))
    with pytest.raises(EmbedderRefused) as caught:
        await embedder.embed(["tea"])
    assert str(caught.value) == "Invalid text for embedding: the provider answered HTTP 400"
    assert (len(openai_stub.requests), clock.sleeps) == (1, [])


@pytest.mark.parametrize("text", ["", "lone \ud800 surrogate"])
async def test_a_text_the_api_cannot_take_is_not_sent(
    embedder: OpenAIEmbedder, openai_stub: OpenAIStub, text: str
) -> None:
    with pytest.raises(EmbedderRefused, match="Invalid text for embedding"):
        await embedder.embed([text])
    assert openai_stub.requests == []


async def test_retry_after_in_seconds_is_obeyed(
    embedder: OpenAIEmbedder, openai_stub: OpenAIStub, clock: ManualClock
) -> None:
    openai_stub.fail(faults.status(429, retry_after="7"), faults.status(503, retry_after="1"))
    await embedder.embed(["tea"])
    assert clock.sleeps == [7.0, 2.0]


async def test_retry_after_as_a_date_is_obeyed(
    embedder: OpenAIEmbedder, openai_stub: OpenAIStub, clock: ManualClock
) -> None:
    date = format_datetime(clock.now() + timedelta(seconds=11), usegmt=True)
    openai_stub.fail(faults.status(429, retry_after=date))
    await embedder.embed(["tea"])
    assert clock.sleeps == [11.0]


async def test_jitter_is_added_to_each_wait(
    make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub, clock: ManualClock
) -> None:
    openai_stub.fail(faults.status(500), faults.status(500))
    await make(jitter=lambda: 0.25).embed(["tea"])
    assert clock.sleeps == [1.25, 2.25]


async def test_a_call_gives_up_at_its_deadline(
    embedder: OpenAIEmbedder, openai_stub: OpenAIStub, clock: ManualClock
) -> None:
    openai_stub.fail_forever(faults.status(429, retry_after="20"))
    with pytest.raises(EmbedderDown, match="rate limiting"):
        await embedder.embed(["tea"])
    assert clock.sleeps == [20.0, 20.0]  # a third wait would end after 45 s


async def test_one_request_cannot_outlast_the_deadline(
    make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    openai_stub.fail_forever(faults.HANG)
    embedder = make(retry_policy=RetryPolicy(timeout_seconds=30, deadline_seconds=0.1))
    with pytest.raises(EmbedderDown, match="timeout"):
        await asyncio.wait_for(embedder.embed(["tea"]), 10)
    assert len(openai_stub.requests) == 1


async def test_a_call_that_never_gets_its_turn_gives_up_too(
    make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    embedder = make(limits=BatchLimits(in_flight=1), retry_policy=RetryPolicy(deadline_seconds=0.1))
    async with embedder._gate:  # as if another call held it
        with pytest.raises(EmbedderDown, match="timeout"):
            await asyncio.wait_for(embedder.embed(["tea"]), 10)
    assert openai_stub.requests == []


async def test_no_retries_means_one_request(make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub) -> None:
    openai_stub.fail_forever(faults.status(500))
    with pytest.raises(EmbedderDown, match="after 1 attempt"):
        await make(retry_policy=RetryPolicy(retries=0)).embed(["tea"])
    assert len(openai_stub.requests) == 1


async def test_a_closed_port_is_a_provider_that_is_down(make: Callable[..., OpenAIEmbedder]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(EmbedderDown) as caught:
        await make(base_url=f"http://127.0.0.1:{port}/v1").embed(["tea"])
    assert str(caught.value) == UNAVAILABLE


@pytest.mark.parametrize("key", ["", "sk\nforged: header", "sk-ключ"])
def test_a_key_that_cannot_be_sent_is_refused_at_once(key: str) -> None:
    with pytest.raises(KeyRefused):
        OpenAIEmbedder(MODEL, api_key=key, count_tokens=words)


# Batches side by side.


async def test_batches_are_in_flight_together_up_to_the_bound(
    make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    openai_stub.fail_forever(faults.slow(0.05))
    await make(limits=BatchLimits(texts=1, in_flight=3)).embed([f"text {place}" for place in range(9)])
    assert openai_stub.peak_in_flight == 3


async def test_batches_are_cut_by_tokens_too(make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub) -> None:
    await make(limits=BatchLimits(tokens=4)).embed(["one two", "three four", "five six"])
    assert sorted(request.batch_size for request in openai_stub.requests) == [1, 2]


async def test_one_failed_batch_fails_the_call_and_says_how_many_are_missing(
    make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    embedder = make(limits=BatchLimits(texts=2, in_flight=1))
    openai_stub.fail(faults.slow(0), faults.status(400))
    with pytest.raises(EmbedderRefused) as caught:
        await embedder.embed(["a", "b", "c", "d", "e"])
    assert (caught.value.failed, caught.value.total) == (3, 5)
    assert len(openai_stub.requests) == 2  # the third batch was never sent


async def test_the_other_batches_are_cancelled_when_one_fails(
    make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    embedder = make(limits=BatchLimits(texts=1, in_flight=2))
    openai_stub.fail(faults.HANG, faults.status(401))
    with pytest.raises(KeyRefused):
        await asyncio.wait_for(embedder.embed(["hangs", "refused"]), 10)
    openai_stub.heal()
    assert (await embedder.embed(["after"])).shape == (1, MODEL.dimensions)  # and their places are free again


async def test_cancelling_a_call_ends_its_requests(
    make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    embedder = make(limits=BatchLimits(texts=1, in_flight=1))
    openai_stub.fail(faults.HANG)
    call = asyncio.create_task(embedder.embed(["tea", "coffee"]))
    await asyncio.to_thread(openai_stub.arrived.wait, 10)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await embedder.embed(["after"])).shape == (1, MODEL.dimensions)
    assert [request.inputs for request in openai_stub.requests] == [["tea"], ["after"]]


async def test_a_query_does_not_queue_behind_an_ingest(
    make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    embedder = make(limits=BatchLimits(in_flight=1))
    openai_stub.fail(faults.HANG)
    ingest = asyncio.create_task(embedder.embed(["a long book"]))
    await asyncio.to_thread(openai_stub.arrived.wait, 10)
    assert (await embedder.embed_query("tea")).shape == (MODEL.dimensions,)
    ingest.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ingest


# Queries, the probe, and what is asked of other servers.


async def test_a_query_is_asked_once_and_then_remembered(
    make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    embedder = make(query_cache_size=2)
    for query in ("a", "b", "a", "c", "a", "b"):  # b is the one used longest ago when c comes
        await embedder.embed_query(query)
    assert [request.inputs for request in openai_stub.requests] == [["a"], ["b"], ["c"], ["b"]]


async def test_a_remembered_vector_cannot_be_changed(embedder: OpenAIEmbedder) -> None:
    vector = await embedder.embed_query("tea")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 9.0


async def test_a_failed_query_is_not_remembered(embedder: OpenAIEmbedder, openai_stub: OpenAIStub) -> None:
    openai_stub.fail(faults.status(400))
    with pytest.raises(EmbedderRefused):
        await embedder.embed_query("tea")
    np.testing.assert_allclose(await embedder.embed_query("tea"), expected("tea")[0], atol=1e-6)


async def test_a_cache_of_no_size_remembers_nothing(
    make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    embedder = make(query_cache_size=0)
    await embedder.embed_query("tea")
    await embedder.embed_query("tea")
    assert len(openai_stub.requests) == 2


async def test_a_probe_of_a_healthy_provider_is_one_small_request(
    embedder: OpenAIEmbedder, openai_stub: OpenAIStub
) -> None:
    probe = await embedder.probe()
    assert (probe.healthy, probe.dimensions, probe.error) == (True, MODEL.dimensions, None)
    assert len(openai_stub.requests) == 1


@pytest.mark.parametrize(
    ("fault", "key_refused"),
    [
        (faults.status(401), True),
        (faults.status(429), False),
        (faults.status(400), False),
        (faults.status(500), False),
        (faults.RESET, False),
        (faults.HTML, False),
        (faults.WRONG_DIMENSION, False),
        (faults.NAN, False),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
async def test_a_probe_never_raises_and_never_retries(
    embedder: OpenAIEmbedder, openai_stub: OpenAIStub, clock: ManualClock, fault: Fault, key_refused: bool
) -> None:
    openai_stub.fail_forever(fault)
    probe = await embedder.probe()
    assert (probe.healthy, probe.dimensions, probe.key_refused) == (False, None, key_refused)
    assert probe.error
    assert (len(openai_stub.requests), clock.sleeps) == (1, [])


async def test_a_probe_does_not_wait_for_a_provider_that_hangs(
    make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    openai_stub.fail_forever(faults.HANG)
    probe = await asyncio.wait_for(make(retry_policy=RetryPolicy(probe_seconds=0.1)).probe(), 10)
    assert probe.error == "Request failed after 1 timeout."


async def test_dimensions_are_sent_only_to_models_that_take_them(
    make: Callable[..., OpenAIEmbedder], openai_stub: OpenAIStub
) -> None:
    with pytest.raises(EmbedderDown, match="3072 dimensions instead of 32"):  # the stub's default for the model
        await make(send_dimensions=False).embed(["tea"])
    assert "dimensions" not in openai_stub.requests[0].payload


async def test_other_servers_are_asked_for_floats(embedder: OpenAIEmbedder, openai_stub: OpenAIStub) -> None:
    await embedder.embed(["tea"])
    assert openai_stub.requests[0].payload["encoding_format"] == "float"


@pytest.mark.parametrize("floats_only", [False, True])
async def test_base64_and_floats_are_both_read_when_base64_was_asked(floats_only: bool) -> None:
    with OpenAIStub(floats_only=floats_only) as stub:
        embedder = OpenAIEmbedder(
            MODEL, api_key=KEY, count_tokens=words, base_url=stub.url, encoding_format="base64", clock=ManualClock()
        )
        np.testing.assert_allclose(await embedder.embed(["tea"]), expected("tea"), atol=1e-6)
        assert stub.requests[0].payload["encoding_format"] == "base64"
        await embedder.close()


async def test_a_server_with_another_key_turns_ours_away() -> None:
    with OpenAIStub(api_key="sk-other") as stub:
        embedder = OpenAIEmbedder(MODEL, api_key=KEY, count_tokens=words, base_url=stub.url)
        assert (await embedder.probe()).key_refused
        await embedder.close()


# What is left in the log and the metrics.


async def test_a_good_call_is_logged_with_sizes_and_timings(
    make: Callable[..., OpenAIEmbedder], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "nur")
    await make(limits=BatchLimits(texts=2, in_flight=1)).embed(["one two", "three", "four"])
    batch = {"batch_size": 2, "batch_index": 0, "total_batches": 2, "token_count": 3, "latency_ms": 0}
    assert events(caplog) == [
        (
            "embedding_requested",
            {"model": MODEL.name, "input_length": 16, "token_count": 4, "batch_size": 3},
        ),
        ("batch_embeddings_generated", batch),
        ("batch_embeddings_generated", {**batch, "batch_size": 1, "batch_index": 1, "token_count": 1}),
        (
            "embedding_generated",
            {
                "model": MODEL.name,
                "dimensions": 32,
                "input_length": 16,
                "token_count": 4,
                "latency_ms": 0,
                "batch_size": 3,
            },
        ),
    ]


async def test_retries_and_the_end_are_logged(
    embedder: OpenAIEmbedder, openai_stub: OpenAIStub, caplog: pytest.LogCaptureFixture
) -> None:
    openai_stub.fail_forever(faults.status(429))
    with pytest.raises(EmbedderDown):
        await embedder.embed(["tea"])
    told = [(name, fields) for name, fields in events(caplog) if name != "embedding_requested"]
    assert told == [
        ("embedding_retry", {"attempt": 1, "error": "rate_limit", "backoff_ms": 1000}),
        ("embedding_retry", {"attempt": 2, "error": "rate_limit", "backoff_ms": 2000}),
        ("embedding_retry", {"attempt": 3, "error": "rate_limit", "backoff_ms": 4000}),
        (
            "embedding_failed",
            {"attempts": 4, "error": "rate_limit", "details": "the provider answered HTTP 429", "failed": 1},
        ),
    ]


@pytest.mark.parametrize(
    "fault",
    [faults.status(code) for code in (400, 401, 403, 404, 422, 429, 500)] + [faults.HTML, faults.RESET, None],
    ids=lambda fault: fault.name if fault else "no fault",
)
async def test_neither_key_nor_text_nor_the_providers_words_reach_a_log_or_a_user(
    embedder: OpenAIEmbedder, openai_stub: OpenAIStub, caplog: pytest.LogCaptureFixture, fault: Fault | None
) -> None:
    caplog.set_level(logging.INFO)
    caplog.handler.setFormatter(JsonFormatter())
    if fault:
        openai_stub.fail_forever(fault)
    said = ""
    try:
        await embedder.embed(["canary text"])
        await embedder.embed_query("canary query")
    except (EmbedderDown, KeyRefused) as error:
        logging.getLogger("nur.test").exception("call_failed")
        said = str(error)
    said += str(await embedder.probe()) + repr(embedder) + caplog.text
    assert "embedding_requested" in said
    for secret in ("canary", "upstream", "Bad Gateway", KEY):
        assert secret not in said


async def test_texts_tokens_and_failures_are_counted(embedder: OpenAIEmbedder, openai_stub: OpenAIStub) -> None:
    def value(name: str, **labels: str) -> float:
        return metrics.REGISTRY.get_sample_value(name, labels) or 0.0

    def counts() -> tuple[float, ...]:
        return (
            value("embeddings_total", model=MODEL.name, dimensions="32"),
            value("embedding_tokens_total", model=MODEL.name),
            value("embedding_latency_seconds_count"),
            value("embedding_batch_size_sum"),
            value("embeddings_failed_total", error="invalid_input"),
        )

    before = counts()
    await embedder.embed(["one two", "three"])
    openai_stub.fail(faults.status(400))
    with pytest.raises(EmbedderRefused):
        await embedder.embed(["four", "five"])
    assert [after - was for was, after in zip(before, counts(), strict=True)] == [2, 3, 1, 2, 2]
