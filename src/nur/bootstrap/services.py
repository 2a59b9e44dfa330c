"""The use cases, wired over open ports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.bootstrap.chunking import policies, tokenisers
from nur.bootstrap.embedders import measured_calibration, open_named
from nur.domain.protection import ProtectionRules
from nur.domain.search import Fusion
from nur.domain.writes import OnEmbeddingFailure
from nur.services.health import Health
from nur.services.indexing.chunk_vectors import ChunkVectors
from nur.services.indexing.index_worker import IndexWorker
from nur.services.indexing.rebuild import Rebuild
from nur.services.indexing.wait_until_indexed import WaitUntilIndexed
from nur.services.indexing.watch_index import WatchIndex
from nur.services.jobs.housekeeping import Housekeeping
from nur.services.jobs.reembed_online import ReembedOnline
from nur.services.notes.add_event import AddEvent
from nur.services.notes.add_note import AddNote
from nur.services.notes.append_turn import AppendTurn
from nur.services.notes.edit_note import EditNote
from nur.services.notes.find_duplicates import FindDuplicates
from nur.services.notes.forget import Forget
from nur.services.notes.get_artifact import GetArtifact
from nur.services.notes.get_note import GetNote
from nur.services.notes.ingest import Ingest
from nur.services.notes.list_notes import ListNotes
from nur.services.notes.reembed_artifact import ReembedArtifact
from nur.services.notes.remember import Remember
from nur.services.notes.store_note import StoreNote
from nur.services.notes.trash import Trash
from nur.services.privacy import PrivacyFilter
from nur.services.search.explain import Explain
from nur.services.search.extract_passages import ExtractPassages
from nur.services.search.query_vector import QueryVector
from nur.services.search.rerank import Rerank
from nur.services.search.retrieve import Retrieve
from nur.services.search.search import Search
from nur.services.search.search_log import SearchLog
from nur.services.search.search_sessions import SearchSessions

if TYPE_CHECKING:
    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder
    from nur.ports.ledger import Ledger
    from nur.ports.reranker import Reranker
    from nur.ports.vector_index import VectorIndex
    from nur.settings import Settings


@dataclass(frozen=True, slots=True)
class FailurePolicy:
    """What happens to writes through each sort of door when the embedding provider is down."""

    for_tools: OnEmbeddingFailure
    for_others: OnEmbeddingFailure

    @classmethod
    def of(cls, settings: Settings) -> FailurePolicy:
        """`auto` rejects for tools, where an agent sees the error, and defers elsewhere.

        A tool that defers tries first, so that its answer says `indexed`; the other doors leave it to the worker.
        """
        asked = settings.on_embedding_failure
        return cls(
            for_tools=OnEmbeddingFailure.DEFER if asked == "defer" else OnEmbeddingFailure.REJECT,
            for_others=OnEmbeddingFailure.REJECT if asked == "reject" else OnEmbeddingFailure.LATER,
        )


@dataclass(frozen=True, slots=True)
class Services:
    """The use cases, wired, and the ports that doors may show."""

    remember: Remember
    append_turn: AppendTurn
    ingest: Ingest
    get_artifact: GetArtifact
    reembed_artifact: ReembedArtifact
    add_note: AddNote
    add_event: AddEvent
    get_note: GetNote
    edit_note: EditNote
    find_duplicates: FindDuplicates
    wait_until_indexed: WaitUntilIndexed
    search: Search
    explain: Explain
    traces: SearchLog
    search_sessions: SearchSessions
    list_notes: ListNotes
    forget: Forget
    trash: Trash
    tidy: Housekeeping
    rebuild: Rebuild
    reembed: ReembedOnline
    health: Health
    work: IndexWorker
    watch_index: WatchIndex
    privacy: PrivacyFilter
    ledger: Ledger
    index: VectorIndex
    embedder: Embedder
    clock: Clock
    on_failure: FailurePolicy
    key_configured: bool


def assemble(
    settings: Settings, ledger: Ledger, index: VectorIndex, embedder: Embedder, reranker: Reranker, clock: Clock
) -> Services:
    """The use cases over open ports. Raises BadConfiguration when a tokenizer cannot be had."""
    cutting = policies(settings)
    protection = ProtectionRules(frozenset(name.casefold() for name in settings.sensitive_sources))
    vectors = ChunkVectors(ledger, embedder)
    store = StoreNote(ledger, index, vectors, clock, cutting, protection, tokenisers(settings))
    on_failure = FailurePolicy.of(settings)
    privacy = PrivacyFilter(settings.privacy_enforcement)
    get_artifact = GetArtifact(ledger, embedder, privacy, clock)
    traces = SearchLog(ledger, clock, settings.trace_retention_days, settings.trace_queries)
    version = embedder.model.version
    work = IndexWorker(ledger, index, embedder, clock)
    watch_index = WatchIndex(ledger, index, clock, version, work.wake)
    search = Search(
        gather=Retrieve(ledger, index, watch_index, embedder, QueryVector(embedder), privacy),
        rerank=Rerank(reranker, ledger, settings.rerank_deadline, settings.rerank_top),
        quote=ExtractPassages(ledger),
        traces=traces,
        ledger=ledger,
        embedder=embedder,
        clock=clock,
        profile=measured_calibration(settings, embedder.model),
        fusion=Fusion(settings.fusion),
    )
    get_note = GetNote(ledger, privacy, clock)
    forget = Forget(ledger, index, privacy)
    trash = Trash(ledger, index, store, traces, privacy, clock, work.wake, on_failure.for_others)
    return Services(
        remember=Remember(store),
        append_turn=AppendTurn(store),
        ingest=Ingest(store, clock),
        get_artifact=get_artifact,
        reembed_artifact=ReembedArtifact(store, get_artifact),
        explain=Explain(ledger, search, traces, privacy, clock),
        traces=traces,
        add_note=AddNote(store, clock, work.wake),
        add_event=AddEvent(store, clock, work.wake),
        get_note=get_note,
        edit_note=EditNote(store, get_note, clock, work.wake, on_failure.for_others),
        find_duplicates=FindDuplicates(ledger, index, embedder),
        wait_until_indexed=WaitUntilIndexed(ledger, clock),
        search=search,
        search_sessions=SearchSessions(search, ledger, get_note, clock),
        list_notes=ListNotes(ledger, privacy),
        forget=forget,
        trash=trash,
        tidy=Housekeeping(ledger, forget, trash, clock),
        rebuild=Rebuild(ledger, index, store, clock, version, cutting, work.wake),
        reembed=ReembedOnline(ledger, embedder, lambda name: open_named(settings, name), clock),
        health=Health(ledger, index, watch_index, embedder, clock),
        work=work,
        watch_index=watch_index,
        privacy=privacy,
        ledger=ledger,
        index=index,
        embedder=embedder,
        clock=clock,
        on_failure=on_failure,
        key_configured=settings.openai_api_key is not None,
    )
