"""The deriver of statements: what a note's own words, or its type, declare."""

from __future__ import annotations

from nur.domain.derivations import Deriver, StatementRow
from nur.domain.notes import Kind, Note, Retention
from nur.domain.statements import KINDS_BY_TRUST, Statement, StatementKind, Trust
from nur.retrieval.statements.find import find_statements, whole

VERSION = 1

#: Memory types that say what the memory is.
_DECLARED = {
    "preference": StatementKind.PREFERENCE,
    "decision": StatementKind.DECISION,
    "project": StatementKind.PROJECT,
}
_ROLES = {"user": Trust.OWNER, "assistant": Trust.ASSISTANT, "system": Trust.DOCUMENT, "tool": Trust.DOCUMENT}


def trust_of(note: Note) -> Trust:
    """Whose words the note is made of.

    A document may hold anybody's words, so nothing in it counts as the owner's. What came from another system is no
    better, whatever its kind.
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
    found = find_statements(text, kinds)
    if any(one.kind is StatementKind.INSTRUCTION for one in found):
        return found
    declared = _DECLARED.get(note.meta.type or "") if note.kind is Kind.MEMORY else None
    if declared is None and note.meta.retention is Retention.UNTIL_RESOLVED:
        declared = StatementKind.QUESTION
    return found if declared is None else whole(text, declared)


STATEMENTS = Deriver("note_statements", VERSION, _rows)
