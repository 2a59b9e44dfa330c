"""The smoke test after a deployment (section 11.3 of the specification), through the doors that clients use.

Whatever it stores is new (its texts hold a random word) and is deleted and purged, also when a check fails half-way.
"""

from __future__ import annotations

import contextlib
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from nur.diagnostics.findings import CheckFailed, Result

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from nur.diagnostics.findings import CheckRun

TIMEOUT_SECONDS = 60.0
DEAD_SHOWN = 5  #: dead letters named
#: Each has twelve tokens or more, so that so many of them are a text longer than `single_piece_max_tokens`.
_SENTENCE = "Page {number} of the doctor's test document {word} speaks of lamp number {number} in the lighthouse."
_TOKENS_IN_SENTENCE = 12


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is and what it asks of callers."""

    url: str  #: without /mcp
    token: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """What to send with every request."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


@dataclass(slots=True)
class Visitor:
    """A client that remembers what it left behind."""

    client: Client
    web: httpx2.AsyncClient  #: for what no tool does
    address: Address
    left: list[tuple[str, dict[str, str]]] = field(default_factory=list)  #: how to delete it: tool and arguments

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool. Raises Fault when it fails."""
        try:
            answer = await self.client.call_tool(tool, arguments)
        except MCPError as error:
            raise CheckFailed(f"{tool}: {error}", "The server's log has the details.") from error
        text = next((part.text for part in answer.content if isinstance(part, TextContent)), "")
        if answer.is_error:
            raise CheckFailed(f"{tool}: {text}", "The server's log has the details.")
        return {**(answer.structured_content or {}), "text": text}

    async def tidy(self) -> int:
        """Delete everything and empty the trash of it; returns how much. Raises Fault, naming what is still there."""
        kept: list[str] = []
        for tool, arguments in self.left:
            try:
                await self.call(tool, **arguments)
                for note_id in arguments.values():
                    await self._purge(note_id)
            except CheckFailed as fault:
                kept.append(f"{', '.join(arguments.values())} ({fault.detail})")
        if kept:
            raise CheckFailed(f"not erased: {'; '.join(kept)}", "Erase them: nur purge and the id.")
        return len(self.left)

    async def _purge(self, note_id: str) -> None:
        try:
            answer = await self.web.post(f"{self.address.url}/v2/admin/trash/purge", json={"note_id": note_id})
            answer.raise_for_status()
        except httpx2.HTTPError as error:
            raise CheckFailed(f"purge: {error}") from error


async def examine(checks: CheckRun, address: Address, whole_max_tokens: int) -> str | None:
    """Health first, then every check over MCP; returns the embedding provider, if it is known."""
    if not await _health(checks, address):
        for name in ("embedding health", "memory", "small artifact", "large artifact", "hybrid search", "clean up"):
            checks.note(name, Result.SKIPPED, "the server does not answer")
        return None
    visitor: Visitor | None = None
    async with AsyncExitStack() as stack:
        with checks.check("MCP") as seen:
            visitor = await stack.enter_async_context(_visitor(address))
            seen.append(f"{address.url}/mcp, protocol {visitor.client.protocol_version}")
        return await _tools(checks, visitor, whole_max_tokens) if visitor else None


async def _health(checks: CheckRun, address: Address) -> bool:
    """Ask /health. Returns whether anything answered."""
    answered = False
    store: dict[str, Any] = {}
    with checks.check("health") as seen:
        try:
            async with httpx2.AsyncClient(timeout=TIMEOUT_SECONDS) as web:
                answer = await web.get(f"{address.url}/health", headers=address.headers)
            body = answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            raise CheckFailed(
                f"no answer from {address.url}: {error}", "Is it running there? `nur serve` starts it."
            ) from error
        if "checks" not in body:
            raise CheckFailed(f"HTTP {answer.status_code}: {body.get('message', 'not a Nur server')}")
        answered = True
        store = body["checks"]["store"]
        if body["status"] != "healthy":
            raise CheckFailed(body["status"], _unwell(body["checks"]))
        seen.append(f"healthy, version {body['version']}, index {body['checks']['index']['name']}")
    if answered:
        await _outbox(checks, address, store)
    return answered


def _unwell(checks: dict[str, dict[str, Any]]) -> str:
    return "; ".join(
        f"{name}: {check.get('error', check['status'])}"
        for name, check in checks.items()
        if check["status"] != "healthy" and name not in ("chromadb", "openai")  # the same as index and embedder
    )


async def _outbox(checks: CheckRun, address: Address, store: dict[str, Any]) -> None:
    """What waits to be indexed, and what was given up, by name and with its error."""
    pending, dead = store.get("pending", 0), store.get("dead_letters", 0)
    if not dead:
        checks.note("outbox", Result.OK, f"{pending} notes wait to be indexed, none was given up")
        return
    errors = str(store.get("last_error"))
    with contextlib.suppress(httpx2.HTTPError, ValueError, KeyError):  # /health has no names
        async with httpx2.AsyncClient(timeout=TIMEOUT_SECONDS) as web:
            answer = await web.get(f"{address.url}/v2/admin/outbox", headers=address.headers)
        letters = answer.json()["dead_letters"][:DEAD_SHOWN]
        errors = "; ".join(f"{letter['note_id'] or 'a purged note'}: {letter['error']}" for letter in letters)
    checks.note(
        "outbox",
        Result.FAILED,
        f"{dead} could not be indexed, {pending} wait. {errors}",
        f"They are found by their words alone. Mend the cause, then: curl -X POST {address.url}/v2/admin/outbox/retry",
    )


@asynccontextmanager
async def _visitor(address: Address) -> AsyncIterator[Visitor]:
    """Connect as any MCP client does, and leave nothing behind. Raises Fault when there is no connection."""
    hint = "Is it a Nur server? With NUR_TOKEN set there, give --token."
    connected = False
    try:
        async with httpx2.AsyncClient(headers=address.headers, timeout=TIMEOUT_SECONDS) as web:
            transport = streamable_http_client(f"{address.url}/mcp", http_client=web)
            async with Client(transport, read_timeout_seconds=TIMEOUT_SECONDS) as client:
                connected = True
                yield Visitor(client, web, address)
    except (MCPError, httpx2.HTTPError, ExceptionGroup) as error:
        if connected:
            raise
        raise CheckFailed(f"cannot connect: {_first(error)}", hint) from error


def _first(error: Exception) -> str:
    """The innermost of a group of errors: the one that explains what happened."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__


