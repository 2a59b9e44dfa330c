"""Deployment profiles: runs the same tests of tools and routes with other engines.

`NUR_TEST_PROFILE` selects one, by default the embedded profile; `make profiles` runs them all.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.servers.chroma_server import borrowed
from tests.servers.postgres_server import shared_cluster
from tests.store_backends import empty_database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

CHOSEN = os.environ.get("NUR_TEST_PROFILE", "embedded")

#: For the few tests that read the store's file.
embedded_only = pytest.mark.skipif(CHOSEN != "embedded", reason="looks into the SQLite file")

#: What a write reports that does not wait for the index: a worker brings Chroma and Qdrant up to date a moment later.
INDEX_STATE = "pending" if CHOSEN in ("compose", "scale-out") else "indexed"

#: Test modules that use only the tools, routes and commands, and no files: they apply to every profile.
MODULES = (
    "test_artifact_tools",
    "test_asked_times",
    "test_bad_input",
    "test_concurrency",
    "test_history_tools",
    "test_memory_tools",
    "test_rest_kinds",
    "test_rest_notes",
    "test_rest_searches",
    "test_search_answers",
    "test_search_tools",
    "test_versions",
)


def _postgres() -> dict[str, str]:
    return {"DATABASE_URL": shared_cluster().emptied(empty_database()), "DATABASE_ALLOW_UNSYNCED": "1"}


@contextmanager
def _embedded(folder: Path) -> Iterator[dict[str, str]]:
    yield {}


@contextmanager
def _compose(folder: Path) -> Iterator[dict[str, str]]:
    with borrowed() as server:
        yield {"CHROMA_HOST": "127.0.0.1", "CHROMA_PORT": str(server.port)}


@contextmanager
def _server(folder: Path) -> Iterator[dict[str, str]]:
    yield _postgres()


@contextmanager
def _scale_out(folder: Path) -> Iterator[dict[str, str]]:
    yield _postgres() | {"INDEX": "qdrant"}


PROFILES: dict[str, Callable[[Path], AbstractContextManager[dict[str, str]]]] = {
    "embedded": _embedded,
    "compose": _compose,
    "server": _server,
    "scale-out": _scale_out,
}


@contextmanager
def profile(folder: Path) -> Iterator[dict[str, str]]:
    """Context manager: the environment of the selected profile, with an empty store."""
    with PROFILES[CHOSEN](folder) as environment:
        yield environment


if __name__ == "__main__":  # for `make profiles`
    print(*(f"tests/acceptance/{module}.py" for module in MODULES))
