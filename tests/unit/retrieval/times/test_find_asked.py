"""What questions say about time."""

from __future__ import annotations

from datetime import date

import pytest

from nur.retrieval.times.find import asked_time

TODAY = date(2026, 5, 8)


@pytest.mark.parametrize(
    ("question", "when", "windows"),
    [
        ("What did we decide last week?", None, ["2026-05-01 to 2026-05-07"]),
        ("Where did she go in March 2025?", None, ["2025-03"]),
        ("What changed between 1 May 2026 and 3 May 2026?", None, ["2026-05-01 to 2026-05-03"]),
        ("What changed from 1 May to 3 May?", None, ["2026-05-01 to 2026-05-03"]),
        ("What did we buy on 1 May and 3 May?", None, ["2026-05-01", "2026-05-03"]),  # two days, no period
        ("What has changed since March?", None, ["2026-03-01 to 2026-05-08"]),
        ("What was settled in the second half of april?", None, ["2026-04-16 to 2026-04-30"]),
        ("Which port has the database?", None, []),
        ("Which port?", "2026", ["2026"]),
        ("Which port?", "2026-05", ["2026-05"]),
        ("Which port?", "2026-05-07", ["2026-05-07"]),
        ("Which port?", "yesterday", ["2026-05-07"]),
        ("Which port last week?", "yesterday", ["2026-05-07"]),  # what is stated beside the question counts
        ("Which port?", "2026-13", []),
        ("Which port?", "0000", []),
        ("Which port?", "blue", []),
    ],
)
def test_the_stretch_that_is_asked_about(question: str, when: str | None, windows: list[str]) -> None:
    assert [str(window) for window in asked_time(question, when, TODAY).windows] == windows


@pytest.mark.parametrize(
    ("question", "asks_when"),
    [
        ("When did she move?", True),
        ("In which month did she move?", True),
        ("Wann ist sie umgezogen?", True),
        ("你什么时候去?", True),
        ("Cut my hand again. when was my last tetanus?", True),
        ("What is the course called and when does it meet?", True),
        ("How long has she had her licence?", True),
        ("date we got the go-ahead", True),
        ("What happens when it rains?", False),
        ("Numbers for the alarm when I get in", False),
        ("Whenever?", False),
        ("Which port?", False),
    ],
)
def test_questions_that_ask_when(question: str, asks_when: bool) -> None:
    assert asked_time(question, None, TODAY).asks_when is asks_when
