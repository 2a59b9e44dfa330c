"""Shared by all writes: the receipt, the optional wait for the index, and idempotency keys."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import Depends, Header, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from nur.bootstrap import Services
from nur.domain.access import Caller
from nur.domain.chunks import sha256
from nur.domain.decisions import Relation
from nur.domain.writes import Outcome, SimilarMemory, Stored
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered, etag
from nur.entrypoints.rest.problems import Responses
from nur.entrypoints.rest.schemas import NearDuplicateOut
from nur.services.idempotency import SavedResponse

REPLAYED = "Idempotency-Replayed"
#: Maximum characters of a similar memory in a receipt.
QUOTE = 200
_KEPT_HEADERS = ("etag", "location")

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
        description="a repeated call with the same key within a day returns the first response and is not executed",
    ),
]


class SimilarOut(BaseModel):
    """A stored memory to review together with the new one."""

    note_id: str
    relation: Relation = Field(description="same: nearly the same; other: another value; conflict: the opposite")
    text: str = Field(description="the first characters of its text")
    ts: datetime
    review_id: str = Field(description="for POST /v2/reviews/{review_id}")

    @classmethod
    def of(cls, one: SimilarMemory) -> "SimilarOut":
        """Build it from the service's result."""
        return cls(
            note_id=one.public_id,
            relation=one.relation,
            text=one.text[:QUOTE],
            ts=one.said_at,
            review_id=one.review_id,
        )


class Receipt(BaseModel):
    """Result of a write, which is now committed, fsynced and found by its words."""

    note_id: str = Field(examples=["note_0123456789ab"])
    operation: Literal["created", "unchanged", "metadata_updated", "replaced"]
    index_state: Literal["indexed", "pending"] = Field(description="pending: the worker still has to embed or index it")
    revision: int
    version: int
    chunk_count: int
    near_duplicates: list[NearDuplicateOut] | None = Field(
        default=None, description="null unless requested with wait=indexed and the note was indexed in time"
    )
    similar: list[SimilarOut] = Field(
        default_factory=list, description="for a new memory text: stored memories to review with it"
    )

    @classmethod
    def of(cls, stored: Stored) -> "Receipt":
        """Build it from the service's result."""
        near = stored.near_duplicates
        return cls(
            note_id=stored.note.public_id,
            operation=stored.outcome.value,
            index_state=stored.index_state.value,
            revision=stored.note.revision,
            version=stored.note.version,
            chunk_count=stored.note.chunk_count,
            near_duplicates=None if near is None else [NearDuplicateOut.of(one) for one in near],
            similar=[SimilarOut.of(one) for one in stored.similar],
        )


CREATED: Responses = {201: {"model": Receipt, "description": "Created"}}


def _receipt(stored: Stored) -> Response:
    status = 201 if stored.outcome is Outcome.CREATED else 200
    location = f"/v2/notes/{quote(stored.note.public_id, safe='')}"
    return answered(Receipt.of(stored), status, ETag=etag(stored.note.revision), Location=location)


async def execute_once(
    request: Request,
    services: Services,
    caller: Caller,
    act: Callable[[], Awaitable[Response]],
) -> Response:
    """Execute the call, or repeat the first response to its key. A failed call can be repeated with the same key.

    If the first call's process died after the commit, the response is rebuilt from the audit log.
    """
    if caller.idempotency_key is None:
        return await act()
    body = (await request.body()).decode("utf-8", "replace")
    request_hash = sha256(f"{request.method} {request.url.path}?{request.url.query}\n{body}")
    earlier = await services.idempotency.reserve(request_hash, caller)
    if isinstance(earlier, SavedResponse):
        return _replay(earlier.status_code, dict(earlier.content))
    if earlier is None:
        try:
            response = await act()
        except Exception:  # not CancelledError: the write may still be committed, and the audit log will have it
            await services.idempotency.release(caller)
            raise
    elif earlier.stored is None:
        response = answered(None, 204)
    else:
        response = _receipt(earlier.stored)
    kept = {name: value for name, value in response.headers.items() if name in _KEPT_HEADERS}
    content = {"body": bytes(response.body).decode(), "headers": kept}
    await services.idempotency.save(caller, response.status_code, content)
    return response


def _replay(status: int, kept: dict[str, Any]) -> Response:
    media_type = "application/json" if kept["body"] else None
    return Response(kept["body"] or None, status, {**kept["headers"], REPLAYED: "true"}, media_type)


class Write:
    """Executes a write once per idempotency key and responds with a receipt."""

    def __init__(
        self,
        request: Request,
        services: OpenServices,
        caller: CurrentCaller,
        wait: Annotated[
            Literal["indexed"] | None, Query(description="`indexed`: respond once the note is indexed or time is up")
        ] = None,
        wait_seconds: Annotated[float, Query(ge=0, le=30, description="maximum time to wait")] = 10,
        idempotency_key: IdempotencyKey = None,
    ) -> None:
        self.caller = replace(caller, idempotency_key=idempotency_key)
        self._request, self._services = request, services
        self._wait, self._seconds = wait, wait_seconds

    async def __call__(self, act: Callable[[], Awaitable[Stored]]) -> Response:
        """Execute the write and return its receipt, after the requested wait."""

        async def respond() -> Response:
            stored = await act()
            if self._wait is not None:
                stored = await self._services.wait_until_indexed(stored, self.caller, self._seconds)
            return _receipt(stored)

        return await execute_once(self._request, self._services, self.caller, respond)


CurrentWrite = Annotated[Write, Depends()]
