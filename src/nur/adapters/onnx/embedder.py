"""OnnxEmbedder: runs a sentence-transformers model locally, from a folder that the user names."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from nur.adapters.onnx.folder import load, model_inputs
from nur.adapters.threaded_embedder import ThreadedEmbedder
from nur.domain.embedding import EmbeddingModel
from nur.domain.errors import BadConfiguration, EmbedderRefused

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats


SETTING = "ONNX_MODEL"
DEFAULT_MAX_TOKENS = 256
#: Names that models use for the prompt of stored texts.
DOCUMENT_PROMPTS = ("document", "passage", "corpus")
_TEXT_AXES, _TOKEN_AXES = 2, 3  #: axes of an output with one vector per text, and with one per token

PROVIDER = "onnx"
#: Texts per run: few enough that padding to the longest wastes little.
BATCH = 8
#: Usable share of the model's input length, counted in cl100k tokens: the model's own tokens are shorter, most of all
#: in other scripts. Longer input is truncated.
INPUT_SHARE = 0.75


class SentenceModel:
    """A loaded model that turns texts into unit vectors."""

    def __init__(self, folder: Path) -> None:
        """Load the model. Raises BadConfiguration if the folder contains none."""
        self.name = folder.name
        self._session, self._tokenizer = load(folder, SETTING)
        self.max_tokens = int(
            _json_file(folder, "sentence_bert_config.json").get("max_seq_length") or DEFAULT_MAX_TOKENS
        )
        self._tokenizer.enable_truncation(self.max_tokens)
        self._tokenizer.enable_padding()
        self._by_first_token = bool(_json_file(folder, "1_Pooling/config.json").get("pooling_mode_cls_token"))
        prompts = _json_file(folder, "config_sentence_transformers.json").get("prompts") or {}
        self.query_prompt = str(prompts.get("query", ""))
        self.document_prompt = str(next((prompts[name] for name in DOCUMENT_PROMPTS if prompts.get(name)), ""))
        try:
            self.dimensions = self.vectors(["dimensions"])[0].shape[1]
        except EmbedderRefused as error:
            raise BadConfiguration(f"{SETTING}: {folder} is not a text embedding model.") from error

    def vectors(self, texts: Sequence[str]) -> tuple[Floats, int]:
        """One unit vector per text, and the number of tokens read. Raises EmbedderRefused if the model fails.

        A text whose pooled vector is zero gets a fixed unit vector.
        """
        encoded = self._tokenizer.encode_batch(list(texts))
        mask = np.array([one.attention_mask for one in encoded], np.int64)
        try:
            outputs = self._session.run(None, model_inputs(self._session, encoded))
            pooled = self._pooled(outputs, mask)
        except Exception as error:  # onnxruntime has its own exceptions without a common base
            raise EmbedderRefused("The local model failed on a text.") from error
        if not np.isfinite(pooled).all():
            raise EmbedderRefused("The local model returned values that are not finite.")
        lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
        fallback = np.eye(1, pooled.shape[1], dtype=np.float32)
        unit = np.where(lengths > 0, pooled / np.maximum(lengths, np.finfo(np.float32).tiny), fallback)
        return unit.astype(np.float32), int(mask.sum())

    def _pooled(self, outputs: Sequence[Any], mask: NDArray[np.int64]) -> Floats:
        """Pool token vectors by the model's configuration, first token or mean; else use the model's text vectors."""
        texts = [np.asarray(output, np.float32) for output in outputs if np.ndim(output) == _TEXT_AXES]
        tokens = [np.asarray(output, np.float32) for output in outputs if np.ndim(output) == _TOKEN_AXES]
        if not tokens:
            return texts[0]
        if self._by_first_token:
            first: Floats = tokens[0][:, 0]
            return first
        weights = mask[:, :, None].astype(np.float32)
        mean: Floats = (tokens[0] * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
        return mean


@lru_cache(maxsize=2)
def sentence_model(folder: Path) -> SentenceModel:
    """The model in the folder, loaded once per process. Raises BadConfiguration."""
    return SentenceModel(folder)


def _json_file(folder: Path, name: str) -> dict[str, Any]:
    """Parse an optional JSON file next to the model; empty if it is missing or invalid."""
    try:
        values = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


class OnnxEmbedder(ThreadedEmbedder):
    """Embeds with a transformer. Queries and stored texts get the prompts that the model was trained with."""

    def __init__(self, folder: Path, *, clock: Clock | None = None) -> None:
        """Load the model. Raises BadConfiguration if the folder contains none."""
        super().__init__(BATCH, threads=1, clock=clock)
        self._sentences = sentence_model(folder)
        self.model = EmbeddingModel(PROVIDER, self._sentences.name, self._sentences.dimensions)
        self.max_tokens = int(INPUT_SHARE * self._sentences.max_tokens)

    def _vectors(self, texts: Sequence[str]) -> tuple[Floats, int]:
        return self._sentences.vectors([self._sentences.document_prompt + text for text in texts])

    def _query_vectors(self, texts: Sequence[str]) -> tuple[Floats, int]:
        return self._sentences.vectors([self._sentences.query_prompt + text for text in texts])
