"""Route that stores an uploaded file: POST /v2/artifacts with multipart/form-data."""

import inspect
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, File, Form, Request, Response, UploadFile
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.datastructures import Headers
from starlette.routing import Match

from nur.domain.errors import BadRequest
from nur.domain.notes import ArtifactType, Retention, Sensitivity, Visibility
from nur.domain.writes import Outcome, Protection
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered, operation_id
from nur.entrypoints.rest.fields import NO_NUL, Moment, Name, Title, Url
from nur.entrypoints.rest.problems import documented
from nur.entrypoints.rest.writes import Receipt
from nur.services.notes.ingest_file import IncomingFile, IngestedFile

MULTIPART = "multipart/form-data"
#: Maximum receipts in a response; a mailbox may have thousands of messages.
MAX_RECEIPTS = 50

SourceId = Annotated[str, Form(min_length=1, max_length=1000, pattern=NO_NUL)]


class UploadRoute(APIRoute):
    """Matches forms only; another route takes JSON at the same path."""

    def matches(self, scope: Any) -> tuple[Match, Any]:
        """Whether the request is a form."""
        match, child = super().matches(scope)
        sent = Headers(scope=scope).get("content-type", "") if match is Match.FULL else ""
        return (match, child) if match is not Match.FULL or sent.startswith(MULTIPART) else (Match.NONE, {})


router = APIRouter(prefix="/v2", tags=["artifacts"], route_class=UploadRoute, generate_unique_id_function=operation_id)


class UploadReceipt(BaseModel):
    """Result of an upload. One file may have many documents: messages, conversations, attachments."""

    operation: Literal["created", "unchanged", "metadata_updated", "replaced"] = Field(
        description="the first of replaced, created, metadata_updated, unchanged that applies to any of its documents"
    )
    documents: int
    created: int
    unchanged: int
    metadata_updated: int
    replaced: int
    artifacts: list[Receipt] = Field(description=f"the file's own document first; at most {MAX_RECEIPTS}")

    @classmethod
    def of(cls, ingested: IngestedFile) -> "UploadReceipt":
        """Build it from the service's result."""
        counts = {outcome.value: ingested.count(outcome) for outcome in Outcome}
        return cls(
            operation=ingested.outcome.value,
            documents=sum(counts.values()),
            **counts,
            artifacts=[Receipt.of(stored) for stored in ingested.stored[:MAX_RECEIPTS]],
        )


async def refuse_unknown_fields(request: Request) -> None:
    """Raise BadRequest for an unknown field, which the framework would ignore."""
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
    file: Annotated[UploadFile, File(description="the file; its name and content determine the format")],
    name: Annotated[Title, Form(description="name with folders; default: the part's file name")] = "",
    source_system: Annotated[Name, Form(description="the system it comes from")] = "file",
    source_id: Annotated[SourceId | None, Form(description="its id in that system; default: its name")] = None,
    source_url: Annotated[Url | None, Form(description="URL for documents that have none of their own")] = None,
    artifact_type: Annotated[ArtifactType | None, Form(description="default: by the file's format")] = None,
    title: Annotated[Title | None, Form(description="default: the title in the file")] = None,
    project: Annotated[Name, Form()] = "",
    modified_at: Annotated[Moment | None, Form(description="date for documents that have none of their own")] = None,
    sensitivity: Annotated[Sensitivity | None, Form()] = None,
    visibility_scope: Annotated[Visibility | None, Form()] = None,
    retention_policy: Annotated[Retention | None, Form()] = None,
    expires_at: Annotated[Moment | None, Form(description="when it is deleted")] = None,
) -> Response:
    """Store a file: text, Markdown, HTML, office documents, mail, tables, chat exports.

    A separate process reads it, with limits on time and memory. Sending the same file again changes nothing.
    """
    file_name = name or file.filename or ""
    if not file_name:
        raise BadRequest("The part `file` needs a file name: it says what the file is.")
    incoming = IncomingFile(
        name=file_name,
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
