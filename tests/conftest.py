"""Fixtures for every test: no environment of the machine's owner leaks in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from nur.settings import Settings

if TYPE_CHECKING:
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
