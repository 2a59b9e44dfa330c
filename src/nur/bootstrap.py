"""Wires everything: the only place that knows which adapters there are.

Adapters are imported where they are chosen: chromadb takes seconds, and the default profile never needs it.
"""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from nur.domain.chunks import sha256
from nur.domain.embedding import EmbeddingModel
from nur.domain.errors import BadConfiguration, KeyRefused
from nur.domain.notes import Kind
from nur.domain.search import Fusion
from nur.domain.writes import OnEmbeddingFailure
from nur.observability.events import EventLog
from nur.ports.clock import Clock, SystemClock
from nur.retrieval.chunking import ChunkingPolicy
from nur.retrieval.model_profile import FOLDER, ModelProfile, file_name, profile_of
from nur.services.add_event import AddEvent
from nur.services.add_note import AddNote
from nur.services.append_turn import AppendTurn
from nur.services.edit_note import EditNote
from nur.services.explain import Explain
from nur.services.find_duplicates import FindDuplicates
from nur.services.forget import Forget
from nur.services.gather import Gather
from nur.services.get_artifact import GetArtifact
from nur.services.get_note import GetNote
from nur.services.health import Health
from nur.services.index_note import record
from nur.services.ingest import Ingest
from nur.services.list_notes import ListNotes
from nur.services.open_index import OpenIndex
from nur.services.privacy import PrivacyFilter
from nur.services.query_vector import QueryVector
from nur.services.quote import Quote
from nur.services.rebuild import Rebuild
from nur.services.reembed_artifact import ReembedArtifact
from nur.services.remember import Remember
from nur.services.rerank import Rerank
from nur.services.search import Search
from nur.services.search_sessions import SearchSessions
from nur.services.store_note import StoreNote
from nur.services.tidy import Tidy
from nur.services.trace_searches import TraceSearches
from nur.services.trash import Trash
from nur.services.wait_until_indexed import WaitUntilIndexed
from nur.services.work import Work

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from nur.adapters.chroma.client import ChromaFolder, ChromaServer
    from nur.domain.notes import ChunkKey, Note
    from nur.ports.embedder import Embedder, Floats
    from nur.ports.ledger import Ledger
    from nur.ports.reranker import Reranker
    from nur.ports.vector_index import IndexRecord, VectorIndex
    from nur.retrieval.tokens import Tokens
    from nur.settings import Settings

log = EventLog("Bootstrap")

LOCAL_PROVIDER, OPENAI_PROVIDER = "local", "openai"
NO_CHROMA = "INDEX=chroma needs an extra: pip install 'nur-memory[chroma]'"


@dataclass(frozen=True, slots=True)
class FailurePolicy:
    """What happens to writes through each sort of door when the embedding provider is down."""

    for_tools: OnEmbeddingFailure
    for_others: OnEmbeddingFailure

    @classmethod
    def of(cls, settings: Settings) -> FailurePolicy:
        """`auto` rejects for tools, where an agent sees the error, and defers elsewhere."""
        if settings.on_embedding_failure == "auto":
            return cls(OnEmbeddingFailure.REJECT, OnEmbeddingFailure.DEFER)
        chosen = OnEmbeddingFailure(settings.on_embedding_failure)
        return cls(chosen, chosen)


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
    traces: TraceSearches
    search_sessions: SearchSessions
    list_notes: ListNotes
    forget: Forget
    trash: Trash
    tidy: Tidy
    rebuild: Rebuild
    health: Health
    work: Work
    open_index: OpenIndex
    privacy: PrivacyFilter
    ledger: Ledger
    index: VectorIndex
    embedder: Embedder
    clock: Clock
    on_failure: FailurePolicy
    key_configured: bool


