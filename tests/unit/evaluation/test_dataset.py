"""Reading data sets, and saying what is wrong with one."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from nur.domain.errors import BadRequest
from nur.evaluation.dataset import find, load, sampled
from nur.evaluation.measures import RowSpan
from tests.data_sets import write_data_set

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [
    {"id": "a/1", "text": "The kettle is blue.", "meta": {"scope": "a"}},
    {"id": "b/1", "text": "The lamp is broken.", "meta": {"scope": "b"}},
]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "1", "text": "Which colour?", "relevant": [{"id": "a/1", "grade": 2}], "meta": {"scope": "a"}},
    {"id": "2", "text": "Who called?", "relevant": [], "meta": {"scope": "b", "category": "abstention"}},
    {"id": "3", "text": "Not labelled", "relevant": [], "meta": {"scope": "b", "category": "single_hop"}},
]


def test_rows_and_questions_come_with_their_scope_and_gold(tmp_path: Path) -> None:
    data = load(write_data_set(tmp_path / "tiny", "turns", ROWS, QUESTIONS))
    assert (data.name, data.load_as, data.has_spans, data.scopes) == ("tiny", "turns", False, ("a", "b"))
    assert data.questions[0].units == {"a/1": 2.0}


def test_only_questions_that_the_corpus_truly_lacks_are_unanswerable(tmp_path: Path) -> None:
    data = load(write_data_set(tmp_path / "tiny", "turns", ROWS, QUESTIONS))
    assert [question.is_unanswerable for question in data.questions] == [False, True, False]


def test_a_question_may_say_when_it_is_asked(tmp_path: Path) -> None:
    questions = [{**QUESTIONS[0], "asked_at": "2026-11-10T08:00:00Z"}, QUESTIONS[1]]
    data = load(write_data_set(tmp_path / "tiny", "turns", ROWS, questions))
    assert [question.asked_at for question in data.questions] == [datetime(2026, 11, 10, 8, tzinfo=UTC), None]


def test_spans_are_characters_of_a_document(tmp_path: Path) -> None:
    question = {"id": "1", "text": "Which colour?", "relevant": [{"doc": "a/1", "start": 14, "end": 18}]}
    data = load(write_data_set(tmp_path / "tiny", "documents", ROWS, [question]))
    assert data.questions[0].spans == (RowSpan("a/1", 14, 18),)
    assert data.has_spans


@pytest.mark.parametrize(
    ("load_as", "rows", "questions", "message"),
    [
        ("poems", ROWS, QUESTIONS, "load_as"),  # nothing that can be stored
        ("stored", ROWS, QUESTIONS, "load_as"),  # no file's business
        ("turns", [], QUESTIONS, "corpus is empty"),
        ("turns", ROWS, [], "list of questions is empty"),
        ("turns", [{"id": "a/1"}], QUESTIONS, "line 1"),  # a row without text
        ("turns", [*ROWS, ["a list"]], QUESTIONS, "line 3"),  # not an object
        ("turns", ROWS, [{"id": "1"}], "line 1"),  # a question without text
        ("turns", ROWS, [{**QUESTIONS[0], "asked_at": "soon"}], "line 1"),  # no time
        ("turns", ROWS, [{"id": "1", "text": "?", "relevant": [{"doc": "a/1", "start": 1}]}], "line 1"),
        ("turns", ROWS, [{"id": "1", "text": "?", "relevant": [{"id": "c/1"}]}], "c/1"),  # gold that is nowhere
        ("turns", ROWS, [{"id": "1", "text": "?", "relevant": [{"doc": "a/1", "start": 5, "end": 99}]}], "99"),
        ("turns", ROWS, [{"id": "1", "text": "?", "relevant": [], "meta": {"scope": "z"}}], "scope z"),
        ("turns", ROWS, [QUESTIONS[0], QUESTIONS[0]], "same id"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_stored(
    tmp_path: Path, load_as: str, rows: list[Any], questions: list[Any], message: str
) -> None:
    folder = write_data_set(tmp_path / "tiny", load_as, rows, questions)
    with pytest.raises(BadRequest, match=message):
        load(folder)


@pytest.mark.parametrize("name", ["meta.json", "corpus.jsonl.gz", "queries.jsonl.gz"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = write_data_set(tmp_path / "tiny", "turns", ROWS, QUESTIONS)
    (folder / name).unlink()
    with pytest.raises(BadRequest, match=name):
        load(folder)


@pytest.mark.parametrize(
    "content",
    [
        b"not compressed",
        gzip.compress(b"{not json}\n"),
        gzip.compress(b"\xff\xfe\n"),  # not UTF-8
        gzip.compress(json.dumps(ROWS[0]).encode())[:-12],  # cut short
    ],
    ids=["not compressed", "not JSON", "not UTF-8", "cut short"],  # gzip's own bytes hold the time
)
def test_a_broken_file_is_named(tmp_path: Path, content: bytes) -> None:
    folder = write_data_set(tmp_path / "tiny", "turns", ROWS, QUESTIONS)
    (folder / "corpus.jsonl.gz").write_bytes(content)
    with pytest.raises(BadRequest, match=r"corpus\.jsonl\.gz"):
        load(folder)


def test_a_folder_of_data_sets_is_searched_one_level_deep(tmp_path: Path) -> None:
    for name in ("second", "first"):
        write_data_set(tmp_path / "sets" / name, "turns", ROWS, QUESTIONS)
    (tmp_path / "sets" / "notes").mkdir()
    assert [folder.name for folder in find([tmp_path / "sets"])] == ["first", "second"]
    assert find([tmp_path / "sets" / "first"]) == [tmp_path / "sets" / "first"]


def test_a_folder_without_data_sets_is_refused_with_what_one_is(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"neither a data set.*queries\.jsonl\.gz"):
        find([tmp_path])


def test_a_sample_is_always_the_same_and_in_order(tmp_path: Path) -> None:
    questions = [{"id": str(place), "text": "?", "relevant": [{"id": "a/1"}]} for place in range(50)]
    data = load(write_data_set(tmp_path / "tiny", "memories", ROWS, questions))
    asked = [int(question.id) for question in sampled(data, 10).questions]
    assert asked == [int(question.id) for question in sampled(data, 10).questions] == sorted(asked)
    assert len(set(asked)) == 10
    assert sampled(data, 50) is data
    assert sampled(data, None) is data
