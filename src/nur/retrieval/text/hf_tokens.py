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

#: What is encoded at once. A tokenizer looks at most a few words ahead; cutting at a blank changes no token of most.
_PIECE = 200_000
_LOOK_BACK = 2_000


def load_tokeniser(name: str) -> Callable[[str], Tokens]:
    """The tokeniser of a file or a repository, downloaded if need be. Raises BadConfiguration, saying what failed."""
    tokenizer = _load(name)
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def tokenise(text: str) -> Tokens:
        starts, ends = [], []
        for begin, end in _pieces(text):
            for start, stop in tokenizer.encode(text[begin:end], add_special_tokens=False).offsets:
                starts.append(begin + start)
                ends.append(begin + stop)
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
        what = "read" if local.is_file() else "downloaded"
        raise BadConfiguration(
            f"[chunking] tokenizer_repo: {name} cannot be {what} ({type(error).__name__}). "
            "Name a tokenizer.json or a Hugging Face repository that can be reached, or leave it empty."
        ) from error


def _looks_like_a_path(name: str) -> bool:
    """A repository is `owner/name` at most: no folder is named like that, nor ends in .json."""
    return name.startswith(("/", ".", "~")) or name.endswith(".json") or Path(name).is_dir() or "\\" in name


def _pieces(text: str) -> list[tuple[int, int]]:
    """Stretches that cover the text, none of them long, cut at blanks where there are any."""
    cuts = [0]
    while len(text) - cuts[-1] > _PIECE:
        end = cuts[-1] + _PIECE
        blank = max(text.rfind(" ", end - _LOOK_BACK, end), text.rfind("\n", end - _LOOK_BACK, end))
        cuts.append(blank if blank > cuts[-1] else end)
    return list(zip(cuts, [*cuts[1:], len(text)], strict=True))


def _tokens(
    starts: np.ndarray[tuple[int], np.dtype[np.int64]], ends: np.ndarray[tuple[int], np.dtype[np.int64]], length: int
) -> Tokens:
    """Boundaries between tokens: what lies between two belongs to the later one, the rest to the last.

    Several tokens may be bytes of one character: then its boundary is before it until the last of them.
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
