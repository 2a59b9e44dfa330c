"""The brief: context that an agent reads before its first task."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from nur.domain import briefs
from nur.domain.briefs import DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS, BriefRequest
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered
from nur.entrypoints.rest.problems import documented

router = APIRouter(prefix="/v2", tags=["context"])


class BriefLineOut(BaseModel):
    """A quote from a note."""

    quote: str
    note_id: str
    date: date

    @classmethod
    def of(cls, line: briefs.BriefLine) -> "BriefLineOut":
        """Build it from the domain object."""
        return cls(quote=line.quote, note_id=line.public_id, date=line.day)


class BriefSectionOut(BaseModel):
    """Quotes of one kind, under a title."""

    title: str
    lines: list[BriefLineOut]


class BriefOut(BaseModel):
    """A brief."""

    text: str = Field(description="the brief for a model, at most max_tokens long")
    tokens: int = Field(description="cl100k_base tokens of the text")
    left_out: int = Field(description="quotes that did not fit")
    sections: list[BriefSectionOut] = Field(description="the same quotes as data")

    @classmethod
    def of(cls, brief: briefs.Brief) -> "BriefOut":
        """Build it from the domain object."""
        sections = [
            BriefSectionOut(title=one.title, lines=[BriefLineOut.of(line) for line in one.lines])
            for one in brief.sections
        ]
        return cls(text=brief.text, tokens=brief.tokens, left_out=brief.left_out, sections=sections)


@router.get("/context", response_model=BriefOut, responses=documented())
async def context(
    services: OpenServices,
    caller: CurrentCaller,
    project: Annotated[
        str | None, Query(max_length=200, description="notes of this project and notes without a project")
    ] = None,
    query: Annotated[str | None, Query(max_length=500, description="add passages about this topic")] = None,
    max_tokens: Annotated[int, Query(ge=MIN_TOKENS, le=MAX_TOKENS)] = DEFAULT_TOKENS,
    instructions_only: Annotated[bool, Query(description="only the standing instructions")] = False,
    include_sensitive: Annotated[bool, Query(description="also quote sensitive notes")] = False,
) -> Response:
    """Get the context an agent needs before its first task, as quotes with dates and ids.

    Instructions are quoted only from the owner's own words, never from documents.
    """
    request = BriefRequest(
        caller=caller,
        project=project or None,
        query=query or None,
        max_tokens=max_tokens,
        instructions_only=instructions_only,
        include_sensitive=include_sensitive,
    )
    return answered(BriefOut.of(await services.make_brief(request)))
