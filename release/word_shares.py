"""How common words are in several languages, from the word lists of pyspellchecker (MIT)."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Languages other than English that have a list.
LANGUAGES = "fr de es it pt nl ru ar".split()


def word_shares(language: str) -> Mapping[str, float]:
    """Relative frequency of each word, most common first."""
    packed = resources.files("spellchecker").joinpath("resources", f"{language}.json.gz").read_bytes()
    counts: Counter[str] = Counter()
    for word, count in json.loads(gzip.decompress(packed)).items():
        counts[word.lower()] += count
    total = counts.total()
    return {word: count / total for word, count in counts.most_common()}
