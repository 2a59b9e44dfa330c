"""REST client of the commands: calls the data folder's running server, or the same routes in this process."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import click
import httpx2

from nur.domain.access import LOCAL, Caller
from nur.domain.errors import BadRequest, Conflict, DataFolderInUse, NotFound, NurError, Unavailable
from nur.entrypoints.cli import render
from nur.entrypoints.stdio.locate import running_server, wait_for_server
from nur.observability import events
from nur.settings import load

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from nur.bootstrap import Services
    from nur.entrypoints.stdio.locate import Server
    from nur.settings import Settings

T = TypeVar("T")

TIMEOUT_SECONDS = 300.0
_ERRORS: dict[str, type[NurError]] = {"not_found": NotFound, "conflict": Conflict, "stale_revision": Conflict}
#: REST fields whose command-line name is not `--field-name`.
_ARGUMENTS = {"query": "QUERY", "text": "TEXT", "note_id": "NOTE_ID", "top_k": "--limit"}
#: Pydantic's wording, and ours.
_WORDING = {"Input should be": "must be", "String should have": "must have"}

data_dir_option = click.option(
    "--data-dir", type=click.Path(file_okay=False), help="Folder that holds the store (NUR_DATA_DIR)."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class Store:
    """Calls REST routes and raises the matching NurError for an error response."""

    def __init__(self, client: httpx2.AsyncClient, services: Services | None = None) -> None:
        """`services`: set if this process opened the store itself."""
        self._client = client
        self._services = services

    @property
    def is_local(self) -> bool:
        """Whether this process opened the store, instead of calling a server."""
        return self._services is not None

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        params: dict[str, Any] | None = None,
        *,
        headers: dict[str, str] | None = None,
        accept_status: int | None = None,
    ) -> Any:
        """Return the response body, or None if it is empty. `accept_status` is an error status that is not raised.

        Raises BadRequest, NotFound, Conflict, Unavailable, NurError.
        """
        query = {name: value for name, value in (params or {}).items() if value not in (None, ())}
        response = await self._request(method, path, json=body, params=query, headers=headers)
        if response.is_success or response.status_code == accept_status:
            return response.json() if response.content else None
        raise _error(response)

    async def export(self) -> AsyncIterator[bytes]:
        """Stream the lines of an export. Raises Unavailable if the connection breaks."""
        if self._services is not None:  # the in-process transport would buffer the whole export
            async for piece in self._services.export_notes(Caller(LOCAL, uuid4().hex)):
                yield piece
            return
        try:
            async with self._client.stream("GET", "/v2/export") as response:
                if not response.is_success:
                    await response.aread()
                    raise _error(response)
                async for piece in response.aiter_bytes():
                    yield piece
        except httpx2.HTTPError as error:
            raise Unavailable("The server ended the export early. Try again.") from error

    async def import_lines(self, pieces: AsyncIterator[bytes], *, dry_run: bool) -> Any:
        """Send the lines of an import and return its report. Raises BadRequest, Unavailable, NurError."""
        headers, params = {"Content-Type": "application/x-ndjson"}, {"dry_run": dry_run}
        try:
            response = await self._client.post("/v2/import", content=pieces, params=params, headers=headers)
        except httpx2.HTTPError as error:
            raise Unavailable("The server ended the import early. Run it again: stored notes are kept.") from error
        if not response.is_success:
            raise _error(response)
        return response.json()

    async def upload(self, path: str, file_name: str, data: bytes, fields: dict[str, str]) -> Any:
        """Send a file as a multipart form and return the response body. Raises what `call` raises."""
        response = await self._request("POST", path, data=fields, files={"file": (file_name, data)})
        if response.is_success:
            return response.json()
        raise _error(response)

    async def _request(self, method: str, path: str, **sent: Any) -> httpx2.Response:
        try:
            return await self._client.request(method, path, **sent)
        except httpx2.HTTPError as error:
            raise Unavailable("The server did not answer. Try again.") from error


def _error(response: httpx2.Response) -> NurError:
    try:
        problem = response.json()
        code, text = str(problem["code"]), _message(problem)
    except (ValueError, KeyError, TypeError):
        return NurError(f"The server answered with status {response.status_code}.")
    if response.status_code < httpx2.codes.INTERNAL_SERVER_ERROR:
        return _ERRORS.get(code, BadRequest)(text)
    return Unavailable(text) if problem.get("retryable") else NurError(text)


def _message(problem: dict[str, Any]) -> str:
    """Error message of a problem response; names a wrong field by its command-line option or argument."""
    if not problem.get("errors"):
        return str(problem.get("detail") or problem.get("message"))
    field, message = problem["errors"][0]["field"], problem["errors"][0]["message"]
    name = field.rpartition(".")[2]
    for theirs, ours in _WORDING.items():
        message = message.replace(theirs, ours)
    return f"{_ARGUMENTS.get(name) or '--' + name.replace('_', '-')}: {message}"


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncIterator[Store]:
    """Connect to the folder's running server, or open the store in this process if there is none.

    Raises the NurError that keeps the store from opening.
    """
    services: Services | None = None
    async with contextlib.AsyncExitStack() as stack:
        server = await asyncio.to_thread(running_server, settings.nur_data_dir)
        if server is not None:
            client = _server_client(server)
        else:
            from nur import bootstrap

            try:
                services = await stack.enter_async_context(bootstrap.running(settings))
                client = _in_process_client(services)
            except DataFolderInUse:
                server = await asyncio.to_thread(wait_for_server, settings.nur_data_dir)
                if server is None:
                    raise
                client = _server_client(server)
        yield Store(await stack.enter_async_context(client), services)


def _server_client(server: Server) -> httpx2.AsyncClient:
    headers = {"Authorization": f"Bearer {server.token}"} if server.token else {}
    host = f"[{server.host}]" if ":" in server.host else server.host
    return httpx2.AsyncClient(base_url=f"http://{host}:{server.port}", headers=headers, timeout=TIMEOUT_SECONDS)


def _in_process_client(services: Services) -> httpx2.AsyncClient:
    """Client that calls the REST application of a store opened by this process."""
    from nur.entrypoints.rest.app import make_rest

    @asynccontextmanager
    async def provide() -> AsyncIterator[Services]:
        yield services

    transport = httpx2.ASGITransport(app=make_rest(provide))
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=TIMEOUT_SECONDS)


def with_store(data_dir: str | None, work: Callable[[Store], Awaitable[T]]) -> T:
    """Run `work` with the configured store, creating the store if it does not exist."""
    return _with_store(load(**({"nur_data_dir": data_dir} if data_dir else {})), work)


def with_existing_store(data_dir: str | None, work: Callable[[Store], Awaitable[T]]) -> T | None:
    """Run `work` with the configured store; return None, and create nothing, if there is no store."""
    from nur import bootstrap

    settings = load(**({"nur_data_dir": data_dir} if data_dir else {}))
    if bootstrap.is_new(settings) and running_server(settings.nur_data_dir) is None:
        return None
    return _with_store(settings, work)


def _with_store(settings: Settings, work: Callable[[Store], Awaitable[T]]) -> T:
    events.configure("ERROR", settings.log_format)
    render.use_zone(settings.nur_timezone)

    async def run() -> T:
        async with open_store(settings) as store:
            return await work(store)

    return asyncio.run(run())
