"""Reach the store over REST: the data folder's running server, or the same routes in this process."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click
import httpx2

from nur.domain.errors import BadRequest, Conflict, NotFound, NurError, Unavailable
from nur.entrypoints.stdio.locate import running
from nur.observability import events
from nur.settings import load

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from nur.settings import Settings

T = TypeVar("T")

TIMEOUT_SECONDS = 300.0
_ERRORS: dict[str, type[NurError]] = {"not_found": NotFound, "conflict": Conflict, "stale_revision": Conflict}
#: What commands call fields that are no options of the same name.
_ARGUMENTS = {"query": "QUERY", "text": "TEXT", "content": "TEXT", "note_id": "NOTE_ID", "top_k": "--limit"}
_WORDS = {"Input should be": "must be", "String should have": "must have"}

data_dir_option = click.option(
    "--data-dir", type=click.Path(file_okay=False), help="Folder that holds the store (NUR_DATA_DIR)."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class Store:
    """Calls routes; a problem becomes the error that it stands for."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        params: dict[str, Any] | None = None,
        *,
        headers: dict[str, str] | None = None,
        also: int | None = None,
    ) -> Any:
        """The answer's body, None when there is none; `also` is a status whose body is an answer, too.

        Raises BadRequest, NotFound, Conflict, Unavailable, NurError.
        """
        given = {name: value for name, value in (params or {}).items() if value not in (None, ())}
        try:
            response = await self._client.request(method, path, json=body, params=given, headers=headers)
        except httpx2.HTTPError as error:
            raise Unavailable("The server did not answer. Try again.") from error
        if response.is_success or response.status_code == also:
            return response.json() if response.content else None
        raise _error(response)


def _error(response: httpx2.Response) -> NurError:
    try:
        problem = response.json()
        code, text = str(problem["code"]), _words(problem)
    except (ValueError, KeyError, TypeError):
        return NurError(f"The server answered with status {response.status_code}.")
    if response.status_code < httpx2.codes.INTERNAL_SERVER_ERROR:
        return _ERRORS.get(code, BadRequest)(text)
    return Unavailable(text) if problem.get("retryable") else NurError(text)


def _words(problem: dict[str, Any]) -> str:
    """What is wrong; a field of the body or the address is named as the command line names it."""
    if not problem.get("errors"):
        return str(problem.get("detail") or problem.get("message"))
    field, message = problem["errors"][0]["field"], problem["errors"][0]["message"]
    name = field.rpartition(".")[2]
    for theirs, ours in _WORDS.items():
        message = message.replace(theirs, ours)
    return f"{_ARGUMENTS.get(name) or '--' + name.replace('_', '-')}: {message}"


@asynccontextmanager
async def reach(settings: Settings) -> AsyncIterator[Store]:
    """The store of these settings, for as long as the block lasts. Raises what keeps it from opening."""
    server = await asyncio.to_thread(running, settings.nur_data_dir)
    async with contextlib.AsyncExitStack() as stack:
        if server is not None:
            headers = {"Authorization": f"Bearer {server.token}"} if server.token else {}
            host = f"[{server.host}]" if ":" in server.host else server.host
            client = httpx2.AsyncClient(
                base_url=f"http://{host}:{server.port}", headers=headers, timeout=TIMEOUT_SECONDS
            )
        else:
            transport = await stack.enter_async_context(_own(settings))
            client = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=TIMEOUT_SECONDS)
        yield Store(await stack.enter_async_context(client))


@asynccontextmanager
async def _own(settings: Settings) -> AsyncIterator[httpx2.ASGITransport]:
    """The routes over a store that this process opens and closes."""
    from nur import bootstrap
    from nur.entrypoints.rest.app import make_rest

    async with bootstrap.running(settings) as services:

        @asynccontextmanager
        async def provide() -> AsyncIterator[bootstrap.Services]:
            yield services

        yield httpx2.ASGITransport(app=make_rest(provide))


def with_store(data_dir: str | None, work: Callable[[Store], Awaitable[T]]) -> T:
    """Do something with the store of the settings, which is made where there is none."""
    return _with_store(load(**({"nur_data_dir": data_dir} if data_dir else {})), work)


def reading(data_dir: str | None, work: Callable[[Store], Awaitable[T]]) -> T | None:
    """Read from the store of the settings; None where there is none: reading does not make one."""
    from nur import bootstrap

    settings = load(**({"nur_data_dir": data_dir} if data_dir else {}))
    if bootstrap.is_new(settings) and running(settings.nur_data_dir) is None:
        return None
    return _with_store(settings, work)


def _with_store(settings: Settings, work: Callable[[Store], Awaitable[T]]) -> T:
    events.configure("ERROR", settings.log_format)

    async def run() -> T:
        async with reach(settings) as store:
            return await work(store)

    return asyncio.run(run())
