"""GET /v2/searches/{search_id}/explain?note=…: a search's trace as JSON, and what became of one note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from starlette.responses import JSONResponse

from nur.domain.errors import BadRequest, NurError
from nur.domain.notes import Principal

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from nur.bootstrap import Services
    from nur.domain.traces import TracedCandidate
    from nur.retrieval.ranking import Ranked
    from nur.services.explain import Explained, NoteExplained

_STATUS = {"not_found": 404, "bad_request": 400}


async def answer(request: Request, services: Services) -> Response:
    """The explanation, or why there is none."""
    try:
        return JSONResponse(
            await explanation(services, request.path_params["search_id"], request.query_params.get("note"))
        )
    except NurError as error:
        body = {"code": error.code, "message": str(error), "retryable": error.retryable}
        return JSONResponse(body, status_code=_STATUS.get(error.code, 503 if error.retryable else 500))


async def explanation(services: Services, search_id: str, note: str | None) -> dict[str, Any]:
    """What the route answers and what the command shows. Raises NotFound, BadRequest."""
    try:
        name = UUID(search_id)
    except ValueError:
        raise BadRequest("search_id must be a UUID, as search results give it") from None
    return as_json(await services.explain(name, Principal(), note))


def as_json(explained: Explained) -> dict[str, Any]:
    """An explanation as plain values."""
    trace = explained.trace
    return {
        "search_id": str(trace.search_id),
        "trace_id": str(trace.trace_id),
        "created_at": trace.created_at.isoformat().replace("+00:00", "Z"),
        "query": trace.query,
        "request": dict(trace.request),
        "outcome": dict(trace.outcome),
        "timings": dict(trace.timings),
        "items": [{"item_id": str(item.item_id), "rank": item.rank, **item.scores} for item in trace.items],
        "candidates": [_candidate(one) for one in trace.candidates],
        **({} if explained.note is None else {"note": _note(explained.note)}),
    }


def _candidate(one: TracedCandidate) -> dict[str, Any]:
    return {name: value for name, value in one._asdict().items() if value is not None}


def _note(note: NoteExplained) -> dict[str, Any]:
    return {
        "id": note.public_id,
        "verdict": str(note.verdict),
        "why": note.why,
        "candidates": [_candidate(one) for one in note.candidates],
        **({} if note.now is None else {"now": _scored(note.now)}),
    }


def _scored(one: Ranked) -> dict[str, Any]:
    return {
        "chunk_index": one.candidate.chunk_index,
        "score": one.score,
        "lexical": one.lexical,
        "cosine": one.cosine,
        "bonus": one.bonus,
    }
