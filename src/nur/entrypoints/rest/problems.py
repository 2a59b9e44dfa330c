"""Errors as problem+json: a stable code and whether to retry; never any content that was sent or stored."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.routing import Match

from nur.domain.errors import NurError
from nur.entrypoints.rest.fields import NO_NUL, SOMETHING
from nur.observability.events import EventLog

log = EventLog("Rest")

METHOD_NOT_ALLOWED = 405
METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
MEDIA_TYPE = "application/problem+json"
STATUS = {
    "bad_request": 400,
    "file_refused": 422,
    "not_found": 404,
    "conflict": 409,
    "idempotency_in_progress": 409,
    "stale_revision": 412,
    "idempotency_key_reused": 422,
    "embedding_failed": 503,
    "embedding_refused": 503,
    "index_unavailable": 503,
    "index_lost": 503,
    "storage_failed": 503,
    "disk_full": 503,
    "unavailable": 503,
    "configuration": 503,
}
TITLES = {
    400: "Bad request",
    401: "Token needed",
    403: "Web origin not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Body not received in time",
    409: "Conflict",
    412: "Precondition failed",
    413: "Too large",
    421: "Unknown host",
    422: "Does not match the schema",
    500: "Internal error",
    503: "Unavailable, try again",
}
_CODES = {400: "bad_request", 404: "not_found", 405: "method_not_allowed", 408: "too_slow", 413: "too_large"}
_PATTERNS = {
    SOMETHING: "must hold more than blanks, and no NUL character",
    NO_NUL: "must not hold a NUL character",
}
_ECHO = 60
_SHOWN = 10

Responses: TypeAlias = "dict[int | str, dict[str, Any]]"


class FieldProblem(BaseModel):
    """What is wrong with one field."""

    field: str = Field(examples=["body.text"])
    message: str = Field(examples=["String should have at least 1 character"])


class Problem(BaseModel):
    """An error, after RFC 9457."""

    type: str = Field(examples=["urn:nur:problem:not_found"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    code: str = Field(description="stable; programs should branch on this", examples=["not_found"])
    detail: str = Field(examples=["Note note_0123456789ab not found"])
    retryable: bool = Field(description="whether the same call may succeed later")
    errors: list[FieldProblem] = Field(default_factory=list, description="one per field that does not match the schema")


class Refusal(BaseModel):
    """Response to a request that is refused before it reaches a route."""

    code: str = Field(examples=["refused"])
    message: str
    retryable: bool


def documented(*statuses: int) -> Responses:
    """Return the error responses of a route: these, and those that every route may have."""
    answers: Responses = {
        status: {"model": Problem, "description": TITLES[status]}
        for status in sorted({*statuses, 400, 408, 413, 422, 500, 503})
    }
    refusals: Responses = {status: {"model": Refusal, "description": TITLES[status]} for status in (401, 403, 421)}
    return answers | refusals


def answer(
    status: int,
    code: str,
    detail: str,
    *,
    retryable: bool = False,
    errors: Sequence[FieldProblem] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return a problem as a response."""
    problem = Problem(
        type=f"urn:nur:problem:{code}",
        title=TITLES.get(status, "Error"),
        status=status,
        code=code,
        detail=detail,
        retryable=retryable,
        errors=list(errors),
    )
    return JSONResponse(problem.model_dump(), status, dict(headers or {}), MEDIA_TYPE)


async def of_nur(request: Request, error: Exception) -> Response:
    """Handle a NurError."""
    assert isinstance(error, NurError)  # noqa: S101  # registered for this class
    status = STATUS.get(error.code, 500)
    log.warning("request_failed", method=request.method, status=status, error=error.code)
    headers = {"Retry-After": "5"} if status == STATUS["unavailable"] and error.retryable else {}
    return answer(status, error.code, str(error), retryable=error.retryable, headers=headers)


async def of_http(request: Request, error: Exception) -> Response:
    """Handle the framework's errors: unknown path, unknown method, unreadable body."""
    assert isinstance(error, HTTPException)  # noqa: S101
    code = _CODES.get(error.status_code, "bad_request")
    headers = {"Allow": _allowed(request)} if error.status_code == METHOD_NOT_ALLOWED else error.headers
    return answer(error.status_code, code, str(error.detail), headers=headers)


def _allowed(request: Request) -> str:
    """Return all methods allowed for a path; the framework lists only those of the first route."""
    scopes = {method: {**request.scope, "method": method} for method in METHODS}
    routes = request.app.routes
    known = (name for name, scope in scopes.items() if any(route.matches(scope)[0] is Match.FULL for route in routes))
    return ", ".join(known)


def of_body(status: int, detail: str) -> Response:
    """Return the response to a body that is refused before parsing."""
    return answer(status, _CODES[status], detail)


async def of_validation(_: Request, error: Exception) -> Response:
    """Handle violations of the schema: name each field, but not its value."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    if any(problem["type"] == "json_invalid" for problem in error.errors()):
        return answer(400, "bad_request", "The body is not valid JSON.")
    fields = [
        FieldProblem(field=_path(problem["loc"]), message=_message(problem)) for problem in error.errors()[:_SHOWN]
    ]
    unknown = next((p for p in error.errors() if p["type"] == "extra_forbidden" and "filters" in p["loc"]), None)
    if unknown is not None:
        detail = f"Invalid filter: {str(unknown['loc'][-1])[:_ECHO]}"
    else:
        detail = "; ".join(f"{problem.field}: {problem.message}" for problem in fields[:1])
    return answer(422, "invalid", detail, errors=fields)


async def of_bug(_: Request, __: Exception) -> Response:
    """Handle a bug: the details are in the log only."""
    return answer(500, "internal", "Internal error. The server's log has the details.")


def _message(problem: Mapping[str, Any]) -> str:
    """Return what is wrong: in our words for a pattern, and for a body sent without its content type."""
    if problem["type"] == "string_pattern_mismatch":
        return _PATTERNS.get(problem["ctx"]["pattern"], str(problem["msg"]))
    if problem["type"] == "model_attributes_type":
        return "must be a JSON object, sent with Content-Type: application/json"
    return str(problem["msg"]).removeprefix("Value error, ")


def _path(loc: Sequence[Any]) -> str:
    """Return the field's path; names sent by the caller are truncated."""
    return ".".join(str(part)[:_ECHO] for part in loc)
