"""The note commands: through a running server and, when there is none, on the data folder itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nur.entrypoints.cli.app import run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli import Cli


def test_a_note_from_its_first_to_its_last_day(cli: Cli) -> None:
    memory = cli.json("remember", "Prefers \x1b[31mtea to coffee.", "--type", "preference")
    assert (memory["operation"], memory["index_state"]) == ("created", "indexed")
    note = cli.json("remember", "Beside the stairs a lamp is in the hall.", "--kind", "note", "--title", "Hall")
    assert "unchanged" in cli("remember", "Prefers \x1b[31mtea to coffee.", "--type", "preference")

    listed = cli("list")
    assert memory["note_id"] in listed
    assert "\x1b[31m" not in listed
    assert [found["note_id"] for found in cli.json("list", "--kind", "note")] == [note["note_id"]]
    assert "tea to coffee" in cli("search", "what", "does", "she", "prefer?", "tea")
    assert cli.json("search", "lamp")["items"][0]["note_id"] == note["note_id"]
    shown = cli("get", note["note_id"], "--chunks")
    assert "a lamp is in the hall" in shown
    assert "Hall" in shown

    assert "resolved" in cli("resolve", note["note_id"])
    cli("forget", note["note_id"])
    assert note["note_id"] in cli("list", "--trash")
    cli("restore-note", note["note_id"])
    cli("purge", note["note_id"], answer="y\n")
    assert [found["note_id"] for found in cli.json("list")] == [memory["note_id"]]

    report = cli.json("rebuild")
    assert (report["state"], report["rebuilt"], report["errors"]) == ("done", 1, 0)


def test_a_search_without_results_says_why(cli: Cli) -> None:
    assert cli("search", "tea").startswith("No results found. Nothing is stored yet.\n")
    cli("remember", "Rye bread is baked on Friday.")
    told = cli("search", "tea", "--kind", "artifact", "--project", "x")
    assert told.startswith("No results found. No stored documents match the filters.\n")
    told = cli("search", "xylophone", "--mode", "lexical")
    assert told.startswith("No results found. Nothing stored is close enough to the question.\n")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["list"], 0, "Nothing is stored yet."),
        (["list", "--trash"], 0, "Nothing is stored yet."),
        (["search", "tea"], 0, "No results found. Nothing is stored yet."),
        (["get", "note_none"], 5, "Nothing is stored yet."),
        (["explain", "00000000-0000-4000-8000-000000000000"], 5, "Nothing is stored yet."),
    ],
)
def test_reading_makes_no_store(
    arguments: list[str], code: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its first opening chooses the store's model: not before a key may be set."""
    folder = tmp_path / "new"
    assert run([*arguments, "--data-dir", str(folder)]) == code
    told = capsys.readouterr()
    assert words in told.out + told.err
    assert not folder.exists()


def test_reading_nothing_is_valid_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "--json", "--data-dir", str(tmp_path / "new")]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert run(["search", "tea", "--json", "--data-dir", str(tmp_path / "new")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["items"], answer["reason"]) == ([], "nothing_stored")


def test_what_is_not_there_exits_5_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["get", "note_none", "--data-dir", str(tmp_path / "data")]) == 5
    assert capsys.readouterr().err == "nur: Note note_none not found\n"
    assert run(["remember", "x", "--key", "k", "--data-dir", str(tmp_path / "data")]) == 2
    assert "use --kind note" in capsys.readouterr().err
    (tmp_path / "notes.txt").write_text("words")
    assert run(["remember", f"@{tmp_path / 'notes.txt'}", "--data-dir", str(tmp_path / "data")]) == 2
    assert "nur ingest FILE" in capsys.readouterr().err


def test_a_tokenizer_that_cannot_be_had_stops_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nur.toml").write_text('[chunking]\ntokenizer_repo = "nobody/no-such-tokenizer-7319"\n')
    monkeypatch.setenv("NUR_CONFIG", str(tmp_path / "nur.toml"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert run(["list", "--data-dir", str(tmp_path / "data")]) == 2
    assert "tokenizer_repo" in capsys.readouterr().err


def test_wiping_is_for_chroma_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rebuild", "--wipe-foreign", "notes", "--yes", "--data-dir", str(tmp_path / "data")]) == 2
    assert "CHROMA_HOST" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["banana", "local:other:12", "openai:x:0"])
def test_an_unknown_model_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reembed", "--to", name, "--data-dir", str(tmp_path / "data")]) == 2
    assert f"No such model: {name}." in capsys.readouterr().err
