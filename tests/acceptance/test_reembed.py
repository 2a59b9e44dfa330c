"""Re-embedding a real store with another model, and back."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from nur.entrypoints.cli.app import run
from tests.rest_client import Rest, open_rest
from tests.servers import faults
from tests.servers.nur_server import NurProcess, clean_environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.openai_stub import OpenAIStub


async def _fill() -> str:
    async with open_rest() as rest:
        for i in range(5):
            await rest.ok("POST", "/v2/notes?wait=indexed", {"text": f"Note {i} speaks of tower{i}."})
        return rest.services.embedder.model.version


async def _asked(**settings: object) -> tuple[str, list[str]]:
    async with open_rest(**settings) as rest:
        answer = await rest.ok("POST", "/v2/searches", {"query": "tower3", "mode": "dense"})
        assert answer["degraded"] == []
        return rest.services.embedder.model.version, [item["snippet"] for item in answer["items"]]


def test_a_store_moves_to_another_model_and_back(
    openai_stub: OpenAIStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    local = asyncio.run(_fill())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", openai_stub.url)
    target = "openai:text-embedding-3-small:64"
    assert run(["reembed", "--to", target]) == 0
    told = capsys.readouterr().out
    assert f"5 chunks embedded with {target}" in told
    assert "100% of the questions found the chunk" in told
    asked = len(openai_stub.requests)

    version, found = asyncio.run(_asked())
    assert version == target
    assert found[0] == "Note 3 speaks of tower3."

    assert run(["reembed", "--to", local]) == 0
    assert "0 chunks embedded" in capsys.readouterr().out
    version, found = asyncio.run(_asked())
    assert (version, found[0]) == (local, "Note 3 speaks of tower3.")
    assert len(openai_stub.requests) > asked  # the question was embedded once by the new model, nothing else

    assert run(["reembed", "--to", "local"]) == 0
    assert capsys.readouterr().out == f"The store's model is already {local}.\n"
    assert run(["reembed", "--purge-old", "--yes"]) == 0
    assert f"5 vectors of {target} deleted" in capsys.readouterr().out


def test_a_store_keeps_the_first_version_of_the_packaged_model_until_it_is_moved() -> None:
    first = "local:wordllama-l2-supercat:256"
    current = asyncio.run(_fill())
    assert current != first
    assert run(["reembed", "--to", first]) == 0
    for embeddings in ("auto", "local"):
        assert asyncio.run(_asked(embeddings=embeddings)) == (first, asyncio.run(_asked())[1])
    assert run(["reembed", "--to", "local"]) == 0
    assert asyncio.run(_asked())[0] == current


async def test_a_running_server_moves_to_another_model_while_it_is_used(
    openai_stub: OpenAIStub, tmp_path: Path
) -> None:
    settings = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": openai_stub.url, "EMBEDDINGS": "local"}
    folder, target = tmp_path / "data", "openai:text-embedding-3-small:64"
    with NurProcess(folder, **settings):
        pass  # a store of the local model
    settings.pop("EMBEDDINGS")
    with NurProcess(folder, **settings) as server:
        async with httpx2.AsyncClient(base_url=server.url, timeout=60) as client:
            user = User(client)
            using = asyncio.create_task(user.use())
            await user.reaches(40)
            code, told = await asyncio.to_thread(reembed, folder, settings, "--to", target)
            assert code == 0
            assert (told["to_version"], told["switched"]) == (target, True)
            assert told["comparison"]["found_itself"] > 0.9
            await user.reaches(user.calls + 20)
            user.over = True
            await using
            assert await held_notes(client) == user.texts  # nothing lost, nothing doubled, no call failed

            stands = (await client.get("/v2/admin/embedding")).json()
            assert (stands["embedding_version"], stands["state"]) == (target, "idle")
            await indexed(client)
            asked = len(openai_stub.requests)
            found = (
                await client.post("/v2/searches", json={"query": "Note 7 speaks of tower7.", "mode": "dense"})
            ).json()
            assert "tower7." in found["items"][0]["snippet"]
            assert len(openai_stub.requests) == asked + 1  # the question went to the new model

            code, told = await asyncio.to_thread(reembed, folder, settings, "--to", "local")
            assert (code, told["from_version"]) == (0, target)
            assert told["embedded"] <= user.calls - 40  # what was written before the switch had its vectors
            local = (await client.get("/v2/admin/embedding")).json()["embedding_version"]
            assert local.startswith("local:")
            assert (await client.post("/v2/admin/embedding/purge")).json()["forgotten"].keys() == {target}
            assert list((await client.get("/v2/admin/embedding")).json()["held_versions"]) == [local]


async def test_a_crash_between_embedding_and_switch_loses_neither(tmp_path: Path, openai_stub: OpenAIStub) -> None:
    settings = {"openai_api_key": "sk-test", "openai_base_url": openai_stub.url}
    target = "openai:text-embedding-3-small:64"
    async with open_rest(embeddings="local", **settings) as rest:
        await rest.ok("POST", "/v2/notes?wait=indexed", {"text": "Note 3 speaks of tower3."})
    async with open_rest(**settings) as rest:  # nobody reopens this one: it ends before it could
        await rest.ok("POST", "/v2/admin/embedding", {"to": target})
        stands = await ended(rest)
        assert (stands["state"], stands["done"], stands["total"]) == ("switching", 1, 1)
        assert stands["embedding_version"].startswith("local:")
        late = await rest.ok("POST", "/v2/notes?wait=indexed", {"text": "Note 4 speaks of tower4."})
        refused = await rest.problem(409, "POST", "/v2/admin/embedding/purge")
        assert refused["code"] == "conflict"
    async with open_rest(**settings) as rest:
        stands = await rest.ok("GET", "/v2/admin/embedding")
        assert (stands["embedding_version"], stands["state"]) == (target, "idle")
        assert stands["last"]["embedded"] == 1
        await indexed(rest.client)
        found = await rest.ok("POST", "/v2/searches", {"query": "tower4", "mode": "dense"})
        assert (
            found["items"][0]["note_id"] == late["note_id"]
        )  # written with the former model, embedded after the switch


async def test_a_server_that_cannot_open_its_store_again_leaves_and_says_why(
    openai_stub: OpenAIStub, tmp_path: Path
) -> None:
    settings = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": openai_stub.url}
    folder, target = tmp_path / "data", "openai:text-embedding-3-small:64"
    with NurProcess(folder, EMBEDDINGS="local", **settings) as server:
        noted = httpx2.post(
            f"{server.url}/v2/notes?wait=indexed", json={"text": "Note 3 speaks of tower3."}, timeout=60
        )
        assert noted.json()["index_state"] == "indexed"
    with NurProcess(folder, **settings) as server:
        openai_stub.fail(None, None, None)  # the probe, the chunk and the question that compares the models
        openai_stub.fail_forever(faults.status(401))  # then the key is turned away
        assert httpx2.post(f"{server.url}/v2/admin/embedding", json={"to": target}, timeout=60).status_code == 202
        assert await asyncio.to_thread(server.process.wait, 60) == 2
        assert "nur: " in server.log.read_text()
    openai_stub.heal()
    with NurProcess(folder, **settings) as server:
        assert httpx2.get(f"{server.url}/v2/admin/embedding", timeout=60).json()["embedding_version"] == target


@pytest.mark.parametrize(
    ("settings", "to", "words"),
    [
        ({}, "openai", "OPENAI_API_KEY"),
        ({}, "openai:x", "No such model: openai:x"),
        ({"embeddings": "local", "openai_api_key": "sk-test"}, "openai", "settings ask for local:"),
    ],
    ids=["no key", "no model", "settings say otherwise"],
)
async def test_a_move_that_cannot_succeed_is_refused_at_once(settings: dict[str, Any], to: str, words: str) -> None:
    async with open_rest(**settings) as rest:
        problem = await rest.problem(400, "POST", "/v2/admin/embedding", {"to": to})
        assert words in problem["detail"]
        assert (await rest.ok("GET", "/v2/admin/embedding"))["state"] == "idle"


async def test_a_provider_that_fails_leaves_the_store_with_its_model(openai_stub: OpenAIStub) -> None:
    settings = {"openai_api_key": "sk-test", "openai_base_url": openai_stub.url, "openai_max_retries": 0}
    async with open_rest(embeddings="local", **settings) as rest:
        await rest.ok("POST", "/v2/notes?wait=indexed", {"text": "Note 3 speaks of tower3."})
    async with open_rest(**settings) as rest:
        openai_stub.fail(None, faults.status(503), faults.status(503))  # the key's probe, then both tries
        await rest.ok("POST", "/v2/admin/embedding", {"to": "openai"})
        stands = await ended(rest)
        assert (stands["state"], stands["done"]) == ("failed", 0)
        assert stands["error"]
        assert stands["embedding_version"].startswith("local:")


class User:
    """Somebody who writes and asks all the while, and keeps a plain record."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client
        self.texts: set[str] = set()
        self.calls = 0
        self.over = False

    async def use(self) -> None:
        while not self.over:
            text = f"Note {self.calls} speaks of tower{self.calls}."
            assert (await self.client.post("/v2/notes", json={"text": text})).status_code == 201
            self.texts.add(text)
            asked = await self.client.post("/v2/searches", json={"query": f"tower{self.calls}"})
            assert asked.json()["items"][0]["snippet"] == text
            self.calls += 1

    async def reaches(self, calls: int) -> None:
        async with asyncio.timeout(90):
            while self.calls < calls:  # noqa: ASYNC110  # a count, not an event
                await asyncio.sleep(0.02)


def reembed(folder: Path, settings: dict[str, str], *arguments: str) -> tuple[int, dict[str, Any]]:
    left = subprocess.run(
        [sys.executable, "-m", "nur", "reembed", "--json", *arguments],
        env=clean_environment(folder, **settings),
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert left.stdout, left.stderr
    return left.returncode, json.loads(left.stdout)


async def held_notes(client: httpx2.AsyncClient) -> set[str]:
    texts: list[str] = []
    params: dict[str, Any] = {"limit": 200, "text": True}
    while True:
        page = (await client.get("/v2/notes", params=params)).json()
        texts += [note["text"] for note in page["notes"]]
        if page["next_cursor"] is None:
            break
        params["cursor"] = page["next_cursor"]
    assert len(texts) == len(set(texts))
    return set(texts)


async def indexed(client: httpx2.AsyncClient) -> None:
    async with asyncio.timeout(60):
        while (await client.get("/v2/admin/outbox")).json()["pending"]:  # noqa: ASYNC110  # asked over HTTP
            await asyncio.sleep(0.05)


async def ended(rest: Rest) -> Any:
    async with asyncio.timeout(60):
        while (stands := await rest.ok("GET", "/v2/admin/embedding"))["state"] == "embedding":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return stands
