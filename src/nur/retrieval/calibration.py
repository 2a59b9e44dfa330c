"""Calibrations of embedding models: the weight of their cosines, and the relevance floor.

A calibration belongs to an embedding version. Those of the packaged models are defined here; others are measured on
the owner's store and kept as `profiles/<embedding version>.json` in the data folder.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

FOLDER = "profiles"
"""Subfolder of the data folder with measured calibrations, one file per model."""

DEFAULT_COSINE_WEIGHT = 0.5
"""For a model that was not measured. With three different models, .3 to .7 gave similar results on every set."""

DEFAULT_PIECE_WEIGHT = 0.3
"""Weight of the packaged model's piece vectors, where another model embeds the chunks."""


MIN_CANDIDATES = 20
"""The nearest 20 chunks, the best 20 pieces by words and their neighbouring turns. With the packaged model, 20 to 200
find the same on everyday, and 60 take 1.6 times the CPU of a search in 10,000 chunks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalibration:
    """How a model's vectors are used in ranking; the values are measured."""

    embedding_version: str
    cosine_weight: float = DEFAULT_COSINE_WEIGHT  #: of a chunk's cosine, relative to the lexical share
    piece_weight: float = DEFAULT_PIECE_WEIGHT  #: of a piece's cosine, always by the packaged model
    dilution: float = 0.05  #: added to the score of a whole chunk of many pieces, because most of it does not answer
    candidates: int = MIN_CANDIDATES  #: per ranker, at least
    rrf_weight: float = 1.0  #: of the dense ranking in RRF; the lexical one has 1
    floor: float | None = None  #: least relevance of a hit that is shown, 0 to 1; None: everything is shown
    measured_at: str = ""  #: ISO 8601; empty: not measured, these are defaults
    questions: int = 0  #: number of questions it was measured with

    @property
    def shown_weight(self) -> float:
        """Weight of the cosine that hits report: the chunk's, or the piece's if the chunk's does not count."""
        return self.cosine_weight or self.piece_weight

    def to_json(self) -> str:
        """The calibration as stored in its file."""
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> ModelCalibration:
        """Parse a stored calibration; ignores unknown keys. Raises ValueError, naming the problem."""
        stored = json.loads(text)
        _require(isinstance(stored, dict), "a calibration is a JSON object")
        _require(isinstance(stored.get("embedding_version"), str), "a calibration names its embedding_version")
        known = {name: value for name, value in stored.items() if name in {field.name for field in fields(cls)}}
        for name, (low, high) in _RANGES.items():
            _require(_is_between(known.get(name, low), low, high), f"{name} must be a number from {low} to {high}")
        floor, (low, high) = known.get("floor"), _FLOORS
        _require(floor is None or _is_between(floor, low, high), f"floor must be null or a number from {low} to {high}")
        _require(isinstance(known.get("measured_at", ""), str), "measured_at must be a string")
        return cls(**known)


_RANGES = {
    "cosine_weight": (0.0, 10.0),
    "piece_weight": (0.0, 10.0),
    "dilution": (0.0, 1.0),
    "rrf_weight": (0.0, 10.0),
    "candidates": (1, 2_000),
    "questions": (0, 10**9),
}
_FLOORS = (0.0, 1.0)


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def _is_between(value: Any, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


LOCAL = ModelCalibration(
    embedding_version="local:wordllama-l2-supercat-2:256",
    cosine_weight=0.0,  # the chunk's vector adds nothing to those of its pieces
    piece_weight=0.5,
    floor=0.2,
    measured_at="2026-11-17",
    questions=1_740,
)
"""Measured on everyday, LoCoMo and BEAM. Piece weights of .4 and .65 lose .01 recall@5 on everyday. Without the
dilution, pieces of documents rank below memories (recall@5 of details in documents .67 → .63).

The floor loses up to .005 recall@5 on half A: .004 on everyday, .005 on LoCoMo, 0 on BEAM. Unanswerable questions keep
3.6 of their first five hits. A floor of .25 loses as much, but hid one of two notes that answered.
"""

MODELS = ModelCalibration(
    embedding_version="models:use-minilm-2:896",
    cosine_weight=1.0,
    piece_weight=0.3,
    dilution=0.15,
    candidates=60,
    floor=0.2,
    measured_at="2026-11-17",
    questions=1_032,
)
"""Measured on everyday and LoCoMo (docs/quality.md), the floor on everyday: half A loses no right hit, half B .011.
Unanswerable questions keep 3.6 of their first five hits. With 40 candidates it finds fewer cells of tables (A: recall@5
.65, with 60 .75, with 120 .85)."""

_FIRST_LOCAL = replace(LOCAL, embedding_version="local:wordllama-l2-supercat:256")  # its chunks' vectors do not count
BUILT_IN = {one.embedding_version: one for one in (LOCAL, _FIRST_LOCAL, MODELS)}


def calibration_of(embedding_version: str) -> ModelCalibration:
    """The built-in calibration: measured for the packaged models, the defaults above for any other."""
    return BUILT_IN.get(embedding_version) or ModelCalibration(embedding_version=embedding_version)


def file_name(embedding_version: str) -> str:
    """File name of a version's calibration: unsafe characters become `_`."""
    return re.sub(r"[^\w.\-]", "_", embedding_version) + ".json"
