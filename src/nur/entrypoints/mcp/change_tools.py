"""memory_timeline and memory_review."""

# Signatures are read at run time, so annotations are not postponed here.
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from nur.domain.access import Caller
from nur.domain.errors import BadRequest
from nur.domain.times import day_of
from nur.entrypoints.mcp import reviews
from nur.entrypoints.mcp.arguments import checked_text
from nur.entrypoints.mcp.parameters import READS, When
from nur.entrypoints.mcp.tool import ToolSpec, answer, one_line, search_failed, utc, utc_seconds
from nur.services.notes.reviews import ReviewAction
from nur.services.search.timeline import TimelineRequest, beginning

if TYPE_CHECKING:
    from nur.bootstrap import Services
    from nur.services.notes.list_changes import ListedChange
    from nur.services.search.timeline import TimelineEntry

NOTHING = "Nothing found."
#: Most characters of a text in a list of changes.
QUOTE = 120


async def memory_timeline(
    services: "Services",
    caller: Caller,
    query: Annotated[str | None, Field(min_length=1, max_length=500)] = None,
    about: Annotated[
        str | None, Field(min_length=1, max_length=100, description="Only texts that contain this")
    ] = None,
    when: When = None,
    changes_only: Annotated[bool, Field(description="What was created, replaced, deleted, superseded")] = False,
    limit: Annotated[int, Field(ge=1, le=100)] = 30,
) -> CallToolResult:
    """List what was said or happened, or what changed, in order of time. Use it for "what happened", "since when"."""
    if changes_only:
        return await _changes(services, caller, about, when, limit)
    request = TimelineRequest(
        caller=caller,
        query=None if query is None else checked_text("query", query),
        about=about,
        when=when,
        limit=limit,
    )
    found = await services.timeline(request)
    lines = [f"{one.window} [{one_line(one.note.public_id)}] {one.quote}" for one in found]
    return answer("\n".join(lines) or NOTHING, {"entries": [_entry(one) for one in found]})


async def _changes(
    services: "Services", caller: Caller, about: str | None, when: str | None, limit: int
) -> CallToolResult:
    bounds = services.timeline.bounds(services.timeline.windows(when))
    since, until = bounds or (None, None)
    page = await services.list_changes.about(
        about or "", caller, since=since, until=until, limit=limit, characters=4 * QUOTE
    )
    lines = [_change_line(one, services) for one in page.changes]
    changes = [_change(one) for one in page.changes]
    return answer("\n".join(lines) or NOTHING, {"changes": changes, "cursor": page.cursor})


async def memory_review(
    services: "Services",
    caller: Caller,
    review_id: Annotated[str | None, Field(max_length=60)] = None,
    decision: Annotated[
        Literal["confirm", "reject", "undo"] | None,
        Field(description="confirm: newer replaces older; reject: keep both"),
    ] = None,
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
) -> CallToolResult:
    """List pairs of memories that may contradict or repeat each other, or decide one. Ask the user before deciding."""
    if (review_id is None) != (decision is None):
        raise BadRequest("review_id and decision go together; leave both out to list what waits")
    if review_id is not None and decision is not None:
        done = await services.reviews.act(review_id, ReviewAction(decision), caller, characters=4 * reviews.QUOTE)
        return answer(reviews.review_lines(done, services.zone), {"reviews": [reviews.review(done)]})
    page = await services.reviews.list(caller, decided=False, limit=limit, characters=4 * reviews.QUOTE)
    found = page.reviews
    text = "\n".join(reviews.review_lines(one, services.zone) for one in found)
    return answer(text or "Nothing to review.", {"reviews": [reviews.review(one) for one in found]})


TOOLS = [
    ToolSpec(memory_timeline, READS, search_failed),
    ToolSpec(memory_review, ToolAnnotations(destructive_hint=False, idempotent_hint=True)),
]


def _entry(one: "TimelineEntry") -> dict[str, Any]:
    until = {} if one.window.last == one.window.first else {"to": str(one.window.last)}
    days = {"from": str(one.window.first), **until}
    return {"id": one.note.public_id, **days, "ts": utc_seconds(one.said_at), "quote": one.quote}


def _change_line(one: "ListedChange", services: "Services") -> str:
    change = one.change
    texts = [f'"{beginning(text)}"' for text in (one.before, one.after) if text]
    by = [f"by [{one.superseded_by}]"] if one.superseded_by else []
    name = f"[{one_line(change.public_id)}]" if change.public_id else "[erased]"
    return " ".join([str(day_of(change.at, services.zone)), change.kind, name, *by, " -> ".join(texts)]).rstrip()


def _change(one: "ListedChange") -> dict[str, Any]:
    change = one.change
    shown = {"before": one.before, "after": one.after, "superseded_by": one.superseded_by}
    return {"id": change.public_id, "change": change.kind, "at": utc(change.at), "by": change.by} | {
        name: value if name == "superseded_by" else beginning(value)
        for name, value in shown.items()
        if value is not None
    }
