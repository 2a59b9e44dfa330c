"""OpenAIEmbedder: the official client with batching, bounded concurrency, retries and checked responses."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import nullcontext
from dataclasses import dataclass
from random import SystemRandom
from typing import TYPE_CHECKING

import numpy as np
import openai

from nur.adapters.openai.batches import Batch, BatchLimits, split
from nur.adapters.openai.failures import KEY_REFUSED, FailureKind, RequestError, final_error, from_vendor, probe_error
from nur.adapters.openai.responses import DimensionsError, EmbeddingResponse, ResponseError, read
from nur.adapters.openai.retries import Decision, GiveUp, RetryPolicy, after_failure
from nur.adapters.openai.telemetry import Telemetry
from nur.domain.embedding import Probe
from nur.domain.errors import KeyRefused
from nur.ports.clock import Clock, SystemClock, milliseconds_since

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from typing import Literal

    from nur.domain.embedding import EmbeddingModel
    from nur.ports.embedder import Floats

OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_RETRY_POLICY = RetryPolicy()
DEFAULT_LIMITS = BatchLimits()
_RANDOM = SystemRandom()


@dataclass(slots=True)
class _Call:
    """Deadline and progress of one call."""

    deadline: float
    batches: int
    progress: Callable[[int], None] | None
    tokens: int = 0
    done: int = 0
    failed: bool = False  #: a batch failed: waiting batches are not sent


class OpenAIEmbedder:
    """Embeds with an OpenAI model, or with a compatible server at `base_url`.

    `send_dimensions` is for models with a selectable size (text-embedding-3-*); other models reject the parameter.
    `encoding_format` defaults to base64 for OpenAI and to float for other servers. `jitter` returns the seconds to add
    to a wait. Query vectors are cached by text. Queries never queue behind a large ingest.
    """

    def __init__(
        self,
        model: EmbeddingModel,
        *,
        api_key: str,
        count_tokens: Callable[[str], int],
        base_url: str | None = None,
        send_dimensions: bool = True,
        encoding_format: Literal["base64", "float"] | None = None,
        max_tokens: int = 8191,
        retry_policy: RetryPolicy = DEFAULT_RETRY_POLICY,
        limits: BatchLimits = DEFAULT_LIMITS,
        query_cache_size: int = 512,
        clock: Clock | None = None,
        jitter: Callable[[], float] = _RANDOM.random,
    ) -> None:
        if not (api_key and api_key.isascii() and api_key.isprintable()):
            raise KeyRefused(KEY_REFUSED)  # as a header it would fail later, with a less clear message
        self.model = model
        self.max_tokens = max_tokens
        self._count_tokens = count_tokens
        self._dimensions = model.dimensions if send_dimensions else openai.omit
        # base64 takes a third of the bytes and a fifth of the parsing time (100 vectors of 3072 numbers: 8 ms, not 42).
        # Only OpenAI is sure to support it: LM Studio ignores the parameter, older vLLM answers 400. Both are parsed.
        self._encoding = encoding_format or ("float" if base_url else "base64")
        self._retry_policy = retry_policy
        self._limits = limits
        self._clock = clock or SystemClock()
        self._jitter = jitter
        self._gate = asyncio.Semaphore(limits.in_flight)
        self._queries: OrderedDict[str, Floats] = OrderedDict()
        self._query_cache_size = query_cache_size
        self._telemetry = Telemetry(model)
        # The client's retries would multiply ours. Its timeout applies between bytes, ours to the whole request.
        self._client = openai.AsyncOpenAI(api_key=api_key, base_url=base_url or OPENAI_URL, max_retries=0, timeout=None)

    async def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """One unit vector per text, in order, or an error. `progress` is called with the number of texts done."""
        return await self._embed(texts, progress, self._gate, self._retry_policy.deadline_seconds)

    async def embed_query(self, text: str) -> Floats:
        """The query's vector; read-only, because the cache shares it."""
        cached = self._queries.get(text)
        if cached is not None:
            self._queries.move_to_end(text)
            return cached
        vector: Floats = (await self._embed([text], None, nullcontext(), self._retry_policy.query_seconds))[0]
        vector.setflags(write=False)
        self._queries[text] = vector
        while len(self._queries) > self._query_cache_size:
            self._queries.popitem(last=False)
        return vector

    async def probe(self) -> Probe:
        """Embed one word without retries and report the result. Never raises."""
        started = self._clock.monotonic()
        try:
            await self._request(("probe",), self._retry_policy.probe_seconds)
        except RequestError as failure:
            error = probe_error(failure)
            return Probe(
                False,
                milliseconds_since(started, self._clock),
                error=str(error),
                key_refused=isinstance(error, KeyRefused),
                misnamed=failure.kind in (FailureKind.MODEL, FailureKind.DIMENSIONS),
            )
        return Probe(True, milliseconds_since(started, self._clock), self.model.dimensions)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _embed(
        self,
        texts: Sequence[str],
        progress: Callable[[int], None] | None,
        gate: AbstractAsyncContextManager[None],
        deadline_seconds: float,
    ) -> Floats:
        vectors = np.empty((len(texts), self.model.dimensions), np.float32)
        if not texts:
            return vectors
        started = self._clock.monotonic()
        batches = await asyncio.to_thread(split, texts, self._count_tokens, self._limits)
        self._telemetry.requested(batches)
        call = _Call(started + deadline_seconds, len(batches), progress)
        try:
            await self._embed_batches(vectors, batches, call, gate)
        except RequestError as failure:
            missing = len(texts) - call.done
            self._telemetry.failed(failure, missing)
            raise final_error(
                failure, retries=self._retry_policy.retries, failed=missing, total=len(texts)
            ) from failure.__cause__
        self._telemetry.generated(batches, call.tokens, milliseconds_since(started, self._clock))
        return vectors

    async def _embed_batches(
        self, vectors: Floats, batches: Sequence[Batch], call: _Call, gate: AbstractAsyncContextManager[None]
    ) -> None:
        """Run the batches concurrently; the first failure cancels the rest.

        Not asyncio.TaskGroup: in Python 3.11 a group that fails while it is exited leaves its task marked as being
        cancelled, and every enclosing anyio scope (the MCP server has some) then sees a cancellation.
        """
        tasks = [asyncio.create_task(self._embed_batch(vectors, batch, call, gate)) for batch in batches]
        try:
            # Each request keeps the deadline itself; this also limits the wait for the gate, shared with other calls.
            async with asyncio.timeout(max(0.0, call.deadline - self._clock.monotonic())):
                await asyncio.gather(*tasks)
        except TimeoutError as error:
            raise RequestError(FailureKind.TIMEOUT) from error
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _embed_batch(
        self, vectors: Floats, batch: Batch, call: _Call, gate: AbstractAsyncContextManager[None]
    ) -> None:
        """Embed a batch and store its vectors at their positions."""
        async with gate:
            if call.failed:
                return
            started = self._clock.monotonic()
            try:
                answer = await self._respond(batch.texts, call.deadline)
            except RequestError:
                call.failed = True  # set before the next batch passes the gate
                raise
        vectors[batch.start : batch.end] = answer.vectors
        call.done += len(batch.texts)
        tokens = batch.tokens if answer.tokens is None else answer.tokens
        call.tokens += tokens
        self._telemetry.batch_generated(batch, call.batches, tokens, milliseconds_since(started, self._clock))
        if call.progress:
            call.progress(call.done)

    async def _respond(self, texts: tuple[str, ...], deadline: float) -> EmbeddingResponse:
        """Send the request until it succeeds or the retry policy gives up."""
        attempts = 0
        while True:
            attempts += 1
            remaining = deadline - self._clock.monotonic()
            try:
                return await self._request(texts, min(self._retry_policy.timeout_seconds, remaining))
            except RequestError as failure:
                failure.attempts = attempts
                decision = self._decide(failure, deadline)
                if isinstance(decision, GiveUp):
                    raise
                self._telemetry.retrying(failure, decision)
            await self._clock.sleep(decision.seconds)

    def _decide(self, failure: RequestError, deadline: float) -> Decision:
        if not failure.kind.is_transient:
            return GiveUp()
        return after_failure(
            failure.attempts,
            retries=self._retry_policy.retries,
            retry_after_seconds=failure.retry_after_seconds,
            jitter_seconds=self._jitter(),
            remaining_seconds=deadline - self._clock.monotonic(),
        )

    async def _request(self, texts: tuple[str, ...], timeout_seconds: float) -> EmbeddingResponse:
        """Send one request and check its response. Raises RequestError."""
        if not all(texts):
            raise RequestError(FailureKind.INPUT, "the text is empty")
        started = self._clock.monotonic()
        try:
            async with asyncio.timeout(timeout_seconds):
                body = await self._post(texts)
            self._telemetry.answered(len(texts), self._clock.monotonic() - started)
            return await asyncio.to_thread(read, body, count=len(texts), dimensions=self.model.dimensions)
        except TimeoutError as error:
            raise RequestError(FailureKind.TIMEOUT) from error
        except openai.OpenAIError as error:
            raise from_vendor(error, self._clock.now()) from error
        except UnicodeEncodeError as error:
            raise RequestError(FailureKind.INPUT, "the text is not valid Unicode") from error
        except DimensionsError as error:
            raise RequestError(FailureKind.DIMENSIONS, str(error)) from error
        except ResponseError as error:
            raise RequestError(FailureKind.ANSWER, str(error)) from error

    async def _post(self, texts: tuple[str, ...]) -> bytes:
        # The raw body: the client would build an object per vector and check none of them.
        response = await self._client.embeddings.with_raw_response.create(
            model=self.model.name, input=list(texts), encoding_format=self._encoding, dimensions=self._dimensions
        )
        return response.content
