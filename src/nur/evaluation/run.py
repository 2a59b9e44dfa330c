"""Run an evaluation: of data sets in temporary stores, or of the user's own store."""

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
from nur.evaluation.measuring import NurSearch, measure, merged
from nur.evaluation.off_topic import off_topic_questions
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

#: Settings that keep a temporary store away from the user's servers.
NO_SERVERS = {"index": "flat", "chroma_host": None, "qdrant_url": None, "database_url": None}
OWN_QUESTIONS = 200


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """Options of an evaluation."""

    baselines: tuple[baselines.Name, ...]
    mode: Mode
    max_chars: int
    questions: int | None  #: maximum; None: all of a data set, OWN_QUESTIONS of a store
    off_topic: bool
    chunking: str | None  #: None: as configured


async def evaluate(folder: Path, options: EvalOptions, progress: Progress) -> Report:
    """Load a data set into a temporary store and score the answers. Raises BadRequest if it is not a data set."""
    data = sampled(load(folder), options.questions)
    parts = [await _evaluate_part(part, options, progress) for part in by_scope(data)]
    systems = [merged(answers) for answers in zip(*(part.systems for part in parts), strict=True)]
    return replace(
        parts[0],
        data=data,
        nur=systems[0],
        baselines=tuple(systems[1:]),
        load_seconds=sum(part.load_seconds for part in parts),
    )


async def evaluate_together(folders: Sequence[Path], options: EvalOptions, progress: Progress) -> list[Report]:
    """Load several data sets into one store and search all of it with each one's questions. Raises BadRequest."""
    data = [sampled(load(folder), options.questions) for folder in folders]
    async with _temporary_store(options) as (settings, services):
        datasets = [LoadedDataset(services, one, everywhere=True) for one in data]
        seconds = [await _load(dataset, progress) for dataset in datasets]
        return [
            await _report(dataset, settings, options, progress, load_seconds)
            for dataset, load_seconds in zip(datasets, seconds, strict=True)
        ]


async def _evaluate_part(data: DataSet, options: EvalOptions, progress: Progress) -> Report:
    """Evaluate a data set, or a part of one, in its own temporary store."""
    async with _temporary_store(options) as (settings, services):
        dataset = LoadedDataset(services, data)
        return await _report(dataset, settings, options, progress, await _load(dataset, progress))


@asynccontextmanager
async def _temporary_store(options: EvalOptions) -> AsyncIterator[tuple[Settings, Services]]:
    """An empty store that is deleted afterwards."""
    chunking = {"chunking_strategy": options.chunking} if options.chunking else {}
    with tempfile.TemporaryDirectory(prefix="nur-eval-") as folder:
        settings = load_settings(**NO_SERVERS, **chunking, nur_data_dir=folder)
        async with bootstrap.running(settings) as services:
            yield settings, services


async def _load(dataset: LoadedDataset, progress: Progress) -> float:
    """Store a data set, with a progress bar; returns the seconds it took."""
    task = progress.add_task(f"{dataset.data.name}: storing", total=len(dataset.data.rows))
    started = time.perf_counter()
    await dataset.store(lambda done: progress.update(task, completed=done))
    progress.remove_task(task)
    return time.perf_counter() - started


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Result of a calibration, and the model's calibration afterwards."""

    found: Calibration
    calibration: ModelCalibration
    path: Path | None  #: where it was written; None if there were too few questions, and nothing changed


async def evaluate_own(
    settings: Settings, options: EvalOptions, progress: Progress, *, calibrate: bool
) -> tuple[Report, Calibrated | None]:
    """Evaluate the user's own store; `calibrate` also writes its model's calibration. Raises DataFolderInUse."""
    async with bootstrap.running(settings) as services:
        dataset = LoadedDataset(services, await known_items.draw(services, options.questions or OWN_QUESTIONS))
        report = await _report(dataset, settings, options, progress, 0.0)
        if not calibrate:
            return report, None
        unfiltered = LoadedDataset(calibrating.without_floor(services), dataset.data)
        system = NurSearch(unfiltered, Mode.HYBRID, options.max_chars)
        known = list((await _ask(system, dataset.data, options, progress)).relevance.values())
        off_topic = await calibrating.off_topic_scores(system)
        found = calibrating.choose_floor(known, off_topic)
        if not found.is_conclusive:
            return report, Calibrated(found, services.search.calibration, None)
        calibration = calibrating.with_floor(services.search.calibration, found, len(known) + len(off_topic))
        return report, Calibrated(found, calibration, calibrating.write(calibration, settings.nur_data_dir))


async def _report(
    dataset: LoadedDataset, settings: Settings, options: EvalOptions, progress: Progress, load_seconds: float
) -> Report:
    nur = await _ask(NurSearch(dataset, options.mode, options.max_chars), dataset.data, options, progress)
    others = [await _ask(Baseline(name, dataset), dataset.data, options, progress) for name in options.baselines]
    conditions = Conditions(
        embedding_version=dataset.services.embedder.model.version,
        chunking="as stored" if dataset.data.load_as == "stored" else settings.chunking_strategy,
        mode=options.mode,
        max_chars=options.max_chars,
        limit=LIMIT,
    )
    return Report(dataset.data, conditions, nur, tuple(others), load_seconds)


async def _ask(system: System, data: DataSet, options: EvalOptions, progress: Progress) -> Measured:
    """Ask all questions, with a progress bar."""
    off_topic = sum(1 for _ in off_topic_questions(data)) if options.off_topic else 0
    task = progress.add_task(f"{data.name}: asking {system.name}", total=len(data.questions) + off_topic)
    measured = await measure(system, data, off_topic=options.off_topic, progress=lambda: progress.advance(task))
    progress.remove_task(task)
    return measured
