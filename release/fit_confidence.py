"""Fit the models of `src/nur/retrieval/answer_models.py`: whether a store answers, and whether its first hit is right.

    python release/fit_confidence.py SETS/everyday SETS/locomo_audited_turns SETS/beam_100k

Each set is stored in a folder of its own, with the models that are installed (`EMBEDDINGS=local`: the packaged one).
Coefficients come from the first half of each set's scopes; the figures are those of both halves. Questions of a scope
are also asked of the next scope of the same half, where nothing answers them. Each set but the first has an intercept
of its own, so that its share of unanswerable questions teaches nothing; what is printed is the first one's.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nur import bootstrap
from nur.domain.search import Mode, SearchRequest
from nur.evaluation import calibrating, measures
from nur.evaluation.asking import CALLER, LoadedDataset
from nur.evaluation.dataset import by_scope, load
from nur.evaluation.off_topic import asked_elsewhere
from nur.retrieval.ranking.confidence import CLOSE, COMPETITORS, FOLLOWERS
from nur.retrieval.ranking.grouping import best_per_note
from nur.settings import load as load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nur.evaluation.dataset import DataSet, LabelledQuestion
    from nur.retrieval.ranking.rank import Ranked

RELEVANCE = ("cosine", "missing", "matched_words")
FIRST_HIT = ("score", "lead", "close", "matched_words")
POWERS = (4, 6, 8)
ELSEWHERE_WEIGHT = 0.3  #: of a question that is asked of somebody else's store
FIRST_SET_WEIGHT = 1.5
RIDGE = 3.0
STEPS = 60
BINS = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, what is known of its answer, and what is true."""

    data: str
    half: str
    is_own: bool
    is_answerable: bool
    is_right: bool
    features: dict[str, float]


async def main(folders: Sequence[Path]) -> None:
    """Ask, fit and print."""
    asked = [one for folder in folders for one in await _ask_all(load(folder))]
    first = asked[0].data
    training = [one for one in asked if one.half == "A"]
    relevance = _fit(training, RELEVANCE, [one.is_answerable for one in training], first)
    answered = [one for one in training if one.is_answerable]
    right = _fit(answered, FIRST_HIT, [one.is_right for one in answered], first)
    lines = [f"relevance {_rounded(relevance)}", f"first hit {_rounded(right)}"]
    for power in POWERS:
        logits = {id(one): _logit(_p(relevance, one) ** power * _p(right, one)) for one in asked}
        own = [one for one in training if one.is_own]
        truth = np.array([one.is_right for one in own], float)
        weights = _weights(own, first)
        platt = _logistic(np.array([[logits[id(one)]] for one in own]), truth, weights, 0.01)
        found = {key: float(1 / (1 + np.exp(-platt[0] - platt[1] * value))) for key, value in logits.items()}
        lines.append(f"power {power}: bias {platt[0]:.3f}, slope {platt[1]:.3f}")
        for name in dict.fromkeys(one.data for one in asked):
            for half in ("A", "B", "AB"):
                part = [one for one in asked if one.data == name and one.half in half]
                lines.append(f"  {name} {half}: {_figures(part, found)}")
    sys.stdout.write("\n".join(lines) + "\n")


async def _ask_all(data: DataSet) -> list[Asked]:
    """The answers to a set's questions, its parts in stores of their own."""
    parts = by_scope(data)
    return [one for part in parts for one in await _ask(part, data, alone=len(parts) > 1)]


async def _ask(data: DataSet, every: DataSet, *, alone: bool) -> list[Asked]:
    with tempfile.TemporaryDirectory(prefix="nur-fit-") as place:
        settings = load_settings(index="flat", chroma_host=None, nur_data_dir=place)
        async with bootstrap.running(settings) as services:
            loaded = LoadedDataset(services, data)
            await loaded.store(lambda _done: None)
            loaded.services = calibrating.bare(services)
            own = [(one, one.scope, True) for one in data.questions if one.has_gold or one.is_unanswerable]
            elsewhere = [(one, scope, False) for one, scope in _elsewhere(data, every, alone=alone)]
            return [
                one
                for question, scope, is_own in own + elsewhere
                if (one := await _answer(loaded, every, question, scope, is_own=is_own)) is not None
            ]


def _elsewhere(data: DataSet, every: DataSet, *, alone: bool) -> list[tuple[LabelledQuestion, str | None]]:
    """Questions that this store does not answer: those of another person of the same half, or of other chats."""
    if not alone:
        return list(asked_elsewhere(data))
    (scope,) = data.scopes
    half = [one for one in every.scopes if _half(every, one) == _half(every, scope)]
    other = half[half.index(scope) - 1]
    return [(one, scope) for one in every.questions if one.scope == other != scope and one.has_gold]


