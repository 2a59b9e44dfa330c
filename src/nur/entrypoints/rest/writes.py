"""What every write has: a receipt, a wait for the index where asked for, and an idempotency key."""

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
from nur.domain.errors import IndexDown
from nur.domain.writes import IndexState, NearDuplicate, Outcome, SimilarMemory, Stored
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered, etag
from nur.entrypoints.rest.problems import Responses
from nur.entrypoints.rest.schemas import NearDuplicateOut
from nur.services.idempotency import SavedResponse

REPLAYED = "Idempotency-Replayed"
#: Characters of a similar memory in a receipt.
QUOTE = 200
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


class SimilarOut(BaseModel):
    """A stored memory that a new one should be reviewed with."""

    note_id: str
    relation: Relation = Field(description="same: nearly the same; other: another value; conflict: the opposite")
    text: str = Field(description="its beginning")
    ts: datetime
    review_id: str = Field(description="for POST /v2/reviews/{review_id}")

    @classmethod
    def of(cls, one: SimilarMemory) -> "SimilarOut":
        """From the service's."""
        return cls(
            note_id=one.public_id,
            relation=one.relation,
            text=one.text[:QUOTE],
            ts=one.said_at,
            review_id=one.review_id,
        )


class Receipt(BaseModel):
    """What came of a write. Acknowledged is committed and fsynced; found by its words from now on."""

    note_id: str = Field(examples=["note_0123456789ab"])
    operation: Literal["created", "unchanged", "metadata_updated", "replaced"]
    index_state: Literal["indexed", "pending"] = Field(description="pending: the worker has still to embed or index it")
    revision: int
    version: int
    chunk_count: int
    near_duplicates: list[NearDuplicateOut] | None = Field(
        default=None, description="null until the note is indexed; ask with wait=indexed"
    )
    similar: list[SimilarOut] = Field(
        default_factory=list, description="of a memory whose text is new: what waits to be reviewed"
    )

    @classmethod
    def of(cls, stored: Stored, state: IndexState | None = None, near: list[NearDuplicate] | None = None) -> "Receipt":
        """From the service's."""
        return cls(
            note_id=stored.note.public_id,
            operation=stored.outcome.value,
            index_state=(state or stored.index_state).value,
            revision=stored.note.revision,
            version=stored.note.version,
            chunk_count=stored.note.chunk_count,
            near_duplicates=None if near is None else [NearDuplicateOut.of(one) for one in near],
            similar=[SimilarOut.of(one) for one in stored.similar],
        )


CREATED: Responses = {201: {"model": Receipt, "description": "Created"}}


def _receipt(stored: Stored, state: IndexState, near: list[NearDuplicate] | None = None) -> Response:
    status = 201 if stored.outcome is Outcome.CREATED else 200
    place = f"/v2/notes/{quote(stored.note.public_id, safe='')}"
    return answered(Receipt.of(stored, state, near), status, ETag=etag(stored.note.revision), Location=place)


async def once(
    request: Request,
    services: Services,
    caller: Caller,
    act: Callable[[], Awaitable[Response]],
) -> Response:
    """Execute the call, or repeat its first response. A call that failed may be made again under its key.

    A call whose process died after the commit is answered by what the audit log recorded under its call id.
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
        except Exception:  # not when cancelled: the write may be under way, and the audit log will have it
            await services.idempotency.release(caller)
            raise
    elif earlier.stored is None:
        response = answered(None, 204)
    else:
        response = _receipt(earlier.stored, earlier.stored.index_state)
    kept = {name: value for name, value in response.headers.items() if name in _KEPT_HEADERS}
    content = {"body": bytes(response.body).decode(), "headers": kept}
    await services.idempotency.save(caller, response.status_code, content)
    return response


def _replay(status: int, kept: dict[str, Any]) -> Response:
    media_type = "application/json" if kept["body"] else None
    return Response(kept["body"] or None, status, {**kept["headers"], REPLAYED: "true"}, media_type)


class Write:
    """A write on its way: executed once under its key, answered with a receipt."""

    def __init__(
        self,
        request: Request,
        services: OpenServices,
        caller: CurrentCaller,
        wait: Annotated[
            Literal["indexed"] | None, Query(description="`indexed`: answer when the note is indexed, or time is up")
        ] = None,
        wait_seconds: Annotated[float, Query(ge=0, le=30, description="how long to wait at most")] = 10,
        idempotency_key: IdempotencyKey = None,
    ) -> None:
        self.caller = replace(caller, idempotency_key=idempotency_key)
        self._request, self._services = request, services
        self._wait, self._seconds = wait, wait_seconds

    async def __call__(self, act: Callable[[], Awaitable[Stored]]) -> Response:
        """Execute the write and answer with its receipt, after a wait where that was asked for."""

        async def answer() -> Response:
            return await self._answer(await act())

        return await once(self._request, self._services, self.caller, answer)

    async def _answer(self, stored: Stored) -> Response:
        """The receipt; once the note is indexed, with near duplicates."""
        if self._wait is None:
            return _receipt(stored, stored.index_state)
        state, near = await self._services.wait_until_indexed(stored.note.note_id, self._seconds), None
        if state is IndexState.INDEXED:
            try:
                near = await self._services.find_duplicates(stored.note, self.caller)
            except IndexDown:  # a courtesy: the note is stored all the same
                near = None
        return _receipt(stored, state, near)


CurrentWrite = Annotated[Write, Depends()]
