"""Cut a text into chunks and analyse them: everything about a write that needs no provider and no database."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.observability.events import EventLog
from nur.retrieval.analysis import analyze
from nur.retrieval.chunking import chunk
from nur.retrieval.tokens import tokenise

if TYPE_CHECKING:
    from nur.domain.chunks import Chunk
    from nur.retrieval.analysis import Analysis
    from nur.retrieval.chunking import ChunkingPolicy

log = EventLog("ChunkingService")


@dataclass(frozen=True, slots=True)
class CutText:
    """A text, ready to be embedded and written."""

    chunks: tuple[Chunk, ...]
    analyses: tuple[Analysis, ...]  #: one a chunk
    token_count: int


async def cut_text(text: str, policy: ChunkingPolicy, artifact_type: str | None = None) -> CutText:
    """Cut and analyse, in a thread: a long text takes seconds."""
    cut = await asyncio.to_thread(_cut, text, policy, artifact_type)
    log.debug("chunk_decision", token_count=cut.token_count, threshold=policy.whole_max, will_chunk=len(cut.chunks) > 1)
    if len(cut.chunks) > 1:
        sizes = [piece.token_count for piece in cut.chunks]
        log.info(
            "text_chunked",
            total_tokens=cut.token_count,
            num_chunks=len(sizes),
            avg_chunk_size=round(sum(sizes) / len(sizes)),
            overlap_tokens=policy.overlap,
        )
    return cut


def _cut(text: str, policy: ChunkingPolicy, artifact_type: str | None) -> CutText:
    tokens = tokenise(text)
    chunks = tuple(chunk(text, policy, artifact_type, tokeniser=lambda _: tokens))
    return CutText(chunks, tuple(analyze(piece.searchable) for piece in chunks), len(tokens))
