"""Chooses a store's embedding model and builds its embedder."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from nur.adapters.absent_embedder import AbsentEmbedder
from nur.adapters.guarded.embedder import GuardedEmbedder
from nur.adapters.sentences.package import SENTENCE_MODEL, are_installed
from nur.domain.embedding import EmbeddingModel
from nur.domain.errors import BadConfiguration, KeyRefused
from nur.observability.events import EventLog
from nur.ports.store_facts import EMBEDDING_VERSION
from nur.retrieval.calibration import BUILT_IN, FOLDER, ModelCalibration, calibration_of, file_name

if TYPE_CHECKING:
    from nur.adapters.local.common_words import CommonWords
    from nur.adapters.local.english_words import EnglishTokens
    from nur.adapters.onnx.embedder import OnnxEmbedder
    from nur.domain.embedding import Probe
    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder
    from nur.ports.stores import Stores
    from nur.settings import Settings

log = EventLog("Bootstrap")

LOCAL_PROVIDER, OPENAI_PROVIDER, ONNX_PROVIDER, MODELS_PROVIDER = "local", "openai", "onnx", "models"
FIRST_EMBEDDING_VERSION = "first_embedding_version"  #: store fact
NO_KEY = (
    "OPENAI_API_KEY is not set, and the store's vectors are of {version}: searches answer by words alone, and new "
    "texts cannot be embedded. Set the key, or leave OpenAI with: nur reembed --to local"
)
NO_OPENAI = (
    "Vectors of {version} need an extra: pip install 'nur-memory[openai]'. "
    "A new store without OpenAI: set EMBEDDINGS=local."
)
NO_MODELS = (
    "Vectors of {version} need an extra: pip install 'nur-memory[models]'. "
    "Without it: set EMBEDDINGS=local for a new store, or leave these models with: nur reembed --to local"
)
#: The setting that chooses each provider's model.
MODEL_SETTINGS = {
    OPENAI_PROVIDER: "OPENAI_EMBED_MODEL",
    ONNX_PROVIDER: "ONNX_MODEL",
    MODELS_PROVIDER: "EMBEDDINGS",
    LOCAL_PROVIDER: "EMBEDDINGS",
}


async def store_embedder(settings: Settings, stores: Stores, clock: Clock) -> Embedder:
    """Return the embedder of the store's model; a store without vectors gets the configured one.

    A store records its model only once that model has answered, so a provider that is down at the first start does
    not decide the model. Raises BadConfiguration, KeyRefused.
    """
    stored_version = await stores.facts.get(EMBEDDING_VERSION)
    has_vectors = stored_version is not None and stored_version in await stores.vectors.versions()
    model = _model_to_use(settings, stored_version, has_vectors=has_vectors)
    if model.provider == OPENAI_PROVIDER and settings.openai_api_key is None and has_vectors:
        log.error("embedder_absent", model=model.name)
        return AbsentEmbedder(model, NO_KEY.format(version=model.version))
    inner = open_embedder(settings, model)
    is_recorded = stored_version == model.version
    if model.provider != OPENAI_PROVIDER:
        if not is_recorded:
            await _record(stores, model)
        return inner
    embedder = GuardedEmbedder(inner, clock, on_answer=None if is_recorded else partial(_record, stores, model))
    try:
        await _refuse_wrong_settings(embedder, model, has_vectors=has_vectors)
    except BadConfiguration:
        await embedder.close()
        raise
    return embedder


def _model_to_use(settings: Settings, stored_version: str | None, *, has_vectors: bool) -> EmbeddingModel:
    """Return the store's model, or the configured one if the store has no model or no vectors of it."""
    if stored_version is None:
        return wanted_model(settings)
    existing = EmbeddingModel.parse(stored_version)
    try:
        refuse_other_model(settings, existing)
    except BadConfiguration:
        if has_vectors:
            raise
        return wanted_model(settings)
    lacks_key = existing.provider == OPENAI_PROVIDER and settings.openai_api_key is None
    return wanted_model(settings) if lacks_key and not has_vectors else existing


async def _record(stores: Stores, model: EmbeddingModel) -> None:
    """Record this as the store's model."""
    await stores.facts.set(EMBEDDING_VERSION, model.version)
    await stores.facts.set_if_absent(FIRST_EMBEDDING_VERSION, model.version)


