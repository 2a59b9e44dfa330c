"""Statements: spans of a note that say what its owner wants, prefers, decided or still has to settle."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.notes import NoteId


class StatementKind(StrEnum):
    """What a statement is."""

    INSTRUCTION = "instruction"  #: how the agent should work from now on
    PREFERENCE = "preference"
    DECISION = "decision"
    PROJECT = "project"  #: what is being worked on
    QUESTION = "question"  #: still open: a question, a task, a decision to make
    VALUE = "value"  #: something measurable that may change: a price, a number, a version


class Trust(StrEnum):
    """Whose words a statement is made of."""

    OWNER = "owner"  #: who the memory belongs to
    PERSON = "person"  #: somebody else in a conversation
    ASSISTANT = "assistant"
    DOCUMENT = "document"  #: a file, a mail, a page: anybody may have written it


#: What each may state. Only the owner can tell the agent how to work: a document or an assistant's turn that says
#: "always …" states nothing.
KINDS_BY_TRUST = {
    Trust.OWNER: frozenset(StatementKind),
    Trust.PERSON: frozenset({StatementKind.DECISION, StatementKind.QUESTION, StatementKind.VALUE}),
    Trust.ASSISTANT: frozenset({StatementKind.DECISION, StatementKind.QUESTION}),
    Trust.DOCUMENT: frozenset({StatementKind.DECISION, StatementKind.QUESTION}),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A span of a text: `text[start_char:end_char]` states something of this kind."""

    start_char: int
    end_char: int
    kind: StatementKind


@dataclass(frozen=True, slots=True)
class StatedQuote:
    """A statement as it is read back, with the note that it is quoted from."""

    kind: StatementKind
    trust: Trust
    speaker: str  #: a role or a name; "" where nobody is named
    quote: str
    note_id: NoteId
    public_id: str
    said_at: datetime  #: UTC
