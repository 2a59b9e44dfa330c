"""Statements: spans of a note that state an instruction, preference, decision, project, open question or value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.notes import NoteId


class StatementKind(StrEnum):
    """What a statement expresses."""

    INSTRUCTION = "instruction"  #: how the agent should work from now on
    PREFERENCE = "preference"
    DECISION = "decision"
    PROJECT = "project"  #: what is being worked on
    QUESTION = "question"  #: an open question, task or decision
    VALUE = "value"  #: a measurable value that may change: a price, a number, a version


class Trust(StrEnum):
    """Who made a statement."""

    OWNER = "owner"  #: the person the memory belongs to
    PERSON = "person"  #: somebody else in a conversation
    ASSISTANT = "assistant"
    DOCUMENT = "document"  #: a file, a mail, a page: anyone may have written it


#: Kinds of statements accepted from each source. Only the owner can instruct the agent: "always …" in a document or
#: in an assistant's turn is ignored.
KINDS_BY_TRUST = {
    Trust.OWNER: frozenset(StatementKind),
    Trust.PERSON: frozenset({StatementKind.DECISION, StatementKind.QUESTION, StatementKind.VALUE}),
    Trust.ASSISTANT: frozenset({StatementKind.DECISION, StatementKind.QUESTION}),
    Trust.DOCUMENT: frozenset({StatementKind.DECISION, StatementKind.QUESTION}),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A span of a text, `text[start_char:end_char]`, and what kind of statement it makes."""

    start_char: int
    end_char: int
    kind: StatementKind


@dataclass(frozen=True, slots=True)
class StatedQuote:
    """A stored statement with the note it is quoted from."""

    kind: StatementKind
    trust: Trust
    speaker: str  #: a role or a name; "" if unknown
    quote: str
    note_id: NoteId
    public_id: str
    said_at: datetime  #: UTC