async def _refuse_wrong_settings(embedder: Embedder, model: EmbeddingModel, *, has_vectors: bool) -> None:
    """Raise KeyRefused for a bad key, and BadConfiguration for a wrong model that has no vectors yet."""
    probe = await refuse_bad_key(embedder)
    if probe.misnamed and not has_vectors:
        raise BadConfiguration(
            f"OPENAI_EMBED_MODEL={model.name}, OPENAI_EMBED_DIMS={model.dimensions}: {probe.error} "
            "Nothing was stored: correct the settings and start again."
        )


def refuse_other_model(settings: Settings, existing: EmbeddingModel) -> None:
    """Raise BadConfiguration if the settings name another model than the store's existing one."""
    wanted = wanted_model(settings)
    explicit = settings.embeddings != "auto" or settings.model_fields_set & {"openai_embed_model", "openai_embed_dims"}
    names_model = wanted.provider != LOCAL_PROVIDER  # EMBEDDINGS=local is true of every version of the packaged model
    if explicit and names_model and wanted.provider == existing.provider and wanted != existing:
        raise BadConfiguration(
            f"{MODEL_SETTINGS[existing.provider]}: the store has vectors of {existing.version}, the settings ask for "
            f"{wanted.version}. "
            f"Change the setting back, or embed everything again with: nur reembed --to {wanted.version}"
        )
    if settings.embeddings != "auto" and wanted.provider != existing.provider:
        raise BadConfiguration(
            f"EMBEDDINGS={settings.embeddings}: the store has vectors of {existing.version}. "
            f"Set EMBEDDINGS={existing.provider} or auto, or embed everything again: nur reembed --to {wanted.version}"
        )


def wanted_model(settings: Settings) -> EmbeddingModel:
    """Return the model that the settings ask for."""
    if settings.embeddings == ONNX_PROVIDER:
        return _onnx(settings).model
    if settings.embeddings == "openai" or (settings.embeddings == "auto" and settings.openai_api_key is not None):
        return EmbeddingModel(OPENAI_PROVIDER, settings.openai_embed_model, settings.openai_embed_dims)
    if settings.embeddings == MODELS_PROVIDER or (settings.embeddings == "auto" and are_installed()):
        return SENTENCE_MODEL
    from nur.adapters.local.embedder import DIMENSIONS, NAME

    return EmbeddingModel(LOCAL_PROVIDER, NAME, DIMENSIONS)


def named_model(settings: Settings, name: str) -> EmbeddingModel:
    """Parse `models`, `local`, `openai`, `onnx` (as configured) or provider:model:dimensions.

    Raises BadConfiguration.
    """
    if name in MODEL_SETTINGS:
        return wanted_model(settings.model_copy(update={"embeddings": name}))
    try:
        model = EmbeddingModel.parse(name)
    except ValueError:
        model = EmbeddingModel("", "", 0)
    local = wanted_model(settings.model_copy(update={"embeddings": LOCAL_PROVIDER}))
    if model.version in BUILT_IN or (model.provider == ONNX_PROVIDER and model == _onnx(settings).model):
        return model
    if model.dimensions < 1 or model.provider != OPENAI_PROVIDER:
        raise BadConfiguration(
            f"No such model: {name}. Use models, local, openai, onnx, {local.version} or openai:MODEL:DIMENSIONS."
        )
    return model


async def open_named(settings: Settings, name: str) -> Embedder:
    """Open the embedder of the model that a running server is to switch to. Raises BadConfiguration."""
    model = named_model(settings, name)
    try:
        refuse_other_model(settings, model)
    except BadConfiguration as error:
        raise BadConfiguration(
            f"This server's settings ask for {wanted_model(settings).version}: it could not open a store of "
            f"{model.version}. Stop it, embed with the same command, change the settings, start it again."
        ) from error
    embedder = open_embedder(settings, model)
    try:
        await refuse_bad_key(embedder)
    except BadConfiguration:
        await embedder.close()
        raise
    return embedder


