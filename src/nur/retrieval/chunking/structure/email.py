"""Email: one section per reply, forwarded message and depth of quotation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nur.retrieval.chunking.structure.sections import Line, Section, clip, lines, partition, sample

if TYPE_CHECKING:
    from collections.abc import Sequence

_WROTE = r"\b(?:wrote|schrieb|a écrit|escribió|ha scritto|escreveu|schreef|skrev)\b"
_ATTRIBUTION_HEAD = re.compile(r"(?:On|Am|Le|El|Il|Em|Op|Den)\s.{1,300}$")
_ATTRIBUTION_TAIL = re.compile(rf".{{0,300}}{_WROTE}.{{0,80}}:\s*$")
_SEPARATOR = re.compile(r"-{2,40} ?[^-\n]{3,60}? ?-{2,40}\s*$|Begin forwarded message:\s*$|_{10,200}\s*$")
_HEADER = re.compile(r"\*?(From|Von|De|To|An|Cc|Bcc|Sent|Gesendet|Date|Datum|Subject|Betreff)\*?: ?(.*)", re.IGNORECASE)
_QUOTE = re.compile(r"(?:[ \t]?>){1,32}")
_LONGEST_LOOKED_AT = 400


def _opens_headers(here: Sequence[Line], at: int) -> bool:
    """Whether a block of message headers begins: a From, and another within two lines."""
    match = _HEADER.match(here[at].text)
    if match is None or match.group(1).lower() not in ("from", "von", "de"):
        return False
    return any(_HEADER.match(line.text) for line in here[at + 1 : at + 3])


def _attributes(here: Sequence[Line], at: int) -> bool:
    """Whether "On such a day, someone wrote:" begins; mail programs wrap it."""
    heads = [line.text[:_LONGEST_LOOKED_AT] for line in here[at : at + 2]]
    return _ATTRIBUTION_HEAD.match(heads[0]) is not None and any(_ATTRIBUTION_TAIL.match(head) for head in heads)


def _label(here: Sequence[Line], at: int) -> str | None:
    """What the message that begins with this line is called; None if none begins."""
    head = here[at].text[:_LONGEST_LOOKED_AT]
    if _attributes(here, at) or _SEPARATOR.match(head):
        return clip(head.strip().strip("-_ :"))
    if _opens_headers(here, at) and (at == 0 or not _SEPARATOR.match(here[at - 1].text[:_LONGEST_LOOKED_AT])):
        return clip(head)
    return None


def _depth(line: str) -> int:
    match = _QUOTE.match(line)
    return 0 if match is None else match.group().count(">")


def _subject(here: Sequence[Line]) -> tuple[str, ...]:
    """The subject of the message's own headers, if it has any."""
    for line in here[:30]:
        match = _HEADER.match(line.text)
        if match is not None and match.group(1).lower() in ("subject", "betreff"):
            return (clip(match.group(2)),)
        if not line.text.strip():
            break
    return ()


def sections(text: str) -> list[Section]:
    """A section a message or depth of quotation; its path the subject, and who is quoted."""
    here = list(lines(text))
    subject = _subject(here)
    starts: list[tuple[int, tuple[str, ...]]] = [(0, subject)]
    depth, label = 0, ""
    for at, line in enumerate(here):
        if not line.text.strip():
            continue
        new_label, new_depth = (_label(here, at) if at else None), _depth(line.text)
        if new_label is not None:
            label = new_label
        elif new_depth == depth:
            continue
        elif new_depth == 0:
            label = ""  # an answer between or below the quotations
        depth = new_depth
        starts.append((line.start, (*subject, label) if label else subject))
    return partition(starts, len(text))


def looks_like(text: str) -> bool:
    """Whether it begins with message headers, or attributes a quotation."""
    here = sample(text)
    if here and sum(_HEADER.match(line.text) is not None for line in here[:8]) >= 2:
        return True
    quoted = sum(_depth(line.text) > 0 for line in here)
    return quoted >= 2 and any(_attributes(here, at) for at in range(len(here)))
