"""The use cases, wired over open ports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from nur.adapters.files.child import ChildFileReader
from nur.bootstrap.backups import make_nightly_backup
from nur.bootstrap.chunking import policies, tokenisers
from nur.bootstrap.embedders import measured_calibration, open_named, packaged_tokens
from nur.domain.drafting import ProtectionRules
from nur.domain.search import Fusion
from nur.domain.writes import OnEmbeddingFailure
from nur.ports.embedder import PieceEmbedder
from nur.retrieval.fingerprint import FINGERPRINT
from nur.retrieval.statements.find import STATEMENTS
from nur.retrieval.times.find import times_deriver
from nur.services.archive.export_notes import ExportNotes
from nur.services.archive.import_note import ImportNote
from nur.services.archive.import_notes import ImportNotes
from nur.services.context.brief import MakeBrief
from nur.services.health import EmbeddingHealth, Health
from nur.services.idempotency import Idempotency
from nur.services.indexing.chunk_vectors import ChunkVectors
from nur.services.indexing.derive import Derive
from nur.services.indexing.embed_missing import EmbedMissing
from nur.services.indexing.index_note import IndexNote
from nur.services.indexing.index_worker import IndexWorker
from nur.services.indexing.inspect_outbox import InspectOutbox, WaitUntilIndexed
from nur.services.indexing.rebuild import Rebuild
from nur.services.indexing.watch_index import WatchIndex
from nur.services.jobs.housekeeping import Housekeeping
from nur.services.jobs.reembed_online import ReembedOnline
from nur.services.jobs.watch_model import WatchModel
from nur.services.notes.add_note import AddEvent, AddNote, AppendTurn
from nur.services.notes.artifacts import GetArtifact, ReembedArtifact
from nur.services.notes.compare_memories import CompareMemories
from nur.services.notes.edit_note import EditNote
from nur.services.notes.find_duplicates import FindDuplicates
from nur.services.notes.get_note import GetNote
from nur.services.notes.ingest import Ingest
from nur.services.notes.ingest_file import IngestFile
from nur.services.notes.list_changes import ListChanges
from nur.services.notes.list_conversations import ListConversations
from nur.services.notes.list_notes import ListNotes
from nur.services.notes.read_note import ReadNote
from nur.services.notes.remember import Remember
from nur.services.notes.reviews import Reviews
from nur.services.notes.store_note import StoreNote
from nur.services.notes.trash import Forget, Trash
from nur.services.notes.versions import Versions
from nur.services.privacy import PrivacyFilter
from nur.services.search.as_known import AsKnown
from nur.services.search.explain import Explain
from nur.services.search.extract_passages import ExtractPassages
from nur.services.search.query_vector import QueryVector
from nur.services.search.repeat_search import RepeatSearch
from nur.services.search.rerank import Rerank
from nur.services.search.retrieve import Retrieve
from nur.services.search.search import Search
from nur.services.search.search_log import SearchLog
from nur.services.search.timeline import Timeline
from nur.services.search.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nur.domain.access import Principal
    from nur.domain.derivations import Deriver
    from nur.domain.notes import Note
    from nur.domain.times import Zone
    from nur.ports.clock import Clock
    from nur.ports.decisions import MemoryComparison
    from nur.ports.embedder import Embedder, TokenTable
    from nur.ports.reranker import Reranker
    from nur.ports.stores import Stores
    from nur.ports.vector_index import VectorIndex
    from nur.services.jobs.nightly_backup import NightlyBackup
    from nur.settings import Settings


@dataclass(frozen=True, slots=True)
class FailurePolicy:
    """What happens to writes when the embedding provider is down, for tools and for other entrypoints."""

    for_tools: OnEmbeddingFailure
    for_others: OnEmbeddingFailure

    @classmethod
    def of(cls, settings: Settings) -> FailurePolicy:
        """`auto` rejects for tools, where an agent sees the error, and defers elsewhere.

        A tool that defers tries first, so that its answer can be `indexed`; other entrypoints leave it to the worker.
        """
        asked = settings.on_embedding_failure
        return cls(
            for_tools=OnEmbeddingFailure.DEFER if asked == "defer" else OnEmbeddingFailure.REJECT,
            for_others=OnEmbeddingFailure.REJECT if asked == "reject" else OnEmbeddingFailure.LATER,
        )


@dataclass(frozen=True, slots=True)
class Services:
    """The use cases, wired, and the open ports for evaluation and tests: REST and MCP call the use cases only."""

    remember: Remember
    append_turn: AppendTurn
    ingest: Ingest
    ingest_file: IngestFile
    get_artifact: GetArtifact
    reembed_artifact: ReembedArtifact
    add_note: AddNote
    add_event: AddEvent
    get_note: GetNote
    read_note: ReadNote
    edit_note: EditNote
    find_duplicates: FindDuplicates
    wait_until_indexed: WaitUntilIndexed
    search: Search
    explain: Explain
    search_log: SearchLog
    repeat_search: RepeatSearch
    make_brief: MakeBrief
    list_notes: ListNotes
    list_conversations: ListConversations
    forget: Forget
    trash: Trash
    versions: Versions
    reviews: Reviews
    list_changes: ListChanges
    timeline: Timeline
    export_notes: ExportNotes
    import_notes: ImportNotes
    housekeeping: Housekeeping
    nightly_backup: NightlyBackup | None
    idempotency: Idempotency
    inspect_outbox: InspectOutbox
    rebuild: Rebuild
    reembed: ReembedOnline
    health: Health
    embedding_health: EmbeddingHealth
    derive: Derive
    index_worker: IndexWorker
    watch_index: WatchIndex
    watch_model: WatchModel
    privacy: PrivacyFilter
    stores: Stores
    index: VectorIndex
    embedder: Embedder
    clock: Clock
    zone: Zone  #: of times that have no offset, and of the days that answers name
    on_failure: FailurePolicy
    settings: Settings  #: as they were read; nothing reads the environment again


def assemble(
    settings: Settings,
    stores: Stores,
    index: VectorIndex,
    embedder: Embedder,
    reranker: Reranker,
    clock: Clock,
    derivers: Sequence[Deriver] | None = None,
) -> Services:
    """The use cases over open ports; without `derivers` those of Nur. Raises BadConfiguration for a bad tokenizer."""
    derivers = (FINGERPRINT, STATEMENTS, times_deriver(_zone(settings))) if derivers is None else derivers
    notes, chunks = stores.notes, stores.chunks
    version = embedder.model.version
    privacy = PrivacyFilter(settings.privacy_enforcement)
    index_note = IndexNote(chunks, stores.vectors, index, version)
    token_table = packaged_tokens(embedder)
    compare = CompareMemories(stores.decisions, privacy, clock)
    derive = Derive(derivers, notes, stores.derivations, stores.facts, clock, compare.again)
    worker = _worker(stores, index, index_note, derive, embedder, clock)
    store = _store_note(
        settings, stores, index, index_note, derive, compare.comparison, embedder, token_table, clock, worker.wake
    )
    watch_index = WatchIndex(stores, index, clock, version, worker.wake)
    search_log = SearchLog(
        stores.search_log,
        clock,
        settings.trace_retention_days,
        settings.trace_queries,
        privacy,
        others_write=stores.is_shared,
    )
    query_vector = QueryVector(embedder, token_table)
    search = _search(settings, stores, index, watch_index, query_vector, reranker, privacy, search_log, clock)
    nightly_backup = make_nightly_backup(settings, clock)
    on_failure = FailurePolicy.of(settings)
    get_note = GetNote(notes, privacy, clock)
    get_artifact = GetArtifact(notes, chunks, stores.vectors, embedder, get_note)
    list_notes = ListNotes(notes, privacy, clock)
    edit_note = EditNote(store, get_note, clock, on_failure.for_others)
    reviews = Reviews(stores.decisions, notes, get_note, privacy, clock)
    find_duplicates = FindDuplicates(
        stores.vectors, notes, chunks, stores.fingerprints, index, embedder, privacy, clock
    )
    ingest = Ingest(store, clock)
    reader = ChildFileReader(settings.file_timeout, settings.file_memory)
    forget = Forget(notes, index, privacy, clock, worker.wake)
    trash = Trash(notes, index, store, search_log, privacy, clock, worker.wake, stores.scrub, on_failure.for_others)
    return Services(
        remember=Remember(store, reviews, get_note),
        append_turn=AppendTurn(store),
        ingest=ingest,
        ingest_file=IngestFile(reader, ingest, notes, clock),
        get_artifact=get_artifact,
        reembed_artifact=ReembedArtifact(store, get_artifact, embedder.model),
        explain=Explain(notes, search, search_log, privacy, clock),
        search_log=search_log,
        add_note=AddNote(store, clock),
        add_event=AddEvent(store, clock),
        get_note=get_note,
        read_note=ReadNote(get_note, chunks, stores.index_marks, find_duplicates),
        edit_note=edit_note,
        find_duplicates=find_duplicates,
        wait_until_indexed=WaitUntilIndexed(stores.index_marks, clock),
        search=search,
        repeat_search=RepeatSearch(search_log, stores.search_log, chunks, notes, privacy, clock, _zone(settings)),
        make_brief=MakeBrief(stores.briefs, search, privacy, clock, _zone(settings)),
        list_notes=list_notes,
        list_conversations=ListConversations(stores.conversations, list_notes, privacy, clock),
        forget=forget,
        trash=trash,
        versions=Versions(stores.archive, get_note, edit_note),
        reviews=reviews,
        list_changes=ListChanges(stores.changes, notes, privacy, clock),
        timeline=Timeline(search, list_notes, clock, _zone(settings)),
        export_notes=ExportNotes(stores.archive, stores.decisions, notes, privacy),
        import_notes=ImportNotes(ImportNote(notes, stores.archive, store, clock), stores.decisions, worker.wake, clock),
        housekeeping=Housekeeping(notes, stores.outbox, stores.idempotency, stores.facts, forget, trash, clock),
        nightly_backup=nightly_backup,
        idempotency=Idempotency(stores.idempotency, notes, stores.index_marks, clock),
        inspect_outbox=InspectOutbox(stores.outbox, clock, worker.wake),
        rebuild=Rebuild(stores, index, store, clock, version, store.policies, worker.wake),
        reembed=ReembedOnline(stores, embedder, lambda name: open_named(settings, name), clock),
        health=Health(stores, index, watch_index, embedder, nightly_backup, clock),
        embedding_health=EmbeddingHealth(embedder, settings.openai_api_key is not None),
        derive=derive,
        index_worker=worker,
        watch_index=watch_index,
        watch_model=WatchModel(stores, version, clock),
        privacy=privacy,
        stores=stores,
        index=index,
        embedder=embedder,
        clock=clock,
        zone=_zone(settings),
        on_failure=on_failure,
        settings=settings,
    )


def _worker(
    stores: Stores, index: VectorIndex, index_note: IndexNote, derive: Derive, embedder: Embedder, clock: Clock
) -> IndexWorker:
    return IndexWorker(
        outbox=stores.outbox,
        notes=stores.notes,
        index=index,
        index_note=index_note,
        embed_missing=EmbedMissing(stores.chunks, stores.vectors, clock, embedder),
        derive=derive,
        clock=clock,
    )


def _store_note(
    settings: Settings,
    stores: Stores,
    index: VectorIndex,
    index_note: IndexNote,
    derive: Derive,
    compare: Callable[[Note, str, Principal], MemoryComparison | None],
    embedder: Embedder,
    token_table: TokenTable,
    clock: Clock,
    wake: Callable[[], None],
) -> StoreNote:
    return StoreNote(
        notes=stores.notes,
        chunks=stores.chunks,
        index_marks=stores.index_marks,
        index=index,
        index_note=index_note,
        chunk_vectors=ChunkVectors(stores.chunks, stores.vectors, embedder),
        derive=derive,
        compare=compare,
        clock=clock,
        policies=policies(settings),
        protection=ProtectionRules(frozenset(name.casefold() for name in settings.sensitive_sources)),
        token_table=token_table,
        wake=wake,
        tokenisers=tokenisers(settings),
    )


def _search(
    settings: Settings,
    stores: Stores,
    index: VectorIndex,
    watch_index: WatchIndex,
    query_vector: QueryVector,
    reranker: Reranker,
    privacy: PrivacyFilter,
    search_log: SearchLog,
    clock: Clock,
) -> Search:
    embedder = query_vector.embedder
    calibration = measured_calibration(settings, embedder.model)
    vocabulary = Vocabulary(stores.chunks, query_vector.token_table)
    return Search(
        retrieve=Retrieve(
            stores.chunks,
            index,
            watch_index,
            embedder,
            query_vector,
            vocabulary,
            clock,
            _zone(settings),
            compares_chunks=calibration.cosine_weight > 0 and not isinstance(embedder, PieceEmbedder),
            reads_model_vectors=isinstance(embedder, PieceEmbedder),
        ),
        rerank=Rerank(reranker, stores.chunks, clock, settings.rerank_deadline, settings.rerank_top),
        extract_passages=ExtractPassages(stores.chunks, clock),
        as_known=AsKnown(stores.archive),
        search_log=search_log,
        privacy=privacy,
        embedder=embedder,
        clock=clock,
        calibration=calibration,
        fusion=Fusion(settings.fusion),
        zone=_zone(settings),
    )


def _zone(settings: Settings) -> Zone:
    return ZoneInfo(settings.nur_timezone) if settings.nur_timezone else None
