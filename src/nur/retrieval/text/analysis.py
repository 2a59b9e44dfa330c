"""One analyzer for every backend: text in, terms out.

A *term* is the unit that lexical search compares. It is stored as an id (a 32-bit hash), so that a chunk's terms fit
into a small blob and no database tokenizer can split them.

==================================  ===================================================================
text                                terms (those in brackets are *extra*: they repeat another term)
==================================  ===================================================================
``Running``                         the English stem ``run`` (and the word ``running``)
``Caroline's``                      the stem of ``caroline`` (and ``caroline``)
``getUserName``, ``snake_case``     each part (and the whole)
``a.b@example.com``, urls           each part (and the whole, the host, the last name)
``1,000.5``, ``2024-03-15``         each part (and the whole, without thousands' commas)
``東京タワー``, ``ประเทศ``, ``한국어``      every two adjacent characters: these scripts hardly use spaces
``पैंथर्स``, ``сталь``                the word, vowel signs included
==================================  ===================================================================

If you change a rule here, or the vectors of pieces, raise ``ANALYZER_VERSION``: what is stored changes, and stores
analyse their notes again when they are next opened.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from dataclasses import dataclass
from typing import NamedTuple
from zlib import crc32

import regex
from snowballstemmer.english_stemmer import EnglishStemmer

ANALYZER_VERSION = 4

MAX_WHOLE_CHARACTERS = 64
"""Characters kept of a whole identifier; what is longer (base64, minified code) is noise."""

CACHED_TOKENS = 100_000
MAX_CACHED_CHARACTERS = 32
"""Most tokens, and their longest length, that are cached with their terms (about 40 MB when full). Stemming costs 30 µs
per word, a look-up 0.1 µs; an English chat of 5.4 MB has 15,000 distinct words among 720,000."""

NUMERIC = 1 << 31
"""Bit set in the ids of terms with a digit, which therefore come last in every term vector."""

_HASHED = NUMERIC - 2
_DIGIT = regex.compile(r"\d")
_STEM = "\x1f"  # keeps stems apart from words: the stem of "universal" is not the name "Univers"

# ``\w`` of the `regex` package includes combining marks. That of `re` does not, and splits Hindi words (nDCG@10 on
# XQuAD hi: .78 with `re`, .96 with `regex`).
_TOKEN = regex.compile(r"\w+(?:(?:://|[.,:;@/'’&+~=#%-])\w+)*(?:\+\+|\#(?!\w))?")
_ASCII_TOKEN = re.compile(_TOKEN.pattern, re.ASCII)  # there they agree, and `re` takes half the time
_SPACELESS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Hangul}ー々〆]+")
_THOUSANDS = regex.compile(r"(?<!\d)\d{1,3}(?:,\d{3})+(?!\d)")
_OUTER_JOINT = regex.compile(r"://|[/,:;&=#%~+]+")
_INNER_JOINT = regex.compile(r"[._@-]+")
_HUMP = regex.compile(r"\p{Lu}+(?!\p{Ll})|\p{Lu}?[^\p{Lu}]+|\p{Lu}+")
_CLITIC = regex.compile(r"['’](?:s|t|m|re|ve|ll|d)$", regex.IGNORECASE)
_APOSTROPHE = regex.compile(r"['’]")
_LATIN = regex.compile(r"[\p{Latin}\p{M}]+")


class Term(NamedTuple):
    """One way in which a word of a text can be found."""

    text: str  #: the form compared; a stem starts with a control character
    extra: bool  #: repeats a word that has another term, so it does not add to a text's length
    word: str  #: the casefolded word it comes from


@dataclass(frozen=True, slots=True)
class TermIds:
    """The ids of one token's terms."""

    main: tuple[int, ...]  #: one for each word or bigram, in order
    extra: tuple[int, ...]
    words: tuple[str, ...]  #: the casefolded word of each main term


def term_id(term: Term) -> int:
    """The term's id: 30 bits of its CRC-32, the same on every machine.

    The highest bit is set if the term has a digit, the lowest if it is extra. Among a million distinct terms, one query
    term in 1,000 shares its id with another.
    """
    number = crc32(term.text.encode("utf-8", "surrogatepass")) & _HASHED | term.extra
    return number | NUMERIC if _DIGIT.search(term.text) else number


