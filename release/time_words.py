"""Generate `src/nur/retrieval/times/words.json`: month names and phrases such as "gestern", in many languages.

They come from the tables of dateparser (BSD-3-Clause; see NOTICE), which Nur does not need at run time:

    uv run --with dateparser==1.5.0 python release/time_words.py
"""

from __future__ import annotations

import importlib
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

LANGUAGES = "ar cs da de el es fi fr he hi hu id it ja ko nl pl pt ro ru sv th tr uk vi zh".split()
UNITS = ("day", "week", "month", "year")
MONTHS = "january february march april may june july august september october november december".split()
OUTPUT = Path(__file__).parent.parent / "src/nur/retrieval/times/words.json"
_SMALL = {str(number) for number in range(1, 13)}
COUNT = "#"  #: stands for a number in a phrase
_NUMBER = re.compile(r"\(\\d\+\+\[\.,\]\?\\d\*\+\)|\(\\d\+\[\.,\]\?\\d\*\)")
#: Scripts without spaces between words: a phrase may occur inside a run of letters.
_JOINED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
#: Words with another everyday meaning, and abbreviations that mean something else in other languages.
EXCLUDED = {"mañana", "sebulan", "sehari", "seminggu", "setahun", "# minggu", "# hete", "huom", "wcz", "azi"}
#: Full month names of three letters. Other names this short are abbreviations, which may be words elsewhere
#: ("5 out", "3 ago").
SHORT_MONTHS = {"mai", "maj", "máj", "mei", "май", "мая"}


def _tables(language: str) -> dict[str, Any]:
    tables: dict[str, Any] = importlib.import_module(f"dateparser.data.date_translation_data.{language}").info
    return tables


def _phrases(tables: dict[str, Any]) -> dict[str, tuple[str, int]]:
    """Map each phrase to its unit and step; for a phrase with a number, the step is the direction."""
    found: dict[str, tuple[str, int]] = {}
    for meaning, phrases in tables.get("relative-type", {}).items():
        match = re.fullmatch(r"(?:(in) )?(\d+) (\w+)(?: ago)?", meaning)
        if match and match[3] in UNITS:
            found |= dict.fromkeys(phrases, (match[3], int(match[2]) * (1 if match[1] else -1)))
    for meaning, patterns in tables.get("relative-type-regex", {}).items():
        match = re.fullmatch(r"(?:(in) )?\\1 (\w+)(?: ago)?", meaning)
        if match and match[2] in UNITS:
            phrases = [_NUMBER.sub(COUNT, pattern).replace(r"\s*", " ") for pattern in patterns]
            found |= dict.fromkeys(phrases, (match[2], 1 if match[1] else -1))
    return {" ".join(phrase.lower().split()): meant for phrase, meant in found.items()}


def _is_clear(phrase: str) -> bool:
    """Whether a phrase is plain text and long enough to be unambiguous."""
    words = phrase.replace(COUNT, "").split()
    joined = bool(_JOINED.search(phrase))
    longest = len("".join(words)) if joined else max(map(len, words), default=0)
    plain = not re.search(r"[\\()\[\]|*+?/.]", phrase) and phrase not in EXCLUDED
    return plain and longest >= (2 if joined else 3) and (joined or (bool(words) and len(words[-1]) > 1))


def _months(tables: dict[str, Any]) -> dict[str, int]:
    names = {
        name.lower().rstrip("."): number for number, month in enumerate(MONTHS, 1) for name in tables.get(month, ())
    }
    return {name: number for name, number in names.items() if _is_month_name(name)}


def _is_month_name(name: str) -> bool:
    """Whether a name can be used: spelled in letters, one word, and not an abbreviation."""
    letters = all(letter.isalpha() or unicodedata.combining(letter) or not letter.isascii() for letter in name)
    return letters and (len(name) > 3 or name in SHORT_MONTHS) and not _JOINED.search(name) and " " not in name


def _numbers(tables: dict[str, Any]) -> dict[str, int]:
    pairs = (pair for simple in tables.get("simplifications", ()) for pair in simple.items())
    return {
        word: int(number) for word, number in pairs if word.isalpha() and number.isdigit() and 0 < int(number) <= 12
    }


def _merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge the tables of all languages, without entries on which two languages disagree."""
    merged: dict[str, Any] = {}
    for key, value in (item for part in parts for item in part.items()):
        if merged.setdefault(key, value) != value:
            merged[key] = None
    return {key: value for key, value in sorted(merged.items()) if value is not None}


def main() -> None:
    """Write the file."""
    tables = [_tables(language) for language in LANGUAGES]
    phrases = [{phrase: meant for phrase, meant in _phrases(one).items() if _is_clear(phrase)} for one in tables]
    content = {
        "months": _merged([_months(one) for one in tables]),
        "numbers": _merged([_numbers(one) for one in tables]),
        "phrases": _merged(phrases),
    }
    OUTPUT.write_text(json.dumps(content, ensure_ascii=False, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
