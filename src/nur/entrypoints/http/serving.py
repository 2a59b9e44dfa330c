"""Run the HTTP application until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import time
from importlib.metadata import version
from typing import TYPE_CHECKING

import uvicorn
from sse_starlette.sse import AppStatus

from nur.domain.errors import BadConfiguration
from nur.entrypoints.http.app import make_app
from nur.entrypoints.http.connections import BoundedProtocol, on_loop_error
from nur.entrypoints.http.guard import Callers
from nur.entrypoints.http.store_lifecycle import StoreLifecycle
from nur.entrypoints.mcp.server import make_server, tools
from nur.observability.events import EventLog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

    from nur.entrypoints.http.store_lifecycle import CallsInFlight
    from nur.settings import Settings

log = EventLog("Server")

#: After SIGTERM, together under the ten seconds that supervisors allow: for a call to be done, for its answer to be
#: sent, and for the store to be closed.
CALL_SECONDS = 8
DRAIN_SECONDS = 9
#: Turns of the event loop before the port is closed: one accepts a connection, one takes it, one reads its request.
LAST_TURNS = 5
TURN_SECONDS = 0.05
#: Connections that wait to be accepted. asyncio tries as many at once, also when it is out of descriptors.
BACKLOG = 128


async def serve(settings: Settings, announce: Callable[[str], None] | None = None) -> None:
    """Listen, open the store meanwhile, and drain on SIGTERM or Ctrl-C. Raises what keeps the store from opening."""
    listener = _listen(settings)
    url = _url(settings, listener)
    token = settings.nur_token.get_secret_value() if settings.nur_token else None
    callers = Callers(
        hosts=frozenset(name.lower() for name in (settings.nur_bind, *settings.nur_allowed_hosts)),
        origins=frozenset(origin.lower() for origin in settings.nur_allowed_origins),
        token=token,
    )
    asyncio.get_running_loop().set_exception_handler(on_loop_error())
    async with StoreLifecycle(settings) as opening:
        last_call = LastCall(
            make_app(opening.services, make_server(tools(opening.services), opening.services), callers)
        )
        config = uvicorn.Config(
            last_call,
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=DRAIN_SECONDS,
            server_header=False,
            http=BoundedProtocol,
            backlog=BACKLOG,
        )
        server = Draining(config, opening.calls)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            async with opening.services():
                pass
            with _server_file(settings.nur_data_dir, url, token):
                if announce:
                    announce(f"Nur listens on {url} (MCP at {url}/mcp). Data: {settings.nur_data_dir}")
                log.info("server_started", url=url, pid=os.getpid())
                idle = asyncio.create_task(_exit_when_idle(server, last_call, settings.nur_idle_exit_minutes * 60))
                watching = asyncio.create_task(opening.watch())
                await asyncio.wait({serving, watching}, return_when=asyncio.FIRST_COMPLETED)
                idle.cancel()
                if watching.done():
                    await watching
                watching.cancel()
        finally:
            server.should_exit = True
            await serving
    log.info("server_stopped")


class Draining(uvicorn.Server):
    """Exits on SIGTERM or Ctrl-C when the calls in flight are answered, and lets us close the store.

    uvicorn's own server raises the signal again before that, and sse_starlette would cut every MCP answer.
    """

    def __init__(self, config: uvicorn.Config, calls: CallsInFlight) -> None:
        super().__init__(config)
        self._calls = calls
        AppStatus.enable_automatic_graceful_drain = False

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more calls and wait for those in flight, also for those that were sent but not read yet."""
        self._calls.stop(CALL_SECONDS)
        for _ in range(LAST_TURNS):
            await asyncio.sleep(TURN_SECONDS)
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle the signals for as long as the server runs."""
        previous = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)


class LastCall:
    """Remembers when the last request came in, so that a server nobody uses can leave."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open = 0
        self._at = time.monotonic()

    @property
    def idle_seconds(self) -> float:
        """How long nothing has been asked; 0 while something is being answered."""
        return 0.0 if self._open else time.monotonic() - self._at

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and note the time."""
        counted = scope["type"] == "http"
        self._open += counted
        try:
            await self._app(scope, receive, send)
        finally:
            self._open -= counted
            self._at = time.monotonic()


async def _exit_when_idle(server: uvicorn.Server, last_call: LastCall, limit_seconds: float) -> None:
    while limit_seconds:
        await asyncio.sleep(max(0.1, limit_seconds - last_call.idle_seconds))
        if last_call.idle_seconds >= limit_seconds:
            log.info("idle_exit")
            server.should_exit = True
            return


def _listen(settings: Settings) -> socket.socket:
    """Bind before anything else, so that a taken port is a clear error and not a half-open store."""
    family = socket.AF_INET6 if ":" in settings.nur_bind else socket.AF_INET
    # TCP by name: of a socket that says only "stream" asyncio leaves Nagle's algorithm on, and answers wait 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.nur_bind, settings.mcp_port))
    except OSError as error:
        listener.close()
        raise BadConfiguration(
            f"MCP_PORT: cannot listen on {settings.nur_bind}:{settings.mcp_port} ({error.strerror}). "
            "Stop what uses the port, or set MCP_PORT to another one."
        ) from error
    return listener


def _url(settings: Settings, listener: socket.socket) -> str:
    host = f"[{settings.nur_bind}]" if ":" in settings.nur_bind else settings.nur_bind
    if host in ("0.0.0.0", "[::]"):  # noqa: S104  # an address to listen on is not one to call
        host = "127.0.0.1"
    return f"http://{host}:{listener.getsockname()[1]}"


@contextlib.contextmanager
def _server_file(folder: Path, url: str, token: str | None) -> Iterator[None]:
    """Tell others of this user where the folder's server is, while it runs."""
    path = folder / "server.json"
    facts = {"url": url, "pid": os.getpid(), "version": version("nur-memory"), "token": token}
    path.unlink(missing_ok=True)
    try:
        with open(path, "w", opener=lambda name, flags: os.open(name, flags, 0o600), encoding="utf-8") as file:
            json.dump(facts, file)
    except OSError as error:  # a full disk: searches are answered all the same
        path.unlink(missing_ok=True)
        log.warning("server_file_not_written", error=error.strerror, hint="Commands and nur stdio cannot find it.")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
