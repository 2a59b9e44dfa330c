"""Smoke test of a running server (section 11.3 of the specification), over HTTP and MCP as clients use them.

It stores only new texts, which contain a random word, and purges them at the end, even if a check fails.
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
DEAD_SHOWN = 5  #: dead letters to list
#: At least `_TOKENS_IN_SENTENCE` tokens long, to make a text longer than `single_piece_max_tokens`.
_SENTENCE = "Page {number} of the doctor's test document {word} speaks of lamp number {number} in the lighthouse."
_TOKENS_IN_SENTENCE = 12


@dataclass(frozen=True, slots=True)
class Address:
    """URL and token of a server."""

    url: str  #: without /mcp
    token: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """Headers of every request."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


@dataclass(slots=True)
class SmokeClient:
    """MCP client that keeps track of what it stored."""

    mcp: Client
    web: httpx2.AsyncClient  #: for what no tool does
    address: Address
    cleanup: list[tuple[str, dict[str, str]]] = field(default_factory=list)  #: calls that delete it: tool, arguments

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured content, and its text as `text`. Raises CheckFailed."""
        try:
            answer = await self.mcp.call_tool(tool, arguments)
        except MCPError as error:
            raise CheckFailed(f"{tool}: {error}", "The server's log has the details.") from error
        text = next((part.text for part in answer.content if isinstance(part, TextContent)), "")
        if answer.is_error:
            raise CheckFailed(f"{tool}: {text}", "The server's log has the details.")
        return {**(answer.structured_content or {}), "text": text}

    async def clean_up(self) -> int:
        """Delete and purge everything stored; returns how many notes. Raises CheckFailed with the ids that remain."""
        remaining: list[str] = []
        for tool, arguments in self.cleanup:
            try:
                await self.call(tool, **arguments)
                for note_id in arguments.values():
                    await self._purge(note_id)
            except CheckFailed as error:
                remaining.append(f"{', '.join(arguments.values())} ({error.detail})")
        if remaining:
            raise CheckFailed(f"not erased: {'; '.join(remaining)}", "Erase them with nur purge and their ids.")
        return len(self.cleanup)

    async def _purge(self, note_id: str) -> None:
        try:
            answer = await self.web.post(f"{self.address.url}/v2/admin/trash/purge", json={"note_id": note_id})
            answer.raise_for_status()
        except httpx2.HTTPError as error:
            raise CheckFailed(f"purge: {error}") from error


async def examine(checks: CheckRun, address: Address, whole_max_tokens: int) -> str | None:
    """Check health, then every tool over MCP; returns the embedding provider, or None if unknown."""
    if not await _health(checks, address):
        for name in ("embedding health", "memory", "small artifact", "large artifact", "hybrid search", "clean up"):
            checks.note(name, Result.SKIPPED, "the server does not answer")
        return None
    client: SmokeClient | None = None
    async with AsyncExitStack() as stack:
        with checks.check("MCP") as details:
            client = await stack.enter_async_context(_connect(address))
            details.append(f"{address.url}/mcp, protocol {client.mcp.protocol_version}")
        return await _tools(checks, client, whole_max_tokens) if client else None


async def _health(checks: CheckRun, address: Address) -> bool:
    """Check /health. Returns whether the server answered."""
    answered = False
    store: dict[str, Any] = {}
    with checks.check("health") as details:
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
            raise CheckFailed(body["status"], _unhealthy(body["checks"]))
        details.append(f"healthy, version {body['version']}, index {body['checks']['index']['name']}")
    if answered:
        await _outbox(checks, address, store)
    return answered


def _unhealthy(checks: dict[str, dict[str, Any]]) -> str:
    return "; ".join(
        f"{name}: {check.get('error', check['status'])}"
        for name, check in checks.items()
        if check["status"] != "healthy" and name not in ("chromadb", "openai")  # the same as index and embedder
    )


async def _outbox(checks: CheckRun, address: Address, store: dict[str, Any]) -> None:
    """Report how many notes wait to be indexed, and those that failed, with their errors."""
    pending, dead = store.get("pending", 0), store.get("dead_letters", 0)
    if not dead:
        checks.note("outbox", Result.OK, f"{pending} notes wait to be indexed, none failed")
        return
    errors = str(store.get("last_error"))
    with contextlib.suppress(httpx2.HTTPError, ValueError, KeyError):  # /health has no note ids
        async with httpx2.AsyncClient(timeout=TIMEOUT_SECONDS) as web:
            answer = await web.get(f"{address.url}/v2/admin/outbox", headers=address.headers)
        letters = answer.json()["dead_letters"][:DEAD_SHOWN]
        errors = "; ".join(f"{letter['note_id'] or 'a purged note'}: {letter['error']}" for letter in letters)
    checks.note(
        "outbox",
        Result.FAILED,
        f"{dead} could not be indexed, {pending} wait. {errors}",
        f"Search finds them by words only. Fix the cause, then: curl -X POST {address.url}/v2/admin/outbox/retry",
    )


@asynccontextmanager
async def _connect(address: Address) -> AsyncIterator[SmokeClient]:
    """Connect as any MCP client does. Raises CheckFailed if that fails."""
    hint = "Is it a Nur server? If NUR_TOKEN is set there, use --token."
    connected = False
    try:
        async with httpx2.AsyncClient(headers=address.headers, timeout=TIMEOUT_SECONDS) as web:
            transport = streamable_http_client(f"{address.url}/mcp", http_client=web)
            async with Client(transport, read_timeout_seconds=TIMEOUT_SECONDS) as client:
                connected = True
                yield SmokeClient(client, web, address)
    except (MCPError, httpx2.HTTPError, ExceptionGroup) as error:
        if connected:
            raise
        raise CheckFailed(f"cannot connect: {_first(error)}", hint) from error


def _first(error: Exception) -> str:
    """Message of the innermost error of a group, which has the cause."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__


