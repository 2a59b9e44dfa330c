"""Llama 2's tokens, as its tokenizer.json defines them, encoded by tiktoken.

The definition merges characters and spells the characters that it does not know in bytes. tiktoken merges bytes. So
the parts of a known character are merged before anything else, and a part that is left over is spelled in bytes again:
the tokens are the same. (The package `tokenizers` reads the file itself, but brings 40 MB of others with it.)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import tiktoken

TokenIds: TypeAlias = npt.NDArray[np.int64]

#: What the vocabulary has for a space.
_SPACE = "▁"
# No token has a space behind another character, so no merge crosses such a place.
_PATTERN = f"{_SPACE}*[^{_SPACE}]+|{_SPACE}+"
_PART = -1  #: in place of an id: a part of a character, which is no token


@dataclass(frozen=True, slots=True)
class LlamaTokens:
    """An encoder; its own numbers are the ranks of merges, from which `ids` leads to the vocabulary's."""

    encoding: tiktoken.Encoding
    ids: TokenIds
    parts: dict[int, list[int]]  #: by rank, the ids of the bytes of a part

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
        # Never asked for, but with no special token at all tiktoken looks for an empty string at every byte.
        special = {"<s>": len(ranks)}
        encoding = tiktoken.Encoding("llama2", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens=special)
        return cls(encoding, np.array(ids, np.int64), parts)

    def encode(self, text: str) -> TokenIds:
        """The ids of a text's tokens; `<s>` and the like are ordinary text. None for an empty text."""
        if not text:
            return np.empty(0, np.int64)
        ranks = self.encoding.encode_to_numpy(_SPACE + text.replace(" ", _SPACE), disallowed_special=())
        ids = self.ids[ranks]
        if not (ids == _PART).any():
            return ids
        spelled = (self.parts.get(rank, [id_]) for rank, id_ in zip(ranks.tolist(), ids.tolist(), strict=True))
        return np.array([id_ for of_rank in spelled for id_ in of_rank], np.int64)


def _ranks(vocabulary: dict[str, int], merges: list[str]) -> dict[bytes, int]:
    """What may be merged, in order: bytes, parts of characters, characters, then longer tokens by merge order."""
    characters = [token.encode() for token in vocabulary if len(token) == 1]
    parts = [character[:size] for character in characters for size in range(2, len(character))]
    longer = [merge.replace(" ", "").encode() for merge in merges]
    tokens = dict.fromkeys([*(bytes([byte]) for byte in range(256)), *parts, *characters, *longer])
    return {token: rank for rank, token in enumerate(tokens)}
