"""Fit the models of `src/nur/retrieval/ranking/confidence.py`: is there an answer, and is the first hit right.

    python release/fit_confidence.py SETS/everyday SETS/locomo_audited_turns SETS/beam_100k

Each set is stored in its own folder, with the installed models (`EMBEDDINGS=local`: the packaged model). Coefficients
are fitted on the first half of each set's scopes, and evaluated on both halves. Each question is also asked in another
scope of the same half, where it has no answer. Each set but the first gets its own intercept, so that its share of
unanswerable questions does not influence the fit; the intercept of the first set is printed.
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
from nur.evaluation.off_topic import off_topic_questions
from nur.retrieval.ranking.confidence import CLOSE, COMPETITORS, FIRST_HITS, FOLLOWERS
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
ELSEWHERE_WEIGHT = 0.3  #: of a question asked in another scope
FIRST_SET_WEIGHT = 1.5
RIDGE = 3.0
STEPS = 60
BINS = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the features of its answer and the truth."""

    data: str
    half: str
    is_own: bool
    is_answerable: bool
    is_right: bool
    features: dict[str, float]
    followers: tuple[dict[str, float], ...] = ()  #: features of relevance of the other first hits


async def main(folders: Sequence[Path]) -> None:
    """Ask all questions, fit the models, and print coefficients and figures."""
    asked = [one for folder in folders for one in await _ask_all(load(folder))]
    first = asked[0].data
    training = [one for one in asked if one.half == "A"]
    relevance = _fit(training, RELEVANCE, [one.is_answerable for one in training], first)
    answered = [one for one in training if one.is_answerable]
    right = _fit(answered, FIRST_HIT, [one.is_right for one in answered], first)
    lines = [f"relevance {_rounded(relevance)}", f"first hit {_rounded(right)}"]
    for power in POWERS:
        logits = {id(one): _logit(_best(relevance, one) ** power * _p(right, one.features)) for one in asked}
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
    """Ask all questions of a set; each of its parts gets its own store."""
    parts = by_scope(data)
    return [one for part in parts for one in await _ask(part, data, alone=len(parts) > 1)]


async def _ask(data: DataSet, every: DataSet, *, alone: bool) -> list[Asked]:
    with tempfile.TemporaryDirectory(prefix="nur-fit-") as place:
        settings = load_settings(index="flat", chroma_host=None, nur_data_dir=place)
        async with bootstrap.running(settings) as services:
            loaded = LoadedDataset(services, data)
            await loaded.store(lambda _done: None)
            loaded.services = calibrating.without_floor(services)
            own = [(one, one.scope, True) for one in data.questions if one.has_gold or one.is_unanswerable]
            off_topic_confidence = [(one, scope, False) for one, scope in _elsewhere(data, every, alone=alone)]
            return [
                one
                for question, scope, is_own in own + off_topic_confidence
                if (one := await _answer(loaded, every, question, scope, is_own=is_own)) is not None
            ]


def _elsewhere(data: DataSet, every: DataSet, *, alone: bool) -> list[tuple[LabelledQuestion, str | None]]:
    """Questions that this store cannot answer, from another scope of the same half or from other chats."""
    if not alone:
        return list(off_topic_questions(data))
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
    followers = tuple(_relevance_features(one) for one in notes[1:FIRST_HITS])
    is_answerable = is_own and question.has_gold
    return Asked(every.name, _half(every, scope), is_own, is_answerable, is_right, _features(notes), followers)


def _relevance_features(hit: Ranked) -> dict[str, float]:
    return {"cosine": hit.cosine or 0.0, "missing": hit.missing, "matched_words": hit.matched_words}


def _features(notes: Sequence[Ranked]) -> dict[str, float]:
    """The features that `answer_confidence` uses."""
    best = notes[0]
    behind = best.score - np.array([one.score for one in notes[1 : 1 + COMPETITORS]])
    return {
        **_relevance_features(best),
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
    """Equal weight for each set but more for the first, and less for questions asked in another scope."""
    weights = np.array([1.0 if one.is_own else ELSEWHERE_WEIGHT for one in asked])
    names = np.array([one.data for one in asked])
    for name in set(names.tolist()):
        weights[names == name] *= 300 / weights[names == name].sum()
    weights[names == first] *= FIRST_SET_WEIGHT
    return weights


def _logistic(
    table: NDArray[np.float64], truth: NDArray[np.float64], weights: NDArray[np.float64], ridge: float
) -> NDArray[np.float64]:
    """Intercept and coefficients of a ridge logistic regression, by Newton's method."""
    mean, deviation = np.average(table, axis=0, weights=weights), table.std(axis=0) + 1e-9
    design = np.c_[np.ones(len(table)), (table - mean) / deviation]
    penalty = np.eye(design.shape[1]) * ridge
    penalty[0, 0] = 0.0
    beta = np.zeros(design.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-design @ beta))
        hessian = design.T @ (design * (weights * p * (1 - p) + 1e-9)[:, None]) + penalty
        beta = beta + np.linalg.solve(hessian, design.T @ (weights * (truth - p)) - penalty @ beta)
    slopes = beta[1:] / deviation
    return np.array([beta[0] - slopes @ mean, *slopes])


def _best(relevance: dict[str, float], one: Asked) -> float:
    """The best relevance of the first hits."""
    return max(_p(relevance, features) for features in (one.features, *one.followers))


def _p(model: dict[str, float], features: dict[str, float]) -> float:
    total = model["bias"] + sum(value * features[name] for name, value in model.items() if name != "bias")
    return float(1 / (1 + np.exp(-total)))


def _logit(p: float) -> float:
    p = min(max(p, 1e-6), 1 - 1e-6)
    return float(np.log(p / (1 - p)))


def _figures(asked: Sequence[Asked], found: dict[int, float]) -> str:
    """Quality of the predicted probabilities: calibration error, AUROC, false answers."""
    yes = [found[id(one)] for one in asked if one.is_answerable]
    never = [found[id(one)] for one in asked if one.is_own and not one.is_answerable]
    off_topic_confidence = [found[id(one)] for one in asked if not one.is_own]
    own = sorted((found[id(one)], one.is_right) for one in asked if one.is_own)
    bins = [part for part in np.array_split(np.array(own, float), BINS) if len(part)]
    error = sum(abs(part[:, 0].mean() - part[:, 1].mean()) * len(part) for part in bins) / max(len(own), 1)
    parts = [f"calibration error {error:.3f}"]
    if yes and never:
        parts.append(f"AUROC never stored {measures.auroc(yes, never):.3f}")
        parts.append(f"false answers {measures.false_answers(yes, never):.3f}")
    if yes and off_topic_confidence:
        parts.append(f"AUROC asked elsewhere {measures.auroc(yes, off_topic_confidence):.3f}")
    return ", ".join(parts)


def _rounded(model: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in model.items()}


if __name__ == "__main__":
    asyncio.run(main([Path(name) for name in sys.argv[1:]]))