@asynccontextmanager
async def running(settings: Settings, clock: Clock | None = None) -> AsyncIterator[Services]:
    """Everything open and the worker at work; closed again at the end. Raises what `nur serve` exits with."""
    clock = clock or SystemClock()
    await asyncio.to_thread(tokenisers, settings)  # a download may take its time, or fail: before anything is opened
    ledger = make_ledger(settings, clock)
    await ledger.open()
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(ledger.close)
        store_id = await ledger.settle("store_id", uuid4().hex)
        embedder = await _embedder(settings, ledger)
        stack.push_async_callback(embedder.close)
        await refuse_bad_key(embedder)
        # Only now: a first start that fails for want of a key must not decide which model the store has.
        await ledger.settle("embedding_version", embedder.model.version)
        first = await ledger.settle("first_embedding_version", embedder.model.version)
        index = _index(settings, ledger, embedder.model, store_id, first, clock)
        stack.push_async_callback(index.close)
        reranker = _reranker(settings)
        stack.push_async_callback(reranker.close)
        services = assemble(settings, ledger, index, embedder, reranker, clock)
        stack.push_async_callback(services.traces.flush)
        await services.open_index()
        stack.push_async_callback(services.rebuild.stop)
        for job in (
            services.open_index.keep_trying(),
            services.work.forever(),
            services.tidy.forever(),
            services.traces.forever(),
            services.traces.purge_forever(),
        ):
            stack.push_async_callback(_stop, asyncio.create_task(job))
        log.info("store_opened", index=index.name, model=embedder.model.name, dimensions=embedder.model.dimensions)
        yield services


def assemble(
    settings: Settings, ledger: Ledger, index: VectorIndex, embedder: Embedder, reranker: Reranker, clock: Clock
) -> Services:
    """The use cases over open ports. Raises BadConfiguration when a tokenizer cannot be had."""
    cutting = policies(settings)
    store = StoreNote(ledger, index, embedder, clock, cutting, tokenisers(settings))
    privacy = PrivacyFilter(settings.privacy_enforcement)
    get_artifact = GetArtifact(ledger, privacy, clock)
    traces = TraceSearches(ledger, clock, settings.trace_retention_days, settings.trace_queries)
    search = Search(
        gather=Gather(ledger, index, embedder, QueryVector(embedder), privacy),
        rerank=Rerank(reranker, ledger, settings.rerank_deadline, settings.rerank_top),
        quote=Quote(ledger),
        traces=traces,
        ledger=ledger,
        embedder=embedder,
        clock=clock,
        profile=_profile(settings, embedder.model),
        fusion=Fusion(settings.fusion),
    )
    get_note = GetNote(ledger, privacy, clock)
    forget = Forget(ledger, index, privacy)
    work = Work(ledger, index, embedder, clock)
    trash = Trash(ledger, index, store, privacy, clock, work.wake)
    version = embedder.model.version
    return Services(
        remember=Remember(store),
        append_turn=AppendTurn(store),
        ingest=Ingest(store, clock, frozenset(name.casefold() for name in settings.sensitive_sources)),
        get_artifact=get_artifact,
        reembed_artifact=ReembedArtifact(store, get_artifact),
        explain=Explain(ledger, search, traces, privacy, clock),
        traces=traces,
        add_note=AddNote(store, clock, work.wake),
        add_event=AddEvent(store, clock, work.wake),
        get_note=get_note,
        edit_note=EditNote(store, get_note, clock, work.wake),
        find_duplicates=FindDuplicates(ledger, index, embedder),
        wait_until_indexed=WaitUntilIndexed(ledger, clock),
        search=search,
        search_sessions=SearchSessions(search, ledger, get_note, clock),
        list_notes=ListNotes(ledger, privacy),
        forget=forget,
        trash=trash,
        tidy=Tidy(ledger, forget, trash, clock),
        rebuild=Rebuild(ledger, index, store, clock, version, cutting, work.wake),
        health=Health(ledger, index, embedder, clock),
        work=work,
        open_index=OpenIndex(ledger, index, clock, version),
        privacy=privacy,
        ledger=ledger,
        index=index,
        embedder=embedder,
        clock=clock,
        on_failure=FailurePolicy.of(settings),
        key_configured=settings.openai_api_key is not None,
    )


def policies(settings: Settings) -> Mapping[Kind, ChunkingPolicy]:
    """How each kind of note is cut."""
    sizes = (settings.single_piece_max_tokens, settings.chunk_target_tokens, settings.chunk_overlap_tokens)
    window = ChunkingPolicy("window", *sizes)
    note = settings.chunking
    sizes_of_notes = (note.max_tokens, note.max_tokens, note.overlap_tokens)
    sentences = ChunkingPolicy("sentences", *sizes_of_notes, note.tokenizer_repo)
    notes = sentences if note.enabled else ChunkingPolicy("whole")
    artifacts = ChunkingPolicy(settings.chunking_strategy, *sizes)
    return {Kind.MEMORY: window, Kind.TURN: window, Kind.ARTIFACT: artifacts, Kind.NOTE: notes, Kind.EVENT: notes}


