"""Idempotency keys: the same call under the same key is executed once and answered twice."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Header, Request
from fastapi.responses import Response

from nur.bootstrap import Services
from nur.domain.access import Caller
from nur.domain.chunks import sha256
from nur.entrypoints.rest.problems import Refused
from nur.entrypoints.rest.receipts import late_response

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


async def once(
    request: Request,
    services: Services,
    caller: Caller,
    key: str | None,
    act: Callable[[], Awaitable[Response]],
) -> Response:
    """Execute the call, or repeat its first response. A call that failed may be made again under its key.

    A call whose process died after the commit is answered by what the audit log recorded under its call id.
    """
    if key is None:
        return await act()
    body = (await request.body()).decode("utf-8", "replace")
    request_hash = sha256(f"{request.method} {request.url.path}?{request.url.query}\n{body}")
    name = f"{caller.principal.name}:{key}"
    store = services.stores.idempotency
    existing = await store.reserve(name, request_hash, caller.at(services.clock.now()))
    if existing is None:
        try:
            response = await act()
        except Exception:  # not when cancelled: the write may be under way, and the audit log will have it
            await store.release(caller.tenant, name)
            raise
    elif existing.request_hash != request_hash:
        raise Refused(422, "idempotency_key_reused", "This Idempotency-Key belongs to another call.")
    elif existing.status_code is not None and existing.response is not None:
        return _replay(existing.status_code, dict(existing.response))
    elif existing.committed is not None:
        response = await late_response(services, caller.tenant, existing.committed)
    else:
        raise Refused(409, "idempotency_in_progress", "The first call is still being answered.", retryable=True)
    kept = {name: value for name, value in response.headers.items() if name in _KEPT_HEADERS}
    text = bytes(response.body).decode()
    await store.save_response(caller.tenant, name, response.status_code, {"body": text, "headers": kept})
    return response


def _replay(status: int, kept: dict[str, Any]) -> Response:
    media_type = "application/json" if kept["body"] else None
    return Response(kept["body"] or None, status, {**kept["headers"], REPLAYED: "true"}, media_type)
