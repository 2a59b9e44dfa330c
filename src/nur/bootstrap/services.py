"""Builds all use cases from open ports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nur.adapters.files.child import ChildFileReader
from nur.bootstrap.embedders import open_named
from nur.domain.notes import Kind
from nur.services.archive.export_notes import ExportNotes
from nur.services.archive.import_note import ImportNote
from nur.services.archive.import_notes import ImportNotes
from nur.services.context.brief import MakeBrief
from nur.services.health import EmbeddingHealth, Health
from nur.services.idempotency import Idempotency
from nur.services.indexing.inspect_outbox import InspectOutbox
from nur.services.indexing.rebuild import Rebuild
from nur.services.jobs.housekeeping import Housekeeping
from nur.services.jobs.reembed_online import ReembedOnline
from nur.services.jobs.watch_model import WatchModel
from nur.services.notes.add_note import AddNote, AppendTurn
from nur.services.notes.artifacts import GetArtifact, ReembedArtifact
from nur.services.notes.ingest_file import IngestFile
from nur.services.notes.list_changes import ListChanges
from nur.services.notes.list_conversations import ListConversations
from nur.services.notes.read_note import ReadNote
from nur.services.notes.remember import Remember
from nur.services.notes.versions import Versions
from nur.services.notes.wait_until_indexed import WaitUntilIndexed
from nur.services.search.explain import Explain
from nur.services.search.repeat_search import RepeatSearch
from nur.services.search.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nur.domain.derivations import Deriver
    from nur.domain.filters import PrivacyFilter
    from nur.domain.times import Zone
    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder
    from nur.ports.reranker import Reranker
    from nur.ports.stores import Stores
    from nur.ports.vector_index import VectorIndex
    from nur.services.indexing.derive import Derive
    from nur.services.indexing.index_worker import IndexWorker
    from nur.services.indexing.watch_index import WatchIndex
    from nur.services.jobs.nightly_backup import NightlyBackup
    from nur.services.notes.edit_note import EditNote
    from nur.services.notes.get_note import GetNote
    from nur.services.notes.ingest import Ingest
    from nur.services.notes.list_notes import ListNotes
    from nur.services.notes.reviews import Reviews
    from nur.services.notes.trash import Forget, Trash
    from nur.services.search.search import Search
    from nur.services.search.search_log import SearchLog
    from nur.settings import Settings


from nur.bootstrap.parts import FailurePolicy, Parts


@dataclass(frozen=True, slots=True)
class Services:
    """All use cases. REST and MCP call only these; the ports are here for evaluation and tests."""

    remember: Remember
    append_turn: AppendTurn
    ingest: Ingest
    ingest_file: IngestFile
    get_artifact: GetArtifact
    reembed_artifact: ReembedArtifact
    add_note: AddNote
    add_event: AddNote
    get_note: GetNote
    read_note: ReadNote
    edit_note: EditNote
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
    zone: Zone  #: time zone of times without an offset, and of the days in answers
    on_failure: FailurePolicy
    settings: Settings  #: as read at start


def assemble(
    settings: Settings,
    stores: Stores,
    index: VectorIndex,
    embedder: Embedder,
    reranker: Reranker | None,
    clock: Clock,
    derivers: Sequence[Deriver] | None = None,
) -> Services:
    """Build the use cases, by default with the built-in derivers. Raises BadConfiguration for a bad tokenizer."""
    parts = Parts(settings, stores, index, embedder, reranker, clock, derivers)
    store, wake, get_note, log = parts.store_note, parts.worker.wake, parts.get_note, parts.search_log
    notes, privacy, zone, version = stores.notes, parts.privacy, parts.zone, embedder.model.version
    reader = ChildFileReader(settings.file_timeout, settings.file_memory)
    return Services(
        remember=Remember(store, parts.reviews, get_note),
        append_turn=AppendTurn(store),
        ingest=parts.ingest,
        ingest_file=IngestFile(reader, parts.ingest, notes, clock),
        get_artifact=parts.get_artifact,
        reembed_artifact=ReembedArtifact(store, parts.get_artifact, embedder.model),
        explain=Explain(notes, parts.search, log, privacy, clock),
        search_log=log,
        add_note=AddNote(store, clock),
        add_event=AddNote(store, clock, Kind.EVENT),
        get_note=get_note,
        read_note=ReadNote(get_note, stores.chunks, stores.index_marks, parts.find_duplicates, parts.reviews),
        edit_note=parts.edit_note,
        wait_until_indexed=WaitUntilIndexed(stores.index_marks, parts.find_duplicates, clock),
        search=parts.search,
        repeat_search=RepeatSearch(log, stores.search_log, stores.chunks, notes, privacy, clock, zone),
        make_brief=MakeBrief(stores.briefs, parts.search, privacy, clock, zone),
        list_notes=parts.list_notes,
        list_conversations=ListConversations(stores.conversations, parts.list_notes, privacy, clock),
        forget=parts.forget,
        trash=parts.trash,
        versions=Versions(stores.archive, get_note, parts.edit_note),
        reviews=parts.reviews,
        list_changes=ListChanges(stores.changes, notes, privacy, clock),
        timeline=Timeline(parts.search, parts.list_notes, clock, zone),
        export_notes=ExportNotes(stores.archive, stores.decisions, notes, privacy),
        import_notes=ImportNotes(ImportNote(notes, stores.archive, store, clock), stores.decisions, wake, clock),
        housekeeping=Housekeeping(
            notes, stores.outbox, stores.idempotency, stores.facts, parts.forget, parts.trash, clock
        ),
        nightly_backup=parts.nightly_backup,
        idempotency=Idempotency(stores.idempotency, notes, stores.index_marks, clock),
        inspect_outbox=InspectOutbox(stores.outbox, clock, wake),
        rebuild=Rebuild(stores, index, store, clock, version, store.policies, wake),
        reembed=ReembedOnline(stores, embedder, lambda name: open_named(settings, name), clock),
        health=Health(stores, index, parts.watch_index, embedder, parts.nightly_backup, clock),
        embedding_health=EmbeddingHealth(embedder, settings.openai_api_key is not None),
        derive=parts.derive,
        index_worker=parts.worker,
        watch_index=parts.watch_index,
        watch_model=WatchModel(stores, version, clock),
        privacy=privacy,
        stores=stores,
        index=index,
        embedder=embedder,
        clock=clock,
        zone=zone,
        on_failure=parts.on_failure,
        settings=settings,
    )
