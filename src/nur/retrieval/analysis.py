"""One analyzer for every backend: text in, terms out.

A *term* is what lexical search compares. It is kept as a number (a 32-bit hash), so that a chunk's terms fit into a
small blob beside it and no database tokenizer can tear them apart.

==============================  =======================================================================
text                            terms
==============================  =======================================================================
``Running``                     the word ``running`` and its English stem ``run``
``Caroline's``                  ``caroline`` and its stem
``getUserName``, ``snake_case`` the whole and each part
``a.b@example.com``, urls       the whole, the host, each part
``1,000.5``, ``2024-03-15``     the whole (without the commas) and each part
``東京タワー``, ``ประเทศ``          every two neighbouring characters: these scripts write no spaces
``पैंथर्स``                       the word, vowel signs included
==============================  =======================================================================

A change of any rule here changes what is stored: raise ``ANALYZER_VERSION``, and stores re-analyse their chunks.
"""

from __future__ import annotations

import threading
import unicodedata
from collections import Counter
from dataclasses import dataclass
from zlib import crc32

import regex
from snowballstemmer.english_stemmer import EnglishStemmer

ANALYZER_VERSION = 1

STEM_MARK = "\x1f"
"""Stems live in their own name space: the stem of "universal" must not meet the surname "Univers" as a word."""

LONGEST_TERM = 64
"""Characters of a whole identifier that are kept: longer ones (base64, minified code) are noise as a whole."""

CACHED_TOKENS = 200_000
"""Distinct tokens remembered with their terms, about 60 MB when full. Stemming costs 30 µs a word, a look-up 0.1 µs:
with the cache 5.4 MB of chat are analysed at 10 MB/s, without it at 0.2."""

# ``\w`` of the `regex` package holds combining marks (Python's own does not, and tears Hindi words apart).
_TOKEN = regex.compile(r"\w+(?:(?:://|[.,:;@/'’&+~=#%-])\w+)*(?:\+\+|\#(?!\w))?")
_SPACELESS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Hangul}ー々〆]+")
_THOUSANDS = regex.compile(r"(?<!\d)\d{1,3}(?:,\d{3})+(?!\d)")
_JOINTS_OUTER = regex.compile(r"://|[/,:;&=#%~+]+")
_JOINTS_INNER = regex.compile(r"[._@-]+")
_HUMPS = regex.compile(r"\p{Lu}+(?!\p{Ll})|\p{Lu}?[^\p{Lu}]+|\p{Lu}+")
_CLITIC = regex.compile(r"['’](?:s|t|m|re|ve|ll|d)$")
_APOSTROPHE = regex.compile(r"['’]")
_LATIN = regex.compile(r"[\p{Latin}\p{M}]+")


@dataclass(frozen=True, slots=True)
class Token:
    """What one distinct token of a text stands for."""

    terms: tuple[str, ...]
    words: int  #: how much it adds to a text's length: its parts, not the ways in which they are written down


def term_id(term: str) -> int:
    """The term's number. CRC-32: stable between machines and versions; two of a million terms rarely meet."""
    return crc32(term.encode("utf-8", "surrogatepass"))


class Analyzer:
    """Turns text into terms, remembering each distinct token's terms. Not shared between threads."""

    def __init__(self) -> None:
        self._stem = EnglishStemmer().stemWord
        self._known: dict[str, Token] = {}

    def tokens(self, text: str) -> list[str]:
        """The text's tokens, in order, unexpanded: the keys of ``expand``."""
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text)
        found: list[str] = _TOKEN.findall(text)
        return found

    def expand(self, token: str) -> Token:
        """The terms of one token."""
        known = self._known.get(token)
        if known is None:
            if len(self._known) >= CACHED_TOKENS:
                self._known.clear()
            known = self._known[token] = self._expand(token)
        return known

    def terms(self, text: str) -> tuple[Counter[str], int]:
        """How often each term occurs in the text, and the text's length in words."""
        counts: Counter[str] = Counter()
        length = 0
        for token, times in Counter(self.tokens(text)).items():
            expanded = self.expand(token)
            length += expanded.words * times
            for term in expanded.terms:
                counts[term] += times
        return counts, length

    # ------------------------------------------------------------------------------------------------- private

    def _expand(self, token: str) -> Token:
        if token.isascii() and token.isalpha() and (token.islower() or token.istitle()):
            return Token(self._word(token.lower()), 1)  # nine tokens of ten take this way
        terms: list[str] = []
        words = 0
        start = 0
        for match in _SPACELESS.finditer(token):
            for piece in (token[start : match.start()], ""):
                words += self._spaced(piece, terms) if piece else 0
            words += _bigrams(match.group(), terms)
            start = match.end()
        if start < len(token):
            words += self._spaced(token[start:], terms)
        return Token(tuple(dict.fromkeys(terms)), words)

    def _spaced(self, token: str, terms: list[str]) -> int:
        """Add the terms of a token in a script that writes spaces; return its length in words."""
        token = _THOUSANDS.sub(lambda match: match.group().replace(",", ""), token)
        token = _CLITIC.sub("", token)
        words = 0
        for outer in _JOINTS_OUTER.split(token):
            for inner in _JOINTS_INNER.split(outer):
                for part in _APOSTROPHE.split(inner):
                    words += self._part(part, terms)
            if _JOINTS_INNER.search(outer):
                terms.append(outer.casefold()[:LONGEST_TERM])
        if _JOINTS_OUTER.search(token):
            terms.append(token.casefold()[:LONGEST_TERM])
        return words

    def _part(self, part: str, terms: list[str]) -> int:
        if not part:
            return 0
        humps = _HUMPS.findall(part) if not (part.islower() or part.isupper() or part.istitle()) else []
        if len(humps) > 1:
            for hump in humps:
                terms.extend(self._word(hump.casefold()))
            terms.append(part.casefold())
            return len(humps)
        terms.extend(self._word(part.casefold()))
        return 1

    def _word(self, word: str) -> tuple[str, ...]:
        if _LATIN.fullmatch(word):
            return (word, STEM_MARK + self._stem(word))
        return (word,)


def _bigrams(run: str, terms: list[str]) -> int:
    """Add every two neighbouring characters, or the one there is; return how many."""
    run = run.casefold()
    if len(run) == 1:
        terms.append(run)
        return 1
    terms.extend(run[i : i + 2] for i in range(len(run) - 1))
    return len(run) - 1


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is stored of a text beside it."""

    row: str  #: its lexical row: every term as its number, as often as it occurs
    length: int  #: in words
    profile: bytes


_local = threading.local()


def _analyzer() -> Analyzer:
    """This thread's analyzer."""
    analyzer: Analyzer | None = getattr(_local, "analyzer", None)
    if analyzer is None:
        analyzer = _local.analyzer = Analyzer()
    return analyzer


def analyze(text: str) -> Analysis:
    """Everything that is stored of a text beside it."""
    counts, length = _analyzer().terms(text)
    row = " ".join(" ".join([f"{term_id(term):08x}"] * times) for term, times in counts.items())
    return Analysis(row, length, b"")


def query_terms(text: str) -> list[str]:
    """The terms to look for, as they stand in lexical rows."""
    counts, _ = _analyzer().terms(text)
    return [f"{term_id(term):08x}" for term in counts]
