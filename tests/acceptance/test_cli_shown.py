"""What the note commands print: on a terminal of 80 columns, and in a pipe."""

from __future__ import annotations

import io
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from nur.entrypoints.cli.app import run

if TYPE_CHECKING:
    from collections.abc import Iterator

FILLER = "The harbour office keeps a list of ships, crews and cargo for every week of the year. "
ANSWER = "The spare key of the boat house hangs behind the blue door."


class Shell:
    """Runs commands in this process and reads what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str, code: int = 0) -> str:
        left = run(list(arguments))
        printed = self._capsys.readouterr()
        assert left == code, printed
        return printed.out if code == 0 else printed.err

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json"))


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns without colours."""
    for name, value in {"TTY_COMPATIBLE": "1", "COLUMNS": "80", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A zone where it is never the same hour as in Greenwich."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("terminal")
def test_search_shows_the_whole_passage_and_the_id_that_explain_takes(shell: Shell) -> None:
    shell("remember", "--kind", "note", FILLER * 9 + ANSWER + " " + FILLER * 5)
    shown = shell("search", "where is the spare key of the boat house")
    assert ANSWER in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80
    assert all(line.startswith("   ") for line in shown.splitlines()[1:-3])  # stored text never looks like a hit
    command = shown.splitlines()[-1].partition("nur ")[2]
    assert "boat house" in shell(*command.split())


def test_search_says_in_words_how_well_the_first_hit_fits(shell: Shell) -> None:
    shell("remember", ANSWER)
    asked_in_its_words = shell("search", "the spare key of the boat house hangs behind the blue door")
    assert "The first hit probably answers the question." in asked_in_its_words
    assert "Nothing stored is close enough" in shell("search", "What is the capital of Mongolia?")


@pytest.mark.usefixtures("terminal")
def test_explain_cuts_neither_ids_nor_words_at_80_columns(shell: Shell) -> None:
    names = [shell.json("remember", f"Tea is drunk at {hour}.")["note_id"] for hour in ("four", "five", "six")]
    names.append(shell.json("remember", "--kind", "note", "--key", "k", "Tea is grown in Assam.")["note_id"])
    asked = shell.json("search", "--limit", "1", "when is tea drunk?")["search_id"]
    page = shell("explain", asked)
    for name in names:
        assert name in page
    assert "beyond the limit" in page
    assert max(map(len, page.splitlines())) <= 80


def test_explain_prints_one_line_per_candidate_in_a_pipe(shell: Shell) -> None:
    names = {shell.json("remember", f"Tea is drunk at {hour}.")["note_id"] for hour in ("four", "five", "six")}
    asked = shell.json("search", "--limit", "1", "when is tea drunk?")["search_id"]
    lines = shell("explain", asked).splitlines()
    told = [line for line in lines if any(name in line for name in names)]
    assert len(told) == len(names)
    assert all("score 0." in line for line in told)


def test_explain_asked_with_something_else_says_where_search_ids_are(shell: Shell) -> None:
    told = shell("explain", "123", code=2)
    assert told == "nur: SEARCH_ID: 123 is not the id of a search. nur search prints it in its last line.\n"


def test_what_is_not_there_has_its_own_exit_code(shell: Shell) -> None:
    shell("remember", ANSWER)
    asked = shell.json("search", "key")["search_id"]
    nobody = "mem_000000000000"
    for command in (
        ("get", nobody),
        ("forget", nobody),
        ("restore-note", nobody),
        ("purge", "--yes", nobody),
        ("resolve", nobody),
        ("explain", asked, nobody),
        ("explain", asked, nobody, "--json"),
        ("explain", "00000000-0000-0000-0000-000000000000"),
    ):
        assert "not found" in shell(*command, code=5)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("search", " "), "QUERY: must hold more than blanks, and no NUL character"),
        (("search", "x" * 2001), "QUERY: must have at most 2000 characters"),
        (("remember", " "), "TEXT: must hold more than blanks, and no NUL character"),
        (("remember", "--kind", "note", " "), "TEXT: must hold more than blanks, and no NUL character"),
        (("remember", "--type", "banana", "x"), "--type: must be 'preference', 'fact', 'project' or 'decision'"),
        (("list", "--project", "x" * 999), "--project: must have at most 200 characters"),
    ],
)
def test_a_refused_value_is_called_as_the_command_calls_it(shell: Shell, arguments: tuple[str, ...], told: str) -> None:
    assert shell(*arguments, code=2) == f"nur: {told}\n"


def test_a_list_in_a_pipe_has_one_line_per_note_and_cuts_nothing(shell: Shell) -> None:
    long = "Mira is, as her sister told us after the long dinner at the lake, badly allergic to hazelnuts."
    shell("remember", long)
    shell("remember", "--kind", "note", "--title", "Boat house", ANSWER)
    header, *lines = shell("list").splitlines()
    assert header.split("\t") == ["id", "kind", "type", "stored", "text"]
    assert [line.split("\t")[-1] for line in lines] == [f"Boat house: {ANSWER}", long]


@pytest.mark.usefixtures("new_york")
def test_times_are_local_and_name_their_zone(shell: Shell) -> None:
    note = shell.json("remember", "--kind", "event", ANSWER)["note_id"]
    stored = time.strftime("%Y-%m-%d %H:")
    stored_in_greenwich = shell.json("get", note)["ingested_at"]
    assert stored_in_greenwich.endswith(("Z", "+00:00"))
    for page in (shell("list"), shell("get", note)):
        assert stored in page
        assert page.count(" EST") + page.count(" EDT") > 0
        assert stored_in_greenwich[:16] not in page


@pytest.mark.usefixtures("new_york")
def test_times_are_those_of_the_stores_zone(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUR_TIMEZONE", "Pacific/Kiritimati")  # 14 hours before Greenwich: there it is another day
    shell("remember", "The key is under the blue stone.", "--ts", "2026-05-08T02:00:00")
    assert "said 2026-05-08" in shell("search", "Where is the key?")
    assert "+14" in shell("list")


def test_words_after_remember_are_joined(shell: Shell) -> None:
    stored = shell.json("remember", "Deploys", "happen", "on", "Tuesday")["note_id"]
    assert shell.json("get", stored)["text"] == "Deploys happen on Tuesday"


def test_standard_input_loses_its_one_final_newline(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("one\n\ntwo\n\n"))
    stored = shell.json("remember", "--kind", "note", "-")["note_id"]
    assert shell.json("get", stored)["text"] == "one\n\ntwo\n"
