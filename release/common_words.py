"""Generate `src/nur/data/common_words.tsv.gz`: common words of other languages, and how common they are.

Each line has a word and the number of pieces in 10,000 that contain it. Takes seconds:

    uv run --with pyspellchecker==0.9.1 python -m release.common_words

The file in the repository was compressed again with zopfli, which saves a tenth.
"""

from __future__ import annotations

import gzip
import math
import unicodedata
from pathlib import Path

from nur.adapters.local.common_words import PIECES
from nur.retrieval.ranking.scores import REFERENCE_WORDS
from release.word_shares import LANGUAGES, word_shares

OUTPUT = Path(__file__).parent.parent / "src/nur/data/common_words.tsv.gz"
MIN_SHARE = 2e-5  #: of a language's words; rarer ones are in one piece of a thousand


def main() -> None:
    """Write the table. A word of several languages is as common as in the one that uses it most."""
    shares: dict[str, float] = {}
    for language in LANGUAGES:
        for word, share in word_shares(language).items():
            if share >= MIN_SHARE:
                name = unicodedata.normalize("NFC", word).casefold()
                shares[name] = max(share, shares.get(name, 0.0))
    lines = (
        f"{word}\t{round(PIECES * (1 - math.exp(-REFERENCE_WORDS * share)))}\n"
        for word, share in sorted(shares.items())
    )
    OUTPUT.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


if __name__ == "__main__":
    main()
