"""Settings: the only module that reads the environment.

Each field is read from the environment variable with its name in capitals, else from the key with its name in
`nur.toml`.
"""

from __future__ import annotations

import os
import re
from datetime import time
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from platformdirs import user_data_path
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from nur.domain.errors import BadConfiguration

CONFIG_FILE_VARIABLE = "NUR_CONFIG"
SECRETS_VARIABLE = "NUR_SECRETS_DIR"
MIN_TOKEN_CHARACTERS = 16
MASK = "********"
LOOPBACK = ("127.0.0.1", "localhost", "::1")

Words = Annotated[tuple[str, ...], NoDecode]  #: a list; separated by commas in the environment


class NotesChunking(BaseModel):
    """The `[chunking]` table of `nur.toml`: how notes and events are chunked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(
        default=True, description="false: one chunk per note; a text too long for the model is still cut into windows"
    )
    max_tokens: int = Field(default=512, gt=0, description="maximum tokens in a chunk")
    overlap_tokens: int = Field(
        default=128, ge=0, description="maximum tokens shared by neighbouring chunks, in whole sentences"
    )
    tokenizer_repo: str = Field(
        default="", description="a Hugging Face repository or a tokenizer.json file; empty: cl100k"
    )

    @model_validator(mode="after")
    def _overlap_is_smaller(self) -> NotesChunking:
        if self.overlap_tokens >= self.max_tokens:
            raise ValueError(f"overlap_tokens must be smaller than max_tokens ({self.max_tokens})")
        return self


class Settings(BaseSettings):
    """All settings, read once at start."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", env_ignore_empty=True)

    # The server
    nur_data_dir: Path = Field(
        default_factory=lambda: user_data_path("nur", appauthor=False), description="folder of the store"
    )
    nur_bind: str = Field(
        default="127.0.0.1", description="address to listen on; any address but loopback needs NUR_TOKEN"
    )
    mcp_port: int = Field(default=3000, ge=0, le=65535, description="port to listen on; 0 picks a free one")
    nur_token: SecretStr | None = Field(default=None, description="bearer token that clients must send")
    nur_published_on_loopback: bool = Field(
        default=False,
        description="the container's port is published on the host's loopback only (compose): no token needed",
    )
    nur_allowed_hosts: Words = Field(default=(), description="additional Host headers to accept, name or name:port")
    nur_allowed_origins: Words = Field(default=(), description="additional web origins to accept, as scheme://host")
    nur_idle_exit_minutes: float = Field(
        default=0, ge=0, description="exit after this many minutes without a call; 0: never"
    )
    nur_timezone: str | None = Field(
        default=None, description="time zone of the store's users, such as Europe/Berlin; none: the system's"
    )
    nur_project: str = Field(
        default="",
        max_length=200,
        description="project of memories and briefs if a call names none; auto, for nur stdio: its folder's name",
    )
    nur_hook_timeout: float = Field(
        default=1.5, gt=0, le=60, description="maximum seconds for nur hook; the prompt waits for it"
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = Field(
        default="INFO", description="lowest level to log"
    )
    log_format: Literal["auto", "json", "text"] = Field(
        default="auto", description="format of log lines; auto: text on a terminal, else JSON"
    )

    # Where things are kept
    database_url: SecretStr | None = Field(
        default=None, description="a PostgreSQL database, as postgresql://user:password@host/name; none: SQLite"
    )
    database_pool_size: int = Field(default=8, ge=1, le=100, description="database connections per process")
    database_allow_unsynced: bool = Field(
        default=False, description="start even if PostgreSQL has fsync or synchronous_commit off"
    )
    index: Literal["auto", "flat", "chroma", "pgvector", "qdrant"] = Field(
        default="auto",
        description="the vector index; auto: chroma if CHROMA_HOST is set, qdrant if QDRANT_URL is set, "
        "pgvector on PostgreSQL, else flat",
    )
    chroma_host: str | None = Field(
        default=None, description="host of a Chroma server; none: INDEX=chroma runs embedded"
    )
    chroma_port: int = Field(default=8001, ge=1, le=65535, description="port of the Chroma server")
    qdrant_url: str | None = Field(
        default=None, description="a Qdrant server, as http://host:6333; none: INDEX=qdrant runs embedded"
    )
    qdrant_api_key: SecretStr | None = Field(default=None, description="API key of the Qdrant server")
    qdrant_collection: str = Field(
        default="nur", pattern=r"^[A-Za-z0-9_-]{1,100}$", description="prefix of the collection's name"
    )
    qdrant_shards: int = Field(default=1, ge=1, le=1000, description="shards of a new collection")
    qdrant_replicas: int = Field(default=1, ge=1, le=10, description="copies of each shard of a new collection")
    qdrant_quantization: Literal["none", "scalar", "binary"] = Field(
        default="none",
        description="how a new collection keeps vectors in memory: none (full floats), scalar (bytes), binary (bits)",
    )

    # Backups
    backup_dir: Path | None = Field(default=None, description="folder for nightly backups; none: no backups")
    backup_at: time = Field(default=time(3), description="time of the nightly backup, HH:MM in NUR_TIMEZONE")
    backup_keep: int = Field(
        default=7, ge=1, le=10_000, description="number of backups to keep; older ones are deleted"
    )
    backup_passphrase: SecretStr | None = Field(
        default=None, description="passphrase that encrypts backups; needed to restore them"
    )

    # Embeddings
    embeddings: Literal["auto", "openai", "models", "local", "onnx"] = Field(
        default="auto",
        description="embedding provider; auto, resolved when the store is created: openai if there is a key, "
        "else models if installed, else local",
    )
    onnx_model: Path | None = Field(default=None, description="for EMBEDDINGS=onnx: a sentence-transformers folder")
    openai_api_key: SecretStr | None = Field(default=None, description="API key of the embedding provider")
    openai_base_url: str | None = Field(default=None, description="URL of a server with OpenAI's API; none: OpenAI")
    openai_embed_model: str = Field(default="text-embedding-3-large", min_length=1, description="embedding model")
    openai_embed_dims: int = Field(default=3072, ge=1, le=16384, description="dimensions of the embedding model")
    openai_timeout: float = Field(default=30, gt=0, le=600, description="timeout of one request, in seconds")
    openai_max_retries: int = Field(default=3, ge=0, le=10, description="retries after the first failure")
    openai_batch_size: int = Field(default=100, ge=1, le=2048, description="maximum texts per request")
    embedding_deadline: float = Field(
        default=45, gt=0, description="maximum seconds for embedding in one call, retries included"
    )
    on_embedding_failure: Literal["auto", "reject", "defer"] = Field(
        default="auto",
        description="what happens to a write that cannot be embedded; auto: reject for MCP tools, defer for REST and "
        "the command line",
    )

    # Chunking
    single_piece_max_tokens: int = Field(default=1200, ge=1, description="texts up to this many tokens stay whole")
    chunk_target_tokens: int = Field(default=900, ge=1, description="tokens per chunk of a longer text")
    chunk_overlap_tokens: int = Field(default=100, ge=0, description="tokens shared by neighbouring chunks")
    chunking_strategy: Literal["window", "sentences", "structure"] = Field(
        default="window", description="how artifacts are chunked"
    )
    chunking: NotesChunking = Field(default_factory=NotesChunking, description="how notes and events are chunked")

    # Files
    file_timeout: float = Field(default=60, gt=0, le=3600, description="maximum seconds to read one file")
    file_memory: int = Field(default=1024, ge=256, description="maximum memory to read one file, in megabytes")

    # Search
    fusion: Literal["score", "rrf"] = Field(
        default="score", description="order of hits: absolute score, or weighted reciprocal rank fusion"
    )
    rerank: Literal["none", "http", "onnx"] = Field(
        default="none", description="reranker of the best hits: http (an endpoint) or onnx (a local cross-encoder)"
    )
    rerank_url: str | None = Field(
        default=None, description="URL of the reranker, such as https://api.cohere.com/v2/rerank"
    )
    rerank_api_key: SecretStr | None = Field(
        default=None, description="API key of the reranker, sent as a bearer token"
    )
    rerank_model: str | None = Field(default=None, description="the reranker's model; for onnx, its folder")
    rerank_deadline: float = Field(
        default=2, gt=0, le=60, description="maximum seconds for reranking; after that the order does not change"
    )
    rerank_top: int = Field(default=20, ge=1, le=100, description="number of best hits to rerank")
    trace_retention_days: float = Field(default=7, ge=0, description="days to keep search traces; 0: keep none")
    trace_queries: bool = Field(default=True, description="store queries in traces")

    # Privacy
    privacy_enforcement: bool = Field(
        default=False, description="show notes to other principals only if their visibility_scope allows it"
    )
    sensitive_sources: Words = Field(
        default=("medical", "health", "kids", "school", "family"),
        description="source systems whose artifacts are highly_sensitive and me-only by default",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order of precedence: arguments, environment, secret files, `nur.toml`."""
        del dotenv_settings, file_secret_settings
        secrets = os.environ.get(SECRETS_VARIABLE)
        files = [SecretsSettingsSource(settings_cls, secrets_dir=secrets)] if secrets else []
        return init_settings, env_settings, *files, TomlConfigSettingsSource(settings_cls, _config_file())

    @field_validator("nur_allowed_hosts", "nur_allowed_origins", "sensitive_sources", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return tuple(word.strip() for word in value.split(",") if word.strip()) if isinstance(value, str) else value

    @field_validator(
        "log_level",
        "log_format",
        "index",
        "qdrant_quantization",
        "embeddings",
        "on_embedding_failure",
        "chunking_strategy",
        "fusion",
        "rerank",
        mode="before",
    )
    @classmethod
    def _fold_case(cls, value: Any, info: Any) -> Any:
        if not isinstance(value, str):
            return value
        return value.upper() if info.field_name == "log_level" else value.lower()

    @field_validator("nur_timezone")
    @classmethod
    def _is_zone(cls, value: str | None) -> str | None:
        try:
            return value and ZoneInfo(value).key
        except (LookupError, OSError, ValueError):
            raise ValueError("must be the name of a time zone such as Europe/Berlin or UTC") from None

    @field_validator("backup_at", mode="before")
    @classmethod
    def _is_time_of_day(cls, value: Any) -> Any:
        if isinstance(value, str) and not re.fullmatch(r"[0-2][0-9]:[0-5][0-9]", value):
            raise ValueError("must be a time of day such as 03:00")
        return value

    @field_validator("openai_base_url", "rerank_url", "qdrant_url")
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        if value is not None and (urlsplit(value).scheme not in ("http", "https") or not urlsplit(value).hostname):
            raise ValueError("must be a URL such as https://host/v1")
        return value

    @model_validator(mode="after")
    def _fit_together(self) -> Settings:
        if self.chunk_overlap_tokens >= self.chunk_target_tokens:
            raise ValueError(
                f"CHUNK_OVERLAP_TOKENS must be smaller than CHUNK_TARGET_TOKENS ({self.chunk_target_tokens})"
            )
        if self.chunk_target_tokens > self.single_piece_max_tokens:
            raise ValueError(
                f"CHUNK_TARGET_TOKENS must not be larger than SINGLE_PIECE_MAX_TOKENS ({self.single_piece_max_tokens})"
            )
        if self.rerank == "http" and self.rerank_url is None:
            raise ValueError("RERANK=http needs RERANK_URL, such as https://api.cohere.com/v2/rerank")
        if self.embeddings == "onnx" and self.onnx_model is None:
            raise ValueError("EMBEDDINGS=onnx needs ONNX_MODEL: a folder with model.onnx and tokenizer.json")
        if self.rerank == "onnx" and self.rerank_model is None:
            raise ValueError("RERANK=onnx needs RERANK_MODEL: a folder with model.onnx and tokenizer.json")
        if self.database_url is not None and self.index == "flat":
            raise ValueError("INDEX=flat sees only the writes of its own process: with DATABASE_URL use pgvector")
        if self.database_url is None and self.index == "pgvector":
            raise ValueError("INDEX=pgvector needs DATABASE_URL, such as postgresql://user:password@host/name")
        if self.database_url is not None and self.backup_dir is not None:
            raise ValueError("BACKUP_DIR works with SQLite only: with DATABASE_URL use pg_dump or nur export")
        self._check_token()
        return self

    def _check_token(self) -> None:
        """Require a long token if other machines can reach the server."""
        if self.binds_loopback or self.nur_published_on_loopback:
            return
        if self.nur_token is None:
            raise ValueError(
                f"NUR_BIND={self.nur_bind} is reachable by others: set NUR_TOKEN, or bind 127.0.0.1 "
                "(NUR_PUBLISHED_ON_LOOPBACK=1 says that a container's port is published on loopback only)"
            )
        if len(self.nur_token.get_secret_value()) < MIN_TOKEN_CHARACTERS:
            raise ValueError(
                f"NUR_BIND={self.nur_bind} is reachable by others: NUR_TOKEN must have at least "
                f"{MIN_TOKEN_CHARACTERS} characters. Make one: "
                "python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
            )

    @property
    def binds_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.nur_bind in LOOPBACK or self.nur_bind.startswith("127.")


def _config_file() -> Path:
    """Return the path in NUR_CONFIG, else `nur.toml` in the current folder."""
    return Path(os.environ.get(CONFIG_FILE_VARIABLE) or "nur.toml")


def load(**overrides: Any) -> Settings:
    """Read the settings. Raises BadConfiguration, which names the variable and the fix."""
    config = os.environ.get(CONFIG_FILE_VARIABLE)
    if config and not Path(config).is_file():
        raise BadConfiguration(f"{CONFIG_FILE_VARIABLE}: there is no file {config}. Create it or unset the variable.")
    secrets = os.environ.get(SECRETS_VARIABLE)
    if secrets and not Path(secrets).is_dir():
        raise BadConfiguration(f"{SECRETS_VARIABLE}: there is no folder {secrets}. Create it or unset the variable.")
    try:
        return Settings(**overrides)
    except ValidationError as error:
        raise BadConfiguration("\n".join(_explain(problem) for problem in error.errors())) from error
    except ValueError as error:  # raised by tomllib for an invalid file
        raise BadConfiguration(f"{_config_file()}: not valid TOML: {error}") from error


def from_environment() -> dict[str, str]:
    """Return the environment variables that another process needs to get the same settings."""
    variables = {name: os.environ[name] for name in map(str.upper, Settings.model_fields) if os.environ.get(name)}
    if secrets := os.environ.get(SECRETS_VARIABLE):
        variables[SECRETS_VARIABLE] = secrets
    file = _config_file()
    return variables | ({CONFIG_FILE_VARIABLE: str(file.absolute())} if file.is_file() else {})


def masked(settings: Settings) -> dict[str, JsonValue]:
    """Return the settings as JSON values by environment variable, with secrets masked."""
    return {name.upper(): _as_json(getattr(settings, name)) for name in Settings.model_fields}


def _as_json(value: Any) -> JsonValue:
    if isinstance(value, SecretStr):
        return MASK
    if isinstance(value, tuple):
        return ",".join(str(item) for item in value)
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _explain(problem: Any) -> str:
    """Return one line: the variable, the problem, the value found (unless secret) and what the setting means."""
    if problem["type"] == "extra_forbidden":
        return _unknown_key(*problem["loc"])
    path = ".".join(str(part) for part in problem["loc"])
    message = problem["msg"].removeprefix("Value error, ")
    if not path:
        return f"{message}."
    field = Settings.model_fields.get(path.split(".", 1)[0])
    name = path.upper() if "." not in path else f"[chunking] {path.split('.', 1)[1]}"
    is_secret = field is not None and "SecretStr" in str(field.annotation)
    value = "" if is_secret else f" (found: {problem['input']!r})"
    meaning = f" It is: {field.description}." if field is not None and field.description else ""
    return f"{name}: {message}{value}.{meaning}"


def _unknown_key(*path: str) -> str:
    """Return a message about an unknown key in `nur.toml`, with the closest known key."""
    name, table = path[-1], f" in [{path[0]}]" if len(path) > 1 else ""
    known = NotesChunking.model_fields if table else Settings.model_fields
    close = get_close_matches(name.lower(), known, n=1)
    hint = f"Did you mean {close[0]}?" if close else "docs/reference/settings.md lists the keys."
    return f"{_config_file()}: unknown key {name}{table}. {hint}"
