"""Find the statements of a note: sentences or clauses with a set phrase, or the whole text of a declared type."""

from __future__ import annotations

import re

from nur.domain.derivations import Deriver, StatementRow
from nur.domain.notes import Kind, Note, Retention
from nur.domain.statements import KINDS_BY_TRUST, Statement, StatementKind, Trust
from nur.retrieval.statements.phrases import (
    BY_PHRASE,
    INSTRUCTION_CONDITION,
    INSTRUCTION_START,
    NO_IMPERATIVE,
    TRIGGERS,
)
from nur.retrieval.text.analysis import split_words
from nur.retrieval.text.sentences import pieces

#: Characters of a quote. Of a longer sentence, the clauses around the phrase are quoted: people dictate whole
#: paragraphs without a full stop.
MAX_QUOTE_CHARACTERS = 240
MIN_QUOTE_CHARACTERS = 8
MAX_BEFORE = 80  #: characters quoted before the phrase in a long sentence, from the start of a clause
MIN_AFTER = 40  #: characters quoted after the phrase; a clause that ends earlier says too little
MAX_STATEMENTS = 200  #: in one note
#: Longer sentences are cut at clauses, which bounds the time that patterns take on long lines.
MAX_SENTENCE_CHARACTERS = 2_000

#: Not the author's statements: code, quoted mail, links, and what Nur itself put into a conversation.
_SKIPPED = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<nur-memory\b.*?(?:</nur-memory>|\Z)|^[ \t]*>[^\n]*|https?://\S+",
    re.DOTALL | re.MULTILINE,
)
_DIGIT = re.compile(r"\d")
_OPENING = re.compile(r"[\s\-*•+#>\"'“”‘’(\[]*(?:\d{1,3}[.)]\s+)?")
_CLOSING = " \t\r\n\"'“”‘’)]"
#: Where a clause of a long sentence ends.
_CLAUSE_END = re.compile(
    r"[,;:]\s+(?:and|so|but|can|could|how|what|which|considering|given|since|because|here)?\b|[.!?]\s"
)

VERSION = 1

#: Memory types that declare the kind of statement.
_DECLARED = {
    "preference": StatementKind.PREFERENCE,
    "decision": StatementKind.DECISION,
    "project": StatementKind.PROJECT,
}
_ROLES = {"user": Trust.OWNER, "assistant": Trust.ASSISTANT, "system": Trust.DOCUMENT, "tool": Trust.DOCUMENT}


def find_statements(text: str, kinds: frozenset[StatementKind] = frozenset(StatementKind)) -> list[Statement]:
    """The statements of these kinds in a text, in order; at most one per sentence, and 200 in all."""
    prose = _SKIPPED.sub(lambda skipped: " " * (skipped.end() - skipped.start()), text)
    if not _triggered(prose, kinds):
        return []
    statements: list[Statement] = []
    for start, end in pieces(prose, MAX_SENTENCE_CHARACTERS):
        triggered = _triggered(prose[start:end], kinds)
        statement = _statement(prose, start, end, triggered) if triggered else None
        if statement is not None:
            statements.append(statement)
            if len(statements) == MAX_STATEMENTS:
                break
    return statements


def _triggered(text: str, kinds: frozenset[StatementKind]) -> frozenset[StatementKind]:
    """The kinds whose phrases may be in the text, judged by its words alone."""
    words = split_words(text.lower())
    possible = {kind for kind in kinds if kind in TRIGGERS and not TRIGGERS[kind].isdisjoint(words)}
    if StatementKind.VALUE in kinds and _DIGIT.search(text):
        possible.add(StatementKind.VALUE)
    return frozenset(possible)


def whole(text: str, kind: StatementKind) -> list[Statement]:
    """The text as one statement of its declared kind; of a long text, only the beginning is quoted."""
    start, end = _trimmed(text, 0, len(text))
    if end - start > MAX_QUOTE_CHARACTERS:
        first_start, first_end = next(iter(pieces(text[start:end], MAX_QUOTE_CHARACTERS)))
        start, end = _trimmed(text, start + first_start, start + first_end)
    return [Statement(start, end, kind)] if end > start else []


