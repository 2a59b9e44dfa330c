"""The OpenAPI description, with an example of every response and errors as problem+json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi

from nur.entrypoints.rest import problems, uploads
from nur.entrypoints.rest.examples import EXAMPLES

if TYPE_CHECKING:
    from fastapi import FastAPI

REFUSALS = ("401", "403", "421")
_TOKEN = {"type": "http", "scheme": "bearer", "description": "the server's NUR_TOKEN"}


def described(app: FastAPI, *, needs_token: bool) -> dict[str, Any]:
    """Return FastAPI's description with examples, the bearer token and the media type of errors added."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        _add_forms(schema, get_openapi(title=app.title, version=app.version, routes=uploads.router.routes))
        for path in schema["paths"].values():
            for operation in path.values():
                for status, response in operation["responses"].items():
                    if status >= "400" and status not in REFUSALS:
                        response["content"] = {problems.MEDIA_TYPE: response["content"].pop("application/json")}
        for name, example in EXAMPLES.items():
            schema["components"]["schemas"][name]["examples"] = [example]
        if needs_token:
            schema["components"]["securitySchemes"] = {"token": _TOKEN}
            schema["security"] = [{"token": []}]
        app.openapi_schema = schema
    return app.openapi_schema


def _add_forms(schema: dict[str, Any], forms: dict[str, Any]) -> None:
    """Merge routes that take a form into those that take JSON at the same path: FastAPI describes only one of them."""
    for path, operations in forms["paths"].items():
        for method, form in operations.items():
            operation = schema["paths"][path][method]
            operation["requestBody"]["content"] |= form["requestBody"]["content"]
            for status, response in form["responses"].items():
                ours = operation["responses"].setdefault(status, response)
                theirs = response["content"]["application/json"]["schema"]
                described = ours["content"]["application/json"]["schema"]
                if described != theirs:
                    ours["content"]["application/json"]["schema"] = {"anyOf": [described, theirs]}
