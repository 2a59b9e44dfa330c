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

#: Share of the off-topic questions that the floor should reject. Losing a right answer is worse than showing a wrong
#: one. Measured on five stores: .25 loses no answer; .5 loses 2 % of the answers about meetings, .75 loses 5 %.
TARGET_REJECTED = 0.25
#: Share of the known items that the floor may lose. Kept small: people's questions share fewer words with their
#: answers than known items do.
MAX_LOST = 0.01
#: A floor that rejects a smaller share of off-topic questions is not worth the answers it may lose.
MIN_REJECTED = 0.2
#: Fewer known items are too few to estimate their worst 1 %.
MIN_QUESTIONS = 30


@dataclass(frozen=True, slots=True)
class Calibration:
    """A relevance floor, its cost and its gain."""

    floor: float | None
    lost: float  #: share of the known items below the floor
    rejected: float  #: share of the off-topic questions below the floor
    auroc: float | None  #: how well the score separates the two; None without known items
    is_conclusive: bool = True  #: False: too few known items


def choose_floor(known: Sequence[float], off_topic: Sequence[float]) -> Calibration:
    """Choose a floor that rejects TARGET_REJECTED of the off-topic questions, lowered to lose at most MAX_LOST.

    The result has no floor if it would reject too few. The floor is derived from the off-topic questions because known
    items are easy: a floor just below them would be too high for questions in other words.
    """
    auroc = measures.auroc(known, off_topic) if known and off_topic else None
    if auroc is None or len(known) < MIN_QUESTIONS:
        return Calibration(None, 0.0, 0.0, auroc, is_conclusive=False)
    highest_allowed = sorted(known)[int(MAX_LOST * len(known))]
    target = sorted(off_topic)[int(TARGET_REJECTED * len(off_topic))]
    floor = round(min(target, highest_allowed), 3)
    lost, rejected = _below(known, floor), _below(off_topic, floor)
    if rejected < MIN_REJECTED or lost > MAX_LOST:
        return Calibration(None, 0.0, 0.0, auroc)
    return Calibration(floor, lost, rejected, auroc)


def _below(scores: Sequence[float], floor: float) -> float:
    return sum(score < floor for score in scores) / len(scores)


def without_floor(services: Services) -> Services:
    """The services with a search that has no relevance floor."""
    search = services.search
    return replace(services, search=replace(search, calibration=replace(search.calibration, floor=None)))


async def off_topic_scores(system: System) -> list[float]:
    """Relevance of the best hit, for questions that hardly any store can answer."""
    questions = [LabelledQuestion(str(index), text, None, "", {}, ()) for index, text in enumerate(GENERAL_QUESTIONS)]
    return [(await system.answer(question)).relevance for question in questions]


def with_floor(current: ModelCalibration, found: Calibration, questions: int) -> ModelCalibration:
    """The calibration with a new floor. The weights stay: .3 to .7 score alike on every data set measured."""
    return replace(
        current, floor=found.floor, measured_at=datetime.now(UTC).isoformat(timespec="seconds"), questions=questions
    )


def write(calibration: ModelCalibration, data_dir: Path) -> Path:
    """Write the calibration to the data folder, atomically; returns its path."""
    path = data_dir / FOLDER / file_name(calibration.embedding_version)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    partial = path.with_name(path.name + ".new")
    partial.write_text(calibration.to_json(), encoding="utf-8")
    partial.replace(path)
    return path
