"""OnnxEmbedder: a sentence-transformers model that runs here, from a folder that the user names."""

from __future__ import annotations

import json
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from nur.adapters.onnx.folder import load
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
#: Names that makers give to the instruction before a stored text.
DOCUMENT_PROMPTS = ("document", "passage", "corpus")
WORD_VECTORS = 3  #: axes of an output with one vector per token; one vector per text has two

PROVIDER = "onnx"
#: Texts in one run: padding to the longest wastes little.
BATCH = 8
#: A model's own tokens are shorter than cl100k's, most of all in other scripts; what still does not fit is cut off.
SHARE_THAT_FITS = 0.75


class SentenceModel:
    """Texts in, unit vectors out."""

    def __init__(self, folder: Path) -> None:
        """Loads the model. Raises BadConfiguration when the folder holds none."""
        self.name = folder.name
        self._session, self._tokenizer = load(folder, SETTING)
        self.max_tokens = int(_said(folder, "sentence_bert_config.json").get("max_seq_length") or DEFAULT_MAX_TOKENS)
        self._tokenizer.enable_truncation(self.max_tokens)
        self._tokenizer.enable_padding()
        self._by_first_token = bool(_said(folder, "1_Pooling/config.json").get("pooling_mode_cls_token"))
        prompts = _said(folder, "config_sentence_transformers.json").get("prompts") or {}
        self.query_prompt = str(prompts.get("query", ""))
        self.document_prompt = str(next((prompts[name] for name in DOCUMENT_PROMPTS if prompts.get(name)), ""))
        self._inputs = {given.name for given in self._session.get_inputs()}
        try:
            self.dimensions = self.vectors(["dimensions"])[0].shape[1]
        except EmbedderRefused as error:
            raise BadConfiguration(f"{SETTING}: {folder} is no model that embeds texts.") from error

    def vectors(self, texts: Sequence[str]) -> tuple[Floats, int]:
        """One unit vector per text, and how many tokens were read. Raises EmbedderRefused when the model fails on them.

        A text without any known token gets a fixed vector, so that no vector is zero.
        """
        read = self._tokenizer.encode_batch(list(texts))
        mask = np.array([one.attention_mask for one in read], np.int64)
        given = {
            "input_ids": np.array([one.ids for one in read], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([one.type_ids for one in read], np.int64),
        }
        try:
            outputs = self._session.run(None, {name: given[name] for name in given if name in self._inputs})
            pooled = self._pooled(outputs, mask)
        except Exception as error:  # the library raises kinds of its own
            raise EmbedderRefused("The local model failed on a text.") from error
        if not np.isfinite(pooled).all():
            raise EmbedderRefused("The local model gave no numbers for a text.")
        lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
        nowhere = np.eye(1, pooled.shape[1], dtype=np.float32)
        unit = np.where(lengths > 0, pooled / np.maximum(lengths, np.finfo(np.float32).tiny), nowhere)
        return unit.astype(np.float32), int(mask.sum())

    def _pooled(self, outputs: Sequence[Any], mask: NDArray[np.int64]) -> Floats:
        """The text's own vector where the model gives one, else its first token's, else the mean of its tokens'."""
        whole = [np.asarray(output, np.float32) for output in outputs if np.ndim(output) == WORD_VECTORS - 1]
        tokens = [np.asarray(output, np.float32) for output in outputs if np.ndim(output) == WORD_VECTORS]
        if not tokens:
            return whole[0]
        if self._by_first_token:
            first: Floats = tokens[0][:, 0]
            return first
        weights = mask[:, :, None].astype(np.float32)
        mean: Floats = (tokens[0] * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
        return mean


@lru_cache(maxsize=2)
def sentence_model(folder: Path) -> SentenceModel:
    """The model in a folder, loaded once per process. Raises BadConfiguration."""
    return SentenceModel(folder)


def _said(folder: Path, name: str) -> dict[str, Any]:
    """Parse an optional JSON file next to the model; empty if it is missing or invalid."""
    try:
        found = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


class OnnxEmbedder(ThreadedEmbedder):
    """Vectors of a transformer; questions and stored texts get the instructions that the model was trained with."""

    def __init__(self, folder: Path, *, clock: Clock | None = None) -> None:
        """Loads the model. Raises BadConfiguration when the folder holds none."""
        super().__init__(BATCH, threads=1, clock=clock)
        self._sentences = sentence_model(folder)
        self.model = EmbeddingModel(PROVIDER, self._sentences.name, self._sentences.dimensions)
        self.max_tokens = int(SHARE_THAT_FITS * self._sentences.max_tokens)

    async def embed_query(self, text: str) -> Floats:
        """The vector to search with."""
        started, asked = self._clock.monotonic(), [self._sentences.query_prompt + text]
        self._requested(asked)
        vectors, tokens = await self._in_thread(partial(self._sentences.vectors, asked))
        self._account(asked, tokens, self._clock.monotonic() - started)
        vector: Floats = vectors[0]
        return vector

    def _vectors(self, texts: Sequence[str]) -> tuple[Floats, int]:
        return self._sentences.vectors([self._sentences.document_prompt + text for text in texts])
