"""A static embedding model: one row a token, and a text is the mean of its rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from nur.domain.errors import BadConfiguration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nur.ports.embedder import Floats

TokenIds: TypeAlias = npt.NDArray[np.int64]

PACKAGE = "wordllama"
NAME = "wordllama-l2-supercat"
DIMENSIONS = 256
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"

#: The tokenizer merges over its whole input at once: pieces bound its memory and are faster (1 MB: .44 s against .76).
PIECE_CHARS = 8192
#: Long runs of spaces cost it four times as much as words do and say nothing.
_SPACES = re.compile(" {65,}")
_FEWER_SPACES = " " * 64


@dataclass(frozen=True, slots=True)
class StaticModel:
    """Token rows and the tokenizer that numbers them."""

    tokenizer: Tokenizer
    matrix: Floats

    @classmethod
    def from_package(cls) -> StaticModel:
        """Read the files that the wordllama package carries, without running its code.

        Its import would set up logging for the whole process and load compiled extensions that are not needed here.
        """
        spec = find_spec(PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise BadConfiguration(f"The package {PACKAGE} is missing. Install nur-memory again.")
        folder = Path(spec.submodule_search_locations[0])
        try:
            (matrix,) = load_file(folder / _WEIGHTS).values()
            tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        except OSError as error:
            raise BadConfiguration(f"The package {PACKAGE} lacks its weights. Install it again.") from error
        tokenizer.encode_special_tokens = True  # "<s>" in a text is three characters, not a command
        return cls(tokenizer, np.ascontiguousarray(matrix, np.float32))

    def token_ids(self, texts: Sequence[str]) -> list[TokenIds]:
        """The tokens of each text; none for an empty one."""
        pieces = [list(_pieces(text)) for text in texts]
        flat = [piece for of_text in pieces for piece in of_text]
        encoded = iter(self.tokenizer.encode_batch_fast(flat, add_special_tokens=False))
        return [np.concatenate([np.array(next(encoded).ids, np.int64) for _ in of_text]) for of_text in pieces]

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
