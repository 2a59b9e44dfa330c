"""GuardedEmbedder: tracks the provider's health, and fails queries at once while it is down.

`probe_in` decides when to probe the provider. It is a pure function and never waits.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from nur.domain.embedding import EmbeddingModel, Probe
from nur.domain.errors import EmbedderDown, EmbedderRefused, KeyRefused
from nur.observability.events import EventLog, traced
from nur.ports.clock import milliseconds_since

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder, Floats

T = TypeVar("T")

_log = EventLog("EmbeddingService")


@dataclass(frozen=True, slots=True)
class ProbePolicy:
    """How often a provider is probed. A probe is one request that embeds one word."""

    while_failing_seconds: float = 2.0  #: recovery is noticed this soon, even if nobody calls
    while_healthy_seconds: float = 30.0  #: so that frequent health checks do not each cause a request


@dataclass(frozen=True, slots=True)
class ProviderState:
    """What is known about the provider's health."""

    healthy: bool
    age_seconds: float  #: since the last call or probe that determined `healthy`
    suspected: bool = False  #: it rejected a text, which may mean that it rejects every text
    requested: bool = False  #: a health check asked for the state


def probe_in(state: ProviderState, policy: ProbePolicy) -> float | None:
    """Seconds until the next probe is due; None when no probe is needed."""
    if not state.healthy or state.suspected:
        return max(0.0, policy.while_failing_seconds - state.age_seconds)
    if state.requested:
        return max(0.0, policy.while_healthy_seconds - state.age_seconds)
    return None


DEFAULT_POLICY = ProbePolicy()


class GuardedEmbedder:
    """A circuit breaker around a provider's embedder.

    Any failed call opens the circuit. While it is open, `embed_query` raises at once with the same reason. It closes
    when another call succeeds or a probe by `watch` does (every two seconds). `embed` always calls the provider: writes
    have their own deadline, and the worker waits between attempts.

    `on_answer` is awaited once, after the first successful answer and before its vectors are returned: a store adopts a
    model only after that model has answered.
    """

    def __init__(
        self,
        inner: Embedder,
        clock: Clock,
        policy: ProbePolicy = DEFAULT_POLICY,
        on_answer: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._inner = inner
        self._clock = clock
        self._policy = policy
        self._on_answer = on_answer
        self._last = Probe(True, 0)
        self._updated_at = clock.monotonic()
        self._suspected = self._requested = False
        self._wake = asyncio.Event()

    @property
    def model(self) -> EmbeddingModel:
        """The inner embedder's model."""
        return self._inner.model

    @property
    def max_tokens(self) -> int:
        """The longest input, in cl100k tokens."""
        return self._inner.max_tokens

    def last_known(self) -> Probe:
        """Result of the last call or probe, without waiting; an old result is refreshed in the background."""
        self._requested = True
        self._wake.set()
        return self._last

    async def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """One unit vector per text, in order; all of them or an error."""
        started = self._clock.monotonic()
        vectors = await self._observed(self._inner.embed(texts, progress))
        await self._answered(Probe(True, milliseconds_since(started, self._clock), self.model.dimensions))
        return vectors

    async def embed_query(self, text: str) -> Floats:
        """The query's vector. Raises EmbedderDown or KeyRefused at once while the provider is known to be down."""
        if not self._last.healthy:
            reason = self._last.error or "The embedding provider does not answer."
            raise KeyRefused(reason) if self._last.key_refused else EmbedderDown(reason)
        return await self._observed(self._inner.embed_query(text))

    async def probe(self) -> Probe:
        """Probe the provider now, and remember the result. Never raises."""
        result = await self._inner.probe()
        if result.healthy:
            await self._answered(result)
        else:
            self._update(result)
        return result

    async def watch(self) -> None:
        """Probe whenever a probe is due, until cancelled."""
        while True:
            self._wake.clear()
            wait = probe_in(self._state(), self._policy)
            if wait == 0:
                with traced():
                    await self.probe()
            else:
                await self._pause(wait)

    async def close(self) -> None:
        """Close the inner embedder."""
        await self._inner.close()

    async def _observed(self, call: Awaitable[T]) -> T:
        """Await the call and record its failure. Success is not recorded: a query's vector may come from a cache."""
        started = self._clock.monotonic()
        try:
            return await call
        except EmbedderRefused:  # perhaps only this text: a probe decides
            self._suspected = True
            self._wake.set()
            raise
        except (EmbedderDown, KeyRefused) as error:
            refused = isinstance(error, KeyRefused)
            self._update(Probe(False, milliseconds_since(started, self._clock), error=str(error), key_refused=refused))
            raise

    async def _answered(self, result: Probe) -> None:
        if self._on_answer is not None:
            await self._on_answer()
            self._on_answer = None
        self._update(result)

    def _update(self, result: Probe) -> None:
        if result.healthy != self._last.healthy:
            log = _log.info if result.healthy else _log.error
            log("embedder_up" if result.healthy else "embedder_down", error=result.error)
        self._last = result
        self._updated_at = self._clock.monotonic()
        self._suspected = self._requested = False
        self._wake.set()

    def _state(self) -> ProviderState:
        age = self._clock.monotonic() - self._updated_at
        return ProviderState(self._last.healthy, age, self._suspected, self._requested)

    async def _pause(self, seconds: float | None) -> None:
        """Sleep until the state changes, a health check asks for it, or the time is over."""
        waits: list[asyncio.Future[object]] = [asyncio.ensure_future(self._wake.wait())]
        if seconds is not None:
            waits.append(asyncio.ensure_future(self._clock.sleep(seconds)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
