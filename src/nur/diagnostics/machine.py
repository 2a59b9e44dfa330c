"""Checks of this machine: settings, Python, SQLite, packages, data folder, store.

They open nothing for writing and take no lock.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import stat
import sys
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from nur.adapters.sql.sqlite.files import FILE
from nur.adapters.sql.sqlite.integrity import thorough_check
from nur.diagnostics.findings import CheckFailed, Result
from nur.domain.embedding import EmbeddingModel
from nur.domain.errors import BadConfiguration, StoreDamaged
from nur.settings import load

if TYPE_CHECKING:
    from pathlib import Path

    from nur.diagnostics.findings import CheckRun
    from nur.settings import Settings

#: Packages whose versions explain most bug reports.
REPORTED_PACKAGES = ("mcp", "sqlalchemy", "numpy", "tiktoken")
OWNER_ONLY = 0o700


def examine(checks: CheckRun, data_dir: str | None) -> Settings | None:
    """Run all checks that need no server; returns the settings, or None if they are not valid."""
    settings = _settings(checks, data_dir)
    _programs(checks)
    _packages(checks, settings)
    if settings is not None:
        _folder(checks, settings.nur_data_dir)
        if settings.database_url is None:
            _integrity(checks, settings.nur_data_dir / FILE)
        else:
            checks.note("integrity", Result.OK, "PostgreSQL checks its own files")
    return settings


def _settings(checks: CheckRun, data_dir: str | None) -> Settings | None:
    settings: Settings | None = None
    with checks.check("settings") as details:
        try:
            settings = load(**({"nur_data_dir": data_dir} if data_dir else {}))
        except BadConfiguration as error:
            raise CheckFailed(str(error), "Correct the variable; `nur config` shows all settings.") from error
        details.append(f"{len(settings.model_fields_set)} set, the others have their defaults")
    return settings


def _programs(checks: CheckRun) -> None:
    checks.note("python", Result.OK, f"{platform.python_version()} on {platform.system()}")
    with checks.check("sqlite") as details:
        with closing(sqlite3.connect(":memory:")) as database:
            try:
                database.execute("CREATE VIRTUAL TABLE probe USING fts5(terms)")
            except sqlite3.OperationalError as error:
                raise CheckFailed(
                    f"{sqlite3.sqlite_version} without FTS5", "Use a Python whose sqlite3 module has FTS5."
                ) from error
        details.append(f"{sqlite3.sqlite_version} with FTS5")


def _packages(checks: CheckRun, settings: Settings | None) -> None:
    checks.note("packages", Result.OK, ", ".join(f"{name} {version(name)}" for name in REPORTED_PACKAGES))
    uses_chroma = settings is not None and (settings.index == "chroma" or bool(settings.chroma_host))
    try:
        checks.note("chroma extra", Result.OK, f"chromadb {version('chromadb')}")
    except PackageNotFoundError:
        if uses_chroma:
            hint = "pip install 'nur-memory[chroma]'"
            checks.note("chroma extra", Result.FAILED, "not installed, but the settings choose Chroma", hint)
        else:
            checks.note("chroma extra", Result.OK, "not installed; only INDEX=chroma needs it")


def _folder(checks: CheckRun, folder: Path) -> None:
    with checks.check("data folder") as details:
        details.append(str(folder))
        if not folder.exists():
            details.append("does not exist yet; `nur serve` creates it")
            return
        if not folder.is_dir():
            raise CheckFailed(f"{folder} is not a folder", "Set NUR_DATA_DIR to a folder.")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise CheckFailed(f"{folder} is not writable", "Choose a folder that you own: NUR_DATA_DIR.")
        mode = stat.S_IMODE(folder.stat().st_mode)
        if sys.platform != "win32" and mode != OWNER_ONLY:
            raise CheckFailed(f"{folder} has mode {mode:o}: other users have access", f"chmod 700 {folder}")


def _integrity(checks: CheckRun, file: Path) -> None:
    """Verify every page and every text of the store, with or without a running server."""
    with checks.check("integrity") as details:
        if not file.exists():
            details.append("no store yet")
            return
        try:
            details.append(thorough_check(file))
        except StoreDamaged as error:
            raise CheckFailed(str(error), "Restore a backup. Copy the folder before you examine it.") from error


def check_stored_model(checks: CheckRun, settings: Settings) -> None:
    """Report the store's embedding model, if there is no server to ask."""
    existing: EmbeddingModel | None = None
    with checks.check("store's model") as details:
        existing = stored_model(settings.nur_data_dir / FILE)
        details.append("no store yet" if existing is None else existing.version)
    if existing is not None:
        note_unused_key(checks, settings, existing.provider)


def note_unused_key(checks: CheckRun, settings: Settings, provider: str) -> None:
    """Note an OpenAI key that the store does not use, since a store keeps the model it was created with."""
    if provider != "local" or settings.openai_api_key is None:
        return
    model = EmbeddingModel("openai", settings.openai_embed_model, settings.openai_embed_dims).version
    checks.note(
        "OPENAI_API_KEY",
        Result.NOTE,
        "set, but the store's vectors are local: it is not used",
        f"To use it for everything stored: nur reembed --to {model}",
    )


def stored_model(file: Path) -> EmbeddingModel | None:
    """Embedding model of a store; None without a store, or if none is recorded. Raises CheckFailed.

    Opens the file as immutable, so that no lock and no other file is made; changes that are only in the WAL are missed.
    """
    if not file.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as store:
            row = store.execute("SELECT value FROM store_facts WHERE name = 'embedding_version'").fetchone()
    except sqlite3.DatabaseError as error:
        raise CheckFailed(
            f"{file} cannot be read ({error})",
            "Restore a backup, or move the folder away to start with a new store. `nur serve` prints the reason.",
        ) from error
    return None if row is None else EmbeddingModel.parse(row[0])
