"""Builds the chunking policy of each kind of note, and the tokenisers it needs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from nur.domain.errors import BadConfiguration
from nur.domain.kinds import KINDS, Chunking
from nur.retrieval.chunking import ChunkingPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nur.domain.notes import Kind
    from nur.retrieval.text.tokens import Tokens
    from nur.settings import Settings


def policies(settings: Settings) -> Mapping[Kind, ChunkingPolicy]:
    """Return the chunking policy of each kind."""
    sizes = (settings.single_piece_max_tokens, settings.chunk_target_tokens, settings.chunk_overlap_tokens)
    window = ChunkingPolicy("window", *sizes)
    note = settings.chunking
    sizes_of_notes = (note.max_tokens, note.max_tokens, note.overlap_tokens)
    sentences = ChunkingPolicy("sentences", *sizes_of_notes, note.tokenizer_repo)
    notes = sentences if note.enabled else ChunkingPolicy("whole")
    artifacts = ChunkingPolicy(settings.chunking_strategy, *sizes)
    configured = {Chunking.WINDOW: window, Chunking.ARTIFACT: artifacts, Chunking.NOTE: notes}
    return {kind: configured[spec.chunking] for kind, spec in KINDS.items()}


@cache
def _tokeniser(name: str) -> Callable[[str], Tokens]:
    try:
        from nur.retrieval.text.hf_tokens import load_tokeniser
    except ImportError as error:
        raise BadConfiguration(
            "[chunking] tokenizer_repo needs an extra: pip install 'nur-memory[tokenizers]'"
        ) from error
    return load_tokeniser(name)


def tokenisers(settings: Settings) -> Mapping[str, Callable[[str], Tokens]]:
    """Return the tokenisers of the policies, by name. Raises BadConfiguration."""
    name = settings.chunking.tokenizer_repo
    return {name: _tokeniser(name)} if name else {}
