"""Idempotency keys: the same call under the same key is done once and answered twice."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Header, Request
from fastapi.responses import Response
from pydantic import BaseModel

from nur.bootstrap import Services
from nur.domain.chunks import sha256
from nur.domain.notes import Principal
from nur.entrypoints.rest.problems import Refused

REPLAYED = "Idempotency-Replayed"
_KEPT_HEADERS = ("etag", "location")

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
        description="the same call under the same key within a day is done once; its answer is repeated",
    ),
]


def answered(body: BaseModel | None, status: int = 200, **headers: str) -> Response:
    """A good answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is None:
        return Response(status_code=status, headers=named)
    return Response(body.model_dump_json(), status, named, "application/json")


async def once(
    request: Request,
    services: Services,
    principal: Principal,
    key: str | None,
    act: Callable[[], Awaitable[Response]],
) -> Response:
    """Do it, or repeat the answer of the first time. A call that failed may be made again under its key."""
    if key is None:
        return await act()
    body = (await request.body()).decode("utf-8", "replace")
    asked = sha256(f"{request.method} {request.url.path}?{request.url.query}\n{body}")
    name = f"{principal.name}:{key}"
    ledger = services.ledger
    held = await ledger.claim(principal.tenant, name, asked, services.clock.now())
    if held is not None:
        if held.request_hash != asked:
            raise Refused(422, "idempotency_key_reused", "This Idempotency-Key belongs to another call.")
        if held.status_code is None or held.response is None:
            raise Refused(409, "idempotency_in_progress", "The first call is still being answered.", retryable=True)
        return _replay(held.status_code, dict(held.response))
    try:
        response = await act()
    except BaseException:
        await ledger.drop_claim(principal.tenant, name)
        raise
    kept = {name: value for name, value in response.headers.items() if name in _KEPT_HEADERS}
    text = bytes(response.body).decode()
    await ledger.answer_claim(principal.tenant, name, response.status_code, {"body": text, "headers": kept})
    return response


def _replay(status: int, kept: dict[str, Any]) -> Response:
    media_type = "application/json" if kept["body"] else None
    return Response(kept["body"] or None, status, {**kept["headers"], REPLAYED: "true"}, media_type)
