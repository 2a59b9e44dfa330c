"""Questions find the right page, row or message, through the real command and over REST."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.chat_files import CLAUDE, SLACK_DAY, SLACK_USERS, zipped
from tests.mail_files import mbox, message
from tests.office_files import pdf, sheets, slides, word
from tests.rest_client import open_rest
from tests.servers.nur_server import NurProcess, clean_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILLER = "The harbour was calm and the lanterns were lit along the quay. " * 30


def fill(folder: Path) -> None:
    """One file per format, each with a fact that no other has, and some that cannot be read."""
    folder.mkdir()
    files: dict[str, bytes | str] = {
        "lease.pdf": pdf(
            [[FILLER], [FILLER, "The deposit of the Oslo flat is 4,300 kroner."], [FILLER]], title="Lease"
        ),
        "minutes.docx": word("Minutes", {"Staff": FILLER, "Kitchen": "The dishwasher is repaired by Lindqvist."}),
        "talk.pptx": slides([("Start", ["Welcome"], ""), ("Budget", ["Travel costs 9,100 euros"], "")]),
        "parts.xlsx": sheets({"Stock": [["part", "shelf"], *[[f"bolt {n}", f"S{n}"] for n in range(300)]]}),
        "birds.csv": "bird,ring\n" + "\n".join(f"gull {n},NO-{n * 7}" for n in range(300)),
        "export.zip": zipped({"conversations.json": CLAUDE}),
        "slack.zip": zipped({"users.json": SLACK_USERS, "general/2026-03-02.json": SLACK_DAY}),
        "tour.srt": "1\n00:41:07,000 --> 00:41:09,000\nThe bell was cast in Ghent.\n",
        "damaged.docx": word("Minutes", {"Staff": "x"})[:2000],
        "deep.json": "[" * 500_000,
    }
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    mails = [message(f"Note {n}", FILLER, message_id=f"n{n}@x") for n in range(5)]
    mbox(folder / "mail.mbox", [*mails, message("Boiler", "The boiler is serviced on 17 May.", message_id="boiler@x")])


#: Question, words of the best passage, its location, the document's source.
QUESTIONS = [
    ("how high is the deposit of the Oslo flat?", "4,300 kroner", "page 2", "file"),
    ("who repairs the dishwasher?", "Lindqvist", None, "file"),
    ("what does travel cost in the budget?", "9,100 euros", "slide 2", "file"),
    ("on which shelf is bolt 217?", "row 219: part: bolt 217; shelf: S217", "sheet Stock", "file"),
    ("which ring has gull 123?", "row 125: bird: gull 123; ring: NO-861", None, "file"),
    ("where was the bell cast?", "[00:41:07] The bell was cast in Ghent", None, "file"),
    ("when is the boiler serviced?", "17 May", None, "email"),
    ("where is the ferry?", "At pier 7", None, "claude"),
    ("what is the rollback key?", "Bob Ray (in thread)", None, "slack"),
]


def nur(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "nur", *arguments]
    return subprocess.run(program, env=clean_environment(folder), capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NurProcess]:
    folder = tmp_path_factory.mktemp("formats")
    fill(folder / "files")
    with NurProcess(folder / "data", LOG_LEVEL="WARNING") as running:
        done = nur("ingest", str(folder / "files"), "--json", folder=running.folder)
        assert done.returncode == 1, done.stderr  # two files cannot be read
        report = json.loads(done.stdout)
        assert report["files"]["created"] == 9
        assert report["documents"]["created"] == 14
        reasons = {failed["path"].rsplit("/", 1)[1]: failed["reason"] for failed in report["failed"]}
        assert reasons == {"damaged.docx": "It is a damaged archive.", "deep.json": "It is nested too deeply."}
        yield running


@pytest.mark.parametrize(("question", "words", "location", "system"), QUESTIONS)
def test_a_question_finds_the_right_place(
    server: NurProcess, question: str, words: str, location: str | None, system: str
) -> None:
    done = nur("search", question, "--json", "--kind", "artifact", folder=server.folder)
    best: dict[str, Any] = json.loads(done.stdout)["items"][0]
    found = [passage for passage in best["passages"] if words in passage["text"]]
    assert found, best
    assert best["source"]["system"] == system
    if location is not None:
        assert location in found[0]["location"]


def test_the_same_folder_again_changes_nothing(server: NurProcess) -> None:
    done = nur("ingest", str(server.folder.parent / "files"), "--json", folder=server.folder)
    assert json.loads(done.stdout)["files"] == {"created": 0, "replaced": 0, "metadata_updated": 0, "unchanged": 9}


async def test_a_bomb_over_rest_stops_itself_alone(tmp_path: Path) -> None:
    async with open_rest(nur_data_dir=tmp_path / "data") as rest:
        refused = await rest.client.post("/v2/artifacts", files={"file": ("deep.json", b"[" * 500_000)})
        assert (refused.status_code, refused.json()["code"]) == (422, "file_refused")
        stored = await rest.client.post("/v2/artifacts", files={"file": ("lease.pdf", pdf([["Oslo."], ["Rent."]]))})
        assert stored.status_code == 201


@pytest.fixture
def heeded_sigint() -> Iterator[None]:
    """A test run in the background ignores SIGINT, and so would every program that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded_sigint")
def test_a_watched_folder_is_ingested_as_it_changes(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "first.txt").write_text("The first note.")
    program = [sys.executable, "-u", "-m", "nur", "ingest", str(folder), "--watch"]
    environment = clean_environment(tmp_path / "data")
    with (
        subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, text=True) as watching,
        ExitStack() as at_the_end,
    ):
        at_the_end.callback(watching.kill)
        assert watching.stdout is not None
        deadline = time.monotonic() + 100
        for line in watching.stdout:  # the table of the first run
            if line.startswith("failed"):
                break
        (folder / "second.txt").write_text("The second note.")
        line = watching.stdout.readline()
        assert line.split() == ["created", os.path.realpath(folder / "second.txt")]
        (folder / "first.txt").write_text("The first note, changed.")
        assert watching.stdout.readline().startswith("replaced")
        assert time.monotonic() < deadline
        watching.send_signal(signal.SIGINT)
        assert watching.wait(60) == 130
