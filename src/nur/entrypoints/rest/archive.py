"""/v2/export and /v2/import: all notes, one JSON object per line."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from nur.domain.errors import BadRequest
from nur.entrypoints.http.bodies import BODY_SECONDS
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered
from nur.entrypoints.rest.problems import Responses, documented
from nur.services.archive.import_note import ImportOutcome
from nur.services.archive.import_notes import ImportReport

router = APIRouter(prefix="/v2", tags=["archive"])

NDJSON = "application/x-ndjson"
#: The body may have any size, because it is read line by line.
IMPORT_PATH = "/v2/import"
_LINES: Responses = {200: {"content": {NDJSON: {"schema": {"type": "string"}}}, "description": "The lines"}}


class FailureOut(BaseModel):
    """A line that was not imported."""

    line: int = Field(description="its number, from 1")
    reason: str


class ImportOut(BaseModel):
    """Result of an import."""

    created: int
    updated: int
    unchanged: int = Field(description="already stored, possibly under another id")
    kept: int = Field(
        description="not imported: the store has a newer revision, or a different one with the same number"
    )
    failed: int
    failures: list[FailureOut] = Field(description="the first hundred")
    complete: bool = Field(description="the body ended with the last line of an export; false: it was truncated")

    @classmethod
    def of(cls, report: ImportReport) -> "ImportOut":
        """Build it from the service's result."""
        return cls(
            **{outcome.value: report.outcomes[outcome] for outcome in ImportOutcome},
            failed=report.failed,
            failures=[FailureOut(line=one.line, reason=one.reason) for one in report.failures],
            complete=report.complete,
        )


@router.get("/export", response_class=StreamingResponse, responses={**_LINES, **documented()})
async def export_notes(services: OpenServices, caller: CurrentCaller) -> StreamingResponse:
    """Export every note with its previous texts, including the trash. The last line has the type `end`."""
    return StreamingResponse(services.export_notes(caller), media_type=NDJSON)


@router.post(
    "/import",
    response_model=ImportOut,
    responses=documented(),
    openapi_extra={"requestBody": {"required": True, "content": {NDJSON: {"schema": {"type": "string"}}}}},
)
async def import_notes(
    request: Request,
    services: OpenServices,
    caller: CurrentCaller,
    dry_run: Annotated[bool, Query(description="report what would be done, and store nothing")] = False,
) -> Response:
    """Store the notes of an export under their ids. Existing notes stay, so the same import can be repeated.

    A line that cannot be imported is reported and does not stop the others.
    """
    return answered(ImportOut.of(await services.import_notes(_pieces(request), caller, dry_run=dry_run)))


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    """Yield the body as it arrives. Raises HTTPException on a timeout, BadRequest if the client disconnects."""
    stream = request.stream()
    try:
        while True:
            async with asyncio.timeout(BODY_SECONDS):
                piece = await anext(stream, None)
            if piece is None:
                return
            yield piece
    except TimeoutError:
        raise HTTPException(408, "The body did not arrive in time. Import it again.") from None
    except ClientDisconnect:
        raise BadRequest("The body was cut off. Import it again.") from None
