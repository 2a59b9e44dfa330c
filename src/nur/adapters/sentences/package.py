"""Access to the optional package with the model files. Imports nothing heavy."""

from __future__ import annotations

from importlib.util import find_spec

from nur.adapters.local.model_files import read
from nur.domain.embedding import EmbeddingModel

PACKAGE = "nur_models"  #: from the distribution nur-memory-models
SENTENCE_MODEL = EmbeddingModel("models", "use-minilm-2", 896)


def are_installed() -> bool:
    """Whether the package is installed."""
    return find_spec(PACKAGE) is not None


def model_file(model: str, name: str) -> bytes:
    """A model's file, checked against its hash. Raises BadConfiguration."""
    return read(model, name, PACKAGE)
