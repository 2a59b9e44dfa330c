"""Counts the files, functions and transactions that one call uses.

Counted in the process, without HTTP in front and without background jobs: a default store with the local model and the
flat index, called through the MCP server and the REST application.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp import Client

import nur
from nur import bootstrap
from nur.adapters.sql.sqlite.stores import SqliteStores
from nur.bootstrap.embedders import store_embedder
from nur.bootstrap.indexes import make_index
from nur.entrypoints.mcp.server import make_server, tools
from nur.ports.clock import SystemClock
from nur.settings import load
from tests.counting_runner import CountingRunner
from tests.rest_client import rest_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from types import CodeType, FrameType

    from nur.bootstrap import Services
    from tests.benchmarks.figures import Report

PACKAGE = str(Path(nur.__file__).parent)
PURE = ("/domain/", "/retrieval/")  #: folders of values and pure functions
STORED = ["Tea is drunk at four.", "Milk goes into tea.", "The bridge is closed on Mondays."]
MEMORY = {"type": "fact", "confidence": 1.0}
MAX_FILES = {"memory_store": 25, "POST /v2/searches": 30, "hybrid_search": 30}  #: aims, pure functions not counted


class Walk:
    """Records the code entered while recording is on, in every thread."""

    def __init__(self) -> None:
        self._entered: set[CodeType] = set()
        self._watching = False
        threading.setprofile(self._enter)  # before the store starts its threads

    def _enter(self, frame: FrameType, event: str, _: object) -> None:
        if self._watching and event == "call":
            self._entered.add(frame.f_code)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Record inside this block."""
        self._entered.clear()
        self._watching = True
        sys.setprofile(self._enter)
        try:
            yield
        finally:
            sys.setprofile(None)
            self._watching = False

    @property
    def functions(self) -> list[CodeType]:
        """Functions of Nur; lambdas and comprehensions count with their function."""
        return [code for code in self._entered if code.co_filename.startswith(PACKAGE) and code.co_name[0] != "<"]

    @property
    def files(self) -> list[str]:
        """Files of Nur, by name."""
        return sorted({code.co_filename.removeprefix(PACKAGE) for code in self.functions})


@asynccontextmanager
async def _opened(folder: Path, run: CountingRunner) -> AsyncIterator[Services]:
    clock, settings = SystemClock(), load(nur_data_dir=folder)
    stores = SqliteStores(folder, run)
    await stores.open(clock.now())
    embedder = await store_embedder(settings, stores, clock)
    index = make_index(settings, stores, embedder.model, "store", embedder.model.version, clock)
    services = bootstrap.assemble(settings, stores, index, embedder, None, clock)
    await services.watch_index.open()
    try:
        yield services
    finally:
        await embedder.close()
        await stores.close()


async def _walk(report: Report) -> None:
    walk, run = Walk(), CountingRunner()
    with tempfile.TemporaryDirectory() as folder:
        async with _opened(Path(folder) / "data", run) as services:

            @asynccontextmanager
            async def provide() -> AsyncIterator[Services]:
                yield services

            async with Client(make_server(tools(provide), provide)) as client, rest_of(services) as rest:

                async def tool(name: str, **arguments: Any) -> None:
                    assert not (await client.call_tool(name, arguments)).is_error

                for text in STORED:  # warm up: what is loaded on first use is not part of a call
                    await tool("memory_store", content=text, **MEMORY)
                question = {"query": "when is tea drunk"}
                calls: dict[str, Callable[[], Awaitable[Any]]] = {
                    "memory_store": lambda: tool("memory_store", content="Coffee is drunk at eight.", **MEMORY),
                    "POST /v2/searches": lambda: rest.ok("POST", "/v2/searches", question),
                    "hybrid_search": lambda: tool("hybrid_search", include_memory=True, **question),
                }
                for name in ("POST /v2/searches", "hybrid_search"):
                    await calls[name]()
                for name, call in calls.items():
                    run.take()
                    with walk.watched():
                        await call()
                    count = run.take()
                    impure = [file for file in walk.files if not file.startswith(PURE)]
                    report.add(f"{name}, files", len(walk.files), "")
                    most = f"≤ {MAX_FILES[name]}"
                    report.add(f"{name}, files that are not pure functions", len(impure), "", target=most)
                    report.add(f"{name}, functions", len(walk.functions), "")
                    report.add(f"{name}, transactions", count.reads + count.writes, "", target="≤ 3")
    threading.setprofile(None)


def test_walk(report: Report) -> None:
    """Store one memory, and search once through each interface."""
    asyncio.run(_walk(report))