class Analyzer:
    """Turns text into terms, with a cache. Safe to share between threads."""

    def __init__(self) -> None:
        self._stemmer = EnglishStemmer()
        self._stemming = threading.Lock()  # the stemmer is not thread-safe: it holds the word it works on
        self._stems: dict[str, str] = {}
        self._cache: dict[str, TermIds] = {}

    def tokens(self, text: str) -> list[str]:
        """The text's tokens in order: words, numbers, identifiers, runs of scripts without spaces."""
        if text.isascii():
            return _ASCII_TOKEN.findall(text)
        tokens: list[str] = _TOKEN.findall(unicodedata.normalize("NFKC", text))
        return tokens

    def ids(self, token: str) -> TermIds:
        """The ids of one token's terms."""
        ids = self._cache.get(token)
        if ids is None:
            terms = self.terms_of(token)
            ids = TermIds(
                tuple(term_id(term) for term in terms if not term.extra),
                tuple({term_id(term) for term in terms if term.extra}),
                tuple(term.word for term in terms if not term.extra),
            )
            if len(token) <= MAX_CACHED_CHARACTERS:
                if len(self._cache) >= CACHED_TOKENS:
                    self._cache.clear()
                self._cache[token] = ids
        return ids

    def terms(self, text: str) -> list[Term]:
        """Every term of the text, in order, once per occurrence. For queries; what is stored uses the cached `ids`."""
        return [term for token in self.tokens(text) for term in self.terms_of(token)]

    def terms_of(self, token: str) -> list[Term]:
        """The terms of one token."""
        if token.isascii() and token.isalpha() and (token.islower() or token.istitle()):
            return self._word(token.lower())  # fast path for nine tokens in ten
        terms: list[Term] = []
        start = 0
        for run in _SPACELESS.finditer(token):
            terms += self._spaced(token[start : run.start()])
            terms += _bigrams(run.group())
            start = run.end()
        return terms + self._spaced(token[start:])

    def _spaced(self, token: str) -> list[Term]:
        """Terms of a token in a script with spaces: its parts, then its wholes."""
        token = _THOUSANDS.sub(lambda match: match.group().replace(",", ""), token)
        token = _CLITIC.sub("", token)
        terms: list[Term] = []
        for outer in _OUTER_JOINT.split(token):
            inners = _INNER_JOINT.split(outer)
            for inner in inners:
                for part in _APOSTROPHE.split(inner):
                    terms += self._part(part)
            if len(inners) > 1:
                terms.append(_whole(outer))
        if _OUTER_JOINT.search(token):
            terms.append(_whole(token))
        return terms

    def _part(self, part: str) -> list[Term]:
        """Terms of a word, or of the humps of camelCase."""
        if not part:
            return []
        if not (part.islower() or part.isupper() or part.istitle()):
            humps = _HUMP.findall(part)
            if len(humps) > 1:
                return [term for hump in humps for term in self._word(hump.casefold())] + [_whole(part)]
        return self._word(part.casefold())

    def _word(self, word: str) -> list[Term]:
        if not _LATIN.fullmatch(word):
            return [Term(word, False, word)]
        return [Term(_STEM + self._stem(word), False, word), Term(word, True, word)]

    def _stem(self, word: str) -> str:
        stem = self._stems.get(word)
        if stem is None:
            with self._stemming:
                stem = str(self._stemmer.stemWord(word))
            if len(self._stems) >= CACHED_TOKENS:
                self._stems.clear()
            self._stems[word] = stem
        return stem


def _whole(identifier: str) -> Term:
    identifier = identifier.casefold()[:MAX_WHOLE_CHARACTERS]
    return Term(identifier, True, identifier)


def _bigrams(run: str) -> list[Term]:
    """Every two adjacent characters, or the single one."""
    run = run.casefold()
    pairs = [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    return [Term(pair, False, pair) for pair in pairs]


#: The process's analyzer, shared by all writes and searches so that they share its cache.
ANALYZER = Analyzer()


#: Punctuation becomes blanks: ASCII by this byte table, other marks by the pattern before the text is encoded.
_BLANK_MARKS = bytes(code if chr(code).isalnum() or not chr(code).isascii() else ord(" ") for code in range(256))
_MARKS = regex.compile(
    r"[\u2010-\u2027\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\xab\xbb\xbf\xa1\u060c\u061b\u061f\u0964]"
)


def split_words(text: str) -> list[bytes]:
    """The words of a lower-case text, as bytes: three times as fast as a pattern, and every text is split."""
    unmarked = text if text.isascii() else _MARKS.sub(" ", text)
    return unmarked.encode("utf-8", "surrogatepass").translate(_BLANK_MARKS).split()
