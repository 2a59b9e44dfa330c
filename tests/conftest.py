"""Fixtures for every test; they isolate tests from the environment of the user."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

import httpx2
import pytest
from hypothesis import settings

from nur.observability import events
from nur.settings import Settings
from tests.empty_store import empty_store_file
from tests.servers.chroma_server import remove_borrowed
from tests.servers.postgres_server import remove_shared_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest_plugins = ["tests.servers.fixtures"]

#: The same examples in every run, without a deadline, so that a busy machine causes no failures.
#: `HYPOTHESIS_PROFILE=explore make unit` draws new examples.
settings.register_profile("repeat", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))

#: HTTP timeout of tests. The library's 5 seconds are too short when two cores run many servers.
httpx2._config.DEFAULT_TIMEOUT_CONFIG.read = 60.0


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Remove the user's settings from the environment, and keep tests away from the user's data."""
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("NUR_CONFIG", raising=False)
    monkeypatch.setenv("NUR_DATA_DIR", str(tmp_path / "data"))
    assert "OPENAI_API_KEY" not in os.environ


@pytest.fixture(scope="session")
def empty_store() -> Path:
    """A migrated, empty store to copy."""
    return empty_store_file()


@pytest.fixture(scope="session", autouse=True)
def no_database_left() -> Iterator[None]:
    """Stop PostgreSQL after the tests."""
    yield
    remove_shared_cluster()
    remove_borrowed()


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """Restore the logging setup, which commands run in this process change permanently."""
    loggers = [logging.getLogger(name) for name in (None, events.OURS)]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
    root = logging.getLogger()
    for handler in [
        found for found in root.handlers if isinstance(found.formatter, events.JsonFormatter | events.TextFormatter)
    ]:
        root.removeHandler(handler)