async def _tools(checks: CheckRun, client: SmokeClient, whole_max_tokens: int) -> str | None:
    word = f"doctor{uuid4().hex[:12]}"
    provider: str | None = None
    try:
        with checks.check("embedding health") as details:
            provider = await _embedding(client, details)
        with checks.check("memory") as details:
            await _memory(client, word, details)
        with checks.check("small artifact") as details:
            await _artifact(client, word, 1, details)
        sentences = 2 * whole_max_tokens // _TOKENS_IN_SENTENCE + 1
        artifact_id: str | None = None
        with checks.check("large artifact") as details:
            artifact_id = await _artifact(client, word, sentences, details)
        with checks.check("hybrid search") as details:
            await _hybrid(client, word, artifact_id, details)
    finally:
        with checks.check("clean up") as details:
            details.append(f"{await client.clean_up()} test notes erased")
    return provider


async def _embedding(client: SmokeClient, details: list[str]) -> str:
    health = await client.call("embedding_health")
    if health["api_status"] != "healthy":
        raise CheckFailed(
            str(health.get("error", health["api_status"])), "Check OPENAI_API_KEY and the provider's status."
        )
    if health["test_embedding_dimensions"] != health["dimensions"]:
        raise CheckFailed(f"{health['test_embedding_dimensions']} dimensions instead of {health['dimensions']}")
    details.append(f"{health['provider']}:{health['model']}:{health['dimensions']}")
    return str(health["provider"])


async def _memory(client: SmokeClient, word: str, details: list[str]) -> None:
    content = f"Test memory {word} of nur doctor"
    stored = await client.call("memory_store", content=content, type="fact", confidence=1.0)
    client.cleanup.append(("memory_delete", {"memory_id": stored["memory_id"]}))
    found = await client.call("memory_search", query=f"test memory {word}")
    if stored["memory_id"] not in {hit["id"] for hit in found["hits"]}:
        raise CheckFailed("stored, but not found", "See whether search is degraded: /health, and the server's log.")
    details.append("stored and found" + _degraded(found))


async def _artifact(client: SmokeClient, word: str, sentences: int, details: list[str]) -> str:
    content = " ".join(_SENTENCE.format(number=number, word=word) for number in range(1, sentences + 1))
    stored = await client.call(
        "artifact_ingest",
        artifact_type="doc",
        source_system="nur-doctor",
        source_id=f"{word}-{sentences}",
        title="Test document of nur doctor",
        content=content,
    )
    client.cleanup.append(("artifact_delete", {"artifact_id": stored["artifact_id"]}))
    long = sentences > 1
    if stored["is_chunked"] is not long or (stored["num_chunks"] > 0) is not long:
        raise CheckFailed(
            f"is_chunked {stored['is_chunked']}, num_chunks {stored['num_chunks']} for {len(content)} characters",
            "Does the server have the same SINGLE_PIECE_MAX_TOKENS as this machine?",
        )
    details.append(f"{len(content):,} characters, {stored['num_chunks']} chunks" if long else "stored whole")
    return str(stored["artifact_id"])


async def _hybrid(client: SmokeClient, word: str, artifact_id: str | None, details: list[str]) -> None:
    question = {"query": f"lamp of document {word}", "include_memory": True, "limit": 10}
    found = await client.call("hybrid_search", **question, response_format="detailed")  # concise hits have no ranks
    hits = {hit["id"]: hit for hit in found["hits"]}
    if artifact_id is None or artifact_id not in hits:
        raise CheckFailed("the large artifact was not found", "See whether search is degraded: /health.")
    if not hits[artifact_id]["rrf_score"] > 0 or "RRF score: " not in found["text"]:
        raise CheckFailed("a hit without an RRF score")
    details.append(f"{len(hits)} hits, RRF score {hits[artifact_id]['rrf_score']:.4f}" + _degraded(found))


def _degraded(found: dict[str, Any]) -> str:
    return f" (degraded: {', '.join(found['degraded'])})" if found["degraded"] else ""
