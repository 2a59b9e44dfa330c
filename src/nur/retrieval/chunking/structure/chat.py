"""Find the turns of chats and transcripts: one section per turn."""

from __future__ import annotations

import re
from collections import Counter

from nur.retrieval.chunking.structure.sections import Line, Section, clip, lines, partition, sample

_TIME = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?(?: ?[AaPp]\.?[Mm]\.?)?"
_STAMP = rf"[\[(]?(?:\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}},?[ T]{{1,2}})?{_TIME}Z?[\])]?"
_NAME = r"[^\W\d_][\w.'’&@+-]{0,30}(?: [\w.'’&@+-]{1,30}){0,3}"
_SAID = re.compile(
    rf"(?:[-*] )?(?:{_STAMP}[ \t]{{0,3}}(?:[-–—] )?)?"
    rf"(?:[*_]{{0,2}}({_NAME})[*_]{{0,2}}(?:[ \t]{{0,2}}(?:{_STAMP}|\([^()\n]{{1,30}}\)))?[ \t]?"
    r"(?::[*_]{0,2}(?=\s|$)|：)|<[@+%]?([\w\[\]`^|-]{1,32})> )"
)
_NAME_AND_TIME = re.compile(rf"({_NAME})[ \t]{{1,8}}{_STAMP}\s*$")
_MAX_LINE_CHARACTERS = 200
_TURN_SHARE = 0.4


def _speaker(line: Line) -> str | None:
    """The speaker whose turn begins with this line; None if no turn does."""
    head = line.text[:_MAX_LINE_CHARACTERS]
    match = _SAID.match(head) or _NAME_AND_TIME.match(head)
    return None if match is None else clip(next(filter(None, match.groups()), ""))


def _turns(spoken: list[tuple[Line, str | None]]) -> list[tuple[int, str]]:
    """Start and speaker of each turn. If others speak again, a "speaker" of one line is just a word with a colon."""
    turns_of = Counter(speaker for _, speaker in spoken if speaker)
    returning = {speaker for speaker, turns in turns_of.items() if turns > 1}
    speakers = returning or set(turns_of)
    return [(line.start, speaker) for line, speaker in spoken if speaker in speakers and speaker]


def sections(text: str) -> list[Section]:
    """One section per turn; its path is the speaker."""
    turns = _turns([(line, _speaker(line)) for line in lines(text)])
    return partition([(start, (speaker,)) for start, speaker in turns], len(text))


def looks_like(text: str) -> bool:
    """Whether at least two speakers take turns, in a large share of the lines."""
    sampled = sample(text)
    turns = _turns([(line, _speaker(line)) for line in sampled])
    speakers = {speaker for _, speaker in turns}
    return len(speakers) >= 2 and len(turns) >= max(4, 2 * len(speakers), _TURN_SHARE * len(sampled))