@cache
def _tokeniser(name: str) -> Callable[[str], Tokens]:
    from nur.retrieval.hf_tokens import load_tokeniser

    return load_tokeniser(name)


def tokenisers(settings: Settings) -> Mapping[str, Callable[[str], Tokens]]:
    """The tokenisers that the policies name. Raises BadConfiguration."""
    name = settings.chunking.tokenizer_repo
    return {name: _tokeniser(name)} if name else {}


def make_ledger(settings: Settings, clock: Clock) -> Ledger:
    """The ledger that the settings ask for, not yet open."""
    if settings.database_url is not None:
        raise BadConfiguration("DATABASE_URL: PostgreSQL is not supported by this version. Unset it to use SQLite.")
    from nur.adapters.ledger.sqlite.ledger import SqliteLedger

    return SqliteLedger(settings.nur_data_dir, clock)


async def _embedder(settings: Settings, ledger: Ledger) -> Embedder:
    """The embedder of the store's model; a store that has none yet gets the one that the settings ask for."""
    wanted = wanted_model(settings)
    settled = await ledger.fact("embedding_version")
    held = wanted if settled is None else EmbeddingModel.parse(settled)
    explicit = settings.embeddings != "auto" or settings.model_fields_set & {"openai_embed_model", "openai_embed_dims"}
    if explicit and wanted.provider == held.provider and wanted != held:
        raise BadConfiguration(
            f"OPENAI_EMBED_MODEL: the store holds vectors of {held.version}, the settings ask for {wanted.version}. "
            f"Change the setting back, or embed everything again with: nur reembed --to {wanted.version}"
        )
    if settings.embeddings != "auto" and wanted.provider != held.provider:
        raise BadConfiguration(
            f"EMBEDDINGS={settings.embeddings}: the store holds vectors of {held.version}. "
            f"Set EMBEDDINGS={held.provider} (or auto), or embed everything again: nur reembed --to {wanted.version}"
        )
    return open_embedder(settings, held)


def wanted_model(settings: Settings) -> EmbeddingModel:
    """The model that the settings ask for; a store that has one keeps it."""
    if settings.embeddings == "onnx":
        raise BadConfiguration("EMBEDDINGS=onnx is not supported by this version. Use openai, local or auto.")
    if settings.embeddings == "openai" or (settings.embeddings == "auto" and settings.openai_api_key is not None):
        return EmbeddingModel(OPENAI_PROVIDER, settings.openai_embed_model, settings.openai_embed_dims)
    from nur.adapters.local.static_model import DIMENSIONS, NAME

    return EmbeddingModel(LOCAL_PROVIDER, NAME, DIMENSIONS)


def open_embedder(settings: Settings, model: EmbeddingModel) -> Embedder:
    """The embedder of a model. Raises KeyRefused when it needs a key that is not there."""
    if model.provider == LOCAL_PROVIDER:
        from nur.adapters.local.embedder import LocalEmbedder

        return LocalEmbedder()
    if settings.openai_api_key is None:
        raise KeyRefused(
            f"OPENAI_API_KEY not configured: the store's vectors are of {model.version}. "
            "Set it, or use EMBEDDINGS=local with another NUR_DATA_DIR."
        )
    from nur.adapters.openai.batches import BatchLimits
    from nur.adapters.openai.embedder import OpenAIEmbedder
    from nur.adapters.openai.retries import Patience
    from nur.retrieval import tokens

    return OpenAIEmbedder(
        model,
        api_key=settings.openai_api_key.get_secret_value(),
        count_tokens=tokens.count,
        base_url=settings.openai_base_url,
        send_dimensions="text-embedding-3" in model.name or "openai_embed_dims" in settings.model_fields_set,
        patience=Patience(
            retries=settings.openai_max_retries,
            timeout_seconds=settings.openai_timeout,
            deadline_seconds=settings.embedding_deadline,
        ),
        limits=BatchLimits(texts=settings.openai_batch_size),
    )


async def refuse_bad_key(embedder: Embedder) -> None:
    """A refused key stops the start; a provider that is merely down does not."""
    if embedder.model.provider == LOCAL_PROVIDER:
        return
    probe = await embedder.probe()
    if probe.key_refused:
        raise KeyRefused(str(probe.error))
    if not probe.healthy:
        log.warning("embedder_down", error=probe.error)


