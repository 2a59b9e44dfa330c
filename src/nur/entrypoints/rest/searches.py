"""/v2/searches."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from nur.entrypoints.rest.answers import answered
from nur.entrypoints.rest.deps import CurrentCaller, OpenServices
from nur.entrypoints.rest.explanations import as_json
from nur.entrypoints.rest.note_answers import NoteOut
from nur.entrypoints.rest.problems import documented
from nur.entrypoints.rest.search_models import Chosen, ChosenNotes, SearchIn, SearchOut
from nur.entrypoints.rest.trace_answers import Explanation

router = APIRouter(prefix="/v2", tags=["searches"])


@router.post("/searches", response_model=SearchOut, responses=documented())
async def search(body: SearchIn, services: OpenServices, caller: CurrentCaller) -> Response:
    """Find the passages that answer, in everything stored. Without the provider it answers by words and says so."""
    result = await services.search(body.request(caller))
    return answered(SearchOut.of(result, body.payload, kept=services.stores.problem is None))


@router.get("/searches/{search_id}", response_model=SearchOut, responses=documented(404))
async def repeat_search(search_id: UUID, services: OpenServices, caller: CurrentCaller) -> Response:
    """The same answer again, for a day; what was deleted or changed since is left out."""
    repeated = await services.repeat_search(search_id, caller)
    return answered(SearchOut.of(repeated.result, repeated.payload, dropped=repeated.dropped))


@router.get("/searches/{search_id}/explain", response_model=Explanation, responses=documented(404))
async def explain_search(
    search_id: UUID,
    services: OpenServices,
    caller: CurrentCaller,
    note: Annotated[str | None, Query(max_length=400, description="what became of this note")] = None,
) -> Response:
    """What became of every candidate of a search, and of one note; by a search's id or its trace's."""
    return answered(Explanation.model_validate(as_json(await services.explain(search_id, caller, note))))


@router.post("/searches/{search_id}/notes", response_model=ChosenNotes, responses=documented(404))
async def take_notes(search_id: UUID, body: Chosen, services: OpenServices, caller: CurrentCaller) -> Response:
    """Full notes for items of an answer; each counts as a hit."""
    opened = await services.repeat_search.open_notes(search_id, body.names(), caller)
    notes = [NoteOut.of(note, text=text) for note, text in opened.notes]
    return answered(ChosenNotes(notes=notes, missing=list(opened.missing)))
