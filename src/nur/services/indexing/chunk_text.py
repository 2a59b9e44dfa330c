"""Cut a text into chunks and analyse them: everything about a write that needs no provider and no database."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.notes import Kind
from nur.observability.events import EventLog
from nur.retrieval.chunking import chunk
from nur.retrieval.passages.sentence_maps import sentence_map
from nur.retrieval.ranking.term_vectors import profile
from nur.retrieval.text.analysis import ANALYZER
from nur.retrieval.text.tokens import tokenise

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.domain.chunks import Chunk
    from nur.domain.notes import Note
    from nur.retrieval.chunking import ChunkingPolicy
    from nur.retrieval.text.tokens import Tokens

log = EventLog("ChunkingService")


@dataclass(frozen=True, slots=True)
class AnalysedChunk:
    """A chunk with what is stored of it for search."""

    chunk: Chunk
    row: str  #: its lexical row
    length: int  #: in words
    profile: bytes
    sentences: bytes


@dataclass(frozen=True, slots=True)
class ChunkedText:
    """A text, ready to be embedded and written."""

    pieces: tuple[AnalysedChunk, ...]
    token_count: int

    @property
    def chunks(self) -> list[Chunk]:
        """The chunks alone."""
        return [piece.chunk for piece in self.pieces]

    @property
    def average_chunk_tokens(self) -> int:
        """Tokens in a chunk, overlap counted in each."""
        return round(sum(piece.chunk.token_count for piece in self.pieces) / len(self.pieces))


async def chunk_text(
    text: str,
    policy: ChunkingPolicy,
    artifact_type: str | None = None,
    tokeniser: Callable[[str], Tokens] = tokenise,
) -> ChunkedText:
    """Cut and analyse, in a thread: a long text takes seconds."""
    cut = await asyncio.to_thread(_cut, text, policy, artifact_type, tokeniser)
    will_chunk = len(cut.pieces) > 1
    log.debug("chunk_decision", token_count=cut.token_count, threshold=policy.whole_max, will_chunk=will_chunk)
    return cut


def log_chunking(note: Note, cut: ChunkedText, policy: ChunkingPolicy) -> None:
    """Say in the log what a note was cut into."""
    if not note.is_chunked:
        return
    named = {"artifact_id" if note.kind is Kind.ARTIFACT else "note": note.public_id}
    log.info(
        "text_chunked",
        **named,
        total_tokens=cut.token_count,
        num_chunks=note.chunk_count,
        avg_chunk_size=cut.average_chunk_tokens,
        overlap_tokens=policy.overlap,
    )


def _cut(
    text: str, policy: ChunkingPolicy, artifact_type: str | None, tokeniser: Callable[[str], Tokens]
) -> ChunkedText:
    tokens = tokeniser(text)
    chunks = chunk(text, policy, artifact_type, tokeniser=lambda _: tokens)
    return ChunkedText(tuple(map(_analysed, chunks)), len(tokens))


def _analysed(piece: Chunk) -> AnalysedChunk:
    found = profile(piece.searchable, ANALYZER)
    sentences = sentence_map(piece.content, found, ANALYZER)
    return AnalysedChunk(piece, found.lexical_row(), found.length, found.encode(), sentences.encode())
