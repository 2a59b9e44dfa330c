"""Re-embedding a real store with another model, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.entrypoints.cli.app import run
from tests.rest_client import open_rest

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

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
    import asyncio

    local = asyncio.run(_fill())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", openai_stub.url)
    target = "openai:text-embedding-3-small:64"
    assert run(["reembed", "--to", target]) == 0
    told = capsys.readouterr().out
    assert f"5 chunks embedded with {target}" in told
    assert "100% found the chunk" in told
    asked = len(openai_stub.requests)

    version, found = asyncio.run(_asked())
    assert version == target
    assert found[0] == "Note 3 speaks of tower3."

    assert run(["reembed", "--to", local]) == 0
    assert "0 chunks embedded" in capsys.readouterr().out
    version, found = asyncio.run(_asked())
    assert (version, found[0]) == (local, "Note 3 speaks of tower3.")
    assert len(openai_stub.requests) > asked  # the question was embedded once by the new model, nothing else

    assert run(["reembed", "--purge-old", "--yes"]) == 0
    assert f"5 vectors of {target} forgotten" in capsys.readouterr().out


def test_a_running_store_is_not_reembedded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import asyncio

    async def beside() -> int:
        async with open_rest():
            return await asyncio.to_thread(run, ["reembed", "--to", "local"])

    assert asyncio.run(beside()) == 3
    assert "in use" in capsys.readouterr().err
