"""MinHash fingerprints: find notes with nearly the same words without comparing every pair.

For each of several hash functions, the fingerprint has the smallest hash of any word. Two texts agree on one of these
with a probability equal to their Jaccard similarity. Three of them make a band, and notes that share a band are
compared afterwards. Of pairs that share 8 of 10 words, 19 in 20 have a band in common; of pairs that share 3, 1 in 10.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import regex

from nur.domain.derivations import Deriver, FingerprintBand

if TYPE_CHECKING:
    from nur.domain.notes import Note

BANDS = 4
ROWS_PER_BAND = 3
CACHED_WORDS = 20_000
"""Words whose hashes are kept (3 MB): an English chat of 5.4 MB has 15,000. A look-up takes a tenth of hashing."""

#: A word, or one character of a script without spaces.
_WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]|[\p{L}\p{M}\p{N}]+")
_NUMBER = regex.compile(r"\d+")
_draw = np.random.default_rng(20260101)  # to change the seed, raise the deriver's version
_FACTORS = _draw.integers(0, 2**64, BANDS * ROWS_PER_BAND, dtype=np.uint64) | np.uint64(1)
_OFFSETS = _draw.integers(0, 2**64, BANDS * ROWS_PER_BAND, dtype=np.uint64)


def numbers(text: str) -> set[str]:
    """The numbers in a text; short notes that differ only in a number are two facts."""
    return set(_NUMBER.findall(text))


def bands(note: Note, text: str) -> list[FingerprintBand]:
    """The bands of a note's fingerprint; none for a text without words."""
    words = set(_WORD.findall(text.lower()))
    if not words:
        return []
    hashes = np.array([*map(_word_hash, words)], dtype=np.uint64)
    smallest = (hashes[:, None] * _FACTORS + _OFFSETS).min(axis=0).reshape(BANDS, ROWS_PER_BAND)
    # Without the salt, notes of a series that differ only in their numbers would all be candidates of each other.
    salt = b"" if note.is_chunked else " ".join(sorted(numbers(text))).encode()
    hashed = (_hash(bytes([index]) + band.tobytes() + salt) for index, band in enumerate(smallest))
    return [FingerprintBand(int(np.uint64(band).astype(np.int64))) for band in hashed]


@lru_cache(CACHED_WORDS)
def _word_hash(word: str) -> int:
    return _hash(word.encode())


def _hash(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest())


FINGERPRINT = Deriver("fingerprint_bands", 1, bands)
