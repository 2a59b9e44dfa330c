"""Briefs: what an agent should know before anybody asks, in a few quotes with dates and ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from nur.domain.access import Caller

DEFAULT_TOKENS = 800
LEAST_TOKENS, MOST_TOKENS = 100, 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefRequest:
    """Whose brief, about what, and how long it may be."""

    caller: Caller
    project: str | None = None  #: notes of this project and of none; None: everything
    conversation_id: str | None = None  #: turns of this conversation only
    query: str | None = None  #: passages about it are added
    max_tokens: int = DEFAULT_TOKENS
    instructions_only: bool = False
    include_sensitive: bool = False


@dataclass(frozen=True, slots=True)
class BriefLine:
    """One quote."""

    quote: str  #: on one line
    public_id: str
    day: date  #: when it was said; of a dated thing, the day itself

    def __str__(self) -> str:
        """As it stands in the text."""
        return f"- {self.quote} [{self.day}, {self.public_id}]"


@dataclass(frozen=True, slots=True)
class BriefSection:
    """Quotes of one sort."""

    title: str
    lines: tuple[BriefLine, ...]


@dataclass(frozen=True, slots=True)
class Brief:
    """A brief whose text fits its budget."""

    text: str
    sections: tuple[BriefSection, ...]
    tokens: int  #: of the text
    left_out: int  #: quotes that did not fit
