"""Nothing stored, nothing close enough, words only: each door says which of them it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from nur.domain.notices import LEFT_OUT, NOT_THE_MATCH, WEAK
from tests.cli import Cli
from tests.doubles.embedder import InMemoryEmbedder
from tests.rest_client import rest_of
from tests.servers.faults import status
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from pathlib import Path

    from tests.acceptance.conftest import Door, OpenDoor, OpenWithoutJobs
    from tests.servers.openai_stub import OpenAIStub

BY_WORDS = "Searched by words only: the embedding provider or the vector index does not answer"
CLOSE = "Nothing stored is close enough to the question (best match: mem_"
NEVER_STORED = "What is the capital of Mongolia?"
FAR = "Which chess opening did the grandmaster play?"  # a word like one of the question's is stored
NOTES = (
    "Anna takes the train to Vienna on Friday morning",
    "Deploys happen on Tuesdays after the stand-up",
    "Prefers dark mode in every editor",
    "The dentist is on Harbour Street",
    "hi there",
)


async def _remember(nur: Door) -> None:
    for text in NOTES:
        await nur.text("memory_store", content=text, type="fact", confidence=1.0)


@pytest.mark.parametrize(
    ("tool", "arguments", "head", "kinds"),
    [
        ("memory_search", {}, "No memories found.", "No memories are stored yet."),
        ("artifact_search", {}, "No results found.", "No documents are stored yet."),
        ("hybrid_search", {}, "No results found.", "No documents are stored yet."),
    ],
)
async def test_nothing_stored_in_every_search_tool(
    nur: Door, tool: str, arguments: dict[str, Any], head: str, kinds: str
) -> None:
    assert await nur.text(tool, query="train", **arguments) == f"{head} {kinds}"
    assert (await nur.data(tool, query="train", **arguments))["reason"] == "nothing_stored"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("memory_search", {}), ("hybrid_search", {"include_memory": True, "include_history": True})],
)
async def test_what_was_never_stored_is_not_answered(nur: Door, tool: str, arguments: dict[str, Any]) -> None:
    await _remember(nur)
    told = await nur.text(tool, query=NEVER_STORED, **arguments)
    assert CLOSE in told
    assert "likely to answer: " in told
    found = await nur.data(tool, query=NEVER_STORED, **arguments)
    assert (found["hits"], found["reason"]) == ([], "below_floor")


async def test_what_does_not_answer_is_no_padding(nur: Door) -> None:
    await _remember(nur)
    lines = (await nur.text("memory_search", query="train")).splitlines()
    assert ("Vienna" in lines[0], len(lines), lines[-1].startswith(LEFT_OUT)) == (True, 2, True)


async def test_stored_confidence_is_not_taken_for_a_match(open_door: OpenDoor) -> None:
    async with open_door() as nur:
        await _remember(nur)
        found = await nur.data("memory_search", query=FAR)
        assert found["confidence"] < 0.2
        told = await nur.text("memory_search", query=FAR)
        assert "conf=1.0" in told
        assert told.endswith(f"{WEAK} {NOT_THE_MATCH}")


async def test_rest_says_which_of_the_three_it_is(open_without_jobs: OpenWithoutJobs, open_door: OpenDoor) -> None:
    async with open_door() as nur, rest_of(nur.services) as rest:
        empty = await rest.ok("POST", "/v2/searches", {"query": "train"})
        assert (empty["items"], empty["notice"]) == ([], "Nothing is stored yet.")
        await _remember(nur)
        far = await rest.ok("POST", "/v2/searches", {"query": NEVER_STORED})
        assert (far["items"], far["notice"].startswith(CLOSE)) == ([], True)
    embedder = InMemoryEmbedder()
    async with open_without_jobs(embedder=embedder) as nur, rest_of(nur.services) as rest:
        embedder.down = True
        words = await rest.ok("POST", "/v2/searches", {"query": "train"})
        assert words["notice"].startswith(BY_WORDS)


def test_the_command_line_says_what_is_missing(cli: Cli) -> None:
    assert cli("search", "train").startswith("No results found. Nothing is stored yet.")
    for text in NOTES:
        cli("remember", text)
    assert cli("search", NEVER_STORED).startswith(f"No results found. {CLOSE}")


def test_the_command_line_says_that_words_alone_were_compared(tmp_path: Path, openai_stub: OpenAIStub) -> None:
    provider = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": openai_stub.url, "OPENAI_MAX_RETRIES": "0"}
    with NurProcess(tmp_path / "provider", **provider) as server:
        assert httpx2.post(f"{server.url}/v2/notes?wait=indexed", json={"text": "The boiler is old."}).is_success
        openai_stub.fail_forever(status(503))
        assert Cli(server.folder)("search", "xylophone").startswith(f"No results found. {BY_WORDS}")
