"""Prompts and resources, for clients whose users pick them: the brief, changes, and a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mcp.server.mcpserver.exceptions import ResourceError
from pydantic import Field

from nur.domain.access import LOCAL, Caller
from nur.domain.briefs import BriefRequest
from nur.domain.errors import NurError
from nur.domain.filters import NoteFilter
from nur.domain.notes import Kind
from nur.domain.search import SearchRequest
from nur.entrypoints.mcp import hits
from nur.observability.events import traced

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server import MCPServer

    from nur.entrypoints.mcp.tool import ServicesProvider

MAX_NAME_CHARACTERS = 200
MAX_TOPIC_CHARACTERS = 500
Project = Annotated[
    str, Field(max_length=MAX_NAME_CHARACTERS, description="Only this project and what belongs to none")
]


def offer_context(server: MCPServer, services: ServicesProvider) -> None:
    """Add the prompts and resources to a server."""

    async def brief(project: str) -> str:
        with traced() as call_id:
            async with services() as opened:
                request = BriefRequest(caller=Caller(LOCAL, call_id), project=project[:MAX_NAME_CHARACTERS] or None)
                return (await opened.make_brief(request)).text

    @server.prompt(title="Start a session")
    async def start_session(project: Project = "") -> str:
        """What is known before anybody asks: instructions, preferences, decisions, what changed, what is open."""
        return f"{await brief(project)}\nKeep this in mind. Search the memory before answering from earlier work."

    @server.prompt(title="What changed")
    async def what_changed(
        since: Annotated[str, Field(max_length=100, description="2026-05, last week")] = "last week",
    ) -> str:
        """What was stored, replaced and deleted since a time."""
        return (
            f"Call memory_timeline with changes_only=true and when={since!r}. "
            "Summarise what changed, the most important first, each with its date and id."
        )

    @server.prompt(title="Recall a topic")
    async def recall(topic: Annotated[str, Field(min_length=1, description="What to look for")]) -> str:
        """What is stored about a topic: memories, conversations and documents."""
        with traced() as call_id:
            async with services() as opened:
                caller = Caller(LOCAL, call_id)
                result = await opened.search(
                    SearchRequest(
                        query=topic[:MAX_TOPIC_CHARACTERS],
                        caller=caller,
                        where=NoteFilter(tenant=caller.tenant),
                        tool="recall",
                    )
                )
                found = hits.hybrid_text(result, frozenset(Kind), opened.zone, detailed=False)
        return (
            f"Quoted from memory about {topic[:MAX_TOPIC_CHARACTERS]!r}:\n{found}\nTell me what is known, with sources."
        )

    @server.resource("memory://context", title="The brief", mime_type="text/plain")
    async def context() -> str:
        """What an agent should know before anybody asks."""
        return await _worded(brief, "")

    @server.resource("memory://context/{project}", title="A project's brief", mime_type="text/plain")
    async def project_context(project: str) -> str:
        """The same for one project."""
        return await _worded(brief, project)


async def _worded(brief: Callable[[str], Awaitable[str]], project: str) -> str:
    try:
        return await brief(project)
    except NurError as error:
        raise ResourceError(str(error)) from error
