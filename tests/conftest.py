"""Fixtures for every test: no environment of the machine's owner leaks in."""

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
from tests.servers.postgres_server import remove_shared_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest_plugins = ["tests.servers.fixtures"]

#: The same examples in every run, without a limit of time: what fails on a busy machine failed for a reason.
#: `HYPOTHESIS_PROFILE=explore make unit` draws new ones.
settings.register_profile("repeat", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))

#: HTTP calls of tests wait longer than the library's own 5 seconds, which are too few when two cores run many servers.
httpx2._config.DEFAULT_TIMEOUT_CONFIG.read = 60.0


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of the machine's owner reaches a test, and no test reaches the owner's data."""
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("NUR_CONFIG", raising=False)
    monkeypatch.setenv("NUR_DATA_DIR", str(tmp_path / "data"))
    assert "OPENAI_API_KEY" not in os.environ


@pytest.fixture(scope="session")
def empty_store() -> Path:
    """A migrated, empty store, to be copied."""
    return empty_store_file()


@pytest.fixture(scope="session", autouse=True)
def no_database_left() -> Iterator[None]:
    """PostgreSQL ends with the tests."""
    yield
    remove_shared_cluster()


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """A command that a test runs in this process sets up logging for good; the next test must not notice."""
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
