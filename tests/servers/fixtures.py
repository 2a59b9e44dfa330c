"""Fixtures that start the stub servers; loaded by tests/conftest.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.servers.openai_stub import OpenAIStub
from tests.servers.rerank_stub import RerankStub

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def openai_stub() -> Iterator[OpenAIStub]:
    """A healthy OpenAI-compatible server at `openai_stub.url`; `fail` and `fail_forever` make it fail."""
    with OpenAIStub() as stub:
        yield stub


@pytest.fixture
def rerank_stub() -> Iterator[RerankStub]:
    """A healthy rerank endpoint at `rerank_stub.url`; `fail_forever` makes it fail."""
    with RerankStub() as stub:
        yield stub
