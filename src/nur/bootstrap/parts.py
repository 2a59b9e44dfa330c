"""Parts: services that several use cases share, each built once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from nur.bootstrap.backups import make_nightly_backup
from nur.bootstrap.chunking import policies, tokenisers
from nur.bootstrap.embedders import common_words, measured_calibration, packaged_tokens
from nur.domain.drafting import ProtectionRules
from nur.domain.filters import PrivacyFilter
from nur.domain.search import Fusion
from nur.domain.writes import OnEmbeddingFailure
from nur.ports.embedder import PieceEmbedder
from nur.retrieval.fingerprint import FINGERPRINT
from nur.retrieval.ranking.similar_words import SimilarWords
from nur.retrieval.statements.find import STATEMENTS
from nur.retrieval.times.find import times_deriver
from nur.services.indexing.chunk_vectors import ChunkVectors
from nur.services.indexing.derive import Derive
from nur.services.indexing.embed_missing import EmbedMissing
from nur.services.indexing.index_note import IndexNote
from nur.services.indexing.index_worker import IndexWorker
from nur.services.indexing.watch_index import WatchIndex
from nur.services.notes.artifacts import GetArtifact
from nur.services.notes.compare_memories import CompareMemories
from nur.services.notes.edit_note import EditNote
from nur.services.notes.find_duplicates import FindDuplicates
from nur.services.notes.get_note import GetNote
from nur.services.notes.ingest import Ingest
from nur.services.notes.list_notes import ListNotes
from nur.services.notes.reviews import Reviews
from nur.services.notes.store_note import StoreNote
from nur.services.notes.trash import Forget, Trash
from nur.services.search.as_known import AsKnown
from nur.services.search.extract_passages import ExtractPassages
from nur.services.search.query_vector import QueryVector
from nur.services.search.rerank import Rerank
from nur.services.search.retrieve import Retrieve
from nur.services.search.search import Search
from nur.services.search.search_log import SearchLog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.adapters.local.english_words import EnglishTokens
    from nur.domain.derivations import Deriver
    from nur.domain.times import Zone
    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder
    from nur.ports.reranker import Reranker
    from nur.ports.stores import Stores
    from nur.ports.vector_index import VectorIndex
    from nur.services.jobs.nightly_backup import NightlyBackup
    from nur.settings import Settings


@dataclass(frozen=True, slots=True)
class FailurePolicy:
    """What happens to writes when the embedding provider is down, for MCP tools and for other entrypoints."""

    for_tools: OnEmbeddingFailure
    for_others: OnEmbeddingFailure

    @classmethod
    def of(cls, settings: Settings) -> FailurePolicy:
        """Read the policy from the settings. `auto` rejects for tools, where an agent sees the error, else defers.

        A tool that defers still tries to embed, so that it can answer `indexed`. Other entrypoints leave embedding to
        the worker.
        """
        setting = settings.on_embedding_failure
        return cls(
            for_tools=OnEmbeddingFailure.DEFER if setting == "defer" else OnEmbeddingFailure.REJECT,
            for_others=OnEmbeddingFailure.REJECT if setting == "reject" else OnEmbeddingFailure.LATER,
        )


@dataclass(frozen=True)
class Parts:
    """Shared services, built from the ports and from each other on first use."""

    settings: Settings
    stores: Stores
    index: VectorIndex
    embedder: Embedder
    reranker: Reranker | None
    clock: Clock
    derivers: Sequence[Deriver] | None = None  #: None: the built-in derivers

    @cached_property
    def zone(self) -> Zone:
        """Time zone of times without an offset, and of the days in answers."""
        name = self.settings.nur_timezone
        return ZoneInfo(name) if name else None

    @cached_property
    def on_failure(self) -> FailurePolicy:
        """What happens to writes when the embedding provider is down."""
        return FailurePolicy.of(self.settings)

    @cached_property
    def privacy(self) -> PrivacyFilter:
        """Decides what a caller may see."""
        return PrivacyFilter(self.settings.privacy_enforcement)

    @cached_property
    def nightly_backup(self) -> NightlyBackup | None:
        """Backs up the store every night; None if backups are off."""
        return make_nightly_backup(self.settings, self.clock)

    # Writing

    @cached_property
    def token_table(self) -> EnglishTokens:
        """Token vectors that embed pieces and queries."""
        return packaged_tokens(self.embedder)

    @cached_property
    def index_note(self) -> IndexNote:
        """Writes a note to the vector index."""
        return IndexNote(self.stores.chunks, self.stores.vectors, self.index, self.embedder.model.version)

    @cached_property
    def compare(self) -> CompareMemories:
        """Compares a new memory with older ones."""
        return CompareMemories(self.stores.decisions, self.privacy, self.clock)

    @cached_property
    def derive(self) -> Derive:
        """Derives rows from a note's text."""
        derivers = self.derivers
        if derivers is None:
            derivers = (FINGERPRINT, STATEMENTS, times_deriver(self.zone))
        stores = self.stores
        return Derive(derivers, stores.notes, stores.derivations, stores.facts, self.clock, self.compare.again)

    @cached_property
    def worker(self) -> IndexWorker:
        """Processes the outbox."""
        return IndexWorker(
            outbox=self.stores.outbox,
            notes=self.stores.notes,
            index=self.index,
            index_note=self.index_note,
            embed_missing=EmbedMissing(self.stores.chunks, self.stores.vectors, self.clock, self.embedder),
            derive=self.derive,
            clock=self.clock,
        )

    @cached_property
    def store_note(self) -> StoreNote:
        """Stores every note, whatever its kind. Raises BadConfiguration for a bad tokenizer."""
        return StoreNote(
            notes=self.stores.notes,
            chunks=self.stores.chunks,
            index_marks=self.stores.index_marks,
            index=self.index,
            index_note=self.index_note,
            chunk_vectors=ChunkVectors(self.stores.chunks, self.stores.vectors, self.embedder),
            derive=self.derive,
            compare=self.compare.comparison,
            clock=self.clock,
            policies=policies(self.settings),
            protection=ProtectionRules(frozenset(name.casefold() for name in self.settings.sensitive_sources)),
            token_table=self.token_table,
            wake=self.worker.wake,
            tokenisers=tokenisers(self.settings),
        )

    # Reading

    @cached_property
    def get_note(self) -> GetNote:
        """Reads a note by its id."""
        return GetNote(self.stores.notes, self.privacy, self.clock)

    @cached_property
    def get_artifact(self) -> GetArtifact:
        """Reads an artifact by its id."""
        stores = self.stores
        return GetArtifact(stores.notes, stores.chunks, stores.vectors, self.embedder, self.get_note)

    @cached_property
    def list_notes(self) -> ListNotes:
        """Reads pages of notes."""
        return ListNotes(self.stores.notes, self.reviews, self.privacy, self.clock)

    @cached_property
    def find_duplicates(self) -> FindDuplicates:
        """Finds near duplicates of a note."""
        stores = self.stores
        return FindDuplicates(
            stores.vectors,
            stores.notes,
            stores.chunks,
            stores.fingerprints,
            self.index,
            self.embedder,
            self.privacy,
            self.clock,
        )

    # Changing

    @cached_property
    def reviews(self) -> Reviews:
        """Records which memory replaces which."""
        return Reviews(self.stores.decisions, self.stores.notes, self.privacy, self.clock)

    @cached_property
    def edit_note(self) -> EditNote:
        """Edits a note."""
        return EditNote(self.store_note, self.get_note, self.clock, self.on_failure.for_others)

    @cached_property
    def ingest(self) -> Ingest:
        """Stores an artifact."""
        return Ingest(self.store_note, self.clock)

    @cached_property
    def forget(self) -> Forget:
        """Moves a note to the trash."""
        return Forget(self.stores.notes, self.index, self.privacy, self.clock, self.worker.wake)

    @cached_property
    def trash(self) -> Trash:
        """Restores notes from the trash, and erases them."""
        return Trash(
            self.stores.notes,
            self.index,
            self.store_note,
            self.search_log,
            self.privacy,
            self.clock,
            self.worker.wake,
            self.stores.scrub,
            self.on_failure.for_others,
        )

    # Searching

    @cached_property
    def watch_index(self) -> WatchIndex:
        """Checks the health of the vector index while the server runs."""
        return WatchIndex(self.stores, self.index, self.clock, self.embedder.model.version, self.worker.wake)

    @cached_property
    def search_log(self) -> SearchLog:
        """Writes the traces of searches."""
        settings = self.settings
        return SearchLog(
            self.stores.search_log,
            self.clock,
            settings.trace_retention_days,
            settings.trace_queries,
            self.privacy,
            others_write=self.stores.is_shared,
        )

    @cached_property
    def search(self) -> Search:
        """Finds passages for a query."""
        embedder = self.embedder
        query_vector = QueryVector(embedder, self.token_table.plain, self.token_table)
        calibration = measured_calibration(self.settings, embedder.model)
        deadline, top = self.settings.rerank_deadline, self.settings.rerank_top
        reranker = self.reranker
        return Search(
            retrieve=Retrieve(
                self.stores.chunks,
                self.index,
                self.watch_index,
                embedder,
                query_vector,
                SimilarWords(),
                self.token_table,
                common_words().share,
                self.clock,
                self.zone,
                min_candidates=calibration.candidates,
                compares_chunks=calibration.cosine_weight > 0 and not isinstance(embedder, PieceEmbedder),
                reads_model_vectors=isinstance(embedder, PieceEmbedder),
            ),
            rerank=Rerank(reranker, self.stores.chunks, self.clock, deadline, top) if reranker else None,
            extract_passages=ExtractPassages(self.stores.chunks, self.clock, calibration.cosine_weight),
            as_known=AsKnown(self.stores.archive),
            search_log=self.search_log,
            privacy=self.privacy,
            embedder=self.embedder,
            clock=self.clock,
            calibration=calibration,
            fusion=Fusion(self.settings.fusion),
            zone=self.zone,
        )
