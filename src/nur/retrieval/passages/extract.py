"""The few sentences that answer, instead of the head of a chunk.

Around the best atom a passage grows, atom by atom; then around the best of those left, until the budget is spent.
Passages that touch become one. Each begins and ends with a whole sentence, row or line.

How much of the budget a note has follows from how its score compares with the best one's: a note that leads has nearly
all of it (three long documents: one passage per note .55 span_recall@2000c, the best of all .87), and notes that score
alike share it, so that one long document does not fill an answer that another one has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.retrieval.passages.atoms import gather

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nur.retrieval.passages.atoms import Atoms, PassageNote
    from nur.retrieval.ranking.queries import WeighedTerms


OWN_WEIGHT, WIDE_WEIGHT, PIECE_WEIGHT = 1.6, 2.0, 0.5
PIECE_WEIGHT_WITHOUT_WORDS = 4.0
ENOUGH_WORDS = 0.4
"""Where no piece matches this share of the question, words tell little, and the piece's score, which knows its meaning,
counts for more: everyday span_recall@2000c .37 → .39, with what long chunks gain."""

OWN_CONTEXT = (0.3, 0.2, 0.1)
WIDE_CONTEXT = tuple(1 - distance / 25 for distance in range(1, 25))
"""What a term counts that stands one, two, three … atoms away."""

K1 = 1.2
B = 0.75

MAX_CHARS = 2000

FIRST_PASSAGE = 600
NEXT_PASSAGES = 300
"""Characters a passage grows to, unless it meets another. 400 to 900 and 250 to 400: within a point on every set."""

SPREAD = 0.05
"""A note that is this far behind the best one, on the scale of scores, has 1/e of its share of the budget."""

LEAST_SHARE = 0.05
"""A note whose share would be a smaller part of the best note's has none."""


def score(atoms: Atoms, terms: WeighedTerms, best_lexical: float) -> NDArray[np.float64]:
    """Each atom's score; only comparable within one search. `best_lexical` is the best hit's lexical share."""
    number = len(atoms)
    containing = (atoms.counts > 0).sum(axis=0)
    rarity = np.log(1 + (number - containing + 0.5) / (containing + 0.5))
    local = np.where(containing > 0, terms.importance * rarity, 0.0)
    own = _matched(atoms, OWN_CONTEXT, local, float(local.sum()))
    wide = _matched(atoms, WIDE_CONTEXT, terms.weights, terms.total)
    piece_weight = PIECE_WEIGHT + PIECE_WEIGHT_WITHOUT_WORDS * max(0.0, 1 - best_lexical / ENOUGH_WORDS)
    scores: NDArray[np.float64] = OWN_WEIGHT * own + WIDE_WEIGHT * wide + piece_weight * atoms.piece_scores
    return scores