def _half(data: DataSet, scope: str | None) -> str:
    scopes = data.scopes
    return "A" if scope in scopes[: (len(scopes) + 1) // 2] else "B"


async def _answer(
    loaded: LoadedDataset, every: DataSet, question: LabelledQuestion, scope: str | None, *, is_own: bool
) -> Asked | None:
    request = SearchRequest(
        query=question.text[:500],
        caller=CALLER,
        where=loaded.where(scope),
        asked_at=loaded.asked_at(scope),
        limit=1,
        mode=Mode.HYBRID,
        tool="eval",
    )
    search = loaded.services.search
    notes = best_per_note(search.ranked(request, await search.retrieve(request)))
    hits = (await search(request)).hits
    if not notes or not hits:
        return None
    rows = {loaded.row(hits[0].note), *(loaded.row_of.get(name, name) for name in hits[0].duplicates)}
    is_right = is_own and not rows.isdisjoint(question.units)
    return Asked(every.name, _half(every, scope), is_own, is_own and question.has_gold, is_right, _features(notes))


def _features(notes: Sequence[Ranked]) -> dict[str, float]:
    """What `answer_confidence` looks at."""
    best = notes[0]
    behind = best.score - np.array([one.score for one in notes[1 : 1 + COMPETITORS]])
    return {
        "cosine": best.cosine or 0.0,
        "missing": best.missing,
        "matched_words": best.matched_words,
        "score": best.score,
        "lead": float(behind[:FOLLOWERS].mean()) if behind.size else best.score,
        "close": float((behind < CLOSE).sum() / COMPETITORS),
    }


def _fit(asked: Sequence[Asked], names: Sequence[str], truth: Sequence[bool], first: str) -> dict[str, float]:
    others = [name for name in dict.fromkeys(one.data for one in asked) if name != first]
    table = np.array(
        [[*(one.features[name] for name in names), *(3.0 * (one.data == other) for other in others)] for one in asked]
    )
    found = _logistic(table, np.array(truth, float), _weights(asked, first), RIDGE)
    return {"bias": float(found[0]), **{name: float(value) for name, value in zip(names, found[1:], strict=False)}}


def _weights(asked: Sequence[Asked], first: str) -> NDArray[np.float64]:
    """Each set counts alike, the first one more, and questions asked elsewhere less."""
    weights = np.array([1.0 if one.is_own else ELSEWHERE_WEIGHT for one in asked])
    names = np.array([one.data for one in asked])
    for name in set(names.tolist()):
        weights[names == name] *= 300 / weights[names == name].sum()
    weights[names == first] *= FIRST_SET_WEIGHT
    return weights


def _logistic(
    table: NDArray[np.float64], truth: NDArray[np.float64], weights: NDArray[np.float64], ridge: float
) -> NDArray[np.float64]:
    """Intercept and coefficients of a logistic regression, by Newton's method; coefficients are kept small."""
    middle, spread = np.average(table, axis=0, weights=weights), table.std(axis=0) + 1e-9
    design = np.c_[np.ones(len(table)), (table - middle) / spread]
    penalty = np.eye(design.shape[1]) * ridge
    penalty[0, 0] = 0.0
    found = np.zeros(design.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-design @ found))
        bend = design.T @ (design * (weights * likely * (1 - likely) + 1e-9)[:, None]) + penalty
        found = found + np.linalg.solve(bend, design.T @ (weights * (truth - likely)) - penalty @ found)
    slopes = found[1:] / spread
    return np.array([found[0] - slopes @ middle, *slopes])


def _p(model: dict[str, float], one: Asked) -> float:
    total = model["bias"] + sum(value * one.features[name] for name, value in model.items() if name != "bias")
    return float(1 / (1 + np.exp(-total)))


def _logit(likely: float) -> float:
    likely = min(max(likely, 1e-6), 1 - 1e-6)
    return float(np.log(likely / (1 - likely)))


def _figures(asked: Sequence[Asked], found: dict[int, float]) -> str:
    """How well the probability tells, of one set."""
    yes = [found[id(one)] for one in asked if one.is_answerable]
    never = [found[id(one)] for one in asked if one.is_own and not one.is_answerable]
    elsewhere = [found[id(one)] for one in asked if not one.is_own]
    own = sorted((found[id(one)], one.is_right) for one in asked if one.is_own)
    bins = [part for part in np.array_split(np.array(own, float), BINS) if len(part)]
    error = sum(abs(part[:, 0].mean() - part[:, 1].mean()) * len(part) for part in bins) / max(len(own), 1)
    parts = [f"calibration error {error:.3f}"]
    if yes and never:
        parts.append(f"AUROC never stored {measures.auroc(yes, never):.3f}")
        parts.append(f"false answers {measures.false_answers(yes, never):.3f}")
    if yes and elsewhere:
        parts.append(f"AUROC asked elsewhere {measures.auroc(yes, elsewhere):.3f}")
    return ", ".join(parts)


def _rounded(model: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in model.items()}


if __name__ == "__main__":
    asyncio.run(main([Path(name) for name in sys.argv[1:]]))
