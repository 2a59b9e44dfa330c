"""cl100k_base tokens: count them, and map them to the characters of a text.

The rank file is package data, checked on load, so tiktoken never uses the network. A special-token string such as
`<|endoftext|>` is ordinary text. A lone surrogate, which UTF-8 cannot encode, counts as a question mark.
"""

from __future__ import annotations

import binascii
import hashlib
import re
import threading
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import tiktoken

from nur.domain.errors import StoreDamaged

if TYPE_CHECKING:
    from collections.abc import Iterator

Offsets: TypeAlias = npt.NDArray[np.int64]
Counts: TypeAlias = npt.NDArray[np.uint8]

RANK_FILE = "cl100k_base.tiktoken"
RANK_FILE_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"

# tiktoken's own pattern (tiktoken_ext.openai_public, 0.14.0).
_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
    r"|\s+(?!\S)|\s"
)
# Never used; but without any, tiktoken searches for an empty string at every byte.
_SPECIAL = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}

# A run of 700,000 to 1,000,000 spaces overflows the stack of tiktoken's regex, which then panics: so a text longer than
# this is encoded in pieces.
_PIECE = 250_000
_LOOK_BACK = 4_000
# A cut here does not change the tokens: the pattern always ends a match between a letter or digit and these characters.
_SAFE_CUT = re.compile(r"(?<=[^\W_])(?=[\s,.;:!?，、。！？；：।])")


class TokenRanks(NamedTuple):
    """The encoder, and two arrays by token id."""

    encoding: tiktoken.Encoding
    begun: Counts  #: characters that begin in the token
    begins_inside: Counts  #: 1 if the token begins inside a character


def load(rank_file: bytes) -> TokenRanks:
    """The vocabulary in a rank file. Raises StoreDamaged unless it is that of cl100k_base."""
    if hashlib.sha256(rank_file).hexdigest() != RANK_FILE_SHA256:
        raise StoreDamaged(f"The package file nur/data/{RANK_FILE} is damaged. Install nur-memory again.")
    rows = (line.split() for line in rank_file.splitlines())
    ranks = {binascii.a2b_base64(token): int(rank) for token, rank in rows}
    encoding = tiktoken.Encoding("cl100k_base", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens=_SPECIAL)
    by_id = sorted(ranks, key=ranks.__getitem__)  # ids are 0, 1, 2, …
    starts = np.cumsum([0, *map(len, by_id[:-1])])
    continues = np.frombuffer(b"".join(by_id), dtype=np.uint8) & 0xC0 == 0x80  # a character's second to fourth byte
    begun = np.add.reduceat(~continues, starts, dtype=np.uint8)  # at most 128
    return TokenRanks(encoding, begun, continues[starts].astype(np.uint8))


@cache
def _load_packaged() -> TokenRanks:
    try:
        rank_file = resources.files("nur.data").joinpath(RANK_FILE).read_bytes()
    except OSError as error:
        raise StoreDamaged(f"The package file nur/data/{RANK_FILE} is missing. Install nur-memory again.") from error
    return load(rank_file)


_LOADING = threading.Lock()


def vocabulary() -> TokenRanks:
    """The packaged vocabulary, loaded on first use (0.15 s) and shared by all threads."""
    with _LOADING:
        return _load_packaged()


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of at most 250,000 characters, cut at safe places where there are any."""
    start = 0
    while len(text) - start > _PIECE:
        end = start + _PIECE
        for match in _SAFE_CUT.finditer(text, end - _LOOK_BACK, end):
            end = match.start()
        yield text[start:end]
        start = end
    yield text[start:]


def _encodable(text: str) -> str:
    """The text with lone surrogates replaced, one character for one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text


def _ids(text: str) -> npt.NDArray[np.uint32]:
    """Token ids of a text without lone surrogates."""
    encoding = vocabulary().encoding
    # Same as encode_ordinary, but without building a Python list of the ids, a fifth of its time.
    parts = [encoding.encode_to_numpy(piece, disallowed_special=()) for piece in _pieces(text)]
    return np.concatenate(parts)


def count(text: str) -> int:
    """Number of tokens in a text."""
    return len(_ids(_encodable(text)))


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The token boundaries of a whole text, as character offsets.

    A token may begin or end inside a character. Boundary `k` is before token `k`; both arrays have one more entry than
    there are tokens.
    """

    started: Offsets  #: characters whose first byte is before boundary k
    complete: Offsets  #: characters that are wholly before boundary k

    def __len__(self) -> int:
        return len(self.complete) - 1

    def first(self, char: int) -> int:
        """Index of the token in which the character begins."""
        return int(self.started.searchsorted(char, side="right")) - 1

    def after(self, char: int) -> int:
        """Number of tokens that the text before this character touches."""
        return int(self.complete.searchsorted(char, side="left"))

    def touching(self, start: int, end: int) -> int:
        """Number of tokens that `text[start:end]` touches; one that straddles an end counts."""
        return self.after(end) - self.first(start) if start < end else 0

    def extents(self, marks: list[int]) -> tuple[list[int], list[int]]:
        """For each range between adjacent marks (ascending): `first` of its start, and `after` of its end."""
        chars = np.asarray(marks, dtype=np.int64)
        firsts = self.started.searchsorted(chars[:-1], side="right") - 1
        return firsts.tolist(), self.complete.searchsorted(chars[1:], side="left").tolist()

    def reach(self, start: int, budget: int) -> int:
        """The largest `end` with at most `budget` tokens in `text[start:end]`; below `start` if there is none."""
        return int(self.complete[min(self.first(start) + budget, len(self))])

    def reach_back(self, end: int, budget: int) -> int:
        """The smallest `start` with at most `budget` tokens in `text[start:end]`; above `end` if there is none."""
        return int(self.started[max(self.after(end) - budget, 0)])


def tokenise(text: str) -> Tokens:
    """Tokenise the whole text, once, in linear time."""
    ids = _ids(_encodable(text))
    _, begun, begins_inside = vocabulary()
    started = np.zeros(len(ids) + 1, dtype=np.int64)
    np.cumsum(begun[ids], out=started[1:])
    complete = started.copy()
    complete[:-1] -= begins_inside[ids]
    return Tokens(started, complete)