def _statement(text: str, start: int, end: int, kinds: frozenset[StatementKind]) -> Statement | None:
    opening = _OPENING.match(text, start, end)
    start = opening.end() if opening else start
    if StatementKind.INSTRUCTION in kinds and _is_instruction(text, start, end):
        return _quoted(text, start, end, (start, start), StatementKind.INSTRUCTION)
    for kind, pattern in BY_PHRASE:
        match = pattern.search(text, start, end) if kind in kinds else None
        if match is not None and (kind is StatementKind.QUESTION or not _is_asked(text, match.end(), end)):
            return _quoted(text, start, end, match.span(), kind)
    return None


def _is_instruction(text: str, start: int, end: int) -> bool:
    if _is_asked(text, start, end):
        return False
    if INSTRUCTION_START.match(text, start, end):
        return True
    return INSTRUCTION_CONDITION.search(text, start, end) is not None and NO_IMPERATIVE.match(text, start, end) is None


def _is_asked(text: str, start: int, end: int) -> bool:
    """Whether the clause from `start` ends in a question mark; in "I prefer tea, can you get some?" it does not."""
    return _CLAUSE_END.search(text, start, end) is None and text[start:end].rstrip(_CLOSING).endswith("?")


def _quoted(text: str, start: int, end: int, phrase: tuple[int, int], kind: StatementKind) -> Statement | None:
    """The sentence as a statement; of a long one, the clauses around the phrase. None if too short."""
    if end - start > MAX_QUOTE_CHARACTERS:
        start, end = _clauses(text, start, end, phrase)
    start, end = _trimmed(text, start, end)
    return Statement(start, end, kind) if end - start >= MIN_QUOTE_CHARACTERS else None


def _clauses(text: str, start: int, end: int, phrase: tuple[int, int]) -> tuple[int, int]:
    """Range of the clauses around a phrase, at most MAX_QUOTE_CHARACTERS characters."""
    starts = [match.end() for match in _CLAUSE_END.finditer(text, start, phrase[0])]
    start = next((at for at in starts if phrase[0] - at <= MAX_BEFORE), starts[-1] if starts else start)
    ends = (match.start() for match in _CLAUSE_END.finditer(text, phrase[1] + MIN_AFTER, end))
    end = next(ends, end)
    if end - start <= MAX_QUOTE_CHARACTERS:
        return start, end
    blank = text.rfind(" ", phrase[1], start + MAX_QUOTE_CHARACTERS)  # never inside a word
    return start, blank if blank > 0 else min(end, start + MAX_QUOTE_CHARACTERS)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def trust_of(note: Note) -> Trust:
    """Whose words the note contains.

    A document may contain anyone's words, so nothing in it counts as the owner's. The same holds for notes and events
    from another system.
    """
    if note.kind is Kind.TURN:
        return _ROLES.get(note.meta.role or "", Trust.PERSON)
    if note.kind is Kind.ARTIFACT or (note.kind is not Kind.MEMORY and note.meta.source_system):
        return Trust.DOCUMENT
    return Trust.OWNER


def _rows(note: Note, text: str) -> list[StatementRow]:
    trust = trust_of(note)
    speaker = note.meta.author or note.meta.role or ""
    return [
        StatementRow(one.start_char, one.end_char, one.kind.value, trust.value, speaker)
        for one in _statements(note, text, KINDS_BY_TRUST[trust])
    ]


def _statements(note: Note, text: str, kinds: frozenset[StatementKind]) -> list[Statement]:
    statements = find_statements(text, kinds)
    if any(one.kind is StatementKind.INSTRUCTION for one in statements):
        return statements
    declared = _DECLARED.get(note.meta.type or "") if note.kind is Kind.MEMORY else None
    if declared is None and note.meta.retention is Retention.UNTIL_RESOLVED:
        declared = StatementKind.QUESTION
    return statements if declared is None else whole(text, declared)


STATEMENTS = Deriver("note_statements", VERSION, _rows)
