"""Searches that can be asked for again, and full notes out of their answers.

A session keeps ids, scores and offsets, never a word of what was found: each time it is shown, the text is read anew,
so that a repeated answer cannot show what was deleted, changed or hidden meanwhile.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from nur.domain.chunks import chunk_public_id, chunk_uuid
from nur.domain.embedding import EmbeddingModel
from nur.domain.errors import NotFound, StoreDown, StoreUnusable
from nur.domain.notes import NoteId
from nur.domain.search import Passage
from nur.observability.events import EventLog
from nur.ports.desk import HitRecord, Session
from nur.retrieval.passages.neighbours import answering, expand_chunk, room_for_context

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nur.domain.chunks import Chunk
    from nur.domain.notes import Note, Principal
    from nur.domain.search import Hit, SearchRequest, SearchResult
    from nur.ports.clock import Clock
    from nur.ports.ledger import Ledger
    from nur.retrieval.passages.neighbours import ExpandedChunk
    from nur.services.notes.get_note import GetNote
    from nur.services.search.search import Search


log = EventLog("RetrievalService")


class Payload(StrEnum):
    """How much of each note an answer carries."""

    L0 = "l0"  #: ids and titles
    L1 = "l1"  #: passages
    L2 = "l2"  #: full texts


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a session keeps of a hit."""

    note_id: str  #: internal
    content_hash: str  #: of the note's text: offsets into another text mean nothing
    chunk_index: int
    score: float
    rrf_score: float
    ranks: Mapping[str, int]
    passages: Sequence[tuple[int, int, float]]  #: start, end, score
    item_id: str | None = None  #: of its trace, where there is one
    duplicates: Sequence[str] = ()  #: public ids of notes that it stands for


@dataclass(frozen=True, slots=True)
class Item:
    """One note of an answer, by its best chunk."""

    rank: int  #: from 1
    found: Candidates
    note: Note
    chunk: Chunk
    chunk_id: str
    passages: Sequence[Passage]
    stitched: ExpandedChunk | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """A search's answer, as it is shown."""

    search_id: UUID
    trace_id: str | None
    payload: Payload
    items: Sequence[Item]
    degraded: Sequence[str]
    reason: str | None
    notice: str | None  #: what it lacks and why, in words
    confidence: float | None  #: how sure it is that the best hit answers, 0 to 1
    model: EmbeddingModel | None  #: whose vectors were compared; None for a search that an earlier version kept
    dropped: int  #: found then, but gone, changed or hidden now
    kept: bool = True  #: whether it can be asked for again


