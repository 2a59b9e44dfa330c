"""Find the messages of an email: one section per reply, forwarded message and quotation depth."""

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
_MAX_LINE_CHARACTERS = 400


def _opens_headers(mail: Sequence[Line], at: int) -> bool:
    """Whether a block of message headers begins here: a From, and another header within two lines."""
    match = _HEADER.match(mail[at].text)
    if match is None or match.group(1).lower() not in ("from", "von", "de"):
        return False
    return any(_HEADER.match(line.text) for line in mail[at + 1 : at + 3])


def _attributes(mail: Sequence[Line], at: int) -> bool:
    """Whether "On such a day, someone wrote:" begins here; it may be wrapped over two lines."""
    heads = [line.text[:_MAX_LINE_CHARACTERS] for line in mail[at : at + 2]]
    return _ATTRIBUTION_HEAD.match(heads[0]) is not None and any(_ATTRIBUTION_TAIL.match(head) for head in heads)


def _label(mail: Sequence[Line], at: int) -> str | None:
    """Label of the message that begins with this line; None if none does."""
    head = mail[at].text[:_MAX_LINE_CHARACTERS]
    if _attributes(mail, at) or _SEPARATOR.match(head):
        return clip(head.strip().strip("-_ :"))
    if _opens_headers(mail, at) and (at == 0 or not _SEPARATOR.match(mail[at - 1].text[:_MAX_LINE_CHARACTERS])):
        return clip(head)
    return None


def _depth(line: str) -> int:
    """Quotation depth: the number of leading `>`."""
    match = _QUOTE.match(line)
    return 0 if match is None else match.group().count(">")


def _subject(mail: Sequence[Line]) -> tuple[str, ...]:
    """The subject of the message's own headers, if it has any."""
    for line in mail[:30]:
        match = _HEADER.match(line.text)
        if match is not None and match.group(1).lower() in ("subject", "betreff"):
            return (clip(match.group(2)),)
        if not line.text.strip():
            break
    return ()


def sections(text: str) -> list[Section]:
    """One section per message or quotation depth; its path is the subject and the label of what is quoted."""
    mail = list(lines(text))
    subject = _subject(mail)
    starts: list[tuple[int, tuple[str, ...]]] = [(0, subject)]
    depth, label = 0, ""
    for at, line in enumerate(mail):
        if not line.text.strip():
            continue
        new_label, new_depth = (_label(mail, at) if at else None), _depth(line.text)
        if new_label is not None:
            label = new_label
        elif new_depth == depth:
            continue
        elif new_depth == 0:
            label = ""  # a reply between or below the quotations
        depth = new_depth
        starts.append((line.start, (*subject, label) if label else subject))
    return partition(starts, len(text))


def looks_like(text: str) -> bool:
    """Whether the text begins with message headers, or has a quotation with its author."""
    mail = sample(text)
    if mail and sum(_HEADER.match(line.text) is not None for line in mail[:8]) >= 2:
        return True
    quoted = sum(_depth(line.text) > 0 for line in mail)
    return quoted >= 2 and any(_attributes(mail, at) for at in range(len(mail)))
