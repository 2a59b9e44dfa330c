"""Chunk and analyse a text: everything about a write that needs no provider and no database."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.domain.chunks import sha256
from nur.domain.notes import Kind
from nur.observability.events import EventLog
from nur.retrieval.chunking import chunk
from nur.retrieval.passages.sentence_maps import sentence_map
from nur.retrieval.ranking.term_vectors import term_vector
from nur.retrieval.ranking.title_boost import encode_heading, heading
from nur.retrieval.text.analysis import ANALYZER
from nur.retrieval.text.tokens import tokenise

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.domain.chunks import Chunk
    from nur.domain.notes import Note
    from nur.retrieval.chunking import ChunkingPolicy
    from nur.retrieval.text.tokens import Tokens

log = EventLog("ChunkingService")

#: Hashing a text up to this long takes less than handing it to a thread.
SHORT_TEXT = 100_000


@dataclass(frozen=True, slots=True)
class AnalysedChunk:
    """A chunk with what is stored of it for search."""

    chunk: Chunk
    content_hash: str
    terms: str  #: its lexical row
    term_count: int
    term_vector: bytes
    sentences: bytes


@dataclass(frozen=True, slots=True)
class ChunkedText:
    """A text, ready to be embedded and written."""

    pieces: tuple[AnalysedChunk, ...]
    token_count: int
    heading: bytes

    @property
    def chunks(self) -> list[Chunk]:
        """The chunks alone."""
        return [piece.chunk for piece in self.pieces]

    @property
    def average_chunk_tokens(self) -> int:
        """Tokens per chunk, overlap counted in each."""
        return round(sum(piece.chunk.token_count for piece in self.pieces) / len(self.pieces))


async def chunk_text(
    text: str,
    policy: ChunkingPolicy,
    title: str | None = None,
    artifact_type: str | None = None,
    tokeniser: Callable[[str], Tokens] = tokenise,
) -> ChunkedText:
    """Chunk and analyse, in a thread: a long text takes seconds."""
    chunked = await asyncio.to_thread(_chunked, text, policy, title, artifact_type, tokeniser)
    will_chunk = len(chunked.pieces) > 1
    log.debug("chunk_decision", token_count=chunked.token_count, threshold=policy.whole_max, will_chunk=will_chunk)
    return chunked


async def text_hash(text: str) -> str:
    """The content hash of a text; a long one is hashed in a thread."""
    return sha256(text) if len(text) <= SHORT_TEXT else await asyncio.to_thread(sha256, text)


def note_heading(text: str, title: str | None) -> bytes:
    """The terms of a note's title, or of its first line, as search stores them."""
    return encode_heading(heading(text, title), len(text), ANALYZER)


def log_chunking(note: Note, chunked: ChunkedText, policy: ChunkingPolicy) -> None:
    """Log how a note was chunked."""
    if not note.is_chunked:
        return
    named = {"artifact_id" if note.kind is Kind.ARTIFACT else "note": note.public_id}
    log.info(
        "text_chunked",
        **named,
        total_tokens=chunked.token_count,
        num_chunks=note.chunk_count,
        avg_chunk_size=chunked.average_chunk_tokens,
        overlap_tokens=policy.overlap,
    )


def _chunked(
    text: str,
    policy: ChunkingPolicy,
    title: str | None,
    artifact_type: str | None,
    tokeniser: Callable[[str], Tokens],
) -> ChunkedText:
    tokens = tokeniser(text)
    chunks = chunk(text, policy, artifact_type, tokeniser=lambda _: tokens)
    return ChunkedText(tuple(map(_analysed, chunks)), len(tokens), note_heading(text, title))


def _analysed(piece: Chunk) -> AnalysedChunk:
    terms = term_vector(piece.searchable, ANALYZER)
    sentences = sentence_map(piece.content, terms, ANALYZER)
    return AnalysedChunk(
        chunk=piece,
        content_hash=sha256(piece.content),
        terms=terms.lexical_row(),
        term_count=terms.length,
        term_vector=terms.encode(),
        sentences=sentences.encode(),
    )
