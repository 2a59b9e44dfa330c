"""GuardedEmbedder: remembers how the provider is, and refuses queries at once while it fails.

When to probe the provider is decided by `probe_in`, a function of what is known: it does not wait itself.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from nur.domain.embedding import EmbeddingModel, Probe
from nur.domain.errors import EmbedderDown, EmbedderRefused, KeyRefused
from nur.observability.events import EventLog, traced

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from nur.ports.clock import Clock
    from nur.ports.embedder import Embedder, Floats

T = TypeVar("T")

_log = EventLog("EmbeddingService")


@dataclass(frozen=True, slots=True)
class ProbePolicy:
    """How often a provider is probed. A probe costs one request of one word."""

    while_failing_seconds: float = 2.0  #: recovery shows this soon, without anybody's call
    while_well_seconds: float = 30.0  #: a monitor that asks every second does not cause a request every second


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known about the provider."""

    healthy: bool
    age_seconds: float  #: since the last call or probe that decided
    suspected: bool = False  #: it refused a text: the text's fault, or everybody's
    asked: bool = False  #: a monitor wants to know


def probe_in(known: Knowledge, policy: ProbePolicy) -> float | None:
    """Seconds until the next probe is due; None: no probe is needed."""
    if not known.healthy or known.suspected:
        return max(0.0, policy.while_failing_seconds - known.age_seconds)
    if known.asked:
        return max(0.0, policy.while_well_seconds - known.age_seconds)
    return None


DEFAULT_POLICY = ProbePolicy()


class GuardedEmbedder:
    """A circuit breaker around a provider's embedder.

    Any call that fails opens the circuit: then `embed_query` raises at once with the same reason, until `watch`, which
    probes every two seconds, or any other call gets an answer. `embed` is never refused: a write has a deadline of its
    own, and the worker waits between its tries.

    `on_answer` is awaited once, at the first good answer and before its vectors are returned: the store takes a model
    for its own only when that model has answered.
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
        self._known_at = clock.monotonic()
        self._suspected = self._asked = False
        self._woken = asyncio.Event()

    @property
    def model(self) -> EmbeddingModel:
        """Whose vectors these are."""
        return self._inner.model

    @property
    def max_tokens(self) -> int:
        """The longest input, in cl100k tokens."""
        return self._inner.max_tokens

    def last_known(self) -> Probe:
        """How the last call or probe went, at once; what is old is asked again in the background."""
        self._asked = True
        self._woken.set()
        return self._last

    async def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """One unit vector per text, in order; all of them or an error."""
        started = self._clock.monotonic()
        vectors = await self._observed(self._inner.embed(texts, progress))
        await self._answered(Probe(True, self._ms_since(started), self.model.dimensions))
        return vectors

    async def embed_query(self, text: str) -> Floats:
        """The vector to search with. While the provider is known to fail: EmbedderDown or KeyRefused, at once."""
        if not self._last.healthy:
            reason = self._last.error or "The embedding provider does not answer."
            raise KeyRefused(reason) if self._last.key_refused else EmbedderDown(reason)
        return await self._observed(self._inner.embed_query(text))

    async def probe(self) -> Probe:
        """Ask the provider now, and remember the result. Never raises."""
        found = await self._inner.probe()
        if found.healthy:
            await self._answered(found)
        else:
            self._learn(found)
        return found

    async def watch(self) -> None:
        """Probe when it is due, until cancelled."""
        while True:
            self._woken.clear()
            wait = probe_in(self._knowledge(), self._policy)
            if wait == 0:
                with traced():
                    await self.probe()
            else:
                await self._pause(wait)

    async def close(self) -> None:
        """Let go of connections."""
        await self._inner.close()

    async def _observed(self, call: Awaitable[T]) -> T:
        """Make the call and learn from its failure. A question's answer teaches nothing: it may come from a cache."""
        started = self._clock.monotonic()
        try:
            return await call
        except EmbedderRefused:  # perhaps this text alone: a probe decides
            self._suspected = True
            self._woken.set()
            raise
        except (EmbedderDown, KeyRefused) as error:
            refused = isinstance(error, KeyRefused)
            self._learn(Probe(False, self._ms_since(started), error=str(error), key_refused=refused))
            raise

    async def _answered(self, found: Probe) -> None:
        if self._on_answer is not None:
            await self._on_answer()
            self._on_answer = None
        self._learn(found)

    def _learn(self, found: Probe) -> None:
        if found.healthy != self._last.healthy:
            report = _log.info if found.healthy else _log.error
            report("embedder_up" if found.healthy else "embedder_down", error=found.error)
        self._last = found
        self._known_at = self._clock.monotonic()
        self._suspected = self._asked = False
        self._woken.set()

    def _knowledge(self) -> Knowledge:
        age = self._clock.monotonic() - self._known_at
        return Knowledge(self._last.healthy, age, self._suspected, self._asked)

    async def _pause(self, seconds: float | None) -> None:
        """Sleep until something is learned or asked, or the time is over."""
        waits: list[asyncio.Future[object]] = [asyncio.ensure_future(self._woken.wait())]
        if seconds is not None:
            waits.append(asyncio.ensure_future(self._clock.sleep(seconds)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _ms_since(self, started: float) -> int:
        return round((self._clock.monotonic() - started) * 1000)
