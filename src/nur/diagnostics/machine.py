"""Checks of this machine: settings, data folder, programs, packages, the store's model.

Nothing is opened for writing and no lock is taken.
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

#: Packages whose version explains most reports.
TOLD_PACKAGES = ("mcp", "sqlalchemy", "numpy", "tiktoken")
OWNER_ONLY = 0o700


def examine(checks: CheckRun, data_dir: str | None) -> Settings | None:
    """Check everything that needs no server; returns the settings, if they are valid."""
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
    found: Settings | None = None
    with checks.check("settings") as seen:
        try:
            found = load(**({"nur_data_dir": data_dir} if data_dir else {}))
        except BadConfiguration as error:
            raise CheckFailed(str(error), "Mend the variable; `nur config` shows all settings.") from error
        seen.append(f"{len(found.model_fields_set)} set, the rest as they come")
    return found


def _programs(checks: CheckRun) -> None:
    checks.note("python", Result.OK, f"{platform.python_version()} on {platform.system()}")
    with checks.check("sqlite") as seen:
        with closing(sqlite3.connect(":memory:")) as database:
            try:
                database.execute("CREATE VIRTUAL TABLE probe USING fts5(terms)")
            except sqlite3.OperationalError as error:
                raise CheckFailed(
                    f"{sqlite3.sqlite_version} without FTS5", "Use a Python whose sqlite3 module has FTS5."
                ) from error
        seen.append(f"{sqlite3.sqlite_version} with FTS5")


def _packages(checks: CheckRun, settings: Settings | None) -> None:
    checks.note("packages", Result.OK, ", ".join(f"{name} {version(name)}" for name in TOLD_PACKAGES))
    wanted = settings is not None and (settings.index == "chroma" or bool(settings.chroma_host))
    try:
        checks.note("chroma extra", Result.OK, f"chromadb {version('chromadb')}")
    except PackageNotFoundError:
        if wanted:
            hint = "pip install 'nur-memory[chroma]'"
            checks.note("chroma extra", Result.FAILED, "not installed, but the settings ask for Chroma", hint)
        else:
            checks.note("chroma extra", Result.OK, "not installed; only INDEX=chroma needs it")


def _folder(checks: CheckRun, folder: Path) -> None:
    with checks.check("data folder") as seen:
        seen.append(str(folder))
        if not folder.exists():
            seen.append("not there yet; `nur serve` makes it")
            return
        if not folder.is_dir():
            raise CheckFailed(f"{folder} is not a folder", "Set NUR_DATA_DIR to a folder.")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise CheckFailed(f"{folder} is not writable", "Choose a folder that you own: NUR_DATA_DIR.")
        mode = stat.S_IMODE(folder.stat().st_mode)
        if sys.platform != "win32" and mode != OWNER_ONLY:
            raise CheckFailed(f"{folder} has mode {mode:o}: others may look inside", f"chmod 700 {folder}")


def _integrity(checks: CheckRun, file: Path) -> None:
    """Read every page and every text of the store, while its server runs or without one."""
    with checks.check("integrity") as seen:
        if not file.exists():
            seen.append("no store yet")
            return
        try:
            seen.append(thorough_check(file))
        except StoreDamaged as error:
            raise CheckFailed(str(error), "Restore a backup. To look closer, copy the folder first.") from error


def examine_store(checks: CheckRun, settings: Settings) -> None:
    """Say which model's vectors the store holds, where no server can be asked."""
    existing: EmbeddingModel | None = None
    with checks.check("store's model") as seen:
        existing = stored_model(settings.nur_data_dir / FILE)
        seen.append("no store yet" if existing is None else existing.version)
    if existing is not None:
        hint_at_key(checks, settings, existing.provider)


def hint_at_key(checks: CheckRun, settings: Settings, provider: str) -> None:
    """A key that the store does not use is worth a hint, no more: a store keeps the model it was made with."""
    if provider != "local" or settings.openai_api_key is None:
        return
    wanted = EmbeddingModel("openai", settings.openai_embed_model, settings.openai_embed_dims).version
    checks.note(
        "OPENAI_API_KEY",
        Result.NOTE,
        "set, but the store's vectors are local: it is not used",
        f"To use it for everything stored: nur reembed --to {wanted}",
    )


def stored_model(file: Path) -> EmbeddingModel | None:
    """The model that a store was made with; None without a store, or where it is not recorded.

    Read as an immutable file: no lock, no journal, no other file created. Writes that are only in the log are not seen.
    """
    if not file.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as store:
            row = store.execute("SELECT value FROM store_facts WHERE name = 'embedding_version'").fetchone()
    except sqlite3.DatabaseError as error:
        raise CheckFailed(
            f"{file} cannot be read ({error})",
            "Restore a backup, or move the folder away to start with a new store; `nur serve` says more.",
        ) from error
    return None if row is None else EmbeddingModel.parse(row[0])
