"""Fixtures that start the servers; tests/conftest.py loads them: `pytest_plugins = ["tests.servers.fixtures"]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.servers.openai_stub import OpenAIStub
from tests.servers.rerank_stub import RerankStub

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def openai_stub() -> Iterator[OpenAIStub]:
    """A healthy OpenAI-compatible server at `openai_stub.url`; tell it to misbehave with `fail` and `fail_forever`."""
    with OpenAIStub() as stub:
        yield stub


@pytest.fixture
def rerank_stub() -> Iterator[RerankStub]:
    """A healthy rerank endpoint at `rerank_stub.url`; tell it to misbehave with `fail_forever`."""
    with RerankStub() as stub:
        yield stub
