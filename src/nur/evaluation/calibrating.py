"""Choose the relevance floor of a store's embedding model, and write its calibration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from nur.evaluation import measures
from nur.evaluation.dataset import LabelledQuestion
from nur.evaluation.off_topic import GENERAL_QUESTIONS
from nur.retrieval.calibration import FOLDER, file_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nur.bootstrap import Services
    from nur.evaluation.measuring import System
    from nur.retrieval.calibration import ModelCalibration

#: Share of the off-topic questions that the floor should turn away. A right answer lost is worse than a wrong one
#: shown. One in four cost no question its answer on five stores; one in two cost 2 % of those about meetings, three in
#: four 5 %.
TURNED_AWAY = 0.25
#: Known items that may be lost. Questions that people ask share fewer words with their answer than known items do, so
#: hardly any may be.
MOST_LOST = 0.01
#: A floor that turns away fewer off-topic questions than this is not worth the answers that it may cost.
LEAST_TURNED_AWAY = 0.2
#: With fewer known items their worst one hundredth is no figure.
LEAST_QUESTIONS = 30


@dataclass(frozen=True, slots=True)
class Calibration:
    """A floor, what it costs and what it gains."""

    floor: float | None
    lost: float  #: share of the known items that the floor would lose
    turned_away: float  #: share of the off-topic questions that it would answer with nothing
    auroc: float | None  #: how well the score separates the two; None without known items
    is_conclusive: bool = True  #: False: there were too few known items


def choose_floor(known: Sequence[float], off_topic: Sequence[float]) -> Calibration:
    """What some off-topic questions stay below, lowered until hardly any known item is lost; None if that is useless.

    It is taken from the off-topic side because known items are easy: a floor just below them would be too high for
    questions in other words.
    """
    auroc = measures.auroc(known, off_topic) if known and off_topic else None
    if auroc is None or len(known) < LEAST_QUESTIONS:
        return Calibration(None, 0.0, 0.0, auroc, is_conclusive=False)
    spared = sorted(known)[int(MOST_LOST * len(known))]
    usual = sorted(off_topic)[int(TURNED_AWAY * len(off_topic))]
    floor = round(min(usual, spared), 3)
    lost, turned_away = _below(known, floor), _below(off_topic, floor)
    if turned_away < LEAST_TURNED_AWAY or lost > MOST_LOST:
        return Calibration(None, 0.0, 0.0, auroc)
    return Calibration(floor, lost, turned_away, auroc)


def _below(scores: Sequence[float], floor: float) -> float:
    return sum(score < floor for score in scores) / len(scores)


def bare(services: Services) -> Services:
    """The services with a search that shows everything, whatever floor there is."""
    search = services.search
    return replace(services, search=replace(search, calibration=replace(search.calibration, floor=None)))


async def off_topic_scores(system: System) -> list[float]:
    """The relevance of the best hit, for questions that hardly any store can answer."""
    asked = [LabelledQuestion(str(place), text, None, "", {}, ()) for place, text in enumerate(GENERAL_QUESTIONS)]
    return [(await system.answer(question)).relevance for question in asked]


def measured(kept: ModelCalibration, found: Calibration, questions: int) -> ModelCalibration:
    """The calibration with its new floor; the weights stay: .3 to .7 are alike on every set measured."""
    return replace(
        kept, floor=found.floor, measured_at=datetime.now(UTC).isoformat(timespec="seconds"), questions=questions
    )


def write(calibration: ModelCalibration, data_dir: Path) -> Path:
    """Put the calibration into the data folder, whole or not at all."""
    path = data_dir / FOLDER / file_name(calibration.embedding_version)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    unfinished = path.with_name(path.name + ".new")
    unfinished.write_text(calibration.to_json(), encoding="utf-8")
    unfinished.replace(path)
    return path
