"""Everything out and back: export, import, and what an import says about what it cannot read."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from nur.entrypoints.cli.app import nur
from tests.cli import Cli
from tests.empty_store import copy_store
from tests.full_store import LONG, fill
from tests.rest_client import Rest, open_rest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

NOTHING: dict[str, Any] = {"created": 0, "updated": 0, "unchanged": 0, "kept": 0, "failed": 0, "failures": []}
HEADER = '{"type":"header","format":"nur-export","format_version":1}'


async def exported(rest: Rest) -> bytes:
    response = await rest.client.get("/v2/export")
    assert response.is_success, response.text
    assert response.headers["content-type"] == "application/x-ndjson"
    return response.content


async def imported(rest: Rest, content: bytes | str, **params: Any) -> Any:
    response = await rest.client.post("/v2/import", content=content, params=params)
    assert response.is_success, response.text
    return response.json()


@asynccontextmanager
async def another(empty_store: Path, folder: Path, **settings: Any) -> AsyncIterator[Rest]:
    async with open_rest(nur_data_dir=copy_store(empty_store, folder), **settings) as rest:
        yield rest


async def test_export_import_export_gives_the_same_bytes(empty_store: Path, tmp_path: Path) -> None:
    async with open_rest() as rest:
        await fill(rest)
        first = await exported(rest)
        assert await exported(rest) == first
    notes = [json.loads(line) for line in first.splitlines()][1:-1]
    assert sorted({note["kind"] for note in notes}) == ["artifact", "event", "memory", "note", "turn"]
    assert sum(note["status"] == "deleted" for note in notes) == 2
    assert sorted(len(note.get("versions", ())) for note in notes)[-3:] == [1, 1, 2]
    # Other chunks, so that nothing that is derived can be part of an export.
    async with another(empty_store, tmp_path / "other", chunk_target_tokens=300, chunking_strategy="sentences") as rest:
        would = await imported(rest, first, dry_run=True)
        assert would == {**NOTHING, "created": len(notes), "complete": True}
        assert (await exported(rest)).count(b"\n") == 2
        assert await imported(rest, first) == would
        assert await exported(rest) == first
        assert await imported(rest, first) == {**NOTHING, "unchanged": len(notes), "complete": True}
        assert await exported(rest) == first


async def test_what_was_imported_is_found_and_can_be_restored(empty_store: Path, tmp_path: Path) -> None:
    async with open_rest() as rest:
        await fill(rest)
        first = await exported(rest)
    async with another(empty_store, tmp_path / "other") as rest:
        await imported(rest, first)
        hit = (await rest.ok("POST", "/v2/searches", {"query": "keeper 317 of the lighthouse"}))["items"][0]
        assert hit["kind"] == "artifact"
        whole = await rest.ok("GET", f"/v2/notes/{hit['note_id']}")
        assert whole["text"] == LONG
        trash = (await rest.ok("GET", "/v2/admin/trash"))["notes"]
        for note in trash:
            await rest.ok("POST", "/v2/admin/trash/restore", {"note_id": note["note_id"]})
        texts = [(await rest.ok("GET", f"/v2/notes/{note['note_id']}"))["text"] for note in trash]
        assert sorted(texts) == ["Soon over.", "Wrong again."]
        again = await rest.ok("POST", "/v2/notes", {"text": "Fourth.", "key": "n", "project": "p"})
        assert (again["operation"], again["version"], again["revision"]) == ("replaced", 4, 4)


async def test_a_newer_revision_wins_on_both_sides(empty_store: Path, tmp_path: Path) -> None:
    async with open_rest() as rest, another(empty_store, tmp_path / "other") as other:
        stored = await rest.ok("POST", "/v2/notes", {"text": "First."})
        old = await exported(rest)
        await imported(other, old)
        await rest.ok("PATCH", f"/v2/notes/{stored['note_id']}", {"text": "Second."})
        new = await exported(rest)
        assert await imported(other, new) == {**NOTHING, "updated": 1, "complete": True}
        assert await exported(other) == new
        assert await imported(other, old) == {**NOTHING, "kept": 1, "complete": True}
        assert await exported(other) == new
        await rest.ok("DELETE", f"/v2/notes/{stored['note_id']}")
        assert (await imported(other, await exported(rest)))["updated"] == 1
        await other.problem(404, "GET", f"/v2/notes/{stored['note_id']}")


async def test_notes_of_two_stores_come_together(empty_store: Path, tmp_path: Path) -> None:
    async with open_rest() as rest, another(empty_store, tmp_path / "other") as other:
        for one in (rest, other):
            await one.ok("POST", "/v2/notes", {"text": "The same in both."})
        await rest.ok("POST", "/v2/notes", {"text": "Mine.", "key": "k"})
        theirs = await other.ok("POST", "/v2/notes", {"text": "Theirs.", "key": "k"})
        report = await imported(other, await exported(rest))
        assert (report["unchanged"], report["created"], report["failed"]) == (1, 0, 1)
        (failure,) = report["failures"]
        assert failure["reason"].startswith(f"{theirs['note_id']} already has the same key")
        assert (await other.ok("GET", f"/v2/notes/{theirs['note_id']}"))["text"] == "Theirs."


async def test_lines_that_cannot_be_read_are_named_and_the_others_are_stored() -> None:
    lines = [
        "\ufeff" + HEADER,
        '{"type":"note","kind":"memory","text":"Tea.","meta":{"type":"fact"}}',
        "",
        '{"type":"note","kind":"memory","text":"Secret words","meta":{"type":"whim"}}',
        "{broken",
        '{"type":"decision"}',
        '{"type":"note","kind":"note","text":"The last one, without a line break."}',
    ]
    async with open_rest() as rest:
        report = await imported(rest, "\n".join(lines))
        assert (report["created"], report["failed"], report["complete"]) == (2, 3, False)
        assert [failure["line"] for failure in report["failures"]] == [4, 5, 6]
        assert "meta.type: must be one of" in report["failures"][0]["reason"]
        assert "Secret" not in json.dumps(report)
        again = await imported(rest, "\n".join(lines))
        assert (again["created"], again["unchanged"]) == (0, 2)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"type":"note","kind":"note","text":"x"}', "The first line must be the header"),
        ('{"type":"header","format":"nur-export","format_version":2}', "Update nur-memory"),
        ("PK\x03\x04", "not valid JSON"),
    ],
)
async def test_what_is_no_export_is_refused_whole(content: str, words: str) -> None:
    async with open_rest() as rest:
        response = await rest.client.post("/v2/import", content=content)
        assert response.status_code == 400
        assert words in response.json()["detail"]


async def test_an_import_may_be_larger_than_any_other_body() -> None:
    async def body() -> AsyncIterator[bytes]:
        yield HEADER.encode() + b"\n"
        for _ in range(70):
            yield b" " * (1024 * 1024) + b"\n"
        yield b'{"type":"end","notes":0}'

    async with open_rest() as rest:
        assert await imported(rest, body()) == {**NOTHING, "complete": True}  # type: ignore[arg-type]


def test_the_commands_move_everything(cli: Cli, empty_store: Path, tmp_path: Path) -> None:
    cli("remember", "Prefers tea to coffee.", "--type", "preference")
    gone = cli.json("remember", "Wrong.", "--kind", "note")
    cli("forget", gone["note_id"])
    file = tmp_path / "notes.jsonl"
    cli("export", "--output", str(file))
    assert file.stat().st_mode & 0o777 == 0o600
    assert cli("export").encode() == file.read_bytes()

    other = Cli(copy_store(empty_store, tmp_path / "other"))
    assert "would be created\t2" in other("import", str(file), "--dry-run")
    assert "created\t2" in other("import", str(file))
    assert other.json("import", str(file)) == {**NOTHING, "unchanged": 2, "complete": True}
    assert other("export").encode() == file.read_bytes()
    assert "tea" in other("search", "what does she prefer, tea?")


def test_an_import_of_a_cut_file_says_so(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "data")
    cli("remember", "Prefers tea to coffee.")
    whole = cli("export")
    result = CliRunner().invoke(
        nur, ["import", "-", "--data-dir", str(tmp_path / "data")], input="\n".join(whole.splitlines()[:-1])
    )
    assert result.exit_code == 1
    assert "The file is incomplete" in result.stderr


def test_a_file_that_is_not_there_exits_5(tmp_path: Path) -> None:
    result = CliRunner().invoke(nur, ["import", str(tmp_path / "none.jsonl")], standalone_mode=False)
    assert "There is no file" in str(result.exception)


def test_a_folder_of_markdown_files_goes_out_and_back(cli: Cli, empty_store: Path, tmp_path: Path) -> None:
    cli("remember", "Prefers tea to coffee.", "--type", "preference")
    note = cli.json(
        "remember",
        "Text:\n---\ntitle: none\n---\r\nmore.\n\n",
        "--kind",
        "note",
        "--project",
        "Küche/1",
        "--title",
        "é: #x",
    )
    folder = tmp_path / "notes"
    cli("export", "--format", "markdown", "--output", str(folder))
    files = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.md")}
    assert sorted(path.parts[0] for path in files) == ["memories", "notes"]

    other = Cli(copy_store(empty_store, tmp_path / "other"))
    assert other.json("import", str(folder)) == {**NOTHING, "created": 2, "complete": True}
    assert other("export") == cli("export")
    other("export", "--format", "markdown", "--output", str(tmp_path / "again"))
    assert {
        path.relative_to(tmp_path / "again"): path.read_bytes() for path in (tmp_path / "again").rglob("*.md")
    } == files

    (folder / "notes" / "mine.md").write_text("My own file.")
    cli("forget", note["note_id"])
    cli("export", "--format", "markdown", "--output", str(folder))
    assert sorted(path.name for path in folder.rglob("*.md") if path.parent.name != "memories") == ["mine.md"]


async def test_a_note_without_previous_texts_does_not_take_away_those_stored(empty_store: Path, tmp_path: Path) -> None:
    async with open_rest() as rest, another(empty_store, tmp_path / "other") as other:
        stored = await rest.ok("POST", "/v2/notes", {"text": "First."})
        await imported(other, await exported(rest))
        await rest.ok("PATCH", f"/v2/notes/{stored['note_id']}", {"text": "Second."})
        lines = [json.loads(line) for line in (await exported(rest)).splitlines()]
        del lines[1]["versions"]
        assert (await imported(other, "\n".join(map(json.dumps, lines))))["updated"] == 1
        listed = await other.ok("GET", f"/v2/notes/{stored['note_id']}/versions/1")
        assert listed["text"] == "First."
