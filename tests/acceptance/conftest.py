"""A complete Nur behind its MCP server: a store in a temporary folder, the SDK's client, both protocol versions."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from mcp import Client

from nur import bootstrap
from nur.adapters.sql.sqlite.stores import SqliteStores
from nur.entrypoints.mcp.server import make_server, tools
from nur.settings import load
from tests import profiles
from tests.cli import Cli
from tests.doubles.clock import ManualClock
from tests.doubles.embedder import InMemoryEmbedder
from tests.doubles.vector_index import InMemoryVectorIndex
from tests.empty_store import copy_store
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path
    from typing import Protocol

    from mcp_types import CallToolResult

    from nur.adapters.sql.sqlite.threads import SqliteRunner
    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder

    class OpenDoor(Protocol):
        """Opens a door on the store of this test, with these settings."""

        def __call__(self, mode: str = "auto", **settings: Any) -> AbstractAsyncContextManager[Door]: ...

    class OpenWithoutJobs(Protocol):
        """Opens a door on the store of this test, over these adapters, with these settings."""

        def __call__(
            self,
            *,
            clock: Clock | None = None,
            run: SqliteRunner | None = None,
            embedder: Embedder | None = None,
            **settings: Any,
        ) -> AbstractAsyncContextManager[Door]: ...


#: For what was just stored to reach the index, on a busy machine.
INDEXING_SECONDS = 60.0


class Door:
    """Calls tools and returns results as a client sees them."""

    def __init__(self, client: Client, services: bootstrap.Services) -> None:
        self.client = client
        self.services = services

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """The whole result."""
        return await self.client.call_tool(tool, arguments)

    async def text(self, tool: str, **arguments: Any) -> str:
        """The text of a result that must have succeeded."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, result.content[0].text  # type: ignore[union-attr]
        return str(result.content[0].text)  # type: ignore[union-attr]

    async def data(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a result that must have succeeded."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, result.content[0].text  # type: ignore[union-attr]
        structured: dict[str, Any] | None = result.structured_content
        assert structured is not None
        return structured

    async def indexed(self) -> int:
        """How many chunks the index holds, once it is up to date."""
        async with asyncio.timeout(INDEXING_SECONDS):
            while (await self.services.stores.outbox.backlog(self.services.clock.now())).pending:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        return await self.services.index.count()

    async def refusal(self, tool: str, **arguments: Any) -> str:
        """The message of a result that must be an error, the same in text and structured content."""
        result = await self.call(tool, **arguments)
        assert result.is_error
        assert result.structured_content is not None
        assert set(result.structured_content) == {"code", "message", "retryable"}
        text = str(result.content[0].text)  # type: ignore[union-attr]
        assert result.structured_content["message"] == text
        return text


@asynccontextmanager
async def door(mode: str, **settings: Any) -> AsyncIterator[Door]:
    """Context manager: a client of a running Nur."""
    async with bootstrap.running(load(**settings)) as services, _client(services, mode) as client:
        yield Door(client, services)


@asynccontextmanager
async def _client(services: bootstrap.Services, mode: str = "auto") -> AsyncIterator[Client]:
    @asynccontextmanager
    async def provide() -> AsyncIterator[bootstrap.Services]:
        yield services

    async with Client(make_server(tools(provide), provide), mode=mode) as client:
        yield client


@asynccontextmanager
async def _without_jobs(
    *, clock: Clock | None = None, run: SqliteRunner | None = None, embedder: Embedder | None = None, **settings: Any
) -> AsyncIterator[Door]:
    clock, loaded = clock or ManualClock(), load(**settings)
    stores = SqliteStores(loaded.nur_data_dir, run)
    services = bootstrap.assemble(
        loaded, stores, InMemoryVectorIndex(clock), embedder or InMemoryEmbedder(), None, clock
    )
    await stores.open(clock.now())
    try:
        async with _client(services) as client:
            yield Door(client, services)
    finally:
        await services.embedder.close()
        await stores.close()


@pytest.fixture
def open_without_jobs() -> OpenWithoutJobs:
    """For tests that set the time or make a port fail: no jobs run, and the clock is manual."""
    return _without_jobs


@pytest.fixture
def open_door() -> OpenDoor:
    """For tests that close and open the store, or need other settings."""

    def opened(mode: str = "auto", **settings: Any) -> AbstractAsyncContextManager[Door]:
        return door(mode, **settings)

    return opened


@pytest.fixture(params=["auto", "legacy"])
async def nur(request: pytest.FixtureRequest) -> AsyncIterator[Door]:
    """A Nur with default settings, in each protocol version."""
    async for existing in _kept_open(door(request.param)):
        yield existing


@pytest.fixture(scope="module")
def shared_settings(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[dict[str, Any]]:
    """An empty store of the tested profile."""
    parent = tmp_path_factory.mktemp("shared")
    folder = copy_store(empty_store, parent / "data")
    with profiles.profile(parent) as environment:
        yield {"nur_data_dir": folder} | {name.lower(): value for name, value in environment.items()}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(shared_settings: dict[str, Any]) -> AsyncGenerator[Door]:
    """One Nur for all tests of a module; they use separate sources, conversations or words."""
    async for existing in _kept_open(door("auto", embeddings="local", **shared_settings)):
        yield existing


async def _kept_open(opening: AbstractAsyncContextManager[Door]) -> AsyncGenerator[Door]:
    opened: asyncio.Future[Door] = asyncio.get_running_loop().create_future()
    over = asyncio.Event()

    async def hold() -> None:
        """The SDK's client must be closed by the task that opened it; fixtures are set up and torn down by two."""
        async with opening as nur:
            opened.set_result(nur)
            await over.wait()

    holder = asyncio.create_task(hold())
    either: list[asyncio.Future[Any]] = [opened, holder]
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if holder.done():
        await holder
    yield opened.result()
    over.set()
    await holder


@pytest.fixture(autouse=True)
def migrated(empty_store: Path, tmp_path: Path) -> None:
    """Every test finds its data folder with an empty store in it."""
    copy_store(empty_store, tmp_path / "data")


@pytest.fixture(autouse=True)
def on_profile(clean_environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put the tested profile's settings into the environment of every test."""
    with profiles.profile(tmp_path) as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        yield


@pytest.fixture(params=["folder", "server"])
def cli(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cli]:
    """The command line, on the data folder itself and through a server."""
    if request.param == "folder":
        yield Cli(tmp_path / "data")
        return
    with NurProcess(tmp_path / "data") as server:
        yield Cli(server.folder)
