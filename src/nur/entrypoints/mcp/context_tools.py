"""memory_context and search_everything, the tools to call first."""

# Signatures are read at run time, so annotations are not postponed here.
from typing import TYPE_CHECKING, Annotated

from mcp_types import CallToolResult
from pydantic import Field

from nur.domain.access import Caller
from nur.domain.briefs import DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS, BriefRequest
from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind
from nur.domain.search import DEFAULT_MAX_CHARS, SearchRequest
from nur.entrypoints.mcp import hits
from nur.entrypoints.mcp.arguments import checked_said, checked_text
from nur.entrypoints.mcp.parameters import READS, AsOf, Limit, MaxChars, Project, Query, When
from nur.entrypoints.mcp.structured_hits import structured
from nur.entrypoints.mcp.tool import ToolSpec, answer, search_failed

if TYPE_CHECKING:
    from nur.bootstrap import Services


async def memory_context(
    services: "Services",
    caller: Caller,
    project: Project = None,
    query: Annotated[str | None, Field(max_length=500, description="Add passages about this")] = None,
    max_tokens: Annotated[int, Field(ge=MIN_TOKENS, le=MAX_TOKENS, description="Max brief length")] = DEFAULT_TOKENS,
) -> CallToolResult:
    """Call this first in a session: a short brief of standing instructions, preferences, decisions and what is open."""
    brief = await services.make_brief(
        BriefRequest(caller=caller, project=project or None, query=query or None, max_tokens=max_tokens)
    )
    return answer(brief.text, {"brief": brief.text, "tokens": brief.tokens, "left_out": brief.left_out})


async def search_everything(
    services: "Services",
    caller: Caller,
    query: Query,
    limit: Limit = 5,
    project: Project = None,
    when: When = None,
    as_of: AsOf = None,
    max_chars: MaxChars = DEFAULT_MAX_CHARS,
) -> CallToolResult:
    """Look everywhere: memories, conversations and documents. Use it when you do not know where an answer is."""
    everything = frozenset(Kind)
    result = await services.search(
        SearchRequest(
            query=checked_text("query", query),
            caller=caller,
            where=NoteFilter(tenant=caller.tenant, project=project or None),
            when=when,
            as_of=checked_said("as_of", as_of, services.zone),
            limit=limit,
            max_chars=max_chars,
            tool="search_everything",
        )
    )
    return answer(hits.hybrid_text(result, everything, services.zone, detailed=False), structured(result))


TOOLS = [ToolSpec(memory_context, READS, has_default_project=True), ToolSpec(search_everything, READS, search_failed)]
