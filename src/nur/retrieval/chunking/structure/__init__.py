"""The `structure` policy: chunks that follow the author's own sections.

Sections do not overlap, whatever the policy's overlap: a reply, a chapter or a function is complete in itself. Only a
section that is too long for one chunk is cut into overlapping chunks: between sentences (code: between lines), or
anywhere if even those are too long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nur.retrieval.chunking.packing import Breaks, ChunkSpan, pack
from nur.retrieval.chunking.structure import chat, code, email, markdown
from nur.retrieval.chunking.structure.sections import Section
from nur.retrieval.text import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nur.retrieval.chunking.policy import ChunkingPolicy
    from nur.retrieval.text.tokens import Tokens

_PATH_SEPARATOR = " > "


class _Format(NamedTuple):
    sections: Callable[[str], list[Section]]
    looks_like: Callable[[str], bool]
    pieces: Callable[[str], list[tuple[int, int]]]  #: ranges between which a section that is too long is cut


_EMAIL = _Format(email.sections, email.looks_like, sentences.split)
_MARKDOWN = _Format(markdown.sections, markdown.looks_like, sentences.split)
_CHAT = _Format(chat.sections, chat.looks_like, sentences.split)
_CODE = _Format(code.sections, code.looks_like, code.line_ranges)
_BY_TYPE = {"email": _EMAIL, "chat": _CHAT, "transcript": _CHAT}
# Code first: its comments look like Markdown headings, its labels like speakers.
_BY_LOOKS = (_CODE, _EMAIL, _MARKDOWN, _CHAT)


def _sections(text: str, artifact_type: str | None) -> tuple[list[Section], _Format]:
    """The sections by the artifact's declared type or, if that finds none, by what the text looks like."""
    declared = _BY_TYPE.get(artifact_type or "")
    if declared is not None and len(sections := declared.sections(text)) > 1:
        return sections, declared
    for form in _BY_LOOKS:
        if form.looks_like(text):
            return form.sections(text), form
    return [Section(0, len(text))], _MARKDOWN


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """The common prefix of two paths."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return one[:shared]


def _merged(sections: list[Section], tokens: Tokens, target: int) -> Iterator[Section]:
    """Sections, with adjacent ones joined while they fit into one chunk."""
    firsts, afters = tokens.extents([sections[0].start, *(section.end for section in sections)])
    joined, first = sections[0], firsts[0]
    for section, section_first, after in zip(sections[1:], firsts[1:], afters[1:], strict=True):
        if after - first <= target:
            joined = Section(joined.start, section.end, _common(joined.path, section.path))
        else:
            yield joined
            joined, first = section, section_first
    yield joined


def structured_chunks(
    text: str, tokens: Tokens, policy: ChunkingPolicy, artifact_type: str | None = None
) -> Iterator[ChunkSpan]:
    """Chunks of whole sections; `context` is the path of headings above all of a chunk."""
    sections, form = _sections(text, artifact_type)
    for section in _merged(sections, tokens, policy.target):
        start, end, context = section.start, section.end, _PATH_SEPARATOR.join(filter(None, section.path))
        if tokens.touching(start, end) <= policy.target:
            yield ChunkSpan(start, end, context)
            continue
        marks = [start, *(start + piece_end for _, piece_end in form.pieces(text[start:end]))]
        for span in pack(tokens, Breaks.between(marks, tokens, policy.target), policy.target, policy.overlap):
            yield span._replace(context=context)
