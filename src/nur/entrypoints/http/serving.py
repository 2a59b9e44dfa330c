"""`nur serve`: run the HTTP application, and drain it on SIGTERM."""

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
from nur.entrypoints.http.guard import AllowedCallers
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

#: Deadlines after SIGTERM for finishing a call and for sending its response. With closing the store they stay under the
#: ten seconds that supervisors allow.
CALL_SECONDS = 8
DRAIN_SECONDS = 9
#: Event loop iterations before the port is closed, so that a connection is accepted and its request read.
LAST_LOOPS = 5
LOOP_SECONDS = 0.05
#: Connections waiting to be accepted. asyncio accepts this many at once, even when it is out of descriptors.
BACKLOG = 128


async def serve(settings: Settings, announce: Callable[[str], None] | None = None) -> None:
    """Listen while the store opens, and drain on SIGTERM or Ctrl-C. Raises the NurError that prevents opening it."""
    listener = _listen(settings)
    url = _url(settings, listener)
    token = settings.nur_token.get_secret_value() if settings.nur_token else None
    callers = AllowedCallers(
        hosts=frozenset(name.lower() for name in (settings.nur_bind, *settings.nur_allowed_hosts)),
        origins=frozenset(origin.lower() for origin in settings.nur_allowed_origins),
        token=token,
    )
    asyncio.get_running_loop().set_exception_handler(on_loop_error())
    async with StoreLifecycle(settings) as lifecycle:
        idle_timer = IdleTimer(
            make_app(lifecycle.services, make_server(tools(lifecycle.services), lifecycle.services), callers)
        )
        config = uvicorn.Config(
            idle_timer,
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=DRAIN_SECONDS,
            server_header=False,
            http=BoundedProtocol,
            backlog=BACKLOG,
        )
        server = DrainingServer(config, lifecycle.calls)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            async with lifecycle.services():
                pass
            with _server_file(settings.nur_data_dir, url, token):
                if announce:
                    announce(f"Nur listens on {url} (MCP at {url}/mcp). Data: {settings.nur_data_dir}")
                log.info("server_started", url=url, pid=os.getpid())
                idle = asyncio.create_task(_exit_when_idle(server, idle_timer, settings.nur_idle_exit_minutes * 60))
                watching = asyncio.create_task(lifecycle.watch())
                await asyncio.wait({serving, watching}, return_when=asyncio.FIRST_COMPLETED)
                idle.cancel()
                if watching.done():
                    await watching
                watching.cancel()
        finally:
            server.should_exit = True
            await serving
    log.info("server_stopped")


class DrainingServer(uvicorn.Server):
    """Exits on SIGTERM or Ctrl-C after answering the calls in flight, so that the store can be closed.

    uvicorn's own server raises the signal again before that, and sse_starlette would cut off MCP responses.
    """

    def __init__(self, config: uvicorn.Config, calls: CallsInFlight) -> None:
        super().__init__(config)
        self._calls = calls
        AppStatus.enable_automatic_graceful_drain = False

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Wait for the calls in flight, including requests that were sent but not read yet."""
        self._calls.stop(CALL_SECONDS)
        for _ in range(LAST_LOOPS):
            await asyncio.sleep(LOOP_SECONDS)
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle the signals while the server runs."""
        previous = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)


class IdleTimer:
    """Measures the time since the last request, so that an unused server can exit."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open = 0
        self._at = time.monotonic()

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last request ended; 0 while one is being answered."""
        return 0.0 if self._open else time.monotonic() - self._at

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and record when it ends."""
        counted = scope["type"] == "http"
        self._open += counted
        try:
            await self._app(scope, receive, send)
        finally:
            self._open -= counted
            self._at = time.monotonic()


async def _exit_when_idle(server: uvicorn.Server, idle_timer: IdleTimer, limit_seconds: float) -> None:
    while limit_seconds:
        await asyncio.sleep(max(0.1, limit_seconds - idle_timer.idle_seconds))
        if idle_timer.idle_seconds >= limit_seconds:
            log.info("idle_exit")
            server.should_exit = True
            return


def _listen(settings: Settings) -> socket.socket:
    """Bind the port before anything else, so that a taken port fails before the store is opened."""
    family = socket.AF_INET6 if ":" in settings.nur_bind else socket.AF_INET
    # Name TCP explicitly: otherwise asyncio does not turn Nagle's algorithm off, and responses wait 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.nur_bind, settings.mcp_port))
    except OSError as error:
        listener.close()
        raise BadConfiguration(
            f"MCP_PORT: cannot listen on {settings.nur_bind}:{settings.mcp_port} ({error.strerror}). "
            "Stop the program that uses the port, or set MCP_PORT to another one."
        ) from error
    return listener


def _url(settings: Settings, listener: socket.socket) -> str:
    host = f"[{settings.nur_bind}]" if ":" in settings.nur_bind else settings.nur_bind
    if host in ("0.0.0.0", "[::]"):  # noqa: S104  # addresses to listen on cannot be called
        host = "127.0.0.1"
    return f"http://{host}:{listener.getsockname()[1]}"


@contextlib.contextmanager
def _server_file(folder: Path, url: str, token: str | None) -> Iterator[None]:
    """Record the server in `server.json` while it runs, so that this user's commands and clients find it."""
    path = folder / "server.json"
    facts = {"url": url, "pid": os.getpid(), "version": version("nur-memory"), "token": token}
    path.unlink(missing_ok=True)
    try:
        with open(path, "w", opener=lambda name, flags: os.open(name, flags, 0o600), encoding="utf-8") as file:
            json.dump(facts, file)
    except OSError as error:  # a full disk: searches still work
        path.unlink(missing_ok=True)
        log.warning("server_file_not_written", error=error.strerror, hint="Commands and nur stdio cannot find it.")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
