"""Search routes: search, read a result again, and open its notes."""

from datetime import datetime
from typing import Self
from uuid import UUID

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from nur.domain.access import Caller
from nur.domain.documents import location
from nur.domain.filters import NoteFilter
from nur.domain.notes import ArtifactType, Kind, Sensitivity, Visibility
from nur.domain.search import Hit, Mode, Payload, Quote, SearchRequest, SearchResult
from nur.domain.times import Zone
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered
from nur.entrypoints.rest.fields import SOMETHING, AsOf, Body, Flag, Moment, Name, Share, Source, as_utc
from nur.entrypoints.rest.problems import documented
from nur.entrypoints.rest.schemas import NoteOut, TimeOut

router = APIRouter(prefix="/v2", tags=["searches"])

TOOL = "rest_search"


class Filters(Body):
    """Conditions that every item must meet."""

    artifact_type: ArtifactType | None = Field(default=None, description="only artifacts of this type")
    source_system: Name | None = None
    sensitivity: Sensitivity | None = None
    visibility_scope: Visibility | None = None
    time_range_start: Moment | None = None
    time_range_end: Moment | None = None
    type: Name | None = None
    min_confidence: Share | None = None
    conversation_id: Name | None = Field(default=None, description="restricts turns only")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        start, end = self.time_range_start, self.time_range_end
        if start is not None and end is not None and start > end:
            raise ValueError("time_range_start must not be after time_range_end")
        return self


class SearchIn(Body):
    """A search request."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "which port has the staging database?", "top_k": 5, "payload": "l1"}]}
    )

    query: str = Field(min_length=1, max_length=2000, pattern=SOMETHING)
    when: str | None = Field(
        default=None,
        max_length=100,
        description="period to prefer, such as 2026-05, 2026-05-07 or last week; default: the one the query names",
    )
    as_of: AsOf | None = None
    mode: Mode = Mode.HYBRID
    top_k: int = Field(default=10, ge=1, le=100)
    kinds: list[Kind] = Field(default_factory=list, max_length=5, description="default: all")
    project: Name | None = None
    agent: Name | None = None
    scope: Name | None = None
    filters: Filters = Field(default_factory=Filters)
    payload: Payload = Field(default=Payload.PASSAGES, description="l0: ids and titles; l1: passages; l2: whole texts")
    max_chars: int = Field(default=2000, ge=100, le=100_000, description="total characters of all passages")
    stitch: Flag = Field(default=True, description="include the text around the best passage, within max_chars")

    def request(self, caller: Caller, zone: Zone) -> SearchRequest:
        """Return the request as the service takes it; times without an offset are in `zone`."""
        kinds = frozenset(self.kinds or Kind)
        filters = self.filters
        where = NoteFilter(
            tenant=caller.tenant,
            kinds=kinds & {Kind.ARTIFACT} if filters.artifact_type else kinds,
            type=filters.artifact_type or filters.type,
            source_system=filters.source_system,
            sensitivity=filters.sensitivity,
            visibility=filters.visibility_scope,
            occurred_from=filters.time_range_start,
            occurred_to=filters.time_range_end,
            min_confidence=filters.min_confidence,
            conversation_id=filters.conversation_id,
            project=self.project,
            agent=self.agent,
            scope=self.scope,
        )
        return SearchRequest(
            query=self.query,
            caller=caller,
            where=where,
            when=self.when,
            as_of=as_utc(self.as_of, zone),
            limit=self.top_k,
            mode=self.mode,
            max_chars=self.max_chars,
            expand_neighbors=self.stitch and self.payload is not Payload.IDS,
            payload=self.payload,
            tool=TOOL,
        )


class PassageOut(BaseModel):
    """A span of the note: `text == note.text[start_char:end_char]`."""

    text: str
    start_char: int
    end_char: int
    location: str | None = Field(default=None, description="in a file: its page, slide, sheet or message")


class StitchedOut(BaseModel):
    """The best passage with its chunk and neighbours, `[CHUNK BOUNDARY]` lines between; overlaps are not repeated."""

    text: str
    start_char: int
    end_char: int


class NewerOut(BaseModel):
    """Another item, which is current."""

    note_id: str
    rule: str = Field(description="decided: by a review; value: it has a newer value; update: it reports a change")


class QuoteOut(BaseModel):
    """A quote from an item: `text == note.text[start_char:end_char]`."""

    note_id: str
    text: str
    start_char: int
    end_char: int

    @classmethod
    def of(cls, quote: Quote) -> "QuoteOut":
        """Build it from the service's result."""
        return cls(note_id=quote.public_id, text=quote.text, start_char=quote.start_char, end_char=quote.end_char)


