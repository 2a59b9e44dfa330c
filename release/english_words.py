"""Generate `src/nur/data/english_words.tsv.gz`: common words of other languages with their two nearest English words.

The multilingual sentence model (Universal Sentence Encoder, Apache-2.0; see NOTICE) compares single words across
languages. Common words come from the model's vocabulary and from the word lists of pyspellchecker (MIT). Languages that
the model does not know have lists in `release/words`. Takes about five minutes of CPU, and needs the package
nur-memory-models:

    uv run --with pyspellchecker==0.9.1 --with ./models python -m release.english_words

With a file name, the words of the model are kept in that file, or read from it if it exists: after a change of the
lists this takes seconds. The file in the repository was compressed again with zopfli, which saves a tenth.
"""

from __future__ import annotations

import gzip
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
import regex

from nur.adapters.local.english_words import WORD
from nur.adapters.sentences.package import model_file
from nur.adapters.sentences.unigram import Unigrams
from nur.adapters.sentences.universal import UniversalEncoder
from nur.retrieval.text.function_words import ENGLISH, FUNCTION_WORDS
from release.word_lists import read_all
from release.word_shares import LANGUAGES, word_shares

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.ports.embedder import Floats

OUTPUT = Path(__file__).parent.parent / "src/nur/data/english_words.tsv.gz"
MAX_WORDS = 12_000  #: per list; languages without one have only the words that are one token of the model
MAX_ENGLISH = 15_000
TARGETS = 2  #: English words per word

MIN_MARGIN = 0.0
MIN_MARGIN_OF_PARTS = 0.05
"""Minimum CSLS margin: how much more similar two words are than they are to their usual neighbours. It is higher for
words of several tokens, which are less certain. Measured from (.1, .15) to (-.1, 0), nDCG@10 on XQuAD: German questions
about English text .74 to .785, Arabic .35 to .39; questions and text both in German, Russian or Turkish within .01."""

NEIGHBOURS = 10
MAX_SAMPLED = 30_000  #: sources, chosen by hash: a few more function words hardly change the sample
ENGLISH_SHARE = 2e-6  #: minimum share of all English words for a target
FOREIGN_SHARE = 1e-7  #: a word with a smaller share in English is not an English word
TIMES_RARER = 20  #: nor is a word this many times rarer in English than in another language
MIN_OF_ELSEWHERE = 0.5  #: minimum ratio of a target's share in English to its share in another language
COMMON_SHARE = 1e-5  #: a listed word with a larger share in another language is left to that language

_WORD = regex.compile(r"[\p{Latin}\p{Cyrillic}\p{Greek}\p{Arabic}\p{M}]{3,}")
_PLAIN = regex.compile(r"[a-z]{3,}")


def main(kept: Path | None = None) -> None:
    """Write the table: the words of the model, then the listed words, which win."""
    shares = {language: word_shares(language) for language in ("en", *LANGUAGES)}
    if kept and kept.exists():
        table = _unpacked(kept.read_bytes())
    else:
        table = _words_of_model(shares)
        if kept:
            kept.write_bytes(_packed(table))
    listed = {word: english for word, english in read_all().items() if _is_unambiguous(word, shares)}
    OUTPUT.write_bytes(_packed({word: near for word, near in table.items() if word not in FUNCTION_WORDS} | listed))


