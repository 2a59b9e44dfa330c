"""Cost of comparing a new memory with stored ones and of ranking newer values first, against the whole call."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind, NoteMetadata
from nur.domain.search import SearchRequest
from nur.retrieval.currency.order import CurrentFirst, by_rules
from nur.retrieval.currency.utterances import MAX_UTTERANCES
from nur.retrieval.ranking.grouping import best_notes, fold_duplicates
from tests.benchmarks import baselines, store
from tests.benchmarks.figures import median_ms
from tests.callers import LOCAL_CALLER

if TYPE_CHECKING:
    from tests.benchmarks.figures import Report

MEMORIES = 1_000
WRITES = 150
QUESTIONS = 50


def test_changing(report: Report) -> None:
    """Both variants on one store, alternating, so that other load affects both."""
    asyncio.run(_measure(report))


async def _measure(report: Report) -> None:
    texts = baselines.english_documents(MEMORIES + 2 * WRITES, words=20)
    async with store.opened() as services:
        for start in range(0, MEMORIES, store.CONCURRENT_WRITES):
            some = texts[start : min(MEMORIES, start + store.CONCURRENT_WRITES)]
            await asyncio.gather(*(store.remember(services, text) for text in some))
        comparing = services.remember.store
        plain = replace(comparing, compare=lambda *_: None)
        costs: dict[int, list[float]] = {id(comparing): [], id(plain): []}
        for number, text in enumerate(texts[MEMORIES:]):
            way = comparing if number % 4 in (1, 2) else plain  # each variant goes first in every second pair
            meta = NoteMetadata(type="fact", confidence=1.0)
            started = time.process_time()
            await way(Kind.MEMORY, text, meta, LOCAL_CALLER, store.REJECT)
            costs[id(way)].append(time.process_time() - started)
        beside = median_ms(costs[id(plain)])
        report.add(
            "memory_store, CPU",
            median_ms(costs[id(comparing)]),
            beside=beside,
            yardstick="without comparing",
            target="≤ 1.10×",
        )
        ordering: list[float] = []
        whole: list[float] = []
        for question in store.questions(QUESTIONS):
            asked = f"How many {question}"
            request = SearchRequest(query=asked, caller=LOCAL_CALLER, where=NoteFilter(tenant=LOCAL_CALLER.tenant))
            search = services.search
            found = await search.retrieve(request)
            ranked = search.ranked(request, found)
            groups = fold_duplicates(best_notes(ranked, None).notes, found.candidates.lookalikes)
            read = await search.extract_passages.read(request, ranked, groups, MAX_UTTERANCES)
            started = time.process_time()
            by_rules(request, found.question.terms, CurrentFirst(groups), read, names_time=False)
            between = time.process_time()
            await search(request)
            ordering.append(between - started)
            whole.append(time.process_time() - between)
        report.add(
            "newer values first, CPU",
            median_ms(ordering),
            beside=median_ms(whole),
            yardstick="whole search",
            target="≤ 1 ms",
        )
