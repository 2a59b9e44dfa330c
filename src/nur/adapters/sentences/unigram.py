"""SentencePiece's unigram tokenizer: finds the most likely way to split a text into known pieces."""

from __future__ import annotations

import struct
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_UNKNOWN, _BEGIN, _END = 0, 1, 2
_SPACE = "▁"
_UNKNOWN_COST = 10.0
_PIECES_FIELD, _TEXT_FIELD, _SCORE_FIELD = 1, 1, 2
_VARINT, _SIZED, _FOUR_BYTES = 0, 2, 5


@dataclass(frozen=True, slots=True)
class Unigrams:
    """A vocabulary with the log probability of each piece."""

    ids: dict[str, int]  #: piece to id; -1 for a prefix of pieces that is not a piece itself
    scores: Sequence[float]
    unknown_score: float

    @classmethod
    def from_model(cls, model: bytes) -> Unigrams:
        """Read a SentencePiece model file."""
        ids: dict[str, int] = {}
        scores: list[float] = []
        for piece in _fields(model, _PIECES_FIELD, _SIZED):
            text = next(_fields(piece, _TEXT_FIELD, _SIZED)).decode("utf-8")
            for end in range(1, len(text)):
                ids.setdefault(text[:end], -1)
            ids[text] = len(scores)
            score = next(_fields(piece, _SCORE_FIELD, _FOUR_BYTES), bytes(4))
            scores.append(struct.unpack("<f", score)[0])
        return cls(ids, scores, min(scores) - _UNKNOWN_COST)

    def encode(self, text: str) -> list[int]:
        """Token ids of the text, between the begin and end tokens."""
        words = unicodedata.normalize("NFKC", text).split()
        if not words:
            return [_BEGIN, _UNKNOWN, _END]
        return [_BEGIN, *self._most_likely(_SPACE + _SPACE.join(words)), _END]

    def _most_likely(self, text: str) -> list[int]:
        """Viterbi: the best split up to a character extends the best split up to the start of its last piece."""
        best = [0.0] + [float("-inf")] * len(text)
        last: list[tuple[int, int]] = [(0, _UNKNOWN)] * (len(text) + 1)
        for start in range(len(text)):
            for end, piece, score in self._pieces_at(text, start):
                if best[start] + score > best[end]:
                    best[end] = best[start] + score
                    last[end] = (start, piece)
        ids: list[int] = []
        end = len(text)
        while end:
            end, piece = last[end]
            ids.append(piece)
        return ids[::-1]

    def _pieces_at(self, text: str, start: int) -> Iterator[tuple[int, int, float]]:
        """End, id and score of each known piece that starts here; the unknown token if no single character matches."""
        single = _UNKNOWN
        for end in range(start + 1, len(text) + 1):
            piece = self.ids.get(text[start:end])
            if piece is None:
                break
            if piece >= 0:
                single = piece if end == start + 1 else single
                yield end, piece, self.scores[piece]
        if single == _UNKNOWN:
            yield start + 1, _UNKNOWN, self.unknown_score


def _fields(message: bytes, wanted: int, kind: int) -> Iterator[bytes]:
    """All values of one field of a protobuf message."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        size, at = _size(message, at, tag & 7)
        if tag == wanted << 3 | kind:
            yield message[at : at + size]
        at += size


def _size(message: bytes, at: int, kind: int) -> tuple[int, int]:
    """Size of a value in bytes, and its start."""
    if kind == _SIZED:
        return _varint(message, at)
    if kind == _VARINT:
        return 0, _varint(message, at)[1]
    return (4 if kind == _FOUR_BYTES else 8), at


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
