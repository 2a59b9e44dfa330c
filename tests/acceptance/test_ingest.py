"""`nur ingest`: through a running server and, when there is none, on the data folder itself."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from nur.entrypoints.cli.app import nur
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Cli:
    """Runs commands in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str, code: int = 0, stdin: bytes | None = None) -> str:
        result = CliRunner().invoke(nur, [*arguments, "--data-dir", str(self.folder)], input=stdin)
        assert result.exit_code == code, (result.output, result.exception)
        return result.stdout

    def json(self, *arguments: str, code: int = 0, stdin: bytes | None = None) -> Any:
        return json.loads(self(*arguments, "--json", code=code, stdin=stdin))

    def first(self, *question: str) -> dict[str, Any]:
        found: dict[str, Any] = self.json("search", *question, "--kind", "artifact")["items"][0]
        return found


@pytest.fixture(params=["folder", "server"])
def cli(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cli]:
    if request.param == "folder":
        yield Cli(tmp_path / "data")
        return
    with NurProcess(tmp_path / "data") as server:
        yield Cli(server.folder)


@pytest.fixture
def alone(tmp_path: Path) -> Cli:
    """On the data folder itself."""
    return Cli(tmp_path / "data")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "rent.md").write_text("# Rent\n\nThe lease of the Oslo office ends on 30 June 2027.\n")
    (folder / "deep" / "hours.html").write_text("<h1>Hours</h1><p>The bakery opens at seven on Saturdays.</p>")
    (folder / "deep" / "cart.py").write_text("def total(prices):\n    return sum(prices)\n")
    (folder / ".secret").write_text("hidden words")
    return folder


def test_a_folder_goes_in_once_and_is_found(cli: Cli, docs: Path) -> None:
    first = cli.json("ingest", str(docs))
    assert first["files"] == {"created": 3, "replaced": 0, "metadata_updated": 0, "unchanged": 0}
    assert (first["skipped"], first["failed"]) == ({"hidden": 1}, [])

    hit = cli.first("when", "does", "the", "Oslo", "lease", "end?")
    assert "30 June 2027" in hit["snippet"]
    assert (hit["title"], hit["type"]) == ("Rent", "doc")
    assert hit["source"] == {
        "system": "file",
        "id": (docs / "rent.md").as_posix(),
        "url": (docs / "rent.md").as_uri(),
    }

    (docs / "rent.md").write_text("# Rent\n\nThe lease of the Oslo office ends on 31 May 2028.\n")
    (docs / "new.txt").write_text("The spare key hangs behind the stove.")
    again = cli.json("ingest", str(docs))
    assert again["files"] == {"created": 1, "replaced": 1, "metadata_updated": 0, "unchanged": 2}
    assert "31 May 2028" in cli.first("when does the Oslo lease end?")["snippet"]


def test_one_bad_file_fails_alone_and_says_why(cli: Cli, docs: Path) -> None:
    (docs / "old.doc").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    shown = cli("ingest", str(docs), str(docs / "nowhere"), code=1)
    rows = dict(line.split("\t", 1) for line in shown.splitlines() if "\t" in line)
    assert (rows["created"], rows["failed"]) == ("3\t3", "2\t")
    reason = "It is an older Office file, or protected by a password: save it as .docx, .pptx or .xlsx."
    assert f"Failed: {docs / 'old.doc'}: {reason}" in shown
    assert f"Failed: {docs / 'nowhere'}: There is no such file or folder." in shown
    assert "Skipped: hidden 1" in shown


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_odd_names_and_dates_stop_nothing(alone: Cli, docs: Path) -> None:
    odd = docs / "odd"
    odd.mkdir()
    for name in (b"bar\xe9.txt", b"two\nlines.txt", b"-n.txt", b"[a]*.txt"):
        (odd / os.fsdecode(name)).write_text(f"What is in {name!r}.")
    os.utime(docs / "rent.md", ns=(-(10**18) * 9, -(10**18) * 9))
    assert "4 files would be ingested" in alone("ingest", str(odd), "--dry-run")
    report = alone.json("ingest", str(docs))
    assert (report["files"]["created"], report["failed"]) == (7, [])
    assert alone.first("what is in bar")["source"]["id"].endswith("odd/bar\\udce9.txt")
    assert alone.json("ingest", str(docs))["files"]["unchanged"] == 7


def test_a_dry_run_stores_nothing(tmp_path: Path, docs: Path) -> None:
    shown = Cli(tmp_path / "new")("ingest", str(docs), "--dry-run", "--exclude", "*.py")
    assert str(docs / "rent.md") in shown
    assert "cart.py" not in shown
    assert "2 files would be ingested, 2 skipped; nothing was stored." in shown
    assert not (tmp_path / "new").exists()


def test_standard_input_is_named_by_an_option(alone: Cli) -> None:
    sent = b"<h1>Cats</h1><p>The cat is called Mio.</p>"
    assert alone.json("ingest", "-", "--name", "cats.html", stdin=sent)["files"]["created"] == 1
    hit = alone.first("what is the cat called?")
    assert (hit["title"], hit["snippet"].splitlines()[-1]) == ("Cats", "The cat is called Mio.")
    changed = sent.replace(b"Mio", b"Leo")
    assert alone.json("ingest", "-", "--name", "cats.html", stdin=changed)["files"]["replaced"] == 1
    assert alone.json("ingest", "-", stdin=b"Without a name.")["files"]["created"] == 1
    assert alone.json("ingest", "-", stdin=b"Another one.")["files"]["created"] == 1


def test_what_is_said_of_all_files_is_kept(alone: Cli, docs: Path) -> None:
    said = ("--project", "office", "--type", "note", "--source", "medical")
    assert alone.json("ingest", str(docs / "rent.md"), *said)["files"]["created"] == 1
    hit = alone.json("search", "lease", "--project", "office")["items"][0]
    assert (hit["type"], hit["source"]["system"], hit["sensitivity"]) == ("note", "medical", "highly_sensitive")
    moved = ("--project", "home", "--type", "note", "--source", "medical")
    assert alone.json("ingest", str(docs / "rent.md"), *moved)["files"]["metadata_updated"] == 1


def test_a_file_that_was_only_touched_is_unchanged(alone: Cli, docs: Path) -> None:
    alone("ingest", str(docs / "rent.md"))
    (docs / "rent.md").touch()
    assert alone.json("ingest", str(docs))["files"]["unchanged"] == 1


def test_a_deleted_document_comes_back_when_its_file_is_ingested_again(alone: Cli, docs: Path) -> None:
    alone("ingest", str(docs / "rent.md"))
    alone("forget", alone.first("lease")["note_id"])
    assert alone.json("ingest", str(docs / "rent.md"))["files"]["created"] == 1


def test_what_was_stored_is_embedded_when_the_command_leaves(alone: Cli, docs: Path) -> None:
    alone("ingest", str(docs))
    (note,) = [note for note in alone.json("list", "--kind", "artifact") if note["title"] == "Rent"]
    assert alone.json("get", note["note_id"])["index_state"] == "indexed"
