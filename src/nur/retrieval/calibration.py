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
"""Where measured profiles are kept in the data folder, a file a model."""

DEFAULT_COSINE_WEIGHT = 0.5
"""For a model that nobody measured: .3 to .7 were alike on every set with three different models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalibration:
    """How a model's vectors are used; all of it chosen by measurement."""

    embedding_version: str
    cosine_weight: float = DEFAULT_COSINE_WEIGHT  #: of a cosine beside the lexical share
    rrf_weight: float = 1.0  #: of a rank among the vectors beside one among the words, where ranks are fused
    bonuses: bool = True  #: whether headings and who speaks count
    floor: float | None = None  #: least confidence of a hit that is shown, 0 to 1; None: everything is shown
    measured_at: str = ""  #: ISO 8601; empty: never, these are defaults
    questions: int = 0  #: how many were asked to find this out

    @property
    def is_measured(self) -> bool:
        """Whether somebody measured this, on a store or on data sets."""
        return bool(self.measured_at)

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
        _insist(isinstance(known.get("bonuses", True), bool), "bonuses must be true or false")
        _insist(isinstance(known.get("measured_at", ""), str), "measured_at must be a string")
        return cls(**known)


_RANGES = {"cosine_weight": (0.0, 10.0), "rrf_weight": (0.0, 10.0), "questions": (0, 10**9)}
_FLOORS = (0.0, 1.0)


def _insist(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _is_between(value: Any, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


LOCAL = ModelCalibration(
    embedding_version="local:wordllama-l2-supercat:256",
    cosine_weight=0.4,
    floor=0.03,
    measured_at="2026-11-16",
    questions=11_779,
)
"""Measured on 22 sets of chats, meetings, documents and passages in eleven languages.

The weight was chosen on the whole sets (.2 to .7 tried) and looked at by halves afterwards: against .5,
LoCoMo turns +.015 / +.007 recall@10, BEAM +.009 / −.002, documentation 0 / +.010, encyclopaedia −.002 / +.013 nDCG@10.

No floor fits every store. At .03 German questions about English text lose .002 recall@10 and no other set anything; at
.05 Arabic and German ones lose .027 and .021, and questions about meetings .004; at .12 a small store of code notes
loses .07. So this floor is for what has nothing in common with the store: it silences 2% of questions asked of another
meeting and none asked of another chat. At .15 it would be 43% and 7 to 18%.
"""

BUILT_IN = {LOCAL.embedding_version: LOCAL}


def calibration_of(embedding_version: str) -> ModelCalibration:
    """The calibration that comes with the program: measured for the packaged model, a stated default for any other."""
    return BUILT_IN.get(embedding_version) or ModelCalibration(embedding_version=embedding_version)


def file_name(embedding_version: str) -> str:
    """Where a version's calibration is kept: the version, with `_` for what no file system likes, `.json` behind it."""
    return re.sub(r"[^\w.\-]", "_", embedding_version) + ".json"
