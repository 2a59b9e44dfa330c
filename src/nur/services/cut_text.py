"""Cut a text into chunks and analyse them: everything about a write that needs no provider and no database."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nur.observability.events import EventLog
from nur.ports.embedder import TokenTable
from nur.retrieval.analysis import ANALYZER
from nur.retrieval.chunking import chunk
from nur.retrieval.profiles import profile
from nur.retrieval.sentence_maps import TokenizedSentences, model_number, sentence_map
from nur.retrieval.tokens import tokenise

if TYPE_CHECKING:
    from collections.abc import Callable

    from nur.domain.chunks import Chunk
    from nur.ports.embedder import Embedder
    from nur.retrieval.chunking import ChunkingPolicy

log = EventLog("ChunkingService")


@dataclass(frozen=True, slots=True)
class CutChunk:
    """A chunk with what is stored of it for search."""

    chunk: Chunk
    row: str  #: its lexical row
    length: int  #: in words
    profile: bytes
    sentences: bytes


@dataclass(frozen=True, slots=True)
class CutText:
    """A text, ready to be embedded and written."""

    pieces: tuple[CutChunk, ...]
    token_count: int

    @property
    def chunks(self) -> list[Chunk]:
        """The chunks alone."""
        return [piece.chunk for piece in self.pieces]


async def cut_text(text: str, policy: ChunkingPolicy, embedder: Embedder, artifact_type: str | None = None) -> CutText:
    """Cut and analyse, in a thread: a long text takes seconds."""
    cut = await asyncio.to_thread(_cut, text, policy, _tokenizer(embedder), artifact_type)
    sizes = [piece.chunk.token_count for piece in cut.pieces]
    log.debug("chunk_decision", token_count=cut.token_count, threshold=policy.whole_max, will_chunk=len(sizes) > 1)
    if len(sizes) > 1:
        log.info(
            "text_chunked",
            total_tokens=cut.token_count,
            num_chunks=len(sizes),
            avg_chunk_size=round(sum(sizes) / len(sizes)),
            overlap_tokens=policy.overlap,
        )
    return cut


def _cut(text: str, policy: ChunkingPolicy, tokenizer: SentenceTokenizer | None, artifact_type: str | None) -> CutText:
    tokens = tokenise(text)
    chunks = chunk(text, policy, artifact_type, tokeniser=lambda _: tokens)
    return CutText(tuple(_analysed(piece, tokenizer) for piece in chunks), len(tokens))


def _analysed(piece: Chunk, tokenizer: SentenceTokenizer | None) -> CutChunk:
    found = profile(piece.searchable, ANALYZER)
    sentences = sentence_map(piece.content, ANALYZER, tokenizer)
    return CutChunk(piece, found.lexical_row(), found.length, found.encode(), sentences.encode())


def _tokenizer(embedder: Embedder) -> SentenceTokenizer | None:
    """How a static embedder sees sentences; None for other embedders."""
    if not isinstance(embedder, TokenTable):
        return None
    model = model_number(embedder.model.version)

    def tokenized(sentences: list[str]) -> TokenizedSentences:
        ids = embedder.tokenize(sentences)
        norms = [float(np.linalg.norm(embedder.token_vectors[found].sum(axis=0))) for found in ids]
        return TokenizedSentences(model, [found.astype(np.uint16) for found in ids], np.array(norms, np.float32))

    return tokenized


if TYPE_CHECKING:
    SentenceTokenizer = Callable[[list[str]], TokenizedSentences]