def _matched(atoms: Atoms, context: Sequence[float], weights: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """BM25F over each atom and those around it, as a share of ``total``."""
    occurring = np.flatnonzero(atoms.counts.any(axis=0))
    table = np.column_stack([atoms.counts[:, occurring], atoms.words, np.ones(len(atoms))])
    table = _with_context(table, atoms.runs, context)
    counts, words, share = table[:, :-2], table[:, -2], table[:, -1]
    average = max(float(atoms.words.mean()), 1.0)
    saturation = K1 * (1 - B + B * words / (average * share))
    matched: NDArray[np.float64] = counts / (counts + saturation[:, None]) @ weights[occurring]
    return matched / (total or 1.0)


def _with_context(
    values: NDArray[np.float64], runs: NDArray[np.int64], context: Sequence[float]
) -> NDArray[np.float64]:
    """Each row plus its neighbours' in the same run, weighted by distance."""
    # Empty rows between the runs, as many as the context is wide, let one pass serve all of them.
    reach = len(context)
    places = np.arange(runs.size) + reach * (1 + np.cumsum(np.diff(runs, prepend=runs[0]) != 0))
    padded = np.zeros((int(places[-1]) + reach + 1, values.shape[1]))
    padded[places] = values
    total = padded.copy()
    for distance, weight in enumerate(context, start=1):
        share = weight * padded
        total[distance:] += share[:-distance]
        total[:-distance] += share[distance:]
    gathered: NDArray[np.float64] = total[places]
    return gathered


@dataclass(frozen=True, slots=True)
class ExtractedPassage:
    """A few sentences of a note: ``text == note_text[start:end]``."""

    note: str
    start: int
    end: int
    text: str
    score: float  #: comparable within one search only


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Atoms ``first`` to ``last``, both included."""

    first: int
    last: int
    score: float


def extract(
    notes: Sequence[PassageNote], terms: WeighedTerms, *, best_lexical: float, max_chars: int = MAX_CHARS
) -> dict[str, list[ExtractedPassage]]:
    """The best passages of all notes, by name, each note's best first; together about ``max_chars`` characters.

    ``best_lexical`` is the largest share of the question that any candidate matches.
    """
    atoms = gather(notes, terms)
    if not len(atoms):
        return {}
    scores = score(atoms, terms, best_lexical)
    growing = _Growing(atoms, scores, _budgets(notes, max_chars))
    seeds = [*_firsts(notes, atoms, scores), *np.argsort(-scores, kind="stable").tolist()]
    stretches = _merged(growing.choose(seeds), atoms.runs)
    found: dict[str, list[ExtractedPassage]] = {}
    for stretch in sorted(stretches, key=lambda one: -one.score):
        passage = _read(notes, atoms, stretch)
        if passage.text:
            found.setdefault(passage.note, []).append(passage)
    return found


def _budgets(notes: Sequence[PassageNote], max_chars: int) -> list[int]:
    """The characters that each note may show."""
    scores = np.array([note.score for note in notes])
    shares = np.exp((scores - scores.max()) / SPREAD)
    shares[shares < LEAST_SHARE] = 0.0
    budgets: list[int] = np.ceil(max_chars * shares / shares.sum()).astype(int).tolist()
    return budgets


def _firsts(notes: Sequence[PassageNote], atoms: Atoms, scores: NDArray[np.float64]) -> list[int]:
    """The best atom in the best piece of each note, best note first: what made the note a hit is shown."""
    found = []
    for number in sorted(range(len(notes)), key=lambda number: -notes[number].score):
        own = np.flatnonzero(atoms.notes == number)
        if own.size:
            best = own[atoms.piece_scores[own] == atoms.piece_scores[own].max()]
            found.append(int(best[np.argmax(scores[best])]))
    return found


class _Growing:
    """Passages that grow around atoms, none of which is used twice."""

    def __init__(self, atoms: Atoms, scores: NDArray[np.float64], budgets: Sequence[int]) -> None:
        self._sizes: list[int] = (atoms.ends - atoms.starts).tolist()
        self._notes: list[int] = atoms.notes.tolist()
        self._runs: list[int] = atoms.runs.tolist()
        self._points: list[float] = scores.tolist()
        self._free = [True] * len(self._sizes)
        self._left = list(budgets)  #: characters, by note

    def choose(self, seeds: Sequence[int]) -> list[_Stretch]:
        """Grow passages around the seeds, in their order, until each note's budget is spent."""
        chosen: list[_Stretch] = []
        shown: set[int] = set()
        for seed in seeds:
            note = self._notes[seed]
            left, is_first = self._left[note], note not in shown
            if not self._free[seed] or left <= 0 or (self._sizes[seed] > left and not is_first):
                continue
            first, last = self._grown(seed, min(FIRST_PASSAGE if is_first else NEXT_PASSAGES, left))
            self._left[note] -= sum(self._sizes[first : last + 1])
            shown.add(note)
            chosen.append(_Stretch(first, last, self._points[seed]))
        return chosen

    def _grown(self, seed: int, wanted: int) -> tuple[int, int]:
        """The first and last atom of a passage of about so many characters; both and all between are now used."""
        first = last = seed
        size = self._sizes[seed]
        while size < wanted:
            beside = [at for at in (first - 1, last + 1) if self._can_take(at, seed)]
            if not beside:
                break
            best = max(beside, key=lambda at: self._points[at])
            size += self._sizes[best]
            if size > wanted:
                break
            first, last = min(first, best), max(last, best)
        self._free[first : last + 1] = [False] * (last + 1 - first)
        return first, last

    def _can_take(self, at: int, seed: int) -> bool:
        return 0 <= at < len(self._sizes) and self._free[at] and self._runs[at] == self._runs[seed]


def _merged(chosen: Sequence[_Stretch], runs: NDArray[np.int64]) -> list[_Stretch]:
    """Make one of passages that touch: fewer and longer ones are found sooner (passage_hit@1 .57 → .65)."""
    merged: list[_Stretch] = []
    for stretch in sorted(chosen, key=lambda stretch: stretch.first):
        before = merged[-1] if merged else None
        if before is not None and before.last + 1 == stretch.first and runs[before.last] == runs[stretch.first]:
            merged[-1] = _Stretch(before.first, stretch.last, max(before.score, stretch.score))
        else:
            merged.append(stretch)
    return merged


def _read(notes: Sequence[PassageNote], atoms: Atoms, stretch: _Stretch) -> ExtractedPassage:
    """The passage's text, without white space at either end."""
    note = notes[int(atoms.notes[stretch.first])]
    start, end = int(atoms.starts[stretch.first]), int(atoms.ends[stretch.last])
    text = note.read(start, end)
    start += len(text) - len(text.lstrip())
    text = text.strip()
    return ExtractedPassage(note.name, start, start + len(text), text, stretch.score)
