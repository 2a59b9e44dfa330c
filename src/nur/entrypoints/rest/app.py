"""The REST application: routes, errors, and what keeps a request within bounds."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from nur.domain.errors import NurError
from nur.entrypoints.http.bodies import BoundedBody
from nur.entrypoints.rest import (
    admin,
    archive,
    artifacts,
    changes,
    context,
    conversations,
    create,
    notes,
    problems,
    reviews,
    searches,
    settings,
    traces,
    uploads,
    versions,
)
from nur.entrypoints.rest.deps import operation_id
from nur.entrypoints.rest.openapi import described
from nur.observability.events import EventLog, traced

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from nur.entrypoints.mcp.tool import ServicesProvider

log = EventLog("Rest")

#: A text may have ten million characters, four bytes each, and JSON escapes some of them.
MOST_BODY_BYTES = 64 * 1024 * 1024
TOO_LARGE = f"The body has more than {MOST_BODY_BYTES} bytes."
DESCRIPTION = """Notes, events and searches over one store. Everything stored is a note; search finds chunks of notes.

Errors are `application/problem+json` with a stable `code`; `retryable` says whether the same call may succeed later.
Writes take an `Idempotency-Key`; edits and deletes take `If-Match` with the `ETag` that was read."""
ROUTERS = (
    uploads.router,  # before the routes that take JSON at the same address
    create.router,
    artifacts.router,
    conversations.router,
    versions.router,  # before the notes: an id may hold slashes
    notes.router,
    searches.router,
    context.router,
    changes.router,
    reviews.router,
    traces.searches_router,
    traces.admin_router,
    admin.router,
    settings.router,
    archive.router,
)


def make_rest(provide: ServicesProvider, *, needs_token: bool = False) -> ASGIApp:
    """The application; it answers when the services are open, and no error leaves it but as an answer."""
    return Contained(make_fastapi(provide, needs_token=needs_token))


def make_fastapi(provide: ServicesProvider, *, needs_token: bool = False) -> FastAPI:
    """The routes alone; `needs_token`: the server in front of them asks for one, and the description says so."""
    app = FastAPI(
        title="Nur",
        version=version("nur-memory"),
        description=DESCRIPTION,
        redirect_slashes=False,
        docs_url=None,  # the page at /docs is ours: FastAPI's loads its scripts from elsewhere
        redoc_url=None,
        generate_unique_id_function=operation_id,
    )
    app.state.provide = provide
    for router in ROUTERS:
        app.include_router(router)
    app.add_exception_handler(NurError, problems.of_nur)
    app.add_exception_handler(RequestValidationError, problems.of_validation)
    app.add_exception_handler(HTTPException, problems.of_http)
    app.add_exception_handler(Exception, problems.of_bug)
    streamed = frozenset({archive.IMPORT_PATH})
    app.add_middleware(BodyLimit, streamed=streamed)
    app.add_middleware(BoundedBody, most_bytes=MOST_BODY_BYTES, refuse=problems.of_body, streamed=streamed)
    app.openapi = lambda: described(app, needs_token=needs_token)  # type: ignore[method-assign]  # FastAPI's own way to change it
    return app


class BodyLimit:
    """Stops reading a body that is too large; those of `streamed` paths may have any size."""

    def __init__(self, app: ASGIApp, streamed: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._streamed = streamed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count what comes in."""
        if scope["type"] != "http" or scope["path"] in self._streamed:
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        left = MOST_BODY_BYTES
        too_large = announced.isdigit() and int(announced[:20]) > left

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0 or too_large:
                raise HTTPException(413, TOO_LARGE)
            return message

        await self._app(scope, counted, send)


class Contained:
    """Gives each request a trace id; a bug is logged where it happened, without its text, and goes no further."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; the application inside has answered before it raises."""
        with traced() as call_id:
            scope.setdefault("state", {})["call_id"] = call_id
            try:
                await self._app(scope, receive, send)
            except Exception:  # noqa: BLE001  # the client has its answer, the log learns where
                log.crash("request_crashed", method=scope.get("method", ""))
