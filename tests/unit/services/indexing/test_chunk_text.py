from __future__ import annotations

import pytest

from nur.domain.notes import Kind
from nur.retrieval.chunking import ChunkingPolicy
from nur.retrieval.pieces.stored import decode_pieces
from nur.services.indexing.chunk_text import chunk_text, note_heading
from tests.candidates import TOKENS

POLICY = ChunkingPolicy("window", whole_max=1000, target=500, overlap=50)
TEXT = "# Kitchen\n\n" + "The kettle is broken and nobody minds. " * 20


@pytest.mark.parametrize(("kind", "has_headings"), [(Kind.NOTE, True), (Kind.ARTIFACT, True), (Kind.TURN, False)])
async def test_headings_count_for_every_kind_but_turns(kind: Kind, has_headings: bool) -> None:
    found = await chunk_text(TEXT, POLICY, TOKENS, kind=kind)
    (only,) = found.analysed
    contexts = decode_pieces([only.pieces.pieces]).context_ids
    assert (contexts.size > 0) is has_headings
    assert (found.heading != b"") is has_headings
    assert note_heading(TEXT, None, kind) == found.heading
