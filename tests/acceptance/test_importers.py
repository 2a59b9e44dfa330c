"""What other memory programs wrote, read by `nur import`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from nur.entrypoints.cli.app import nur, run
from tests.cli import Cli

if TYPE_CHECKING:
    from pathlib import Path

MEMORY_SERVER = """
{"type":"entity","name":"John_Smith","entityType":"person","observations":["Speaks Spanish","Prefers mornings"]}
{"type":"entity","name":"Anthropic","entityType":"organization","observations":[]}
{"type":"relation","from":"John_Smith","to":"Anthropic","relationType":"works_at"}
"""
MEM0: dict[str, Any] = {
    "results": [
        {
            "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
            "memory": "Likes to play cricket on weekends",
            "hash": "285d07801ae42054732314853e9eadd7",
            "metadata": {"source": "chat"},
            "categories": ["hobbies"],
            "created_at": "2024-07-26T08:05:11.123456-07:00",
            "updated_at": None,
            "user_id": "alex",
        },
        {"id": "x", "memory": "Is vegetarian", "created_at": "2024-07-26T08:05:12", "user_id": "alex"},
    ]
}
MCP_MEMORY_SERVICE: dict[str, Any] = {
    "export_metadata": {"source_machine": "laptop", "export_timestamp": "2025-08-12T10:30:00Z", "total_memories": 2},
    "memories": [
        {
            "content": "We deploy on Fridays only after lunch.",
            "content_hash": "3f5a",
            "tags": ["deploy", "team"],
            "created_at": 1673545845.5,
            "created_at_iso": "2023-01-12T17:50:45.500000Z",
            "memory_type": "decision",
            "metadata": {"project": "web"},
        },
        {
            "content": "Port 8443 is the proxy's.",
            "tags": "ports,proxy",
            "created_at": 1673545846,
            "memory_type": "note",
        },
    ],
}
COFFEE = """---
title: Coffee Brewing Methods
type: note
tags: [coffee, brewing]
permalink: drinks/coffee-brewing-methods
created: 2024-01-15
status: active
---
# Coffee Brewing Methods

## Observations
- [method] Pour over provides more flavor clarity than French press #brewing

