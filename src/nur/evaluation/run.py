"""Evaluate data sets one after the other, each in a temporary store of its own; or the user's store as it is."""

from __future__ import annotations

import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur import bootstrap
from nur.domain.search import Mode
from nur.evaluation import calibrating, known_items
from nur.evaluation.asking import LIMIT, LoadedDataset
from nur.evaluation.baselines import Baseline
from nur.evaluation.dataset import by_scope, load, sampled
from nur.evaluation.measuring import Searching, joined, measure
from nur.evaluation.off_topic import asked_elsewhere
from nur.evaluation.report import Conditions, Report
from nur.settings import load as load_settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from rich.progress import Progress

    from nur.bootstrap import Services
    from nur.evaluation import baselines
    from nur.evaluation.calibrating import Calibration
    from nur.evaluation.dataset import DataSet
    from nur.evaluation.measuring import Measured, System
    from nur.retrieval.calibration import ModelCalibration
    from nur.settings import Settings

#: A temporary store never reaches the user's servers.
NO_SERVERS = {"index": "flat", "chroma_host": None, "qdrant_url": None, "database_url": None}
OWN_QUESTIONS = 200


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to measure."""

    baselines: tuple[baselines.Name, ...]
    mode: Mode
    max_chars: int
    questions: int | None  #: None: all of a data set, OWN_QUESTIONS of a store
    off_topic: bool
    chunking: str | None  #: None: as configured


async def evaluate(folder: Path, wanted: Wanted, progress: Progress) -> Report:
    """Load a data set into a temporary store and measure the answers. Raises BadRequest when the folder is none."""
    data = sampled(load(folder), wanted.questions)
    parts = [await _part(part, wanted, progress) for part in by_scope(data)]
    systems = [joined(answers) for answers in zip(*(part.systems for part in parts), strict=True)]
    return replace(
        parts[0],
        data=data,
        nur=systems[0],
        baselines=tuple(systems[1:]),
        load_seconds=sum(part.load_seconds for part in parts),
    )


async def evaluate_together(folders: Sequence[Path], wanted: Wanted, progress: Progress) -> list[Report]:
    """Load several data sets into one store and ask each one's questions of all of it. Raises BadRequest."""
    data = [sampled(load(folder), wanted.questions) for folder in folders]
    async with _temporary(wanted) as (settings, services):
        asked = [LoadedDataset(services, one, everywhere=True) for one in data]
        seconds = [await _stored(one, progress) for one in asked]
        return [
            await _measured(one, settings, wanted, progress, loaded) for one, loaded in zip(asked, seconds, strict=True)
        ]


async def _part(data: DataSet, wanted: Wanted, progress: Progress) -> Report:
    """Measure a data set, or a part of one, in a store of its own."""
    async with _temporary(wanted) as (settings, services):
        asked = LoadedDataset(services, data)
        return await _measured(asked, settings, wanted, progress, await _stored(asked, progress))


@asynccontextmanager
async def _temporary(wanted: Wanted) -> AsyncIterator[tuple[Settings, Services]]:
    """An empty store that goes when it has been used."""
    chosen = {"chunking_strategy": wanted.chunking} if wanted.chunking else {}
    with tempfile.TemporaryDirectory(prefix="nur-eval-") as place:
        settings = load_settings(**NO_SERVERS, **chosen, nur_data_dir=place)
        async with bootstrap.running(settings) as services:
            yield settings, services


async def _stored(asked: LoadedDataset, progress: Progress) -> float:
    """Store a data set, with a bar; how many seconds it took."""
    task = progress.add_task(f"{asked.data.name}: storing", total=len(asked.data.rows))
    started = time.perf_counter()
    await asked.store(lambda done: progress.update(task, completed=done))
    progress.remove_task(task)
    return time.perf_counter() - started


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A calibration, and the calibration that holds from now on."""

    found: Calibration
    calibration: ModelCalibration
    path: Path | None  #: where it was written; None where there were too few questions, and the calibration stays


async def evaluate_own(
    settings: Settings, wanted: Wanted, progress: Progress, *, calibrate: bool
) -> tuple[Report, Calibrated | None]:
    """Measure the user's own store; with `calibrate` also write its model's calibration. Raises DataFolderInUse."""
    async with bootstrap.running(settings) as services:
        asked = LoadedDataset(services, await known_items.draw(services, wanted.questions or OWN_QUESTIONS))
        report = await _measured(asked, settings, wanted, progress, 0.0)
        if not calibrate:
            return report, None
        bare = Searching(LoadedDataset(calibrating.bare(services), asked.data), Mode.HYBRID, wanted.max_chars)
        known = list((await _ask(bare, asked.data, wanted, progress)).relevance.values())
        off_topic = await calibrating.off_topic_scores(bare)
        found = calibrating.choose_floor(known, off_topic)
        if not found.is_conclusive:
            return report, Calibrated(found, services.search.calibration, None)
        calibration = calibrating.measured(services.search.calibration, found, len(known) + len(off_topic))
        return report, Calibrated(found, calibration, calibrating.write(calibration, settings.nur_data_dir))


async def _measured(
    asked: LoadedDataset, settings: Settings, wanted: Wanted, progress: Progress, load_seconds: float
) -> Report:
    nur = await _ask(Searching(asked, wanted.mode, wanted.max_chars), asked.data, wanted, progress)
    others = [await _ask(Baseline(name, asked), asked.data, wanted, progress) for name in wanted.baselines]
    conditions = Conditions(
        embedding_version=asked.services.embedder.model.version,
        chunking="as stored" if asked.data.load_as == "stored" else settings.chunking_strategy,
        mode=wanted.mode,
        max_chars=wanted.max_chars,
        limit=LIMIT,
    )
    return Report(asked.data, conditions, nur, tuple(others), load_seconds)


async def _ask(system: System, data: DataSet, wanted: Wanted, progress: Progress) -> Measured:
    """Ask all questions, with a bar."""
    elsewhere = sum(1 for _ in asked_elsewhere(data)) if wanted.off_topic else 0
    task = progress.add_task(f"{data.name}: asking {system.name}", total=len(data.questions) + elsewhere)
    measured = await measure(system, data, off_topic=wanted.off_topic, progress=lambda: progress.advance(task))
    progress.remove_task(task)
    return measured
