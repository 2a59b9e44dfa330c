"""An embedding provider that fails: it costs one search, /health says why, and its return is noticed by itself."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from nur.domain.errors import BadConfiguration, KeyRefused
from nur.entrypoints.cli.app import run
from tests.rest_client import open_rest
from tests.servers import faults

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.rest_client import Rest
    from tests.servers.faults import Fault
    from tests.servers.openai_stub import OpenAIStub

SOON_SECONDS = 60.0
TEXTS = ("The pilot boat leaves at dawn.", "The lamp is lit at dusk.")


@pytest.fixture
def openai(openai_stub: OpenAIStub) -> dict[str, Any]:
    """Settings of a store that embeds with the stub."""
    return {"openai_api_key": "sk-test", "openai_base_url": openai_stub.url, "openai_embed_dims": 64}


@asynccontextmanager
async def _stored(settings: dict[str, Any]) -> AsyncIterator[Rest]:
    """A Nur whose notes have their vectors."""
    async with open_rest(**settings) as rest:
        for text in TEXTS:
            await rest.ok("POST", "/v2/notes", {"text": text})
        await _idle(rest)
        yield rest


async def _idle(rest: Rest) -> None:
    async with asyncio.timeout(SOON_SECONDS):
        while (await rest.ok("GET", "/v2/admin/outbox"))["pending"]:  # noqa: ASYNC110  # asked over REST
            await asyncio.sleep(0.05)


async def _search(rest: Rest, query: str) -> tuple[list[str], int]:
    answer = await rest.ok("POST", "/v2/searches", {"query": query})
    return answer["degraded"], len(answer["items"])


async def _until_status(rest: Rest, status: str) -> dict[str, Any]:
    async with asyncio.timeout(SOON_SECONDS):
        while (found := (await rest.services.health()).checks["openai"])["status"] != status:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return dict(found)


async def test_a_provider_that_hangs_is_waited_for_once_and_its_return_noticed_without_a_call(
    openai: dict[str, Any], openai_stub: OpenAIStub
) -> None:
    async with _stored(openai) as rest:
        assert (await _search(rest, "pilot boat"))[0] == []
        openai_stub.fail_forever(faults.HANG)
        started = time.monotonic()
        for number in range(10):
            assert await _search(rest, f"pilot boat {number}") == (["dense"], 1)
        assert time.monotonic() - started < 10  # 2 s for the first; without the breaker 20 s, and more with retries
        started = time.monotonic()
        told = await _until_status(rest, "unhealthy")
        assert time.monotonic() - started < 2  # from what is known, while the probes still hang
        assert "timeout" in told["error"]
        openai_stub.heal()
        await _until_status(rest, "healthy")
        assert (await _search(rest, "pilot boat 1"))[0] == []


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (faults.WRONG_DIMENSION, "OPENAI_EMBED_DIMS"),
        (faults.NAN, "no usable embeddings"),
        (faults.status(401), "OPENAI_API_KEY"),
        (faults.status(400), "HTTP 400"),
        (faults.status(429), "rate limiting"),
        (faults.status(503), "unavailable"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
async def test_a_failed_search_shows_in_health_with_its_reason(
    openai: dict[str, Any], openai_stub: OpenAIStub, fault: Fault, reason: str
) -> None:
    async with _stored(openai) as rest:
        await _until_status(rest, "healthy")  # a monitor asked a moment ago: that does not hide what follows
        openai_stub.fail_forever(fault)
        assert await _search(rest, "pilot boat") == (["dense"], 1)
        async with asyncio.timeout(20):
            told = await _until_status(rest, "unhealthy")
        assert reason in told["error"]
        openai_stub.heal()
        await _until_status(rest, "healthy")


async def test_a_text_that_alone_is_refused_does_not_stop_the_searches(
    openai: dict[str, Any], openai_stub: OpenAIStub
) -> None:
    async with _stored(openai) as rest:
        openai_stub.fail(faults.status(400))
        assert (await _search(rest, "pilot boat"))[0] == ["dense"]
        assert (await _search(rest, "pilot boat"))[0] == []


async def test_what_is_written_meanwhile_is_embedded_once_when_the_provider_is_back(
    openai: dict[str, Any], openai_stub: OpenAIStub
) -> None:
    async with _stored(openai) as rest:
        openai_stub.fail_forever(faults.status(503))
        assert (await _search(rest, "pilot boat"))[0] == ["dense"]
        await rest.ok("POST", "/v2/notes", {"text": "The quay is swept at noon."})
        openai_stub.heal()
        await _idle(rest)
        inputs = [text for request in openai_stub.answered for text in request.inputs]
        assert inputs.count("The quay is swept at noon.") == 1


# --- The first start ---


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        (faults.status(404), "OPENAI_EMBED_MODEL=text-embedding-3-huge"),
        (faults.WRONG_DIMENSION, "OPENAI_EMBED_DIMS=64"),
        (faults.status(401), "OPENAI_API_KEY"),
    ],
)
async def test_a_first_start_with_wrong_settings_is_refused_and_binds_nothing(
    openai: dict[str, Any], openai_stub: OpenAIStub, fault: Fault, named: str
) -> None:
    openai_stub.fail_forever(fault)
    with pytest.raises(BadConfiguration, match=named):
        async with open_rest(**openai, openai_embed_model="text-embedding-3-huge"):
            pass
    openai_stub.heal()
    async with _stored(openai | {"openai_embed_model": "text-embedding-3-small"}) as rest:
        assert rest.services.embedder.model.version == "openai:text-embedding-3-small:64"


@pytest.mark.parametrize("fault", [faults.HANG, faults.status(503), faults.RESET], ids=lambda fault: fault.name)
async def test_a_first_start_without_an_answer_binds_nothing(
    openai: dict[str, Any], openai_stub: OpenAIStub, fault: Fault
) -> None:
    openai_stub.fail_forever(fault)
    async with open_rest(**openai, openai_embed_model="text-embedding-3-huge") as rest:
        assert (await rest.services.health()).status == "degraded"
        await rest.ok("POST", "/v2/notes", {"text": TEXTS[0]})
    openai_stub.heal()
    async with open_rest(**openai, openai_embed_model="text-embedding-3-small") as rest:
        await _idle(rest)
        answer = await rest.ok("POST", "/v2/searches", {"query": TEXTS[0], "mode": "dense"})
        assert (len(answer["items"]), answer["degraded"]) == (1, [])


async def test_a_model_that_answers_later_is_bound_before_its_vectors_are_stored(
    openai: dict[str, Any], openai_stub: OpenAIStub
) -> None:
    openai_stub.fail_forever(faults.status(503))
    async with open_rest(**openai) as rest:
        assert await rest.services.stores.facts.get("embedding_version") is None
        await rest.ok("POST", "/v2/notes", {"text": TEXTS[0]})
        openai_stub.heal()
        await _idle(rest)
        assert await rest.services.stores.facts.get("embedding_version") == "openai:text-embedding-3-large:64"
    with pytest.raises(BadConfiguration, match="nur reembed --to openai:text-embedding-3-small:64"):
        async with open_rest(**openai, openai_embed_model="text-embedding-3-small"):
            pass


async def test_a_store_without_vectors_takes_another_model(openai: dict[str, Any]) -> None:
    async with open_rest(**openai):
        pass
    async with _stored({"embeddings": "local"}) as rest:
        assert rest.services.embedder.model.provider == "local"
        assert (await _search(rest, "pilot boat"))[0] == []


# --- Without the key ---


async def test_a_store_of_openais_vectors_is_read_and_written_without_the_key(
    openai: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    async with _stored(openai):
        pass
    async with open_rest() as rest:
        assert await _search(rest, "pilot boat") == (["dense"], 1)
        told = (await rest.services.health()).checks["openai"]
        assert told["status"] == "unhealthy"
        assert "OPENAI_API_KEY" in str(told["error"])
        assert "nur reembed --to local" in str(told["error"])
        stored = await rest.ok("POST", "/v2/notes", {"text": "Written without the key."})
        assert stored["index_state"] == "pending"

    assert await asyncio.to_thread(run, ["list"]) == 0
    assert "The pilot boat leaves" in capsys.readouterr().out
    assert await asyncio.to_thread(run, ["get", stored["note_id"]]) == 0
    assert "Written without the key." in capsys.readouterr().out
    assert await asyncio.to_thread(run, ["search", "pilot boat"]) == 0
    printed = capsys.readouterr()
    assert "The pilot boat leaves" in printed.out
    assert "words" in printed.err

    assert await asyncio.to_thread(run, ["reembed", "--to", "local"]) == 0
    async with open_rest() as rest:
        assert (await _search(rest, "pilot boat"))[0] == []


async def test_a_new_store_with_openai_and_no_key_is_refused() -> None:
    with pytest.raises(KeyRefused, match="EMBEDDINGS=local"):
        async with open_rest(embeddings="openai"):
            pass
