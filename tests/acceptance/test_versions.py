"""A note's previous texts: through REST and on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nur.entrypoints.cli.app import run
from tests.full_store import LONG, fill
from tests.rest_client import open_rest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli import Cli


async def test_previous_texts_are_listed_read_and_restored() -> None:
    async with open_rest() as rest:
        note = await rest.ok("POST", "/v2/notes", {"text": "First.", "title": "One", "key": "n"})
        path = f"/v2/notes/{note['note_id']}/versions"
        await rest.ok("PATCH", f"/v2/notes/{note['note_id']}", {"text": "Second one.", "title": "Two"})
        listed = await rest.ok("GET", path)
        assert listed["note_id"] == note["note_id"]
        told = [(one["version"], one["current"], one["title"], one["characters"]) for one in listed["versions"]]
        assert told == [(2, True, "Two", 11), (1, False, "One", 6)]
        assert [one["text"] for one in listed["versions"]] == [None, None]
        assert (await rest.ok("GET", f"{path}/1"))["text"] == "First."
        assert (await rest.ok("GET", f"{path}/2"))["text"] == "Second one."
        assert "Version 3" in (await rest.problem(404, "GET", f"{path}/3"))["detail"]

        receipt = await rest.ok("POST", f"{path}/1/restore", If_Match='"2"')
        assert (receipt["operation"], receipt["version"], receipt["revision"]) == ("replaced", 3, 3)
        now = await rest.ok("GET", f"/v2/notes/{note['note_id']}")
        assert (now["text"], now["title"], now["key"]) == ("First.", "One", "n")
        assert [one["version"] for one in (await rest.ok("GET", path))["versions"]] == [3, 2, 1]
        await rest.problem(412, "POST", f"{path}/2/restore", If_Match='"2"')
        again = await rest.ok("POST", f"{path}/3/restore")
        assert again["operation"] == "unchanged"


async def test_an_artifact_gets_its_former_text_back_and_is_found_by_it() -> None:
    async with open_rest() as rest:
        await fill(rest)
        found = (await rest.ok("GET", "/v2/notes?kind=artifact"))["notes"][0]
        await rest.ok("POST", f"/v2/notes/{found['note_id']}/versions/1/restore?wait=indexed&wait_seconds=30")
        assert (await rest.ok("GET", f"/v2/notes/{found['note_id']}"))["text"] == "A short document."
        assert (await rest.ok("GET", f"/v2/notes/{found['note_id']}/versions/2"))["text"] == LONG
        hits = (await rest.ok("POST", "/v2/searches", {"query": "short document"}))["items"]
        assert hits[0]["note_id"] == found["note_id"]


async def test_a_turn_whose_id_has_a_slash_has_versions_too() -> None:
    async with open_rest() as rest:
        await fill(rest)
        listed = await rest.ok("GET", "/v2/notes/talk%2F1_turn_0/versions")
        assert (listed["note_id"], len(listed["versions"])) == ("talk/1_turn_0", 1)


async def test_a_text_that_another_note_has_by_now_is_not_restored() -> None:
    async with open_rest() as rest:
        note = await rest.ok("POST", "/v2/notes", {"text": "First."})
        await rest.ok("PATCH", f"/v2/notes/{note['note_id']}", {"text": "Second."})
        await rest.ok("POST", "/v2/notes", {"text": "First."})
        await rest.problem(409, "POST", f"/v2/notes/{note['note_id']}/versions/1/restore")


def test_the_command_lists_shows_and_restores(cli: Cli) -> None:
    note = cli.json("remember", "First \x1b[31mtext.", "--kind", "note")["note_id"]
    cli("edit", note, "--text", "Second text.")
    rows = [line.split("\t") for line in cli("versions", note).splitlines()]
    assert [row[0] for row in rows] == ["version", "2", "1"]
    assert rows[1][1] == "current"
    assert cli("versions", note, "--show", "1") == "First \N{REPLACEMENT CHARACTER}[31mtext.\n"
    assert f"{note} replaced, version 3" in cli("versions", note, "--restore", "1")
    assert cli.json("versions", note, "--show", "3")["text"] == "First \x1b[31mtext."


@pytest.mark.parametrize(
    ("arguments", "code"), [(["note_none"], 5), (["note_none", "--show", "1", "--restore", "1"], 2)]
)
def test_what_cannot_be_done_has_its_exit_code(arguments: list[str], code: int, tmp_path: Path) -> None:
    assert run(["versions", *arguments, "--data-dir", str(tmp_path / "data")]) == code
