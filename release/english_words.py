"""Make `src/nur/data/english_words.tsv.gz`: common words of other languages, each with two English words near it.

The multilingual sentence model (Universal Sentence Encoder, Apache-2.0; see NOTICE) compares single words of many
languages. Which words are common is taken from the model's own vocabulary and from the word lists of pyspellchecker
(MIT). It takes about five minutes of CPU and the package nur-memory-models:

    uv run --with pyspellchecker==0.9.1 --with ./models python release/english_words.py
"""

from __future__ import annotations

import gzip
import json
import unicodedata
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import regex

from nur.adapters.sentences.package import model_file
from nur.adapters.sentences.unigram import Unigrams
from nur.adapters.sentences.universal import UniversalEncoder
from nur.retrieval.text.function_words import ENGLISH, FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.ports.embedder import Floats

OUTPUT = Path(__file__).parent.parent / "src/nur/data/english_words.tsv.gz"
LANGUAGES = "fr de es it pt nl ru ar".split()  #: with a word list; of others, what the model knows as one token
MOST_WORDS = 12_000  #: of each list
MOST_ENGLISH = 15_000
TARGETS = 2  #: English words for each word

LEAST_MARGIN = 0.0
LEAST_MARGIN_OF_PARTS = 0.05
"""How much nearer a word must be to the English one than words usually are (CSLS). Words that the model has to put
together from parts are less sure. From .1 and .15 to -.1 and 0: XQuAD, German questions about English text, .74 to
.785 nDCG@10; Arabic .35 to .39; German, Russian and Turkish alone within .01."""

NEIGHBOURS = 10
ENGLISH_SHARE = 2e-6  #: of all words: a target is a word that people use
FOREIGN_SHARE = 1e-7  #: a word that is rarer in English is no English word
TIMES_RARER = 20  #: nor is one that is so much rarer in English than elsewhere
LEAST_OF_ELSEWHERE = 0.5  #: a target is at least so common in English, compared with elsewhere

_WORD = regex.compile(r"[\p{Latin}\p{Cyrillic}\p{Greek}\p{Arabic}\p{M}]{3,}")
_PLAIN = regex.compile(r"[a-z]{3,}")


def main() -> None:
    """Compare all words with the English ones and write the table."""
    model = model_file("use", "sp.model")
    encoder = UniversalEncoder(model_file("use", "weights.npz"), model)
    whole = _whole_words(Unigrams.from_model(model))
    shares = {language: _shares(language) for language in ("en", *LANGUAGES)}
    listed = [word for language in LANGUAGES for word in list(shares[language])[:MOST_WORDS]]
    words = [word for word in dict.fromkeys([*whole, *listed, *list(shares["en"])[:MOST_ENGLISH]]) if _is_word(word)]
    vectors = _vectors(encoder, [whole.get(word, word) for word in words])
    english = {word: shares["en"].get(word, 0.0) for word in words}
    elsewhere = {word: max(shares[one].get(word, 0.0) for one in LANGUAGES) for word in words}
    targets = [at for at, word in enumerate(words) if _is_target(word, english[word], elsewhere[word])]
    sources = [at for at, word in enumerate(words) if _is_foreign(word, english[word], elsewhere[word])]
    found = _nearest(vectors[sources], vectors[targets])
    table: dict[str, str] = {}
    for at, (margin, near) in zip(sources, found, strict=True):
        if margin >= (LEAST_MARGIN if words[at] in whole else LEAST_MARGIN_OF_PARTS):
            name = unicodedata.normalize("NFC", words[at]).casefold()
            table.setdefault(name, " ".join(words[targets[place]] for place in near))
    lines = "".join(f"{word}\t{near}\n" for word, near in sorted(table.items()))
    OUTPUT.write_bytes(gzip.compress(lines.encode(), mtime=0))


def _whole_words(tokens: Unigrams) -> Mapping[str, str]:
    """The words that the model knows as one token, as it writes them: German nouns with a capital."""
    pieces = [piece[1:] for piece, number in tokens.ids.items() if number >= 0 and piece.startswith("▁")]
    titles = {piece.lower(): piece for piece in pieces if piece.istitle() and _is_word(piece.lower())}
    return titles | {piece: piece for piece in pieces if piece.islower() and _is_word(piece)}


def _shares(language: str) -> Mapping[str, float]:
    """The share of each word in what was counted, most common first."""
    packed = resources.files("spellchecker").joinpath("resources", f"{language}.json.gz").read_bytes()
    counts: Counter[str] = Counter()
    for word, count in json.loads(gzip.decompress(packed)).items():
        counts[word.lower()] += count
    total = counts.total()
    return {word: count / total for word, count in counts.most_common()}


def _is_word(word: str) -> bool:
    return _WORD.fullmatch(word) is not None


def _is_target(word: str, english: float, elsewhere: float) -> bool:
    common = english > ENGLISH_SHARE and english > LEAST_OF_ELSEWHERE * elsewhere
    return common and word not in ENGLISH and _PLAIN.fullmatch(word) is not None


def _is_foreign(word: str, english: float, elsewhere: float) -> bool:
    return (english < FOREIGN_SHARE or elsewhere > TIMES_RARER * english) and word not in FUNCTION_WORDS


def _vectors(encoder: UniversalEncoder, words: Sequence[str]) -> Floats:
    found = np.concatenate([encoder.vectors(words[at : at + 512]) for at in range(0, len(words), 512)])
    unit: Floats = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit


def _nearest(sources: Floats, targets: Floats) -> list[tuple[float, list[int]]]:
    """Of each source the margin of its nearest target, and the places of its nearest ones.

    Some words are near to everything. So cosines are compared with those that either word usually has (CSLS).
    """
    sample = sources[np.random.default_rng(0).permutation(len(sources))[:30_000]]
    usual = np.concatenate([_usual(targets[at : at + 1024] @ sample.T) for at in range(0, len(targets), 1024)])
    found: list[tuple[float, list[int]]] = []
    for at in range(0, len(sources), 2048):
        cosines = sources[at : at + 2048] @ targets.T
        adjusted = 2 * cosines - usual
        best = np.argpartition(-adjusted, TARGETS, axis=1)[:, :TARGETS]
        for row, own, places in zip(adjusted, _usual(cosines), best, strict=True):
            ordered = sorted(places.tolist(), key=lambda place: -row[place])
            found.append((float(row[ordered[0]] - own), ordered))
    return found


def _usual(cosines: Floats) -> Floats:
    """The mean of the largest cosines of each row."""
    usual: Floats = np.partition(cosines, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS:].mean(axis=1)
    return usual


if __name__ == "__main__":
    main()
