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


LOCAL = ModelCalibration(
    embedding_version="local:wordllama-l2-supercat:256",
    cosine_weight=0.0,  # the chunk's vector says nothing that those of its pieces do not
    piece_weight=0.5,
    floor=0.2,
    measured_at="2026-11-17",
    questions=1_740,
)
"""Measured on everyday, LoCoMo and BEAM. The weight of pieces: .4 and .65 lose .01 recall@5 on everyday. Without the
dilution, pieces of documents stand lower than memories (recall@5 of details in documents .67 → .63).

The floor loses half a percent of recall@5 on half A: .004 on everyday, .005 on LoCoMo, 0 on BEAM. Of the first five
hits of questions that were never answered 3.6 are left. .25 loses as much, but hid one of two notes that answered.
"""

MODELS = ModelCalibration(
    embedding_version="models:use-minilm:896",
    cosine_weight=1.0,
    piece_weight=0.3,
    dilution=0.15,
    floor=0.2,
    measured_at="2026-11-17",
    questions=1_032,
)
"""Measured on everyday and LoCoMo (docs/quality.md); the floor on everyday, where half A loses no right hit by it:
of the first five hits of questions that were never answered 3.6 are left. Half B loses .011."""

BUILT_IN = {LOCAL.embedding_version: LOCAL, MODELS.embedding_version: MODELS}


def calibration_of(embedding_version: str) -> ModelCalibration:
    """The calibration that comes with the program: measured for the packaged model, a stated default for any other."""
    return BUILT_IN.get(embedding_version) or ModelCalibration(embedding_version=embedding_version)


def file_name(embedding_version: str) -> str:
    """Where a version's calibration is kept: the version, with `_` for what no file system likes, `.json` behind it."""
    return re.sub(r"[^\w.\-]", "_", embedding_version) + ".json"
