"""LocalEmbedder: static vectors on this machine; fast enough that nothing waits for them.

The model has one row per token, and a text is the mean of its rows. Its tokens are those of Llama 2, as its
tokenizer.json defines them, encoded by tiktoken. The definition merges characters and spells the characters that it
does not know in bytes. tiktoken merges bytes. So the parts of a known character are merged before anything else, and a
part that is left over is spelled in bytes again: the tokens are the same. (The package `tokenizers` reads the file
itself, but brings 40 MB of others with it.)
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import tiktoken

from nur.adapters.local.english_words import EnglishTokens
from nur.adapters.local.model_files import read
from nur.adapters.threaded_embedder import ThreadedEmbedder
from nur.domain.embedding import EmbeddingModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nur.ports.clock import Clock
    from nur.ports.embedder import Floats


TokenIds: TypeAlias = npt.NDArray[np.int64]

#: The vocabulary's symbol for a space.
_SPACE = "▁"
# No token has a space after another character, so no merge crosses such a position.
_PATTERN = f"{_SPACE}*[^{_SPACE}]+|{_SPACE}+"
_PART = -1  #: instead of an id: a part of a character, which is not a token

NAME = "wordllama-l2-supercat-2"
FIRST_NAME = "wordllama-l2-supercat"  #: texts of other languages as they are written, not in English words
DIMENSIONS = 256
_FOLDER = "wordllama"
_WEIGHTS = "l2_supercat_256.safetensors"
_TOKENIZER = "l2_supercat_tokenizer_config.json"

#: A text without spaces is merged as a whole: cutting it into pieces bounds the memory.
PIECE_CHARS = 8192
#: Long runs of spaces take time and mean nothing.
_SPACES = re.compile(" {65,}")
_FEWER_SPACES = " " * 64

#: Texts embedded in one go.
SLICE = 64


@dataclass(frozen=True, slots=True)
class LlamaTokens:
    """The tokenizer. tiktoken numbers tokens by merge rank; `ids` maps a rank to the vocabulary's id."""

    encoding: tiktoken.Encoding
    ids: TokenIds
    parts: dict[int, list[int]]  #: by rank: the byte ids of a part of a character

    @classmethod
    def from_json(cls, definition: bytes) -> LlamaTokens:
        """Read a tokenizer.json."""
        model: dict[str, Any] = json.loads(definition)["model"]
        vocabulary: dict[str, int] = model["vocab"]
        bytes_ids = [vocabulary[f"<0x{byte:02X}>"] for byte in range(256)]
        ranks = _ranks(vocabulary, model["merges"])
        spelled = {rank: token for token, rank in ranks.items()}
        known = {token.encode(): id_ for token, id_ in vocabulary.items()}
        ids = [known.get(token, bytes_ids[token[0]] if len(token) == 1 else _PART) for token in ranks]
        parts = {rank: [bytes_ids[byte] for byte in spelled[rank]] for rank, id_ in enumerate(ids) if id_ == _PART}
        # Never used, but without any special token tiktoken searches for an empty string at every byte.
        special = {"<s>": len(ranks)}
        encoding = tiktoken.Encoding("llama2", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens=special)
        return cls(encoding, np.array(ids, np.int64), parts)

    def encode(self, text: str) -> TokenIds:
        """The token ids of a text; `<s>` and the like are ordinary text. Empty for an empty text."""
        if not text:
            return np.empty(0, np.int64)
        ranks = self.encoding.encode_to_numpy(_SPACE + text.replace(" ", _SPACE), disallowed_special=())
        ids = self.ids[ranks]
        if not (ids == _PART).any():
            return ids
        spelled = (self.parts.get(rank, [id_]) for rank, id_ in zip(ranks.tolist(), ids.tolist(), strict=True))
        return np.array([id_ for of_rank in spelled for id_ in of_rank], np.int64)


def _ranks(vocabulary: dict[str, int], merges: list[str]) -> dict[bytes, int]:
    """Merge ranks: bytes, parts of characters, characters, then longer tokens in merge order."""
    characters = [token.encode() for token in vocabulary if len(token) == 1]
    parts = [character[:size] for character in characters for size in range(2, len(character))]
    longer = [merge.replace(" ", "").encode() for merge in merges]
    tokens = dict.fromkeys([*(bytes([byte]) for byte in range(256)), *parts, *characters, *longer])
    return {token: rank for rank, token in enumerate(tokens)}


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
        # Read each token's row once: gathering one row per occurrence would take 3 GB for a 10 MB text.
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
    """Split a text into pieces that have the same tokens as the whole.

    The tokenizer puts a space before its input, so cutting at a space and dropping it changes nothing. Tokens can
    differ only where a whole piece has no space.
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


class PackagedTokens:
    """The token vectors of the static model that ships with the package, read on first use."""

    def __init__(self) -> None:
        self._loading = Lock()
        self._loaded: StaticModel | None = None

    @property
    def model(self) -> StaticModel:
        """The model itself."""
        with self._loading:
            if self._loaded is None:
                self._loaded = StaticModel.from_package()
            return self._loaded

    @property
    def token_vectors(self) -> Floats:
        """One row per token, as trained: not of unit length."""
        return self.model.matrix

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        """The tokens of each text, as row numbers of `token_vectors`. Slow: call it in a thread."""
        return self.model.token_ids(texts)


class LocalEmbedder(ThreadedEmbedder):
    """Vectors of the static model that ships with the package, read on first use; other languages in English words.

    A text without tokens has a fixed vector (`StaticModel.nowhere`): no vector is ever zero or NaN.
    """

    def __init__(self, name: str = NAME, *, threads: int = 2, clock: Clock | None = None) -> None:
        super().__init__(SLICE, threads=threads, clock=clock)
        self.model = EmbeddingModel("local", name, DIMENSIONS)
        self.max_tokens = 8191  # a mean has no limit of its own; the windows of other models keep means comparable
        self.tokens = EnglishTokens(PackagedTokens())

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        """The tokens of each text, as row numbers of `token_vectors`. Slow: call it in a thread."""
        return self.tokens.tokenize(texts)

    @property
    def token_vectors(self) -> Floats:
        """One row per token, as trained: not of unit length."""
        return self.tokens.token_vectors

    def _vectors(self, texts: Sequence[str]) -> tuple[Floats, int]:
        table = self.tokens.plain if self.model.name == FIRST_NAME else self.tokens
        static, ids = self.tokens.plain.model, table.tokenize(texts)
        return np.stack([static.pooled(of_text) for of_text in ids]), sum(len(of_text) for of_text in ids)
