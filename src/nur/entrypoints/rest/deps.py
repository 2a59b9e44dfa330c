"""Shared by all routes: the open services, the caller, entity tags and responses."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Header, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.convertors import PathConvertor, register_url_convertor

from nur.bootstrap import Services
from nur.domain.access import LOCAL, Caller


async def _services(request: Request) -> AsyncIterator[Services]:
    async with request.app.state.provide() as services:
        yield services


async def _caller(request: Request) -> Caller:
    """Return the only principal there is, `local`: a server has at most one token."""
    return Caller(LOCAL, request.state.call_id)


class AnyConvertor(PathConvertor):
    """Matches any id in a path, including slashes (like `path`) and line breaks."""

    regex = "(?s:.*)"


register_url_convertor("any", AnyConvertor())

OpenServices = Annotated[Services, Depends(_services)]
CurrentCaller = Annotated[Caller, Depends(_caller)]
IfMatch = Annotated[
    str | None,
    Header(alias="If-Match", max_length=200, description="the ETag that you read; fails if the note has changed since"),
]


def operation_id(route: APIRoute) -> str:
    """Return a route's operation id in the OpenAPI description."""
    return route.name


def etag(revision: int) -> str:
    """Return a note's revision as an entity tag."""
    return f'"{revision}"'


def expected_revision(if_match: str | None) -> int | None:
    """Return the revision in If-Match; None for any; -1, which never matches, for an unknown tag."""
    if if_match is None or if_match.strip() == "*":
        return None
    tags = [tag.strip().removeprefix("W/").strip('"') for tag in if_match.split(",")]
    numbers = [int(tag) for tag in tags if tag.isascii() and tag.isdigit() and len(tag) < 10]
    return numbers[0] if len(numbers) == 1 == len(tags) else -1


def answered(body: BaseModel | None, status: int = 200, **headers: str) -> Response:
    """Return a successful response; underscores in header names become hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is None:
        return Response(status_code=status, headers=named)
    return Response(body.model_dump_json(by_alias=True), status, named, "application/json")