@dataclass(frozen=True, slots=True)
class SearchSessions:
    """Asks, keeps the outline of the answer, and shows it."""

    search: Search
    ledger: Ledger
    get: GetNote
    clock: Clock

    async def ask(self, request: SearchRequest, payload: Payload, *, stitch: bool) -> Answer:
        """Search, and keep the search under its id."""
        result = await self.search(request)
        session = Session(
            search_id=result.search_id,
            tenant=request.principal.tenant,
            principal=request.principal.name,
            request={"payload": payload.value, "stitch": stitch, "max_chars": request.max_chars},
            result=_outline(result),
            created_at=self.clock.now(),
        )
        return replace(await self._shown(session, request.principal), kept=await self._keep(session))

    async def _keep(self, session: Session) -> bool:
        """Whether it could be kept: an answer does not need a store that can be written."""
        try:
            await self.ledger.put_session(session)
        except (StoreDown, StoreUnusable) as error:
            log.warning("search_not_kept", error=error.code)
            return False
        return True

    async def again(self, search_id: UUID, principal: Principal) -> Answer:
        """The same answer, less what may no longer be shown. Raises NotFound."""
        return await self._shown(await self._session(search_id, principal), principal)

    async def notes(
        self, search_id: UUID, wanted: Sequence[str], principal: Principal
    ) -> tuple[list[tuple[Note, str]], list[str]]:
        """Full notes out of an answer, by note or chunk id, and the ids that it does not hold; counts as hits."""
        answer = await self.again(search_id, principal)
        by_id = {name: item for item in answer.items for name in (item.chunk_id, item.note.public_id)}
        chosen = list({by_id[name].rank: by_id[name] for name in wanted if name in by_id}.values())
        texts = await self.ledger.texts([item.note.note_id for item in chosen])
        chosen = [item for item in chosen if item.note.note_id in texts]
        hits = [
            HitRecord(
                tenant=principal.tenant,
                principal=principal.name,
                search_id=search_id,
                note_id=item.note.note_id,
                chunk_id=chunk_uuid(item.note.note_id, item.chunk.index, item.chunk.content_hash),
                rank=item.rank,
            )
            for item in chosen
        ]
        await self.ledger.record_hits(hits, self.clock.now())
        return [(item.note, texts[item.note.note_id]) for item in chosen], [n for n in wanted if n not in by_id]

    async def _session(self, search_id: UUID, principal: Principal) -> Session:
        session = await self.ledger.session(principal.tenant, search_id)
        if session is None or session.principal != principal.name:
            raise NotFound(f"Search {search_id} not found")
        return session

    async def _shown(self, session: Session, principal: Principal) -> Answer:
        payload, result = Payload(session.request["payload"]), session.result
        every = [Candidates(**outline) for outline in result["hits"]]
        notes = await self.ledger.by_ids([NoteId(UUID(found.note_id)) for found in every])
        visible = {note_id: note for note_id, note in notes.items() if self.get.shows(note, principal)}
        texts = {} if payload is Payload.L0 else await self.ledger.texts(list(visible))
        room = _room(session, every)
        items = []
        for rank, found in enumerate(every, 1):
            note = visible.get(NoteId(UUID(found.note_id)))
            if note is None or note.content_hash != found.content_hash:
                continue
            item = await self._item(rank, found, note, texts.get(note.note_id), payload, room)
            items += [item] if item is not None else []
        return Answer(
            search_id=session.search_id,
            trace_id=result["trace_id"],
            payload=payload,
            items=items,
            degraded=result["degraded"],
            reason=result["reason"],
            notice=result["notice"],
            confidence=result["confidence"],
            model=EmbeddingModel.parse(version) if (version := result.get("embedding_version")) else None,
            dropped=len(every) - len(items),
        )

    async def _item(
        self, rank: int, found: Candidates, note: Note, text: str | None, payload: Payload, room: int | None
    ) -> Item | None:
        """The hit with its text as it is now; None when the note was cut anew."""
        near = int(room is not None and payload is not Payload.L0 and note.is_chunked)
        place = found.chunk_index
        existing = await self.ledger.chunk_range(note.note_id, place - near, place + near)
        chunks = {stored.chunk.index: stored.chunk for stored in existing}
        if place not in chunks:
            return None
        chunk = chunks[place]
        around = None
        if near and room is not None:
            start, end = answering(((s, e) for s, e, _ in found.passages), chunk)
            around = expand_chunk(chunk, chunks.get(place - 1), chunks.get(place + 1)).around(start, end, room)
        name = chunk_public_id(note.public_id, place, chunk.content_hash) if note.is_chunked else note.public_id
        return Item(
            rank=rank,
            found=found,
            note=note,
            chunk=chunk,
            chunk_id=name,
            passages=[Passage((text or "")[s:e], s, e, score) for s, e, score in found.passages] if text else (),
            stitched=around,
            text=text if payload is Payload.L2 else None,
        )


def _room(session: Session, hits: Sequence[Candidates]) -> int | None:
    """Characters around each passage that fit into the answer; None where neighbours are not asked for."""
    if not session.request["stitch"]:
        return None
    passages = sum(max((end - start for start, end, _ in found.passages), default=0) for found in hits)
    return room_for_context(session.request["max_chars"], passages, len(hits))


def _outline(result: SearchResult) -> dict[str, Any]:
    """The answer by ids, scores and offsets."""
    return {
        "hits": [asdict(_found(hit)) for hit in result.hits],
        "degraded": list(result.degraded),
        "reason": result.reason.value if result.reason else None,
        "notice": result.notice,
        "confidence": result.confidence,
        "trace_id": str(result.trace_id),
        "embedding_version": result.model.version,
    }


def _found(hit: Hit) -> Candidates:
    return Candidates(
        note_id=hit.note.note_id.hex,
        content_hash=hit.note.content_hash,
        chunk_index=hit.chunk_index,
        score=hit.score,
        rrf_score=hit.rrf_score,
        ranks=dict(hit.ranks),
        passages=[(passage.start_char, passage.end_char, passage.score) for passage in hit.passages],
        item_id=str(hit.item_id),
        duplicates=list(hit.duplicates),
    )
