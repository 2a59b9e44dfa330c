"""Show hits as of an earlier moment: with the text that each note had then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nur.domain.search import Passage
from nur.retrieval.currency.utterances import covered_share, term_shares
from nur.retrieval.pieces.atoms import find_atoms

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from nur.domain.archive import NoteVersion
    from nur.domain.notes import Note
    from nur.domain.search import Hit
    from nur.ports.archive import Archive
    from nur.retrieval.currency.utterances import Shares
    from nur.retrieval.ranking.queries import WeightedTerms

#: Most characters shown of an earlier text, from the sentence with most of the question's words on.
SHOWN = 600


@dataclass(frozen=True, slots=True)
class AsKnown:
    """Replaces current texts by earlier ones. Ranking used the current texts."""

    archive: Archive

    async def __call__(self, hits: Iterable[Hit], moment: datetime, terms: WeightedTerms, *, whole: bool) -> list[Hit]:
        """The hits as of `moment`, with full texts if `whole`; without hits whose earlier text is no longer stored."""
        shares = term_shares(terms)
        shown = []
        for hit in hits:
            if not hit.note.changed_since(moment):
                shown.append(hit)
            elif (version := await self._version(hit.note, moment)) is not None:
                shown.append(_as_it_was(hit, version, shares, whole=whole))
        return shown

    async def _version(self, note: Note, moment: datetime) -> NoteVersion | None:
        """The version of the note at that moment; None if it is no longer stored."""
        later = [one.version for one in await self.archive.versions(note.note_id) if one.replaced_at > moment]
        return await self.archive.version(note.note_id, min(later)) if later else None


def _as_it_was(hit: Hit, version: NoteVersion, shares: Shares, *, whole: bool) -> Hit:
    text = version.text
    passage = Passage(text, 0, len(text), hit.score) if len(text) <= SHOWN else _best(text, shares, hit.score)
    note = replace(hit.note, version=version.version, meta=replace(hit.note.meta, title=version.title))
    return replace(hit, note=note, passages=(passage,), expanded=None, text=text if whole else None)


def _best(text: str, shares: Shares, score: float) -> Passage:
    atoms = find_atoms(text)
    start = max(atoms, key=lambda one: covered_share(text[one.start : one.end], shares)).start if atoms else 0
    ends = [one.end for one in atoms if start < one.end <= start + SHOWN]
    end = max(ends, default=min(len(text), start + SHOWN))
    return Passage(text[start:end], start, end, score)
