"""Projects reach the tools: named in the call, by the client's header, or by the settings."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from mcp import Client

from tests.servers.nur_server import NurProcess, clean_environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.acceptance.conftest import Door, OpenDoor


async def project_of(nur: Door, memory: dict[str, Any]) -> str:
    note = await nur.services.stores.notes.get("default", memory["memory_id"])
    assert note is not None
    return note.meta.project


async def test_a_memory_belongs_to_the_project_that_the_call_names(nur: Door) -> None:
    oak = await nur.data("memory_store", content="The roof leaks.", type="fact", project="oak")
    none = await nur.data("memory_store", content="The roof is red.", type="fact")
    assert [await project_of(nur, one) for one in (oak, none)] == ["oak", ""]
    for tool in ("memory_search", "search_everything"):
        found = (await nur.data(tool, query="roof", project="oak"))["hits"]
        assert [hit["id"] for hit in found] == [oak["memory_id"]]
        assert len((await nur.data(tool, query="roof"))["hits"]) == 2


async def test_the_settings_name_a_project_for_calls_that_name_none(open_door: OpenDoor) -> None:
    async with open_door(nur_project="elm") as nur:
        stored = await nur.data("memory_store", content="Always use tabs.", type="fact")
        general = await nur.data("memory_store", content="Never use emojis.", type="fact", project="")
        assert [await project_of(nur, one) for one in (stored, general)] == ["elm", ""]
        brief = await nur.text("memory_context")
        assert 'project="elm"' in brief
        assert "Always use tabs." in brief
        assert "Never use emojis." in brief


async def test_nur_stdio_names_the_repository_that_its_client_works_in(tmp_path: Path) -> None:
    (tmp_path / "heron" / ".git").mkdir(parents=True)
    (tmp_path / "heron" / "src").mkdir()
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "memory_store", "arguments": {"content": "Heron has two wings.", "type": "fact"}},
    }
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    with NurProcess(tmp_path / "data") as server:
        await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "nur", "stdio"],
            input="".join(json.dumps(message) + "\n" for message in (hello, call)),
            cwd=tmp_path / "heron" / "src",
            env=clean_environment(server.folder, NUR_PROJECT="auto"),
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        async with Client(f"{server.url}/mcp") as client:
            found = await client.call_tool("search_everything", {"query": "wings", "project": "heron"})
            assert "Heron has two wings." in str(found.content[0])


async def test_conversations_and_artifacts_are_listed_with_their_ids(nur: Door) -> None:
    for kind in ("conversation", "artifact"):
        assert await nur.text("memory_list", kind=kind) == f"No {kind}s found."
    await nur.data("history_append", conversation_id="tea\ntalk", role="user", content="Tea?", turn_index=0)
    stored = await nur.data(
        "artifact_ingest",
        artifact_type="doc",
        source_system="drive",
        content="Roof plan.",
        title="Plan",
        ts="2026-05-08",
    )
    text = await nur.text("memory_list", kind="conversation")
    assert text.startswith("[tea talk] 1 turns, last ")
    assert text.endswith(": Tea?")
    assert (await nur.data("memory_list", kind="conversation"))["conversations"][0]["conversation_id"] == "tea\ntalk"
    listed = (await nur.data("memory_list", kind="artifact"))["artifacts"]
    assert [one["artifact_id"] for one in listed] == [stored["artifact_id"]]
    assert await nur.text("memory_list", kind="artifact") == f"[{stored['artifact_id']}] (doc, drive, 2026-05-08): Plan"


async def test_a_memory_is_certain_unless_the_call_says_otherwise(nur: Door) -> None:
    await nur.data("memory_store", content="The roof leaks.", type="fact")
    assert (await nur.data("memory_list"))["memories"][0]["confidence"] == 1.0