## Relations
- relates_to [[Coffee Bean Origins]]
"""


def stored(cli: Cli) -> dict[str, Any]:
    """What an export says about each active note, by its text."""
    lines = [json.loads(line) for line in cli("export").splitlines()]
    return {line["text"]: line for line in lines if line["type"] == "note" and line["status"] == "active"}


def imported(cli: Cli, source: Path, count: int, *arguments: str) -> dict[str, Any]:
    """Import twice: everything is created, then nothing changes."""
    first = cli.json("import", str(source), *arguments)
    assert (first["created"], first["failed"], first["complete"]) == (count, 0, True)
    notes = stored(cli)
    again = cli.json("import", str(source), *arguments)
    assert (again["created"], again["updated"], again["unchanged"]) == (0, 0, count)
    assert stored(cli) == notes
    return notes


@pytest.fixture
def folder_cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "data")


def test_the_reference_memory_servers_graph(folder_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "memory.jsonl").write_text(MEMORY_SERVER)
    notes = imported(folder_cli, tmp_path / "memory.jsonl", 4)
    assert set(notes) == {
        "John_Smith: Speaks Spanish",
        "John_Smith: Prefers mornings",
        "Anthropic: is a organization",
        "John_Smith works_at Anthropic",
    }
    spanish = notes["John_Smith: Speaks Spanish"]
    assert (spanish["kind"], spanish["meta"]["type"]) == ("memory", "fact")
    assert spanish["meta"]["metadata"] == {"entity": "John_Smith", "entity_type": "person"}
    assert "Spanish" in folder_cli("search", "which languages does John speak? spanish")


@pytest.mark.parametrize("wrapped", [True, False])
def test_mem0s_memories(folder_cli: Cli, tmp_path: Path, wrapped: bool) -> None:
    (tmp_path / "mem0.json").write_text(json.dumps(MEM0 if wrapped else MEM0["results"], indent=2))
    notes = imported(folder_cli, tmp_path / "mem0.json", 2)
    meta = notes["Likes to play cricket on weekends"]["meta"]
    assert meta["occurred_at"] == "2024-07-26T15:05:11.123456Z"
    assert meta["metadata"]["categories"] == ["hobbies"]
    assert meta["metadata"]["user_id"] == "alex"
    assert meta["metadata"]["source"] == "chat"
    assert notes["Is vegetarian"]["meta"]["occurred_at"] == "2024-07-26T08:05:12Z"


def test_mcp_memory_services_export(folder_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text(json.dumps(MCP_MEMORY_SERVICE))
    notes = imported(folder_cli, tmp_path / "export.json", 2)
    meta = notes["We deploy on Fridays only after lunch."]["meta"]
    assert (meta["type"], meta["occurred_at"]) == ("decision", "2023-01-12T17:50:45.500000Z")
    assert meta["metadata"]["tags"] == ["deploy", "team"]
    other = notes["Port 8443 is the proxy's."]["meta"]
    assert (other["type"], other["metadata"]["tags"]) == ("fact", ["ports", "proxy"])


def test_a_folder_of_basic_memory(folder_cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "basic"
    (folder / "drinks").mkdir(parents=True)
    (folder / "drinks" / "coffee.md").write_text(COFFEE)
    (folder / "plain.md").write_text("Only a text.\n")
    (folder / ".obsidian").mkdir()
    (folder / ".obsidian" / "hidden.md").write_text("Not a note.")
    notes = imported(folder_cli, folder, 2)
    (coffee,) = (note for text, note in notes.items() if "Pour over" in text)
    assert "relates_to [[Coffee Bean Origins]]" in coffee["text"]
    meta = coffee["meta"]
    assert (meta["title"], meta["source_id"]) == ("Coffee Brewing Methods", "drinks/coffee-brewing-methods")
    assert meta["occurred_at"] == "2024-01-15T00:00:00Z"
    assert meta["metadata"] == {"tags": ["coffee", "brewing"], "status": "active"}
    assert notes["Only a text."]["meta"]["title"] == "plain"

    (folder / "drinks" / "coffee.md").write_text(COFFEE.replace("Pour over", "A filter"))
    report = folder_cli.json("import", str(folder))
    assert (report["updated"], report["unchanged"]) == (1, 1)


def test_collections_of_a_chroma_folder(folder_cli: Cli, tmp_path: Path) -> None:
    chromadb = pytest.importorskip("chromadb")
    client = chromadb.PersistentClient(str(tmp_path / "chroma"), chromadb.Settings(anonymized_telemetry=False))
    collection = client.create_collection("recipes", embedding_function=None)
    collection.add(
        ids=["r1", "r2"],
        documents=["Rye bread is baked on Friday.", "Soup needs salt."],
        metadatas=[{"title": "Bread", "stars": 5}, {"url": "https://example.com/soup"}],
        embeddings=[[0.1, 0.2], [0.3, 0.4]],
    )
    collection.add(ids=["r3"], embeddings=[[0.5, 0.6]])
    del collection, client
    first = CliRunner().invoke(nur, ["import", str(tmp_path / "chroma"), "--data-dir", str(folder_cli.folder)])
    assert first.exit_code == 1
    assert "recipes/r3: has no text" in first.stderr
    notes = stored(folder_cli)
    bread = notes["Rye bread is baked on Friday."]
    assert (bread["meta"]["title"], bread["meta"]["source_id"]) == ("Bread", "recipes/r1")
    assert bread["meta"]["metadata"]["stars"] == 5
    assert notes["Soup needs salt."]["meta"]["source_url"] == "https://example.com/soup"


def test_what_cannot_be_read_is_named_where_it_stands(folder_cli: Cli, tmp_path: Path) -> None:
    lines = ['{"type":"entity","name":"A","entityType":"b","observations":["c"]}', "{broken", '{"type":"entity"}']
    (tmp_path / "memory.jsonl").write_text("\n".join(lines))
    result = CliRunner().invoke(
        nur, ["import", str(tmp_path / "memory.jsonl"), "--json", "--data-dir", str(folder_cli.folder)]
    )
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert (report["created"], report["failed"]) == (1, 2)
    assert [failure["place"] for failure in report["failures"]] == ["line 2", "line 3"]


@pytest.mark.parametrize("content", ["", "hello", '{"results": 7}', "[1, 2]", "\x00\x01"])
def test_an_unknown_format_is_refused(tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x").write_text(content)
    assert run(["import", str(tmp_path / "x"), "--data-dir", str(tmp_path / "data")]) == 2
    assert "--from" in capsys.readouterr().err
