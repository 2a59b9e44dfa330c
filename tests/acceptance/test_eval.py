"""`nur eval`, end to end, on data sets made up here and on a store of one's own."""

from __future__ import annotations

import asyncio
import json
import random
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import click
import pytest

from nur import bootstrap
from nur.domain.access import LOCAL
from nur.domain.filters import NoteFilter
from nur.domain.search import SearchRequest
from nur.domain.writes import OnEmbeddingFailure
from nur.entrypoints.cli.app import BAD_CONFIGURATION, IN_USE, OK, run
from nur.evaluation.calibrating import MIN_REJECTED
from nur.evaluation.off_topic import GENERAL_QUESTIONS
from nur.retrieval.calibration import ModelCalibration
from nur.settings import load as load_settings
from tests.callers import LOCAL_CALLER
from tests.data_sets import write_data_set
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from pathlib import Path

FACTS = {
    "kettle": ("The copper kettle came from a market in Tbilisi.", "Where did the copper kettle come from?"),
    "ferry": ("The night ferry to Lofoten leaves at eleven.", "When does the night ferry leave?"),
    "beehive": ("Grandfather painted every beehive bright yellow.", "What colour did grandfather paint the beehive?"),
    "violin": ("Her violin was repaired by a carpenter in Cremona.", "Who repaired her violin?"),
    "sourdough": ("The sourdough needs forty grams of rye each morning.", "How much rye does the sourdough need?"),
    "telescope": ("We sold the telescope to pay for the roof.", "Why did we sell the telescope?"),
    "hedgehog": ("A hedgehog winters under the garden stairs.", "Where does the hedgehog winter?"),
    "passport": ("My passport runs out in March of next year.", "When does my passport run out?"),
}
_SUBJECTS = ("The committee", "A neighbour", "The old bridge", "Their report", "This season", "The clerk", "Our street")
_VERBS = ("considered", "described", "avoided", "measured", "outlasted", "ignored", "repeated")
_OBJECTS = ("the usual forms", "a quiet hour", "several windows", "the second draft", "ordinary weather", "old lists")


def small_talk(count: int, salt: int) -> list[str]:
    draw = random.Random(salt)
    return [f"{draw.choice(_SUBJECTS)} {draw.choice(_VERBS)} {draw.choice(_OBJECTS)}." for _ in range(count)]


def turns(folder: Path, name: str = "chats") -> Path:
    """Two conversations, four facts each among small talk; one question that neither answers."""
    rows: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    for place, (fact, (said, asked)) in enumerate(FACTS.items()):
        scope = "first" if place < 4 else "second"
        for text in [*small_talk(5, place), said]:
            rows.append(
                {
                    "id": f"{scope}/{len(rows)}",
                    "text": text,
                    "meta": {"scope": scope, "role": "user" if len(rows) % 2 else "assistant"},
                }
            )
        meta = {"scope": scope, "category": "garden" if fact in ("beehive", "hedgehog") else "house"}
        questions.append({"id": fact, "text": asked, "relevant": [{"id": rows[-1]["id"]}], "meta": meta})
    lacking = {"scope": "first", "category": "abstention"}
    questions.append({"id": "none", "text": "Which submarine sank off Peru?", "relevant": [], "meta": lacking})
    return write_data_set(folder / name, "turns", rows, questions)


def documents(folder: Path, name: str = "letters") -> Path:
    """Two long documents with four facts each, far apart; gold is the very sentences."""
    rows: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    for part, facts in enumerate((list(FACTS)[:4], list(FACTS)[4:])):
        text = ""
        for place, fact in enumerate(facts):
            text += " ".join(small_talk(60, 10 * part + place)) + " "
            span = {"doc": f"letter-{part}", "start": len(text), "end": len(text) + len(FACTS[fact][0])}
            text += FACTS[fact][0] + " "
            questions.append({"id": fact, "text": FACTS[fact][1], "relevant": [span]})
        rows.append({"id": f"letter-{part}", "text": text})
    return write_data_set(folder / name, "documents", rows, questions)


def memories(folder: Path, name: str = "memories", shift: int = 0) -> Path:
    """A memory a fact; `shift` makes the gold wrong on purpose."""
    names = list(FACTS)
    rows = [{"id": fact, "text": said} for fact, (said, _) in FACTS.items()]
    questions = [
        {"id": fact, "text": FACTS[fact][1], "relevant": [{"id": names[(place + shift) % len(names)]}]}
        for place, fact in enumerate(names)
    ]
    return write_data_set(folder / name, "memories", rows, questions)


