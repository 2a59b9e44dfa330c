"""The REST application: routes, error handlers and body limits."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
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
    from starlette.types import ASGIApp, Receive, Scope, Send

    from nur.entrypoints.mcp.tool import ServicesProvider

log = EventLog("Rest")

#: A text may have ten million characters, four bytes each, and JSON escapes some of them.
MAX_BODY_BYTES = 64 * 1024 * 1024
DESCRIPTION = """Notes, events and searches over one store. Everything stored is a note; search finds chunks of notes.

Errors are `application/problem+json` with a stable `code`; `retryable` says whether the same call may succeed later.
Writes take an `Idempotency-Key`; edits and deletes take `If-Match` with the `ETag` that was read."""
ROUTERS = (
    uploads.router,  # before the routes that take JSON at the same path
    create.router,
    artifacts.router,
    conversations.router,
    versions.router,  # before notes, whose ids may contain slashes
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
    """Return the application. It turns every error into a response."""
    return Contained(make_fastapi(provide, needs_token=needs_token))


def make_fastapi(provide: ServicesProvider, *, needs_token: bool = False) -> FastAPI:
    """Return the FastAPI application. With `needs_token` the OpenAPI description requires a bearer token."""
    app = FastAPI(
        title="Nur",
        version=version("nur-memory"),
        description=DESCRIPTION,
        redirect_slashes=False,
        docs_url=None,  # /docs is our own page: FastAPI's loads scripts from a CDN
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
    app.add_middleware(BoundedBody, max_bytes=MAX_BODY_BYTES, refuse=problems.of_body, streamed=streamed)
    app.openapi = lambda: described(app, needs_token=needs_token)  # type: ignore[method-assign]  # FastAPI's own way to change it
    return app


class Contained:
    """Gives each request a trace id, and logs an unexpected exception's origin, without its message."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request. The inner application responds before it raises."""
        with traced() as call_id:
            scope.setdefault("state", {})["call_id"] = call_id
            try:
                await self._app(scope, receive, send)
            except Exception:  # noqa: BLE001  # the client already has a response
                log.crash("request_crashed", method=scope.get("method", ""))