def _index(
    settings: Settings, ledger: Ledger, model: EmbeddingModel, store_id: str, first_version: str, clock: Clock
) -> VectorIndex:
    chosen = settings.index
    if chosen == "auto":
        chosen = "chroma" if settings.chroma_host else "qdrant" if settings.qdrant_url else "flat"
    if chosen in ("pgvector", "qdrant"):
        raise BadConfiguration(f"INDEX={chosen} is not supported by this version. Use flat or chroma.")
    if chosen == "chroma":
        return _chroma(settings, model, store_id, first_version, clock)
    from nur.adapters.flat.vector_index import FlatVectorIndex

    async def load(after: ChunkKey, limit: int) -> Sequence[tuple[Note, IndexRecord]]:
        page = await ledger.pages(model.version, after, limit)
        vectors = await fetch([candidate.stored.chunk_key for candidate in page])
        return [
            (candidate.note, record(candidate.note, candidate.stored.chunk, key, vectors[key]))
            for candidate in page
            if (key := candidate.stored.chunk_key) in vectors
        ]

    async def fetch(keys: Sequence[ChunkKey]) -> dict[ChunkKey, Floats]:
        return await ledger.vectors(keys, model.version)

    return FlatVectorIndex(model.dimensions, load=load, fetch=fetch, clock=clock)


def _chroma(settings: Settings, model: EmbeddingModel, store_id: str, first_version: str, clock: Clock) -> VectorIndex:
    """Chroma; the store's first model has the plain names, later ones' collections carry a suffix."""
    try:
        from nur.adapters.chroma.vector_index import ChromaVectorIndex
    except ImportError as error:
        raise BadConfiguration(NO_CHROMA) from error
    suffix = "" if model.version == first_version else f"_{sha256(model.version)[:8]}"
    return ChromaVectorIndex(
        _chroma_place(settings), store_id=store_id, embedding_version=model.version, clock=clock, suffix=suffix
    )


def _chroma_place(settings: Settings) -> ChromaServer | ChromaFolder:
    from nur.adapters.chroma.client import ChromaFolder, ChromaServer

    if settings.chroma_host:
        return ChromaServer(settings.chroma_host, settings.chroma_port)
    return ChromaFolder(settings.nur_data_dir / "chroma")


def wipe_foreign(settings: Settings, name: str) -> None:
    """Delete a collection of Chroma that is not this store's. Raises BadConfiguration, BadRequest, IndexDown."""
    if settings.index not in ("auto", "chroma") or (settings.index == "auto" and not settings.chroma_host):
        raise BadConfiguration("--wipe-foreign is for Chroma: set CHROMA_HOST, or INDEX=chroma.")
    try:
        from nur.adapters.chroma.wipe import wipe_collection
    except ImportError as error:
        raise BadConfiguration(NO_CHROMA) from error
    wipe_collection(_chroma_place(settings), name)


def _reranker(settings: Settings) -> Reranker:
    if settings.rerank == "http" and settings.rerank_url is not None:
        from nur.adapters.rerank.http import HttpReranker

        key = settings.rerank_api_key.get_secret_value() if settings.rerank_api_key else None
        return HttpReranker(settings.rerank_url, model=settings.rerank_model, api_key=key)
    if settings.rerank == "onnx" and settings.rerank_model is not None:
        try:
            from nur.adapters.rerank.onnx import OnnxReranker
        except ImportError as error:
            raise BadConfiguration("RERANK=onnx needs an extra: pip install 'nur-memory[onnx]'") from error
        return OnnxReranker(Path(settings.rerank_model))
    from nur.adapters.rerank.none import NoReranker

    return NoReranker()


def _profile(settings: Settings, model: EmbeddingModel) -> ModelProfile:
    """What was measured about the model on this store, else what comes with the program."""
    path = settings.nur_data_dir / FOLDER / file_name(model.version)
    if not path.is_file():
        return profile_of(model.version)
    try:
        profile = ModelProfile.from_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadConfiguration(f"{path}: {error}. Remove the file, or measure again.") from error
    if profile.embedding_version != model.version:
        raise BadConfiguration(f"{path}: it is about {profile.embedding_version}. Remove the file, or measure again.")
    return profile


async def _stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