def test_every_kind_of_set_is_measured_shown_recorded_and_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = tmp_path / "sets"
    for build in (turns, documents, memories):
        build(sets)
    asked = ["--off-topic", "--by-category", "--halves", "--json", f"{tmp_path}/e.json", "--plot", f"{tmp_path}/e.svg"]
    assert run(["eval", str(sets), *asked]) == OK

    shown = capsys.readouterr().out
    for expected in (
        "chats",
        "letters",
        "memories",
        "lexical",
        "garden",
        "first 1 scopes",
        "even",
        "recall@2000c",
        "95 %",
        "chats: a hook would add passages to",
    ):
        assert expected in shown

    found = {one["name"]: one for one in json.loads((tmp_path / "e.json").read_text())["sets"]}
    assert list(found) == ["chats", "letters", "memories"]
    for name, metric in (("chats", "recall@10"), ("letters", "span_recall@2000c"), ("memories", "recall@5")):
        assert found[name]["systems"]["nur"]["metrics"][metric] == 1.0, name
    assert found["chats"]["systems"]["nur"]["abstention_auroc"] == 1.0
    assert found["chats"]["systems"]["nur"]["off_topic_auroc"] > 0.9
    assert found["chats"]["systems"]["nur"]["metrics"]["injected_gold@3"] > 0.9
    assert found["chats"]["systems"]["nur"]["injected_off_topic"] < 0.5
    assert set(found["chats"]["systems"]["nur"]["scores"]) == set(FACTS)  # what cannot be answered has no score
    # The budget ends before a whole chunk shows the sentence; passages are what they are made for.
    apart = found["letters"]["differences"]["lexical"]["span_recall@2000c"]
    assert 0 < apart["low"] <= apart["mean"] <= apart["high"]
    for text in (said for said, _ in FACTS.values()):
        assert text not in (tmp_path / "e.json").read_text()

    drawn = ElementTree.parse(tmp_path / "e.svg").getroot()
    bars = [one for one in drawn.iter("{http://www.w3.org/2000/svg}rect") if one.find("{*}title") is not None]
    assert len(bars) == 6
    assert float(bars[0].attrib["width"]) > 400  # 1.0 is a full bar


def test_wrong_gold_is_a_miss(tmp_path: Path) -> None:
    folder = memories(tmp_path, shift=3)
    assert run(["eval", str(folder), "--json", f"{tmp_path}/e.json"]) == OK
    nur = json.loads((tmp_path / "e.json").read_text())["sets"][0]["systems"]["nur"]["metrics"]
    assert nur["recall@1"] == 0.0
    assert nur["mrr"] < 0.5


def test_all_baselines_run_on_one_store_and_a_sample_is_asked(tmp_path: Path) -> None:
    folder = documents(tmp_path)
    names = ("lexical", "dense", "specification")
    given = [option for name in names for option in ("--baseline", name)]
    assert run(["eval", str(folder), *given, "--limit", "4", "--json", f"{tmp_path}/e.json"]) == OK
    found = json.loads((tmp_path / "e.json").read_text())["sets"][0]
    assert found["questions"] == 4
    assert list(found["systems"]) == ["nur", *names]
    # Two documents, one result each: what the specification's dedupe leaves.
    assert found["systems"]["specification"]["metrics"]["doc_hit@10"] == 1.0
    assert found["systems"]["specification"]["metrics"]["span_recall@2000c"] < 1.0


@pytest.mark.parametrize("policy", ["window", "sentences", "structure"])
def test_documents_are_cut_as_asked(tmp_path: Path, policy: str) -> None:
    given = ["--chunking", policy, "--baseline", "none", "--json", f"{tmp_path}/e.json"]
    assert run(["eval", str(documents(tmp_path)), *given]) == OK
    found = json.loads((tmp_path / "e.json").read_text())["sets"][0]
    assert found["conditions"]["chunking"] == policy
    assert list(found["systems"]) == ["nur"]
    assert found["systems"]["nur"]["metrics"]["span_recall@2000c"] > 0.9


@pytest.mark.parametrize(
    "arguments",
    [
        [],  # nothing to measure
        ["{folder}", "--self"],  # both
        ["{folder}", "--calibrate"],  # whose store?
        ["{folder}"],  # no data set
        ["{folder}/missing"],
        ["{folder}", "--baseline", "google"],
        ["{folder}", "--limit", "0"],
    ],
)
def test_what_cannot_be_measured_exits_2(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["eval", *(argument.format(folder=tmp_path) for argument in arguments)]) == BAD_CONFIGURATION
    assert "Traceback" not in capsys.readouterr().err


