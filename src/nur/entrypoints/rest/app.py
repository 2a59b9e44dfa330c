"""The REST application."""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException

from nur.domain.errors import NurError
from nur.entrypoints.http.bodies import BoundedBody
from nur.entrypoints.rest import admin, embedding, listing, notes, problems, searches
from nur.entrypoints.rest.examples import EXAMPLES
from nur.entrypoints.rest.limits import MOST_BODY_BYTES, BodyLimit, Contained

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from nur.entrypoints.mcp.tool import ServicesProvider

DESCRIPTION = """Notes, events and searches over one store. Everything stored is a note; search finds chunks of notes.

Errors are `application/problem+json` with a stable `code`; `retryable` says whether the same call may succeed later.
Writes take an `Idempotency-Key`; edits and deletes take `If-Match` with the `ETag` that was read."""
REFUSALS = ("401", "403", "421")


def make_rest(provide: "ServicesProvider") -> "ASGIApp":
    """The application; it answers when the services are open, and no error leaves it but as an answer."""
    return Contained(make_fastapi(provide))


def make_fastapi(provide: "ServicesProvider") -> FastAPI:
    """The routes alone."""
    app = FastAPI(
        title="Nur",
        version=version("nur-memory"),
        description=DESCRIPTION,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.provide = provide
    for router in (notes.router, listing.router, searches.router, admin.router, embedding.router):
        app.include_router(router)
    app.add_exception_handler(NurError, problems.of_nur)
    app.add_exception_handler(problems.Refused, problems.of_refused)
    app.add_exception_handler(RequestValidationError, problems.of_validation)
    app.add_exception_handler(HTTPException, problems.of_http)
    app.add_exception_handler(Exception, problems.of_bug)
    app.add_middleware(BodyLimit)
    app.add_middleware(BoundedBody, most_bytes=MOST_BODY_BYTES, refuse=problems.of_body)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]  # FastAPI's own way to change it
    return app


def _described(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI description, with examples of answers, and errors under the media type that they have."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        for path in schema["paths"].values():
            for operation in path.values():
                for status, response in operation["responses"].items():
                    if status >= "400" and status not in REFUSALS:
                        response["content"] = {problems.MEDIA_TYPE: response["content"].pop("application/json")}
        for name, example in EXAMPLES.items():
            schema["components"]["schemas"][name]["examples"] = [example]
        app.openapi_schema = schema
    return app.openapi_schema
