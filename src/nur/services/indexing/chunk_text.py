"""Chunk and analyse a text: the part of a write that needs neither provider nor database."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from nur.domain.chunks import sha256
from nur.domain.kinds import KINDS, TURNS
from nur.observability.events import EventLog
from nur.retrieval.chunking import chunk
from nur.retrieval.pieces.analyse import analyse, cut, piece_vectors
from nur.retrieval.ranking.term_vectors import encode_heading, heading
from nur.retrieval.text.analysis import ANALYZER
from nur.retrieval.text.tokens import tokenise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nur.domain.chunks import Chunk
    from nur.domain.notes import Kind, Note
    from nur.ports.embedder import TokenTable
    from nur.retrieval.chunking import ChunkingPolicy
    from nur.retrieval.pieces.analyse import AnalysedPieces, Piece
    from nur.retrieval.text.tokens import Tokens

log = EventLog("ChunkingService")

#: Characters of a text that is hashed faster than handed to a thread.
SHORT_TEXT = 100_000


@dataclass(frozen=True, slots=True)
class AnalysedChunk:
    """A chunk with what is stored of it for search."""

    chunk: Chunk
    content_hash: str
    pieces: AnalysedPieces  #: pieces that begin in it and in no later chunk


@dataclass(frozen=True, slots=True)
class ChunkedText:
    """A text, ready to be embedded and written."""

    analysed: tuple[AnalysedChunk, ...]
    token_count: int
    heading: bytes

    @property
    def chunks(self) -> list[Chunk]:
        """The chunks alone."""
        return [one.chunk for one in self.analysed]

    @property
    def average_chunk_tokens(self) -> int:
        """Tokens per chunk, overlap counted in each."""
        return round(sum(one.chunk.token_count for one in self.analysed) / len(self.analysed))


async def chunk_text(
    text: str,
    policy: ChunkingPolicy,
    table: TokenTable,
    *,
    kind: Kind,
    title: str | None = None,
    artifact_type: str | None = None,
    tokeniser: Callable[[str], Tokens] = tokenise,
) -> ChunkedText:
    """Chunk and analyse in a thread, as a long text takes seconds. `table` has the token vectors for pieces."""
    chunked = await asyncio.to_thread(_chunked, text, policy, kind, title, artifact_type, tokeniser, table)
    will_chunk = len(chunked.analysed) > 1
    log.debug("chunk_decision", token_count=chunked.token_count, threshold=policy.whole_max, will_chunk=will_chunk)
    return chunked


async def text_hash(text: str) -> str:
    """The content hash of a text; a long one is hashed in a thread."""
    return sha256(text) if len(text) <= SHORT_TEXT else await asyncio.to_thread(sha256, text)


def note_heading(text: str, title: str | None, kind: Kind) -> bytes:
    """The terms of a note's title, or of its first line, as search stores them; turns have no heading."""
    return b"" if kind in TURNS else encode_heading(heading(text, title), ANALYZER)


def log_chunking(note: Note, chunked: ChunkedText, policy: ChunkingPolicy) -> None:
    """Log how a note was chunked."""
    if not note.is_chunked:
        return
    named = {KINDS[note.kind].id_field: note.public_id}
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
    kind: Kind,
    title: str | None,
    artifact_type: str | None,
    tokeniser: Callable[[str], Tokens],
    table: TokenTable,
) -> ChunkedText:
    tokens = tokeniser(text)
    chunks = chunk(text, policy, artifact_type, tokeniser=lambda _: tokens)
    pieces = cut(text, has_headings=kind not in TURNS)
    return ChunkedText(tuple(_analysed(text, chunks, pieces, table)), len(tokens), note_heading(text, title, kind))


def _analysed(
    text: str, chunks: Sequence[Chunk], pieces: Sequence[Piece], table: TokenTable
) -> Iterator[AnalysedChunk]:
    vectors = piece_vectors(text, pieces, table)
    edges = [0, *_firsts(chunks, pieces)[1:], len(pieces)]
    for one, (first, end) in zip(chunks, pairwise(edges), strict=True):
        own = analyse(text, pieces[first:end], one.context, vectors[first:end], ANALYZER)
        yield AnalysedChunk(one, sha256(one.content), own)


def _firsts(chunks: Sequence[Chunk], pieces: Sequence[Piece]) -> list[int]:
    """Index of each chunk's first piece: a piece belongs to the last chunk that contains its beginning.

    Chunks overlap, so that chunk contains most of the piece.
    """
    starts = [piece.start for piece in pieces]
    return [bisect_right(starts, one.start_char - 1) for one in chunks]
