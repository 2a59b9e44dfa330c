"""Loads model folders exported by sentence-transformers or Optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from nur.domain.errors import BadConfiguration

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

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


def model_inputs(session: Any, encoded: Sequence[Any]) -> dict[str, NDArray[np.int64]]:
    """The encoded texts, padded to one length, as the inputs that the model takes."""
    values = {
        "input_ids": [one.ids for one in encoded],
        "attention_mask": [one.attention_mask for one in encoded],
        "token_type_ids": [one.type_ids for one in encoded],
    }
    taken = {one.name for one in session.get_inputs()}
    return {name: np.array(rows, np.int64) for name, rows in values.items() if name in taken}
