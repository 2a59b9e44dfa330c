"""The brief: what an agent should know before anybody asks."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from nur.domain import briefs
from nur.domain.briefs import DEFAULT_TOKENS, LEAST_TOKENS, MOST_TOKENS, BriefRequest
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices, answered
from nur.entrypoints.rest.problems import documented

router = APIRouter(prefix="/v2", tags=["context"])


class BriefLineOut(BaseModel):
    """A quote."""

    quote: str
    note_id: str
    date: date

    @classmethod
    def of(cls, line: briefs.BriefLine) -> "BriefLineOut":
        """From the domain's."""
        return cls(quote=line.quote, note_id=line.public_id, date=line.day)


class BriefSectionOut(BaseModel):
    """Quotes of one sort."""

    title: str
    lines: list[BriefLineOut]


class BriefOut(BaseModel):
    """A brief."""

    text: str = Field(description="for a model; has at most max_tokens tokens")
    tokens: int = Field(description="of the text, as cl100k_base counts them")
    left_out: int = Field(description="quotes that did not fit")
    sections: list[BriefSectionOut] = Field(description="the same for programs")

    @classmethod
    def of(cls, brief: briefs.Brief) -> "BriefOut":
        """From the domain's."""
        sections = [
            BriefSectionOut(title=one.title, lines=[BriefLineOut.of(line) for line in one.lines])
            for one in brief.sections
        ]
        return cls(text=brief.text, tokens=brief.tokens, left_out=brief.left_out, sections=sections)


@router.get("/context", response_model=BriefOut, responses=documented())
async def context(
    services: OpenServices,
    caller: CurrentCaller,
    project: Annotated[str | None, Query(max_length=200, description="this project, and what belongs to none")] = None,
    query: Annotated[str | None, Query(max_length=500, description="add passages about this")] = None,
    max_tokens: Annotated[int, Query(ge=LEAST_TOKENS, le=MOST_TOKENS)] = DEFAULT_TOKENS,
    instructions_only: Annotated[bool, Query(description="the standing instructions alone")] = False,
    include_sensitive: Annotated[bool, Query(description="quote sensitive notes, too")] = False,
) -> Response:
    """What an agent should know before anybody asks, made of quotes with dates and ids. Documents never instruct."""
    request = BriefRequest(
        caller=caller,
        project=project or None,
        query=query or None,
        max_tokens=max_tokens,
        instructions_only=instructions_only,
        include_sensitive=include_sensitive,
    )
    return answered(BriefOut.of(await services.make_brief(request)))
