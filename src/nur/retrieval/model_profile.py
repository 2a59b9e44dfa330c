"""What was measured for one embedding model: its weight beside the words, and the score below which nothing answers."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from datetime import datetime

FOLDER = "profiles"
"""Where profiles are kept in the data folder, a file a model."""

COSINE_WEIGHT = 0.5
"""The weight of a model that nobody has measured: .3 to .7 are alike on every set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """Weights of one embedding model. A model that nobody has measured has the usual weight and no floor."""

    embedding_version: str
    cosine_weight: float = COSINE_WEIGHT  #: of the cosine beside the lexical share
    floor: float | None = None  #: hits that score less are not shown; None: all are
    measured_at: datetime | None = None  #: None: these are defaults
    questions: int = 0  #: how many were asked to find out

    @property
    def file_name(self) -> str:
        """The profile's file: the model's name may hold what a file's name may not."""
        return re.sub(r"[^\w.:-]", "_", self.embedding_version) + ".json"

    def to_json(self) -> str:
        """The file's text."""
        measured_at = self.measured_at.isoformat(timespec="seconds") if self.measured_at else None
        return json.dumps({**asdict(self), "measured_at": measured_at}, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> ModelProfile:
        """Read a file's text. Raises ValueError, saying what is wrong with it."""
        found = json.loads(text)
        if not isinstance(found, dict) or not isinstance(found.get("embedding_version"), str):
            raise ValueError("embedding_version is missing")  # noqa: TRY004 - the file is wrong, not the program
        measured_at = found.get("measured_at")
        return cls(
            embedding_version=found["embedding_version"],
            cosine_weight=_number(found, "cosine_weight", COSINE_WEIGHT) or 0.0,
            floor=_number(found, "floor", None),
            measured_at=datetime.fromisoformat(measured_at) if isinstance(measured_at, str) else None,
            questions=int(_number(found, "questions", 0.0) or 0),
        )


def _number(found: dict[str, object], name: str, default: float | None) -> float | None:
    value = found.get(name, default)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number")  # noqa: TRY004
    return float(value)