def test_the_users_own_store_is_not_touched_by_a_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUR_DATA_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("CHROMA_HOST", "chroma.invalid")  # nor a server that it names
    monkeypatch.setenv("QDRANT_URL", "http://qdrant.invalid:6333")
    monkeypatch.setenv("DATABASE_URL", "postgresql://nur@database.invalid/nur")
    assert run(["eval", str(memories(tmp_path)), "--baseline", "none"]) == OK
    assert not (tmp_path / "own").exists()


async def fill(count: int) -> None:
    """A store of one's own, with facts and much else."""
    async with bootstrap.running(load_settings()) as services:
        for place in range(count):
            said = list(FACTS.values())[place % len(FACTS)][0]
            await services.remember(
                f"Entry {place}: {' '.join(small_talk(2, place))} {said}",
                type="fact",
                confidence=0.9,
                conversation_id=None,
                caller=LOCAL_CALLER,
                on_failure=OnEmbeddingFailure.REJECT,
            )


async def calibrated(arguments: list[str]) -> int:
    """Run the command beside a running loop, in a thread of its own."""
    return await asyncio.to_thread(run, arguments)


async def test_ones_own_store_is_measured_and_its_model_gets_a_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await fill(60)
    assert await calibrated(["eval", "--self", "--calibrate", "--by-category", "--json", f"{tmp_path}/e.json"]) == OK
    shown = capsys.readouterr().out
    assert "your store" in shown
    assert "AUROC" in shown
    found = json.loads((tmp_path / "e.json").read_text())["sets"][0]
    assert {one["name"] for one in found["categories"]} == {"sentence", "words"}
    assert 0.1 < found["systems"]["nur"]["metrics"]["recall@10"] <= 1.0
    [file] = (load_settings().nur_data_dir / "profiles").iterdir()
    profile = ModelCalibration.from_json(file.read_text(encoding="utf-8"))
    assert profile.embedding_version.startswith("local:")
    assert profile.questions >= 60
    assert profile.floor is not None
    assert 0 < profile.floor < 1

    # The store opens with its new profile, which loses nothing; and measuring again finds the same floor.
    again = ["eval", "--self", "--calibrate", "--json", f"{tmp_path}/f.json"]
    assert await calibrated(again) == OK
    after = json.loads((tmp_path / "f.json").read_text())["sets"][0]["systems"]["nur"]["metrics"]
    assert after["recall@10"] == found["systems"]["nur"]["metrics"]["recall@10"]
    assert ModelCalibration.from_json(file.read_text(encoding="utf-8")).floor == profile.floor


async def test_a_measured_floor_turns_away_the_questions_that_it_was_measured_with() -> None:
    await fill(60)
    assert await calibrated(["eval", "--self", "--calibrate"]) == OK
    async with bootstrap.running(load_settings()) as services:
        where = NoteFilter(tenant=LOCAL.tenant)
        asked = [SearchRequest(query=text, caller=LOCAL_CALLER, where=where) for text in GENERAL_QUESTIONS]
        silent = [not (await services.search(request)).hits for request in asked]
    assert sum(silent) >= MIN_REJECTED * len(silent)


async def test_a_store_too_small_to_tell_keeps_its_floor_and_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(4)
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal
    monkeypatch.setenv("COLUMNS", "80")
    assert await calibrated(["eval", "--self", "--calibrate"]) == OK
    shown = click.unstyle(capsys.readouterr().out)
    assert "4 questions are too few: the figures mean little" in shown
    assert "The relevance floor stays at 0.2" in shown
    assert not (load_settings().nur_data_dir / "profiles").exists()
    assert "…" not in shown
    assert max(map(len, shown.splitlines()[:12])) <= 80
    assert {"set", "system", "n", "recall", "@10", "mrr", "p50", "CPU", "ms"} <= set(shown.split())


async def test_an_empty_store_has_nothing_to_ask_about(capsys: pytest.CaptureFixture[str]) -> None:
    assert await calibrated(["eval", "--self"]) == BAD_CONFIGURATION
    told = capsys.readouterr().err
    assert "no text to ask about" in told
    assert "nur remember" in told


def test_a_store_that_a_server_owns_exits_3_and_says_who(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with NurProcess(tmp_path / "owned") as server:
        assert run(["eval", "--self", "--data-dir", str(server.folder)]) == IN_USE
        assert str(server.process.pid) in capsys.readouterr().err
