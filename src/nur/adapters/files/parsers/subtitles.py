"""Subtitles (SubRip, WebVTT): converts cues to paragraphs with times and speakers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING

from nur.adapters.files.chats import paragraph
from nur.adapters.files.source import TextBuilder
from nur.domain.documents import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nur.adapters.files.source import SourceFile

_CUE = re.compile(r"(?:(\d{1,3}):)?(\d{2}):(\d{2})[.,](\d{1,3})\s+-->\s+(?:(\d{1,3}):)?(\d{2}):(\d{2})[.,](\d{1,3})")
_VOICE = re.compile(r"<v(?:\.[\w.-]{1,60})?\s+([^>]{1,80})>")
_NAMED = re.compile(r"(?:>>\s*)?([A-ZÀ-Þ][\w.'’ -]{0,30}): (.+)", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z0-9.][^<>]{0,80}>|\{\\[^{}]{0,80}\}")
#: A paragraph ends at a pause this long, or at the end of a sentence once it has this many characters.
_PAUSE_SECONDS = 3.0
_LONG_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class _Cue:
    start: float  #: seconds
    end: float
    speaker: str
    text: str


def parse(file: SourceFile) -> Iterator[Document]:
    """One transcript."""
    builder, speakers = TextBuilder(), []
    for cues in _paragraphs(_cues(file.text())):
        stamp, text = _stamp(cues[0].start), " ".join(cue.text for cue in cues)
        if cues[0].speaker:
            speakers.append(cues[0].speaker)
            builder.add(paragraph(cues[0].speaker, text, stamp))
        else:
            builder.add(stamp + text)
    yield Document(text=builder.text, type="transcript", title=file.stem, participants=tuple(dict.fromkeys(speakers)))


def _cues(text: str) -> Iterator[_Cue]:
    """The cues in order, without the numbers, notes and styles between them."""
    times: re.Match[str] | None = None
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        match = _CUE.match(line.strip())
        if match is not None or not line.strip():
            if times is not None and lines:
                yield _cue(times, " ".join(lines))
            times, lines = match, []
        elif times is not None:
            lines.append(line.strip())


def _cue(times: re.Match[str], text: str) -> _Cue:
    voice = _VOICE.search(text)
    plain = " ".join(unescape(_TAG.sub("", text)).split())
    named = None if voice else _NAMED.match(plain)
    speaker = voice[1].strip() if voice else named[1] if named else ""
    return _Cue(_seconds(times, 1), _seconds(times, 5), speaker, named[2] if named else plain)


def _seconds(times: re.Match[str], first: int) -> float:
    hours, minutes, seconds = (int(times[first + place] or 0) for place in range(3))
    return hours * 3600 + minutes * 60 + seconds + float(f"0.{times[first + 3]}")


def _paragraphs(cues: Iterator[_Cue]) -> Iterator[list[_Cue]]:
    """Group cues into paragraphs: one speaker, no pause, limited length."""
    open_: list[_Cue] = []
    for cue in cues:
        if open_ and _ends(open_, cue):
            yield open_
            open_ = []
        open_.append(cue)
    if open_:
        yield open_


def _ends(cues: list[_Cue], following: _Cue) -> bool:
    length = sum(len(cue.text) for cue in cues)
    is_sentence = cues[-1].text.endswith((".", "?", "!", "…", "。"))
    paused = following.start - cues[-1].end > _PAUSE_SECONDS
    speaker_changes = following.speaker not in ("", cues[0].speaker)
    return speaker_changes or paused or (length > _LONG_CHARACTERS and is_sentence) or length > 3 * _LONG_CHARACTERS


def _stamp(seconds: float) -> str:
    whole = int(seconds)
    return f"[{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}] "
