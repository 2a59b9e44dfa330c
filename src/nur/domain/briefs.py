"""Briefs: a few dated quotes from memory that an agent reads before its first task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from nur.domain.access import Caller

DEFAULT_TOKENS = 800
MIN_TOKENS, MAX_TOKENS = 100, 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefRequest:
    """The caller, topic and size limit of a brief."""

    caller: Caller
    project: str | None = None  #: notes of this project and notes without a project; None: all notes
    conversation_id: str | None = None  #: turns of this conversation only
    query: str | None = None  #: adds passages about this topic
    max_tokens: int = DEFAULT_TOKENS
    instructions_only: bool = False
    include_sensitive: bool = False


@dataclass(frozen=True, slots=True)
class BriefLine:
    """One quote from a note."""

    quote: str  #: without line breaks
    public_id: str
    day: date  #: the day it was said; for a dated statement, the date it names

    def __str__(self) -> str:
        """The line as it appears in the brief."""
        return f"- {self.quote} [{self.day}, {self.public_id}]"


@dataclass(frozen=True, slots=True)
class BriefSection:
    """Quotes of one kind, under a title."""

    title: str
    lines: tuple[BriefLine, ...]


@dataclass(frozen=True, slots=True)
class Brief:
    """A brief that fits its token budget."""

    text: str
    sections: tuple[BriefSection, ...]
    tokens: int  #: token count of `text`
    left_out: int  #: quotes that did not fit
