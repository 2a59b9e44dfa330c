"""A static embedding model: one row a token, and a text is the mean of its rows."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.adapters.local.llama_tokens import LlamaTokens
from nur.adapters.local.model_files import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nur.adapters.local.llama_tokens import TokenIds
    from nur.ports.embedder import Floats

NAME = "wordllama-l2-supercat"
DIMENSIONS = 256
_FOLDER = "wordllama"
_WEIGHTS = "l2_supercat_256.safetensors"
_TOKENIZER = "l2_supercat_tokenizer_config.json"

#: A text without spaces is merged as a whole: pieces bound the memory that this takes.
PIECE_CHARS = 8192
#: Long runs of spaces take time and mean nothing.
_SPACES = re.compile(" {65,}")
_FEWER_SPACES = " " * 64


@dataclass(frozen=True, slots=True)
class StaticModel:
    """Token rows and the tokenizer that numbers them."""

    tokenizer: LlamaTokens
    matrix: Floats

    @classmethod
    def from_package(cls) -> StaticModel:
        """Read the files that ship with Nur. Raises BadConfiguration when they are missing or damaged."""
        return cls(LlamaTokens.from_json(read(_FOLDER, _TOKENIZER)), _matrix(read(_FOLDER, _WEIGHTS)))

    def token_ids(self, texts: Sequence[str]) -> list[TokenIds]:
        """The tokens of each text; none for an empty one."""
        return [np.concatenate([self.tokenizer.encode(piece) for piece in _pieces(text)]) for text in texts]

    def pooled(self, ids: TokenIds) -> Floats:
        """The mean of the tokens' rows, at unit length; `nowhere` for no tokens."""
        # Each row is taken once however often its token comes: a 10 MB text would else gather 3 GB.
        tokens, counts = np.unique(ids, return_counts=True)
        total = counts.astype(np.float32) @ self.matrix[tokens]
        length = np.linalg.norm(total)
        if not length > 0:
            return self.nowhere
        return np.asarray(total / length, np.float32)

    @property
    def nowhere(self) -> Floats:
        """The vector of a text without tokens: all components alike, so that no vector is ever zero or NaN."""
        dimensions = self.matrix.shape[1]
        return np.full(dimensions, dimensions**-0.5, np.float32)


def _matrix(file: bytes) -> Floats:
    """The one tensor of a safetensors file: the size of its header, the header as JSON, then the numbers."""
    start = 8 + int.from_bytes(file[:8], "little")
    (tensor,) = json.loads(file[8:start]).values()
    return np.frombuffer(file, np.float16, offset=start).reshape(tensor["shape"]).astype(np.float32)


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that give together the tokens of the whole.

    The tokenizer puts a space before its input, so a cut that takes a space away changes nothing; only where there is
    none for a whole piece can a token come out differently.
    """
    text = _SPACES.sub(_FEWER_SPACES, text)
    if not text.isascii():  # lone surrogates, which the tokenizer rejects, become "?"
        text = text.encode("utf-8", "replace").decode("utf-8")
    start = 0
    while len(text) - start > PIECE_CHARS:
        end = text.rfind(" ", start + 1, start + PIECE_CHARS)
        if end == -1:
            end = start + PIECE_CHARS
            yield text[start:end]
            start = end
        else:
            yield text[start:end]
            start = end + 1
    yield text[start:]
