"""What was measured about an embedding model: how much its cosines count, and below what nothing is an answer.

A calibration belongs to an embedding version. The packaged model's stands here; others are measured on the owner's own
store and kept as `profiles/<embedding version>.json` in the data folder.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields
from typing import Any

FOLDER = "profiles"
"""Where measured profiles are kept in the data folder, one file per model."""

DEFAULT_COSINE_WEIGHT = 0.5
"""For a model that nobody measured: .3 to .7 were alike on every set with three different models."""

DEFAULT_PIECE_WEIGHT = 0.3
"""Of the packaged model's vectors of pieces, beside another model's vectors of whole chunks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalibration:
    """How a model's vectors are used; all of it chosen by measurement."""

    embedding_version: str
    cosine_weight: float = DEFAULT_COSINE_WEIGHT  #: of a chunk's cosine beside the lexical share
    piece_weight: float = DEFAULT_PIECE_WEIGHT  #: of a piece's cosine, which is always of the packaged model
    dilution: float = 0.05  #: added to what a whole chunk of several pieces scores: most of it does not answer
    rrf_weight: float = 1.0  #: of a rank among the vectors beside one among the words, where ranks are fused
    floor: float | None = None  #: least confidence of a hit that is shown, 0 to 1; None: everything is shown
    measured_at: str = ""  #: ISO 8601; empty: never, these are defaults
    questions: int = 0  #: how many were asked to find this out

    @property
    def shown_weight(self) -> float:
        """Of the cosine that hits report: the chunk's, or the piece's where the chunk's does not count."""
        return self.cosine_weight or self.piece_weight

    def to_json(self) -> str:
        """The calibration as kept in a file."""
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> ModelCalibration:
        """Read a stored calibration; unknown keys are a later version's. Raises ValueError that names the problem."""
        found = json.loads(text)
        _insist(isinstance(found, dict), "a calibration is a JSON object")
        _insist(isinstance(found.get("embedding_version"), str), "a calibration names its embedding_version")
        known = {name: value for name, value in found.items() if name in {field.name for field in fields(cls)}}
        for name, (low, high) in _RANGES.items():
            _insist(_is_between(known.get(name, low), low, high), f"{name} must be a number from {low} to {high}")
        floor, (low, high) = known.get("floor"), _FLOORS
        _insist(floor is None or _is_between(floor, low, high), f"floor must be null or a number from {low} to {high}")
        _insist(isinstance(known.get("measured_at", ""), str), "measured_at must be a string")
        return cls(**known)


_RANGES = {
    "cosine_weight": (0.0, 10.0),
    "piece_weight": (0.0, 10.0),
    "dilution": (0.0, 1.0),
    "rrf_weight": (0.0, 10.0),
    "questions": (0, 10**9),
}
_FLOORS = (0.0, 1.0)


def _insist(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _is_between(value: Any, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """A logistic model: whether the store answers, from its best hit."""

    bias: float
    cosine: float  #: of the best piece with the question, by the packaged model
    missing: float  #: share of the most telling word that the piece does not have


@dataclass(frozen=True, slots=True)
class FirstHitModel:
    """A logistic model: whether the first hit is the right one, if the store answers."""

    bias: float
    score: float
    lead: float  #: how far the next four hits are behind, on average
    covered: float  #: share of the question's telling words that the best piece has
    missing: float
    close: float  #: share of the next nine hits that score nearly as well


RELEVANCE = RelevanceModel(bias=2.48, cosine=7.15, missing=-8.6)
FIRST_HIT = FirstHitModel(bias=-1.02, score=-2.53, lead=8.28, covered=2.3, missing=-0.65, close=-0.67)
STORED_POWER = 3
PLATT_BIAS, PLATT_SLOPE = 0.033, 0.846
"""Fitted on one half of everyday, LoCoMo and BEAM (questions asked of another conversation among them), each set with
an intercept of its own, so that a set's share of unanswerable questions teaches nothing; the intercepts are everyday's.
Checked on the other half: docs/quality.md. Questions without an answer are told by AUROC .64 on everyday and .86 on
LoCoMo; the expected calibration error is .05 to .1. Nothing tells questions that miss only a detail: .5 there."""

LOCAL = ModelCalibration(
    embedding_version="local:wordllama-l2-supercat:256",
    cosine_weight=0.0,  # the chunk's vector says nothing that those of its pieces do not
    piece_weight=0.5,
    floor=0.1,
    measured_at="2026-11-16",
    questions=1_740,
)
"""Measured on everyday, LoCoMo and BEAM. The weight of pieces: .4 and .65 lose .01 recall@5 on everyday. Without the
dilution, pieces of documents stand lower than memories (recall@5 of details in documents .67 → .63).

No floor fits every store. At .1 none of the right hits of half A of everyday and BEAM is lost and .006 of LoCoMo's, on
the other half .016, 0 and .003. At .3 LoCoMo loses .02, and 10 % of the questions that were never answered in everyday
would get no hit at all. So this floor is for what has nothing in common with the store.
"""

MODELS = ModelCalibration(
    embedding_version="models:use-minilm:896",
    cosine_weight=1.0,
    piece_weight=0.3,
    dilution=0.15,
    floor=0.1,
    measured_at="2026-11-16",
    questions=1_032,
)
"""Measured on everyday and LoCoMo (docs/quality.md). Relevance is told by the packaged model's cosine and the missing
word, as ever: fitted again with this model's cosine it reached .77 instead of .64 on everyday, whose questions without
an answer are shorter than the others, and knew less of whether the first hit is right (.68 instead of .71)."""

BUILT_IN = {LOCAL.embedding_version: LOCAL, MODELS.embedding_version: MODELS}


def calibration_of(embedding_version: str) -> ModelCalibration:
    """The calibration that comes with the program: measured for the packaged model, a stated default for any other."""
    return BUILT_IN.get(embedding_version) or ModelCalibration(embedding_version=embedding_version)


def file_name(embedding_version: str) -> str:
    """Where a version's calibration is kept: the version, with `_` for what no file system likes, `.json` behind it."""
    return re.sub(r"[^\w.\-]", "_", embedding_version) + ".json"
