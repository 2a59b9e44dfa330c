"""POST /v2/artifacts with a file: multipart/form-data."""

import inspect
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, File, Form, Request, Response, UploadFile
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.datastructures import Headers
from starlette.routing import Match

from nur.domain.errors import BadRequest
from nur.domain.notes import Retention, Sensitivity, Visibility
from nur.domain.writes import Outcome, Protection
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered, operation_id
from nur.entrypoints.rest.fields import NO_NUL, Moment, Name, Title, Url
from nur.entrypoints.rest.problems import documented
from nur.entrypoints.rest.writes import Receipt
from nur.services.notes.ingest_file import IncomingFile, IngestedFile

MULTIPART = "multipart/form-data"
#: Receipts that an answer lists; a mailbox may hold thousands of messages.
MOST_RECEIPTS = 50

SourceId = Annotated[str, Form(min_length=1, max_length=1000, pattern=NO_NUL)]


class UploadRoute(APIRoute):
    """Answers for forms alone: JSON to the same address is another route's."""

    def matches(self, scope: Any) -> tuple[Match, Any]:
        """Whether the request is a form."""
        match, child = super().matches(scope)
        sent = Headers(scope=scope).get("content-type", "") if match is Match.FULL else ""
        return (match, child) if match is not Match.FULL or sent.startswith(MULTIPART) else (Match.NONE, {})


router = APIRouter(prefix="/v2", tags=["artifacts"], route_class=UploadRoute, generate_unique_id_function=operation_id)


class UploadReceipt(BaseModel):
    """What came of a file. One file may hold many documents: messages, conversations, attachments."""

    operation: Literal["created", "unchanged", "metadata_updated", "replaced"] = Field(
        description="what came of the file: replaced or metadata_updated where that befell any of its documents"
    )
    documents: int
    created: int
    unchanged: int
    metadata_updated: int
    replaced: int
    artifacts: list[Receipt] = Field(description=f"the file's own document first; at most {MOST_RECEIPTS}")

    @classmethod
    def of(cls, ingested: IngestedFile) -> "UploadReceipt":
        """From the service's."""
        counts = {outcome.value: ingested.count(outcome) for outcome in Outcome}
        order = (Outcome.REPLACED, Outcome.CREATED, Outcome.METADATA_UPDATED, Outcome.UNCHANGED)
        return cls(
            operation=next(outcome.value for outcome in order if counts[outcome.value]),
            documents=sum(counts.values()),
            **counts,
            artifacts=[Receipt.of(stored) for stored in ingested.stored[:MOST_RECEIPTS]],
        )


async def refuse_unknown_fields(request: Request) -> None:
    """Raises BadRequest for a field that no parameter takes: the framework would ignore it."""
    sent, known = await request.form(), inspect.signature(upload_artifact).parameters
    unknown = next((name for name in sent if name not in known), None)
    if unknown is not None and "file" in sent:  # a form without a file: report that first
        raise BadRequest(f"body.{unknown[:60]}: there is no such field")


@router.post(
    "/artifacts",
    response_model=UploadReceipt,
    dependencies=[Depends(refuse_unknown_fields)],
    responses={201: {"model": UploadReceipt, "description": "Created"}, **documented()},
)
async def upload_artifact(
    services: OpenServices,
    caller: CurrentCaller,
    file: Annotated[UploadFile, File(description="the file; its name and its bytes say what it is")],
    name: Annotated[Title, Form(description="its name with folders, where the part's file name is not enough")] = "",
    source_system: Annotated[Name, Form(description="where it is from")] = "file",
    source_id: Annotated[SourceId | None, Form(description="its id there; else its name")] = None,
    source_url: Annotated[Url | None, Form(description="for documents without an address of their own")] = None,
    artifact_type: Annotated[
        Literal["email", "doc", "chat", "transcript", "note"] | None, Form(description="else as the file says")
    ] = None,
    title: Annotated[Title | None, Form(description="else as the file says")] = None,
    project: Annotated[Name, Form()] = "",
    modified_at: Annotated[Moment | None, Form(description="for documents without a date of their own")] = None,
    sensitivity: Annotated[Sensitivity | None, Form()] = None,
    visibility_scope: Annotated[Visibility | None, Form()] = None,
    retention_policy: Annotated[Retention | None, Form()] = None,
    expires_at: Annotated[Moment | None, Form(description="when it is to be deleted")] = None,
) -> Response:
    """Store a file: text, Markdown, HTML, office documents, mail, tables, chat exports.

    It is read in a process of its own with limits on time and memory. The same file again changes nothing.
    """
    known_as = name or file.filename or ""
    if not known_as:
        raise BadRequest("The part `file` needs a file name: it says what the file is.")
    incoming = IncomingFile(
        name=known_as,
        data=await file.read(),
        source_system=source_system,
        source_id=source_id,
        source_url=source_url,
        type=artifact_type,
        title=title,
        project=project,
        modified_at=modified_at,
    )
    stated = Protection(
        sensitivity=sensitivity, visibility=visibility_scope, retention=retention_policy, expires_at=expires_at
    )
    ingested = await services.ingest_file(incoming, stated, caller=caller, on_failure=services.on_failure.for_others)
    receipt = UploadReceipt.of(ingested)
    return answered(receipt, 201 if receipt.operation == "created" else 200)
