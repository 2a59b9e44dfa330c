"""Fixtures for every test: no environment of the machine's owner leaks in."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

import pytest

from nur.observability import events
from nur.settings import Settings
from tests.empty_store import make_empty_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest_plugins = ["tests.servers.fixtures"]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of the machine's owner reaches a test, and no test reaches the owner's data."""
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("NUR_CONFIG", raising=False)
    monkeypatch.setenv("NUR_DATA_DIR", str(tmp_path / "data"))
    assert "OPENAI_API_KEY" not in os.environ


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty store, to be copied."""
    return make_empty_store(tmp_path_factory.mktemp("template"))


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
