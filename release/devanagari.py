"""Latin spellings of Devanagari words, as people type them.

Nobody types Hindi by a standard: "पानी" is pani, paani or paanee. Each sound has its usual spellings, each with a
penalty; the spellings of a word are the combinations with the smallest sums. The vowel that belongs to a consonant
without a sign is silent at the end of a word and between two syllables (Ohala's rule): "निकलना" is nikalna, but
"निकला" is nikla.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Spellings = Mapping[str, float]  #: how one sound is written, with penalties

MAX_SPELLINGS = 8  #: per word
MAX_PENALTY = 1.0

_SCHWA = "ə"  #: the vowel of a consonant without a sign
_FAINT = "ᵊ"  #: the same after two consonants at the end of a word: often written, hardly spoken
_NASAL = "ं"
_NUKTA = "़"  #: dot below a letter, for a sound that Hindi has from Persian or English
_VIRAMA = "्"  #: the consonant has no vowel
_TWICE = "²"  #: a doubled consonant

_LETTERS = "क ख ग घ ङ च ज झ ञ ट ठ ड ढ ण त थ द ध न प ब भ म य र ल ळ स ह".split()
_LATIN = "k kh g gh n ch j jh n t th d dh n t th d dh n p b bh m y r l l s h".split()
_CONSONANTS: Mapping[str, Spellings] = {
    **{letter: {latin: 0} for letter, latin in zip(_LETTERS, _LATIN, strict=True)},
    "छ": {"chh": 0, "ch": 0.4},
    "फ": {"ph": 0, "f": 0.4},
    "व": {"w": 0, "v": 0.1},
    "श": {"sh": 0, "s": 0.9},
    "ष": {"sh": 0, "s": 0.9},
    "क" + _NUKTA: {"k": 0, "q": 0.6},
    "ख" + _NUKTA: {"kh": 0},
    "ग" + _NUKTA: {"g": 0, "gh": 0.6},
    "ज" + _NUKTA: {"z": 0, "j": 0.3},
    "ड" + _NUKTA: {"d": 0, "r": 0.4},
    "ढ" + _NUKTA: {"dh": 0, "rh": 0.5, "d": 0.8},
    "फ" + _NUKTA: {"f": 0, "ph": 0.8},
}
_VOWELS: Mapping[str, Spellings] = {
    _SCHWA: {"a": 0},
    _FAINT: {"": 0, "a": 0.2},
    "अ": {"a": 0},
    "आ": {"a": 0, "aa": 0.3},
    "इ": {"i": 0},
    "ई": {"i": 0, "ee": 0.4},
    "उ": {"u": 0},
    "ऊ": {"u": 0, "oo": 0.4},
    "ए": {"e": 0},
    "ऐ": {"ai": 0},
    "ओ": {"o": 0},
    "औ": {"au": 0, "o": 0.9},
    "ऋ": {"ri": 0},
    "ऑ": {"o": 0},
    "ऍ": {"e": 0},
}
_LAST: Mapping[str, Spellings] = {"आ": {"a": 0, "aa": 0.8}, "ई": {"i": 0, "ee": 0.8}}
_AFTER_VOWEL: Mapping[str, Spellings] = {"ए": {"ye": 0, "e": 0.4}, "ई": {"i": 0, "yi": 0.1}}
_BY_SIGN = dict(zip("ािीुूेैोौृॉॅ", "आइईउऊएऐओऔऋऑऍ", strict=True))
_PLAIN = {"ख": "क", "घ": "ग", "छ": "च", "झ": "ज", "ठ": "ट", "ढ": "ड", "थ": "त", "ध": "द", "फ": "प", "भ": "ब"}
_LABIALS = frozenset("पफबभम")

_DEVANAGARI = regex.compile(r"[\p{Devanagari}\p{M}]+")
_FOREIGN_DOT = regex.compile(f"(?<![डढ]){_NUKTA}")
_SOUND = regex.compile(rf"\p{{L}}{_NUKTA}?|\p{{M}}")


def is_devanagari(word: str) -> bool:
    """Whether a word is written in Devanagari alone."""
    return _DEVANAGARI.fullmatch(word) is not None


def simplified(word: str) -> str:
    """The word as many type it in Devanagari: no dots of foreign sounds, and one sign for both nasals."""
    plain = unicodedata.normalize("NFD", word).replace("ँ", _NASAL)
    return unicodedata.normalize("NFC", _FOREIGN_DOT.sub("", plain))


def latin_spellings(word: str) -> list[str]:
    """The usual spellings of a word in Latin letters, the likeliest first."""
    sounds = _spoken(_sounds(word))
    best: dict[str, float] = {"": 0.0}
    for at in range(len(sounds)):
        longer: dict[str, float] = {}
        for start, before in best.items():
            for part, penalty in _spellings(sounds, at).items():
                total = before + penalty
                if total <= min(MAX_PENALTY, longer.get(start + part, MAX_PENALTY)):
                    longer[start + part] = total
        likeliest = sorted(longer.items(), key=lambda one: (one[1], one[0]))
        best = dict(likeliest[:MAX_SPELLINGS])
    return list(best)


def _sounds(word: str) -> list[str]:
    """Consonants and vowels, with the vowels that are not written; doubled consonants are marked."""
    sounds: list[str] = []
    for sign in _SOUND.findall(unicodedata.normalize("NFD", word).replace("ज्ञ", "ग्य").replace("ँ", _NASAL)):
        if sign in _BY_SIGN:
            sounds[-1:] = [_BY_SIGN[sign]]
        elif sign == _VIRAMA:
            sounds.pop()
        elif sign in _CONSONANTS:
            if sounds and sign[0] in _PLAIN | dict.fromkeys(_LETTERS) and sounds[-1] in (sign, _PLAIN.get(sign)):
                sounds[-1] = sign + _TWICE
            else:
                sounds.append(sign)
            sounds.append(_SCHWA)
        elif sign in _VOWELS or sign == _NASAL:
            sounds.append(sign)
    return sounds


def _spoken(sounds: Sequence[str]) -> list[str]:
    """The sounds without silent vowels."""
    spoken = list(sounds)
    if len(spoken) > 2 and spoken[-1] == _SCHWA:
        cluster = not _is_vowel(spoken[-3]) and spoken[-3] != _NASAL
        spoken[-1:] = [_FAINT] if cluster or spoken[-2].endswith(_TWICE) else []
    for at in range(len(spoken) - 3, 1, -1):
        before = _is_single(spoken[at - 1]) and (_is_vowel(spoken[at - 2]) or spoken[at - 2] == _NASAL)
        after = _is_single(spoken[at + 1]) and _is_vowel(spoken[at + 2])
        if spoken[at] == _SCHWA and before and after:
            del spoken[at]
    return spoken


def _is_single(sound: str) -> bool:
    return sound in _CONSONANTS


def _is_vowel(sound: str) -> bool:
    return sound in _VOWELS


def _spellings(sounds: Sequence[str], at: int) -> Spellings:
    """How the sound at a place is written, which depends on its neighbours."""
    sound = sounds[at]
    before = sounds[at - 1] if at else ""
    after = sounds[at + 1] if at + 1 < len(sounds) else ""
    if sound == _NASAL:
        return _nasal(after)
    if sound.endswith(_TWICE):
        return _twice(sound.removesuffix(_TWICE))
    if sound == "य" and before == "आ" and not after:
        return {"i": 0, "y": 0.1}  # चाय
    if sound == "य" and before == "इ" and after:
        return {"y": 0, "": 0.7}  # चिड़िया
    if sound == _SCHWA and after == "ह" and not _is_long(sounds, at + 2):
        return {"a": 0, "e": 0.2}  # बहन, पहला
    if sound == _SCHWA and before == "ह" and at > 1 and sounds[at - 2] == _SCHWA:
        return {"a": 0, "e": 0.2, "": 0.5}  # शहर, महंगा
    if _is_vowel(before) and sound in _AFTER_VOWEL:
        return _AFTER_VOWEL[sound]
    if not after and sound in _LAST:
        return _LAST[sound]
    return _VOWELS.get(sound) or _CONSONANTS[sound]


def _is_long(sounds: Sequence[str], at: int) -> bool:
    return at < len(sounds) and _is_vowel(sounds[at]) and sounds[at] != _SCHWA


def _nasal(after: str) -> Spellings:
    if after and after[0] in _LABIALS:
        return {"m": 0, "n": 0.2}
    return {"n": 0, "": 0.4} if after in ("", "ह") else {"n": 0}


def _twice(consonant: str) -> Spellings:
    if consonant == "च":
        return {"cch": 0, "chch": 0.2, "ch": 0.3}
    if consonant == "छ":
        return {"chh": 0, "cch": 0.1, "ch": 0.3}
    once = _CONSONANTS[consonant]
    return {**{one: penalty + 0.4 for one, penalty in once.items()}, **{one[0] + one: p for one, p in once.items()}}
