"""The quality of search on three people's stores (`tests/data/people`): no change may lower it unnoticed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nur.entrypoints.cli.app import OK, run

if TYPE_CHECKING:
    import pytest

PEOPLE = Path(__file__).parents[1] / "data" / "people"
#: About .02 below what was measured when they were written; rows are stored at the same time, and ties go to the older.
FLOORS = {"hit@1": 0.28, "recall@5": 0.525, "mrr": 0.40, "span_recall@2000c": 0.59}
WORDS_ALONE = "lexical"
MAX_CALIBRATION_ERROR = 0.08


def test_search_finds_what_it_found_and_more_than_words_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDINGS", "local")
    record = tmp_path / "people.json"
    assert run(["eval", str(PEOPLE), "--baseline", WORDS_ALONE, "--reliability", "--json", str(record)]) == OK

    (people,) = json.loads(record.read_text())["sets"]
    found = _metrics(people, "nur")
    assert {name: found[name] for name, least in FLOORS.items() if found[name] < least} == {}
    by_words = _metrics(people, WORDS_ALONE)
    assert all(found[name] > by_words[name] for name in FLOORS)
    assert people["reliability"][0]["ece"] < MAX_CALIBRATION_ERROR


def _metrics(data_set: dict[str, Any], system: str) -> dict[str, float]:
    metrics: dict[str, float] = data_set["systems"][system]["metrics"]
    return metrics
