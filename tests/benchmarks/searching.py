"""Cost of a search at 10,000 chunks, and how much of it is Nur's own."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind
from nur.domain.search import SearchRequest, SearchResult
from nur.ports.chunks import UNKNOWN
from nur.retrieval.calibration import MIN_CANDIDATES
from nur.retrieval.currency.order import CurrentFirst, by_rules
from nur.retrieval.currency.utterances import MAX_UTTERANCES
from nur.retrieval.ranking.grouping import best_notes, fold_duplicates
from nur.retrieval.ranking.queries import candidate_terms, query_terms
from nur.retrieval.ranking.term_vectors import row_word
from nur.retrieval.text.analysis import ANALYZER
from nur.services.search.rerank import Reranked
from nur.services.search.search_log import SearchRun
from tests.benchmarks import store
from tests.benchmarks.figures import median_ms, ms, percentile
from tests.callers import LOCAL_CALLER

if TYPE_CHECKING:
    from nur.bootstrap import Services
    from tests.benchmarks.figures import Report

CHUNKS = 10_000
QUESTIONS = 60
ONE_COLLECTION = frozenset({Kind.MEMORY})


def test_search_latency(report: Report) -> None:
    """One collection and all of them; beside both, the index and the lexical rows asked for the same candidates."""
    asyncio.run(_latency(report))


async def _latency(report: Report) -> None:
    async with store.opened() as services:
        started, cpu_started = time.perf_counter(), time.process_time()
        await store.fill(services, store.Sizes(CHUNKS))
        report.add("fill the store, wall a chunk", ms((time.perf_counter() - started) / CHUNKS))
        report.add("fill the store, CPU a chunk", ms((time.process_time() - cpu_started) / CHUNKS))
        for name, kinds, target in (
            ("one collection", ONE_COLLECTION, "< 200 ms"),
            ("hybrid, everything", frozenset(Kind), "< 500 ms"),
        ):
            await _measure(report, services, name, NoteFilter(tenant=LOCAL_CALLER.tenant, kinds=kinds), target)


async def _measure(report: Report, services: Services, name: str, where: NoteFilter, target: str) -> None:
    asked = store.questions(QUESTIONS)

    async def search(question: str) -> object:
        return await services.search(SearchRequest(query=question, caller=LOCAL_CALLER, where=where))

    async def added(question: str) -> tuple[float, float]:
        """CPU seconds of what is done with the candidates before the answer, and of writing the trace after it."""
        request = SearchRequest(query=question, caller=LOCAL_CALLER, where=where)
        search = services.search
        found = await search.retrieve(request)
        await services.search_log.flush()  # those of the searches before are not written in this one's time
        started = time.process_time()
        ranked = search.ranked(request, found)
        floor = search.floor(request, found)
        groups = fold_duplicates(best_notes(ranked, floor).notes, found.candidates.lookalikes)
        read = await search.extract_passages.read(request, ranked, groups, MAX_UTTERANCES)
        current = by_rules(request, found.question.terms, CurrentFirst(groups), read, names_time=False)
        best = current.groups[: request.limit]
        hits = search.extract_passages.extract(request, found.question.terms, ranked, best, {}, read)
        answer = SearchResult(
            hits=tuple(hits), search_id=uuid4(), trace_id=uuid4(), model=services.embedder.model, confidence=None
        )
        run = SearchRun(request, found, ranked, Reranked(current.groups), answer, floor, search.fusion, {})
        services.search_log.record(run)
        answered = time.process_time()
        await services.search_log.flush()
        return answered - started, time.process_time() - answered

    async def rankers(question: str) -> None:
        """What any hybrid search must do: embed the question, scan the vectors, ask the lexical rows."""
        vector = await services.embedder.embed_query(question)
        await services.index.query(vector, where, MIN_CANDIDATES)
        terms = query_terms(question, ANALYZER)
        corpus = await services.stores.chunks.statistics([row_word(term.id) for term in terms])
        known = {term.id: corpus.frequencies.get(row_word(term.id), UNKNOWN).pieces for term in terms}
        words = [row_word(term) for term in candidate_terms(terms, known)]
        await services.stores.chunks.by_words(words, where, services.clock.now(), MIN_CANDIDATES)

    await store.timed(search, asked)  # warms every cache that serving warms
    floor, parts, traces, cpu, wall = [], [], [], [], []
    for question in asked:  # one after the other, so that a busy moment hits all three
        floor += (await store.timed(rankers, [question], warmup=0))[0]
        before, after = await added(question)
        parts.append(before)
        traces.append(after)
        whole, waited = await store.timed(search, [question], warmup=0)
        cpu += whole
        wall += waited
    report.add(f"{name}: p50 wall", median_ms(wall), target=target)
    report.add(f"{name}: p95 wall", ms(percentile(wall, 0.95)), target=target)
    report.add(f"{name}: CPU", median_ms(cpu), beside=median_ms(floor), yardstick="rankers alone")
    report.add(f"{name}: p95 CPU", ms(percentile(cpu, 0.95)))
    report.add(f"{name}: fusion, passages and trace, CPU", median_ms(parts), target="< 5 ms")
    report.add(f"{name}: writing its trace after the answer, CPU", median_ms(traces))
