"""Routes for a note's previous texts."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, Field

from nur.entrypoints.rest.deps import CurrentCaller, IfMatch, OpenServices, answered, expected_revision
from nur.entrypoints.rest.notes import NoteName
from nur.entrypoints.rest.problems import documented
from nur.entrypoints.rest.writes import CurrentWrite, Receipt
from nur.services.notes.versions import VersionView

router = APIRouter(prefix="/v2", tags=["notes"])

VersionNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]


class VersionOut(BaseModel):
    """One text of a note."""

    version: int
    current: bool
    title: str | None
    characters: int
    content_hash: str
    replaced_at: datetime | None = Field(description="null for the current version")
    text: str | None = Field(default=None, description="only for a single version")

    @classmethod
    def of(cls, view: VersionView) -> "VersionOut":
        """Build it from the service's result."""
        return cls(**{name: getattr(view, name) for name in cls.model_fields})


class VersionsOut(BaseModel):
    """The versions of a note."""

    note_id: str
    versions: list[VersionOut] = Field(description="newest first; the current one and at most twenty before it")


@router.get("/notes/{note_id:any}/versions", response_model=VersionsOut, responses=documented(404))
async def list_versions(note_id: NoteName, services: OpenServices, caller: CurrentCaller) -> Response:
    """List the current version and the previous ones, without their texts."""
    views = await services.versions.list(note_id, caller)
    return answered(VersionsOut(note_id=note_id, versions=[VersionOut.of(view) for view in views]))


@router.get("/notes/{note_id:any}/versions/{version}", response_model=VersionOut, responses=documented(404))
async def get_version(
    note_id: NoteName, version: VersionNumber, services: OpenServices, caller: CurrentCaller
) -> Response:
    """Get one version of a note with its text."""
    return answered(VersionOut.of(await services.versions.read(note_id, version, caller)))


@router.post(
    "/notes/{note_id:any}/versions/{version}/restore", response_model=Receipt, responses=documented(404, 409, 412)
)
async def restore_version(
    note_id: NoteName,
    version: VersionNumber,
    services: OpenServices,
    write: CurrentWrite,
    if_match: IfMatch = None,
) -> Response:
    """Restore a version's text and title as the newest version. Works for every kind, also artifacts."""
    revision = expected_revision(if_match)
    return await write(lambda: services.versions.restore(note_id, version, write.caller, revision=revision))
