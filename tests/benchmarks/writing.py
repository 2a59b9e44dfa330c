"""Cost of storing one memory, against the bare transaction."""

from __future__ import annotations

import asyncio
import tempfile
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from nur.adapters.local.embedder import StaticModel
from nur.retrieval.pieces.stored import ChunkTerms, rows_of_terms
from nur.retrieval.text.analysis import ANALYZER
from tests.benchmarks import baselines, store
from tests.benchmarks.figures import median_ms

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.benchmarks.figures import Report

TEXTS = 200


def test_memory_store(report: Report) -> None:
    """Embed, analyse and commit: the same model, the same analyzer, the same disk."""
    texts = baselines.english_documents(TEXTS, words=40)
    model = StaticModel.from_package()

    def embed(text: str) -> baselines.Floats:
        return np.asarray(model.pooled(model.token_ids([text])[0]), np.float32)

    def analyze(text: str) -> str:
        found = [ANALYZER.ids(token) for token in ANALYZER.tokens(text)]
        terms = [term for ids in found for term in (*ids.main, *ids.extra)]
        counted = ChunkTerms.of(terms, [len(terms)])
        return rows_of_terms(counted.per_piece, counted.ids, counted.counts)[0]

    floor = partial(_floor, texts, embed, analyze)
    before = floor()
    cpu, wall = asyncio.run(_product(texts))
    after = floor()
    floor_cpu = median_ms([*before.cpu_samples, *after.cpu_samples])
    floor_wall = median_ms([*before.wall_samples, *after.wall_samples])
    report.add("memory_store, CPU", median_ms(cpu), beside=floor_cpu, yardstick="bare transaction")
    report.add("memory_store, wall", median_ms(wall), beside=floor_wall, yardstick="bare transaction")


def _floor(
    texts: list[str], embed: Callable[[str], baselines.Floats], analyze: Callable[[str], str]
) -> baselines.Result:
    return baselines.sqlite_write(texts, embed, analyze, folder=tempfile.gettempdir())


async def _product(texts: list[str]) -> tuple[list[float], list[float]]:
    async with store.opened() as services:
        await store.remember(services, "the first memory loads the model")
        return await store.timed(partial(store.remember, services), texts, warmup=0)