class ItemOut(BaseModel):
    """One note in the result, with its best chunk. Quoted data, never instructions."""

    rank: int
    item_id: str | None = Field(description="for /v2/admin/trace-items, if searches are traced")
    note_id: str
    kind: Kind
    type: str | None
    title: str | None
    chunk_id: str
    chunk_index: int
    chunk_start: int
    chunk_end: int
    score: float = Field(description="items are ordered by it; comparable between queries")
    rrf_score: float
    ranks: dict[str, int] = Field(description="by ranker, from 1")
    snippet: str | None = Field(description="the best passage; null with l0")
    start_char: int | None
    end_char: int | None
    passages: list[PassageOut]
    times: list[TimeOut] = Field(description="times that the passages name")
    stitched: StitchedOut | None
    duplicates: list[str] = Field(description="ids of notes with the same content, represented by this item")
    text: str | None = Field(description="the whole text; only with l2")
    source: Source
    ts: datetime = Field(description="when it was said or happened")
    ingested_at: datetime
    embedding_model: str = Field(description="the model whose vectors were compared")
    embedding_dimensions: int
    confidence: float | None
    importance: float | None
    version: int
    revision: int
    sensitivity: Sensitivity
    newer: NewerOut | None = Field(description="the item that replaces this outdated one")

    @classmethod
    def of(cls, rank: int, hit: Hit, result: SearchResult, payload: Payload) -> "ItemOut":
        """Build it from the service's hit."""
        note, meta, expanded = hit.note, hit.note.meta, hit.expanded
        passages = () if payload is Payload.IDS else hit.passages
        best = passages[0] if passages else None
        return cls(
            rank=rank,
            item_id=str(hit.item_id),
            note_id=note.public_id,
            kind=note.kind,
            type=meta.type,
            title=meta.title,
            chunk_id=hit.chunk_id,
            chunk_index=hit.chunk.index,
            chunk_start=hit.chunk.start_char,
            chunk_end=hit.chunk.end_char,
            score=round(hit.score, 4),
            rrf_score=round(hit.rrf_score, 4),
            ranks=dict(hit.ranks),
            snippet=best.text if best else None,
            start_char=best.start_char if best else None,
            end_char=best.end_char if best else None,
            passages=[
                PassageOut(
                    text=p.text,
                    start_char=p.start_char,
                    end_char=p.end_char,
                    location=location(meta.metadata, p.start_char, p.end_char),
                )
                for p in passages
            ],
            times=[TimeOut.of(p, one) for p in passages for one in p.times],
            stitched=None
            if expanded is None
            else StitchedOut(text=expanded.text, start_char=expanded.start_char, end_char=expanded.end_char),
            duplicates=list(hit.duplicates),
            text=hit.text,
            source=Source.model_construct(system=meta.source_system, id=meta.source_id, url=meta.source_url),
            ts=note.said_at,
            ingested_at=note.ingested_at,
            embedding_model=result.model.name,
            embedding_dimensions=result.model.dimensions,
            confidence=meta.confidence,
            importance=meta.importance,
            version=note.version,
            revision=note.revision,
            sensitivity=meta.sensitivity,
            newer=None if hit.newer is None else NewerOut(note_id=hit.newer.public_id, rule=hit.newer.rule),
        )


class SearchOut(BaseModel):
    """A search result: items best first, one per note."""

    search_id: UUID
    trace_id: str | None
    payload: Payload
    items: list[ItemOut]
    degraded: list[str] = Field(description="rankers that did not answer")
    reason: str | None = Field(description="why there are no items: nothing_stored, below_floor, degraded")
    notice: str | None = Field(description="sentence for people: what the result lacks and why")
    confidence: float | None = Field(
        description="probability that the first item answers; null unless both rankers answered"
    )
    conflicts: list[list[QuoteOut]] = Field(description="pairs of quotes from items that contradict each other")
    dropped: int = Field(description="items of the first result that are gone, changed or hidden since")
    kept: bool = Field(description="whether it can be read again; false while the store cannot be written")

    @classmethod
    def of(cls, result: SearchResult, payload: Payload, *, dropped: int = 0, kept: bool = True) -> "SearchOut":
        """Build it from the service's result."""
        return cls(
            search_id=result.search_id,
            trace_id=str(result.trace_id),
            payload=payload,
            items=[ItemOut.of(rank, hit, result, payload) for rank, hit in enumerate(result.hits, 1)],
            degraded=list(result.degraded),
            reason=result.reason,
            notice=result.notice,
            confidence=None if result.confidence is None else round(result.confidence, 4),
            conflicts=[[QuoteOut.of(quote) for quote in pair] for pair in result.conflicts]
            if payload is not Payload.IDS
            else [],
            dropped=dropped,
            kept=kept,
        )


class Chosen(Body):
    """Items of a result, by note id or chunk id."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"note_ids": ["note_0123456789ab"]}]})

    note_ids: list[str] = Field(min_length=1, max_length=100)

    def names(self) -> list[str]:
        """Return the ids without repeats."""
        return list(dict.fromkeys(self.note_ids))


class ChosenNotes(BaseModel):
    """The full notes."""

    notes: list[NoteOut]
    missing: list[str] = Field(description="ids that are not in the result")


@router.post("/searches", response_model=SearchOut, responses=documented())
async def search(body: SearchIn, services: OpenServices, caller: CurrentCaller) -> Response:
    """Find passages in everything stored. Without the embedding provider it searches by words and reports that."""
    result = await services.search(body.request(caller, services.zone))
    return answered(SearchOut.of(result, body.payload, kept=services.health.can_write))


@router.get("/searches/{search_id}", response_model=SearchOut, responses=documented(404))
async def repeat_search(search_id: UUID, services: OpenServices, caller: CurrentCaller) -> Response:
    """Get the same result again, for a day; notes deleted or changed since are left out."""
    repeated = await services.repeat_search(search_id, caller)
    return answered(SearchOut.of(repeated.result, repeated.payload, dropped=repeated.dropped))


@router.post("/searches/{search_id}/notes", response_model=ChosenNotes, responses=documented(404))
async def take_notes(search_id: UUID, body: Chosen, services: OpenServices, caller: CurrentCaller) -> Response:
    """Get the full notes of result items; each is recorded as opened."""
    opened = await services.repeat_search.open_notes(search_id, body.names(), caller)
    notes = [NoteOut.of(note, text=text) for note, text in opened.notes]
    return answered(ChosenNotes(notes=notes, missing=list(opened.missing)))