def open_embedder(settings: Settings, model: EmbeddingModel) -> Embedder:
    """Open the embedder of a model. Raises BadConfiguration, and KeyRefused if a key is needed and missing."""
    if model.provider == LOCAL_PROVIDER:
        from nur.adapters.local.embedder import LocalEmbedder

        return LocalEmbedder(model.name)
    if model.provider == MODELS_PROVIDER:
        if model != SENTENCE_MODEL or not are_installed():
            raise BadConfiguration(NO_MODELS.format(version=model.version))
        from nur.adapters.sentences.embedder import SentenceEmbedder

        return SentenceEmbedder()
    if model.provider == ONNX_PROVIDER:
        embedder = _onnx(settings)
        if embedder.model != model:
            raise BadConfiguration(
                f"ONNX_MODEL: the store has vectors of {model.version}, but {settings.onnx_model} has "
                f"{embedder.model.version}. Set the previous folder, or embed everything again: nur reembed --to onnx"
            )
        return embedder
    if settings.openai_api_key is None:
        raise KeyRefused(
            f"OPENAI_API_KEY not configured, but vectors of {model.version} need it. Set it, or use EMBEDDINGS=local."
        )
    return _openai(settings, model, settings.openai_api_key.get_secret_value())


def _openai(settings: Settings, model: EmbeddingModel, api_key: str) -> Embedder:
    """Build the OpenAI embedder from the settings. Raises BadConfiguration."""
    try:
        from nur.adapters.openai.embedder import OpenAIEmbedder
    except ImportError as error:
        raise BadConfiguration(NO_OPENAI.format(version=model.version)) from error
    from nur.adapters.openai.batches import BatchLimits
    from nur.adapters.openai.retries import RetryPolicy
    from nur.retrieval.text import tokens

    return OpenAIEmbedder(
        model,
        api_key=api_key,
        count_tokens=tokens.count,
        base_url=settings.openai_base_url,
        send_dimensions="text-embedding-3" in model.name or "openai_embed_dims" in settings.model_fields_set,
        retry_policy=RetryPolicy(
            retries=settings.openai_max_retries,
            timeout_seconds=settings.openai_timeout,
            deadline_seconds=settings.embedding_deadline,
        ),
        limits=BatchLimits(texts=settings.openai_batch_size),
    )


def _onnx(settings: Settings) -> OnnxEmbedder:
    """Build the embedder of the model in the configured folder. Raises BadConfiguration."""
    if settings.onnx_model is None:
        raise BadConfiguration("ONNX_MODEL: name the folder of the model, with model.onnx and tokenizer.json.")
    try:
        from nur.adapters.onnx.embedder import OnnxEmbedder
    except ImportError as error:
        raise BadConfiguration("EMBEDDINGS=onnx needs an extra: pip install 'nur-memory[onnx]'") from error
    return OnnxEmbedder(settings.onnx_model)


async def refuse_bad_key(embedder: Embedder) -> Probe:
    """Probe the provider and return the result. Raises KeyRefused for a bad key, not if the provider is down."""
    probe = await embedder.probe()
    if probe.key_refused:
        raise KeyRefused(str(probe.error))
    return probe


def measured_calibration(settings: Settings, model: EmbeddingModel) -> ModelCalibration:
    """Return the model's calibration measured on this store, else the packaged one. Raises BadConfiguration."""
    path = settings.nur_data_dir / FOLDER / file_name(model.version)
    if not path.is_file():
        return calibration_of(model.version)
    try:
        calibration = ModelCalibration.from_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadConfiguration(f"{path}: {error}. Remove the file, or measure again.") from error
    if calibration.embedding_version != model.version:
        raise BadConfiguration(
            f"{path}: it was measured for {calibration.embedding_version}. Remove the file, or measure again."
        )
    return calibration


def packaged_tokens(embedder: Embedder) -> EnglishTokens:
    """Return the packaged model's token vectors, which embed pieces; shared with the embedder if it uses that model."""
    from nur.adapters.local.embedder import LocalEmbedder, PackagedTokens
    from nur.adapters.local.english_words import EnglishTokens

    return embedder.tokens if isinstance(embedder, LocalEmbedder) else EnglishTokens(PackagedTokens())


def common_words() -> CommonWords:
    """Return the table of common words of other languages."""
    from nur.adapters.local.common_words import CommonWords

    return CommonWords()
