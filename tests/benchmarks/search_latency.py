"""CPU that fusion, passages and tracing add to a search over 10,000 chunks.

    python -m tests.benchmarks.search_latency

The limit is 5 ms. Gathering (reading the store, comparing vectors) is shown beside it and is not part of it. Fails with
exit code 1 when the median is above the limit.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import tempfile
import time
from itertools import pairwise
from typing import TYPE_CHECKING

from nur import bootstrap
from nur.adapters.ledger.traces import encode
from nur.domain.notes import Description, Kind, Principal
from nur.domain.search import SearchRequest
from nur.domain.selection import Selection
from nur.domain.writes import OnEmbeddingFailure
from nur.observability import events
from nur.retrieval.shortlist import shortlist
from nur.services.ingest import Privacy
from nur.services.trace_searches import Searched
from nur.settings import load

if TYPE_CHECKING:
    from nur.bootstrap import Services

LIMIT_MS = 5.0
DOCUMENTS, CHUNKS_EACH, TURNS = 350, 20, 3000
QUESTIONS = 200


class Words:
    """Text with the word frequencies of text: a few common words and many rare ones."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)
        letters = "abcdefghijklmnoprstuvwyz"
        self._words = ["".join(self._random.choices(letters, k=self._random.randint(2, 9))) for _ in range(30_000)]
        self._weights = [1 / (rank + 3) for rank in range(len(self._words))]

    def sentence(self, words: int) -> str:
        return " ".join(self._random.choices(self._words, self._weights, k=words)).capitalize() + "."

    def text(self, sentences: int) -> str:
        return " ".join(self.sentence(self._random.randint(6, 20)) for _ in range(sentences))


async def fill(services: Services, words: Words) -> None:
    async def document(number: int) -> None:
        await services.ingest(
            words.text(CHUNKS_EACH * 28),
            Description(type="doc", source_system="bench", source_id=str(number)),
            Privacy(),
            principal=Principal(),
            on_failure=OnEmbeddingFailure.REJECT,
        )

    async def turn(number: int) -> None:
        await services.append_turn(
            "bench",
            number,
            role="user",
            content=words.text(2),
            principal=Principal(),
            on_failure=OnEmbeddingFailure.REJECT,
        )

    for number in range(0, DOCUMENTS, 8):
        await asyncio.gather(*(document(each) for each in range(number, min(number + 8, DOCUMENTS))))
    for number in range(0, TURNS, 64):
        await asyncio.gather(*(turn(each) for each in range(number, min(number + 64, TURNS))))


async def measure(services: Services, words: Words, kinds: frozenset[Kind], limit: int) -> dict[str, float]:
    """The median CPU milliseconds of each stage."""
    search = services.search
    spent: dict[str, list[float]] = {"gather": [], "fusion": [], "passages": [], "tracing": [], "added": []}
    for _ in range(QUESTIONS):
        request = SearchRequest(query=words.sentence(8), selection=Selection(kinds=kinds), limit=limit)
        marks = [time.process_time()]
        found = await search.gather(request)
        marks.append(time.process_time())
        ranked = search.ranked(request, found)
        listed = shortlist(ranked, search.floor(request, found), limit)
        ordered = await search.rerank(request, listed.hits, found.terms)
        marks.append(time.process_time())
        await search.quote(request, found, ranked, ordered.hits[:limit], {})
        marks.append(time.process_time())
        result = await search(request)
        marks.append(time.process_time())
        searched = Searched(request, found, ranked, ordered, result, None, search.fusion, {})
        marks.append(time.process_time())
        trace = services.traces.trace_of(searched)
        encode(trace.outcome, trace.candidates)
        marks.append(time.process_time())
        laps = [(after - before) * 1000 for before, after in pairwise(marks)]
        gather, fusion, passages, _, _, tracing = laps
        for stage, lap in zip(spent, (gather, fusion, passages, tracing, fusion + passages + tracing), strict=True):
            spent[stage].append(lap)
    return {stage: statistics.median(laps) for stage, laps in spent.items()}


async def main() -> int:
    events.configure("ERROR")
    words = Words()
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        async with bootstrap.running(load(nur_data_dir=folder)) as services:
            await fill(services, words)
            print(f"{(await services.ledger.corpus([])).chunks} chunks; median CPU ms of {QUESTIONS} questions each")
            for name, kinds in (("documents", {Kind.ARTIFACT}), ("turns", {Kind.TURN}), ("everything", set(Kind))):
                for limit in (5, 20):
                    stages = await measure(services, words, frozenset(kinds), limit)
                    worst = max(worst, stages["added"] if limit == 5 else 0.0)
                    print(f"{name:10} limit {limit:2}  " + "  ".join(f"{s} {ms:.2f}" for s, ms in stages.items()))
    print(f"worst at limit 5: {worst:.2f} ms (at most {LIMIT_MS})")
    return 0 if worst <= LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