async def _tools(checks: CheckRun, visitor: Visitor, whole_max_tokens: int) -> str | None:
    word = f"doctor{uuid4().hex[:12]}"
    provider: str | None = None
    try:
        with checks.check("embedding health") as seen:
            provider = await _embedding(visitor, seen)
        with checks.check("memory") as seen:
            await _memory(visitor, word, seen)
        with checks.check("small artifact") as seen:
            await _artifact(visitor, word, 1, seen)
        sentences = 2 * whole_max_tokens // _TOKENS_IN_SENTENCE + 1
        artifact_id: str | None = None
        with checks.check("large artifact") as seen:
            artifact_id = await _artifact(visitor, word, sentences, seen)
        with checks.check("hybrid search") as seen:
            await _hybrid(visitor, word, artifact_id, seen)
    finally:
        with checks.check("clean up") as seen:
            seen.append(f"{await visitor.tidy()} test notes erased")
    return provider


async def _embedding(visitor: Visitor, seen: list[str]) -> str:
    found = await visitor.call("embedding_health")
    if found["api_status"] != "healthy":
        raise CheckFailed(
            str(found.get("error", found["api_status"])), "Check OPENAI_API_KEY and the provider's status."
        )
    if found["test_embedding_dimensions"] != found["dimensions"]:
        raise CheckFailed(f"{found['test_embedding_dimensions']} dimensions instead of {found['dimensions']}")
    seen.append(f"{found['provider']}:{found['model']}:{found['dimensions']}")
    return str(found["provider"])


async def _memory(visitor: Visitor, word: str, seen: list[str]) -> None:
    content = f"Test memory {word} of nur doctor"
    stored = await visitor.call("memory_store", content=content, type="fact", confidence=1.0)
    visitor.left.append(("memory_delete", {"memory_id": stored["memory_id"]}))
    found = await visitor.call("memory_search", query=f"test memory {word}")
    if stored["memory_id"] not in {hit["id"] for hit in found["hits"]}:
        raise CheckFailed("stored, but not found", "See whether search is degraded: /health, and the server's log.")
    seen.append("stored and found" + _degraded(found))


async def _artifact(visitor: Visitor, word: str, sentences: int, seen: list[str]) -> str:
    content = " ".join(_SENTENCE.format(number=number, word=word) for number in range(1, sentences + 1))
    stored = await visitor.call(
        "artifact_ingest",
        artifact_type="doc",
        source_system="nur-doctor",
        source_id=f"{word}-{sentences}",
        title="Test document of nur doctor",
        content=content,
    )
    visitor.left.append(("artifact_delete", {"artifact_id": stored["artifact_id"]}))
    long = sentences > 1
    if stored["is_chunked"] is not long or (stored["num_chunks"] > 0) is not long:
        raise CheckFailed(
            f"is_chunked {stored['is_chunked']}, num_chunks {stored['num_chunks']} for {len(content)} characters",
            "Is SINGLE_PIECE_MAX_TOKENS there what it is here?",
        )
    seen.append(f"{len(content):,} characters, {stored['num_chunks']} chunks" if long else "stored whole")
    return str(stored["artifact_id"])


async def _hybrid(visitor: Visitor, word: str, artifact_id: str | None, seen: list[str]) -> None:
    question = {"query": f"lamp of document {word}", "include_memory": True, "limit": 10}
    found = await visitor.call("hybrid_search", **question, response_format="detailed")  # concise hits have no ranks
    hits = {hit["id"]: hit for hit in found["hits"]}
    if artifact_id is None or artifact_id not in hits:
        raise CheckFailed("the large artifact was not found", "See whether search is degraded: /health.")
    if not hits[artifact_id]["rrf_score"] > 0 or "RRF score: " not in found["text"]:
        raise CheckFailed("a hit without an RRF score")
    seen.append(f"{len(hits)} hits, RRF score {hits[artifact_id]['rrf_score']:.4f}" + _degraded(found))


def _degraded(found: dict[str, Any]) -> str:
    return f" (degraded: {', '.join(found['degraded'])})" if found["degraded"] else ""
