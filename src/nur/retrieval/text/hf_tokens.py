"""Tokens of a Hugging Face tokenizer, for `[chunking] tokenizer_repo`: a local tokenizer.json or a repository."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Tokenizer

from nur.domain.errors import BadConfiguration
from nur.retrieval.text.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Callable

#: Characters encoded at once. Tokenizers look at most a few words ahead, so a cut at a blank rarely changes a token.
_PIECE = 200_000
_LOOK_BACK = 2_000


def load_tokeniser(name: str) -> Callable[[str], Tokens]:
    """Load a tokeniser from a file or repository, downloaded if needed. Raises BadConfiguration, naming the cause."""
    tokenizer = _load(name)
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def tokenise(text: str) -> Tokens:
        starts, ends = [], []
        for offset, piece_end in _pieces(text):
            for start, end in tokenizer.encode(text[offset:piece_end], add_special_tokens=False).offsets:
                starts.append(offset + start)
                ends.append(offset + end)
        return _tokens(np.asarray(starts, np.int64), np.asarray(ends, np.int64), len(text))

    return tokenise


def _load(name: str) -> Tokenizer:
    path = Path(name)
    local = path / "tokenizer.json" if path.is_dir() else path
    if not local.is_file() and _looks_like_a_path(name):
        raise BadConfiguration(
            f"[chunking] tokenizer_repo: there is no file {local}. "
            "Name a tokenizer.json or a Hugging Face repository, or leave it empty."
        )
    try:
        if local.is_file():
            return Tokenizer.from_file(str(local))
        return Tokenizer.from_pretrained(name)
    except Exception as error:  # tokenizers raises bare Exceptions
        failed = "read" if local.is_file() else "downloaded"
        raise BadConfiguration(
            f"[chunking] tokenizer_repo: {name} cannot be {failed} ({type(error).__name__}). "
            "Name a tokenizer.json or a Hugging Face repository that can be reached, or leave it empty."
        ) from error


def _looks_like_a_path(name: str) -> bool:
    """Whether a name is a path rather than a repository, `name` or `owner/name`."""
    return name.startswith(("/", ".", "~")) or name.endswith(".json") or Path(name).is_dir() or "\\" in name


def _pieces(text: str) -> list[tuple[int, int]]:
    """Consecutive ranges of at most 200,000 characters that cover the text, cut at blanks where possible."""
    cuts = [0]
    while len(text) - cuts[-1] > _PIECE:
        end = cuts[-1] + _PIECE
        blank = max(text.rfind(" ", end - _LOOK_BACK, end), text.rfind("\n", end - _LOOK_BACK, end))
        cuts.append(blank if blank > cuts[-1] else end)
    return list(zip(cuts, [*cuts[1:], len(text)], strict=True))


def _tokens(
    starts: np.ndarray[tuple[int], np.dtype[np.int64]], ends: np.ndarray[tuple[int], np.dtype[np.int64]], length: int
) -> Tokens:
    """Tokens from the start and end of each.

    Characters between two tokens belong to the later one, those after the last token to it. If several tokens are bytes
    of one character, the boundary stays before the character until the last of them.
    """
    if not len(starts):
        return (
            Tokens(np.asarray([0, length]), np.asarray([0, length]))
            if length
            else Tokens(np.zeros(1, np.int64), np.zeros(1, np.int64))
        )
    complete = np.append(np.maximum.accumulate(starts), length)
    complete[0] = 0
    started = np.append(np.zeros(1, np.int64), np.maximum.accumulate(ends))
    started[-1] = length
    started[1:-1] = np.maximum(started[1:-1], complete[1:-1])
    return Tokens(started, complete)