def _words_of_model(shares: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    """Words that the model knows, each with its nearest English words."""
    model = model_file("use", "sp.model")
    encoder = UniversalEncoder(model_file("use", "weights.npz"), model)
    whole = _whole_words(Unigrams.from_model(model))
    listed = [word for language in LANGUAGES for word in list(shares[language])[:MAX_WORDS]]
    words = [word for word in dict.fromkeys([*whole, *listed, *list(shares["en"])[:MAX_ENGLISH]]) if _is_word(word)]
    vectors = _vectors(encoder, [whole.get(word, word) for word in words])
    english = {word: shares["en"].get(word, 0.0) for word in words}
    elsewhere = {word: _share_elsewhere(word, shares) for word in words}
    targets = [at for at, word in enumerate(words) if _is_target(word, english[word], elsewhere[word])]
    sources = [at for at, word in enumerate(words) if _is_foreign(word, english[word], elsewhere[word])]
    sample = sorted(sources, key=lambda at: crc32(words[at].encode()))[:MAX_SAMPLED]
    found = _nearest(vectors[sources], vectors[targets], vectors[sample])
    table: dict[str, str] = {}
    for at, (margin, near) in zip(sources, found, strict=True):
        if margin >= (MIN_MARGIN if words[at] in whole else MIN_MARGIN_OF_PARTS):
            name = unicodedata.normalize("NFC", words[at]).casefold()
            table.setdefault(name, " ".join(words[targets[index]] for index in near))
    return table


def _packed(table: Mapping[str, str]) -> bytes:
    return gzip.compress("".join(f"{word}\t{near}\n" for word, near in sorted(table.items())).encode(), mtime=0)


def _unpacked(packed: bytes) -> dict[str, str]:
    return dict(line.split("\t", 1) for line in gzip.decompress(packed).decode().splitlines())


def _whole_words(tokens: Unigrams) -> Mapping[str, str]:
    """Words that are one token of the model, mapped to its spelling: German nouns are capitalised."""
    pieces = [piece[1:] for piece, number in tokens.ids.items() if number >= 0 and piece.startswith("▁")]
    titles = {piece.lower(): piece for piece in pieces if piece.istitle() and _is_word(piece.lower())}
    return titles | {piece: piece for piece in pieces if piece.islower() and _is_word(piece)}


def _is_word(word: str) -> bool:
    return _WORD.fullmatch(word) is not None


def _is_target(word: str, english: float, elsewhere: float) -> bool:
    common = english > ENGLISH_SHARE and english > MIN_OF_ELSEWHERE * elsewhere
    return common and word not in ENGLISH and _PLAIN.fullmatch(word) is not None


def _is_foreign(word: str, english: float, elsewhere: float) -> bool:
    return (english < FOREIGN_SHARE or elsewhere > TIMES_RARER * english) and word not in FUNCTION_WORDS


def _is_unambiguous(word: str, shares: Mapping[str, Mapping[str, float]]) -> bool:
    """Whether a listed word is neither an English word nor a common one of another language."""
    own = shares["en"].get(word, 0.0) < FOREIGN_SHARE and _share_elsewhere(word, shares) < COMMON_SHARE
    return own and WORD.fullmatch(word) is not None and word not in FUNCTION_WORDS


def _share_elsewhere(word: str, shares: Mapping[str, Mapping[str, float]]) -> float:
    """The largest share of a word in another language than English."""
    return max(shares[language].get(word, 0.0) for language in LANGUAGES)


def _vectors(encoder: UniversalEncoder, words: Sequence[str]) -> Floats:
    vectors = np.concatenate([encoder.vectors(words[at : at + 512]) for at in range(0, len(words), 512)])
    unit: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _nearest(sources: Floats, targets: Floats, sample: Floats) -> list[tuple[float, list[int]]]:
    """For each source, the margin of its nearest target and the indexes of its nearest targets.

    Some words are near to everything, so each cosine is compared with the usual cosines of both words (CSLS); those of
    targets are taken from a sample of the sources.
    """
    usual = np.concatenate([_usual(targets[at : at + 1024] @ sample.T) for at in range(0, len(targets), 1024)])
    nearest: list[tuple[float, list[int]]] = []
    for at in range(0, len(sources), 2048):
        cosines = sources[at : at + 2048] @ targets.T
        adjusted = 2 * cosines - usual
        best = np.argpartition(-adjusted, TARGETS, axis=1)[:, :TARGETS]
        for row, own, indexes in zip(adjusted, _usual(cosines), best, strict=True):
            ordered = sorted(indexes.tolist(), key=lambda index: -row[index])
            nearest.append((float(row[ordered[0]] - own), ordered))
    return nearest


def _usual(cosines: Floats) -> Floats:
    """Mean of the largest cosines of each row."""
    usual: Floats = np.partition(cosines, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS:].mean(axis=1)
    return usual


if __name__ == "__main__":
    main(*(Path(name) for name in sys.argv[1:2]))
