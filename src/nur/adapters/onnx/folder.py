"""Loads model folders exported by sentence-transformers or Optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnxruntime
from tokenizers import Tokenizer

from nur.domain.errors import BadConfiguration

if TYPE_CHECKING:
    from pathlib import Path

THREADS = 2
_MODELS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")


def load(folder: Path, setting: str) -> tuple[Any, Any]:
    """The model's session and tokenizer. Raises BadConfiguration, naming the setting, if the folder has none."""
    model = next((folder / name for name in _MODELS if (folder / name).is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        raise BadConfiguration(f"{setting}: {folder} has no model.onnx and tokenizer.json.")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    try:
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        return session, Tokenizer.from_file(str(tokenizer))
    except Exception as error:  # both libraries raise bare Exceptions
        raise BadConfiguration(f"{setting}: {folder} cannot be loaded.") from error
