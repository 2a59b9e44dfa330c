"""Make a brief: instructions, preferences, decisions, recent changes, open questions and upcoming dates."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from nur.domain.briefs import BriefLine
from nur.domain.filters import NoteFilter
from nur.domain.notes import Sensitivity
from nur.domain.search import SearchRequest
from nur.domain.statements import StatementKind
from nur.domain.times import day_of
from nur.ports.briefs import BriefQuery
from nur.retrieval.brief import OfferedSection, compose, one_line
from nur.retrieval.text.sentences import split

if TYPE_CHECKING:
    from datetime import datetime

    from nur.domain.briefs import Brief, BriefRequest
    from nur.domain.filters import PrivacyFilter
    from nur.domain.search import Hit
    from nur.domain.times import Zone
    from nur.ports.briefs import BriefMaterial, BriefStore, NamedDay
    from nur.ports.clock import Clock
    from nur.services.search.search import Search

CHANGED_DAYS = 7
UPCOMING_DAYS = 30
MAX_PER_SECTION = 40
EXCERPT = 600  #: characters read from a note's text
PASSAGES = 5
#: Hits below this share of the best hit's score are left out.
MIN_OF_BEST = 0.5
#: Share of the token budget for a query's passages; the other sections share the rest in proportion.
PASSAGES_SHARE = 0.4
#: Maximum age of a cached brief. Writes invalidate it at once; rows that the worker derives later do not.
CACHE_SECONDS = 30.0
CACHED = 64

#: Section titles and shares of the token budget, most important first.
INSTRUCTIONS = ("Standing instructions", 0.25)
PREFERENCES = ("Preferences", 0.20)
DECISIONS = ("Decisions and projects", 0.20)
CHANGES = ("Changed in the last week", 0.10)
OPEN = ("Open", 0.10)
UPCOMING = ("Coming up", 0.10)
RECENT = ("Recently stored", 0.05)
STATED = (
    (INSTRUCTIONS, (StatementKind.INSTRUCTION,)),
    (PREFERENCES, (StatementKind.PREFERENCE,)),
    (DECISIONS, (StatementKind.DECISION, StatementKind.PROJECT)),
    (OPEN, (StatementKind.QUESTION,)),
)


@dataclass(frozen=True, slots=True)
class _Cached:
    mark: int
    made_at: datetime
    brief: Brief


@dataclass(frozen=True, slots=True)
class MakeBrief:
    """Makes briefs from quotes only: the same store and day give the same brief."""

    briefs: BriefStore
    search: Search
    privacy: PrivacyFilter
    clock: Clock
    zone: Zone
    _cache: OrderedDict[BriefRequest, _Cached] = field(default_factory=OrderedDict)

    async def __call__(self, request: BriefRequest) -> Brief:
        """Return a brief of at most `max_tokens`, from the cache if nothing was written since."""
        key = replace(request, caller=replace(request.caller, call_id=""))
        now = self.clock.now()
        mark = await self.briefs.mark(request.caller.tenant)
        cached = self._cache.get(key)
        if cached is not None and cached.mark == mark and now - cached.made_at < timedelta(seconds=CACHE_SECONDS):
            return cached.brief
        brief = await self._make(request, now)
        self._cache[key] = _Cached(mark, now, brief)
        if len(self._cache) > CACHED:
            self._cache.popitem(last=False)
        return brief

    async def _make(self, request: BriefRequest, now: datetime) -> Brief:
        today = day_of(now, self.zone)
        material = await self.briefs.material(
            BriefQuery(
                where=self._filters(request),
                now=now,
                kinds=[kind for _, kinds in STATED for kind in kinds],
                changed_since=now - timedelta(days=CHANGED_DAYS),
                first_day=today.toordinal(),
                end_day=today.toordinal() + UPCOMING_DAYS,
                limit=MAX_PER_SECTION,
                characters=EXCERPT,
            )
        )
        offered = self._stated(material)[:1] if request.instructions_only else self._sections(material)
        if request.query and not request.instructions_only:
            scaled = [replace(one, share=one.share * (1 - PASSAGES_SHARE)) for one in offered]
            offered = [*scaled[:2], await self._passages(request), *scaled[2:]]
        return compose(offered, today, request.project, request.max_tokens)

    def _filters(self, request: BriefRequest) -> list[NoteFilter]:
        where = NoteFilter(
            tenant=request.caller.tenant,
            conversation_id=request.conversation_id,
            sensitivity=None if request.include_sensitive else Sensitivity.NORMAL,
        )
        visible = self.privacy.visible(where, request.caller.principal)
        if request.project is None:
            return [visible]
        return [replace(visible, project=name) for name in dict.fromkeys((request.project, ""))]

    def _sections(self, material: BriefMaterial) -> list[OfferedSection]:
        instructions, preferences, decisions, questions = self._stated(material)
        changes = [
            BriefLine(one_line(f'"{one.before}" became "{one.after}"'), one.public_id, self._day(one.replaced_at))
            for one in material.changes
        ]
        upcoming = [
            BriefLine(one_line(_sentence(one)), one.excerpt.public_id, date.fromordinal(one.first_day))
            for one in material.upcoming
        ]
        recent = [BriefLine(one_line(one.text), one.public_id, self._day(one.said_at)) for one in material.recent]
        return [
            instructions,
            preferences,
            decisions,
            OfferedSection(*CHANGES, changes),
            questions,
            OfferedSection(*UPCOMING, upcoming),
            OfferedSection(*RECENT, recent),
        ]

    def _stated(self, material: BriefMaterial) -> list[OfferedSection]:
        return [
            OfferedSection(
                *section,
                [
                    BriefLine(one_line(one.quote), one.public_id, self._day(one.said_at))
                    for one in sorted(material.statements, key=lambda one: one.said_at, reverse=True)
                    if one.kind in kinds
                ],
            )
            for section, kinds in STATED
        ]

    async def _passages(self, request: BriefRequest) -> OfferedSection:
        """Return the best passages for the brief's query."""
        hits: list[Hit] = []
        for where in self._filters(request):
            result = await self.search(
                SearchRequest(query=request.query or "", caller=request.caller, where=where, limit=PASSAGES)
            )
            hits += result.hits
        best = sorted(hits, key=lambda hit: -hit.score)[:PASSAGES]
        best = [hit for hit in best if hit.score >= best[0].score * MIN_OF_BEST]
        lines = [
            BriefLine(one_line(passage.text), hit.note.public_id, self._day(hit.note.said_at))
            for hit in best
            for passage in hit.passages[:1]
        ]
        return OfferedSection(f"About: {one_line(request.query or '')}", PASSAGES_SHARE, lines)

    def _day(self, moment: datetime) -> date:
        return day_of(moment, self.zone)


def _sentence(named: NamedDay) -> str:
    """Return the sentence that names the day."""
    text = named.excerpt.text
    return next((text[start:end] for start, end in split(text) if start <= named.start_char < end), text)
