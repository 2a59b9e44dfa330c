"""Idempotency keys: the same call under the same key is done once and answered twice."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Header, Request
from fastapi.responses import Response

from nur.bootstrap import Services
from nur.domain.chunks import sha256
from nur.domain.notes import Principal
from nur.entrypoints.rest.problems import Refused
from nur.entrypoints.rest.receipts import late_answer
from nur.observability.events import current_trace_id

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
    principal: Principal,
    key: str | None,
    act: Callable[[], Awaitable[Response]],
) -> Response:
    """Do it, or repeat the answer of the first time. A call that failed may be made again under its key.

    A call that wrote and died with its server, before it could answer, is answered by what the audit log says it did.
    """
    if key is None:
        return await act()
    body = (await request.body()).decode("utf-8", "replace")
    asked = sha256(f"{request.method} {request.url.path}?{request.url.query}\n{body}")
    name = f"{principal.name}:{key}"
    ledger = services.ledger
    existing = await ledger.reserve_key(principal.tenant, name, asked, current_trace_id() or "", services.clock.now())
    if existing is None:
        try:
            response = await act()
        except Exception:  # not when cancelled: the write may be under way, and the audit log will tell
            await ledger.release_key(principal.tenant, name)
            raise
    elif existing.request_hash != asked:
        raise Refused(422, "idempotency_key_reused", "This Idempotency-Key belongs to another call.")
    elif existing.status_code is not None and existing.response is not None:
        return _replay(existing.status_code, dict(existing.response))
    elif existing.committed is not None:
        response = await late_answer(services, principal.tenant, existing.committed)
    else:
        raise Refused(409, "idempotency_in_progress", "The first call is still being answered.", retryable=True)
    kept = {name: value for name, value in response.headers.items() if name in _KEPT_HEADERS}
    text = bytes(response.body).decode()
    await ledger.save_response(principal.tenant, name, response.status_code, {"body": text, "headers": kept})
    return response


def _replay(status: int, kept: dict[str, Any]) -> Response:
    media_type = "application/json" if kept["body"] else None
    return Response(kept["body"] or None, status, {**kept["headers"], REPLAYED: "true"}, media_type)
