"""Finding the times in a text, against splitting the same text into words."""

from __future__ import annotations

import time
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from nur.retrieval.text.analysis import ANALYZER
from nur.retrieval.times.find import find_times

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.benchmarks.figures import Report

SAID = date(2026, 5, 8)
ROUNDS = 5
#: Mentions a time every 340 characters, like real annual reports; speech has hardly one per minute.
DENSE = (
    "As of December 31, {year}, the allowance for obsolete inventory was ${count} million, compared with ${count}.4 "
    "million in {year}. Management estimates the expected lives of the assets by class and reviews them for impairment "
    "whenever events indicate that the carrying amount may not be recoverable. The plans are funded by the company and "
    "its subsidiaries. Net sales increased by {count} %, driven by volumes, higher prices and the mix of products, "
    "partly offset by currency effects and by higher costs of freight. "
)
RARE = "We talked about the garden and {count} pots of basil. The neighbours came by, and nobody minded the rain. "


def test_resolving(report: Report) -> None:
    """The best of some rounds, since it is pure computation."""
    talk = "".join(RARE.format(count=count % 90) for count in range(4_000)) + "We met yesterday. "
    filed = "".join(DENSE.format(year=1990 + count % 35, count=count % 90) for count in range(4_000))
    for name, text in (("annual report", filed), ("talk", talk)):
        million = len(text.encode()) / 1e6
        cost = min(_seconds(partial(find_times, text, SAID)) for _ in range(ROUNDS)) / million
        beside = min(_seconds(partial(ANALYZER.tokens, text)) for _ in range(ROUNDS)) / million
        report.add(
            f"times of a MB of {name}", cost * 1e3, beside=beside * 1e3, yardstick="its words", target="≤ 200 ms"
        )


def _seconds(act: Callable[[], object]) -> float:
    started = time.process_time()
    act()
    return time.process_time() - started
