"""Read `release/words/*.tsv`: common words of languages that the multilingual model does not know.

A line has a word, or forms of one word separated by spaces, then a tab and one or two English words, the commonest
sense first. A line "@ …" gives the endings of the words below it: the first is the ending of the word as it is listed
("-" for none), the others replace it.

    @ e er te t
    kjøpe<tab>buy

means kjøpe, kjøper, kjøpte and kjøpt. Devanagari words also have Latin spellings, unless the line begins with
"@native". The words under "@not" get no entry at all: generated spellings that mean something else.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from release.devanagari import MAX_SPELLINGS, is_devanagari, latin_spellings, simplified

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FOLDER = Path(__file__).parent / "words"
SMALL_LISTS = ("mr", "ur")  #: their words are left out if they are words of another list
MAX_TARGETS = 2  #: English words per word


def read_all() -> dict[str, str]:
    """All listed words and their forms, casefolded. A word of two languages has the first English word of each."""
    lists = {path.stem: read_list(path.read_text(encoding="utf-8").splitlines()) for path in FOLDER.glob("*.tsv")}
    small: dict[str, str] = {}
    for name in SMALL_LISTS:
        small |= lists.pop(name)
    senses: dict[str, list[str]] = {}
    for _, words in sorted(lists.items()):
        for word, english in words.items():
            senses.setdefault(word, []).append(english)
    return small | {word: _together(found) for word, found in senses.items()}


def read_list(lines: Iterable[str]) -> dict[str, str]:
    """The words of one language.

    Listed words win over forms, forms over Latin spellings, likelier spellings over others, then earlier lines.
    """
    listed: dict[str, str] = {}
    forms: dict[str, str] = {}
    spelt: dict[str, tuple[int, str]] = {}
    excluded: set[str] = set()
    for rule, words, english in _entries(lines):
        if rule == ["@not"]:
            excluded.update(words)
            continue
        for word in words:
            listed.setdefault(word, english)
        for form in (*words, *_forms(words, rule[1:])):
            forms.setdefault(form, english)
            if is_devanagari(form):
                forms.setdefault(simplified(form), english)
                for rank, spelling in enumerate(latin_spellings(form) if rule[0] == "@" else ()):
                    if rank < spelt.get(spelling, (MAX_SPELLINGS, ""))[0]:
                        spelt[spelling] = (rank, english)
    found = {spelling: english for spelling, (_, english) in spelt.items()} | forms | listed
    return {word: english for word, english in found.items() if word not in excluded}


def _entries(lines: Iterable[str]) -> Iterator[tuple[list[str], list[str], str]]:
    """The rule, the words and the English of each line."""
    rule = ["@", "-"]
    for line in lines:
        if line.startswith("@"):
            rule = line.split()
        elif line and not line.startswith("#"):
            words, _, english = line.partition("\t")
            yield rule, unicodedata.normalize("NFC", words).casefold().split(), english


def _forms(words: Sequence[str], endings: Sequence[str]) -> Iterator[str]:
    """The forms of a word with the other endings; words that are listed together have no others."""
    if len(words) == 1:
        first, *others = ("" if ending == "-" else ending for ending in endings)
        if not words[0].endswith(first):
            raise ValueError(f"{words[0]} does not end in {first}")
        yield from (unicodedata.normalize("NFC", words[0].removesuffix(first) + ending) for ending in others)


def _together(senses: Sequence[str]) -> str:
    if len(senses) == 1:
        return senses[0]
    firsts = dict.fromkeys(english.split()[0] for english in senses)
    rest = dict.fromkeys(word for english in senses for word in english.split())
    return " ".join(list(firsts | rest)[:MAX_TARGETS])
