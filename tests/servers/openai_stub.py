"""A small OpenAI-compatible embeddings server on loopback that can simulate faults.

It implements HTTP/1.1 on asyncio streams, because no framework lets a handler reset the connection or stop half-way.

    with OpenAIStub() as stub:
        stub.fail(faults.status(429, retry_after="7"), faults.HANG)  # the next two embedding requests
        stub.fail_forever(faults.status(503))  # every one after those
        stub.heal()
"""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import struct
import threading
from collections import deque
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tests.doubles.embedder import hashed_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.servers.faults import Fault, Item

_SIZES = {"text-embedding-3-large": 3072, "text-embedding-3-small": 1536, "text-embedding-ada-002": 1536}


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request for embeddings, as it arrived."""

    headers: Mapping[str, str]
    payload: Mapping[str, Any]

    @property
    def inputs(self) -> list[str]:
        """The texts to embed."""
        texts = self.payload["input"]
        return [texts] if isinstance(texts, str) else texts

    @property
    def batch_size(self) -> int:
        """Number of texts."""
        return len(self.inputs)

    @property
    def inputs_sha256(self) -> str:
        """A key for exactly these texts in this order."""
        return sha256(json.dumps(self.inputs).encode()).hexdigest()


class OpenAIStub:
    """Serves `/v1/embeddings` and `/v1/models` at `url`, in its own thread.

    Vectors are hashed bags of words of the requested dimension: texts with common words are near each other. With
    `api_key` set, other keys are rejected; `floats_only` makes it ignore a request for base64, as many servers do.
    """

    def __init__(self, *, api_key: str | None = None, floats_only: bool = False) -> None:
        self.requests: list[Recorded] = []
        self.answered: list[Recorded] = []  #: requests that succeeded
        self.meanings: dict[str, str] = {}  #: texts embedded as another text, to simulate paraphrases
        self.peak_in_flight = 0
        self.arrived = threading.Event()  #: set by the first embedding request
        self._api_key = api_key
        self._floats_only = floats_only
        self._script: deque[Fault | None] = deque()
        self._forever: Fault | None = None
        self._in_flight = 0
        self._released = asyncio.Event()
        # TCP is named explicitly: otherwise asyncio leaves Nagle's algorithm on, and every response waits 40 ms.
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(100)
        self._port: int = self._listener.getsockname()[1]
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="openai-stub", daemon=True)
        self._open: set[asyncio.Task[None]] = set()

    @property
    def in_flight(self) -> int:
        """Number of embedding requests in progress."""
        return self._in_flight

    @property
    def url(self) -> str:
        """The base URL for clients."""
        return f"http://127.0.0.1:{self._port}/v1"

    def fail(self, *faults: Fault | None) -> None:
        """Apply one fault to each of the next embedding requests; None lets one succeed."""
        self._script.extend(faults)

    def fail_forever(self, fault: Fault) -> None:
        """Apply the fault to every embedding request that has none from `fail`."""
        self._forever = fault

    def release(self) -> None:
        """Answer the requests delayed by `faults.HELD`, and later ones without delay."""
        self._loop.call_soon_threadsafe(self._released.set)

    def heal(self) -> None:
        """Remove all faults."""
        self._script.clear()
        self._forever = None

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._accept, sock=self._listener))
        self._loop.call_soon(self._ready.set)
        self._loop.run_forever()
        server.close()
        for task in self._open:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*self._open, return_exceptions=True))

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client disconnected, or the test is over
        finally:
            self._open.discard(task)
            writer.transport.abort()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False if the connection must be closed."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        if self._api_key and headers.get("authorization") != f"Bearer {self._api_key}":
            return await self._send(writer, 401, _error(headers.get("authorization", "no key")))
        if (method, path) == ("GET", "/v1/models"):
            models = [{"id": name, "object": "model"} for name in _SIZES]
            return await self._send(writer, 200, json.dumps({"object": "list", "data": models}).encode())
        if (method, path) != ("POST", "/v1/embeddings"):
            return await self._send(writer, 404, _error("no such path"))
        self._in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self._in_flight)
        try:
            return await self._embeddings(Recorded(headers, json.loads(body)), reader, writer)
        finally:
            self._in_flight -= 1

    async def _embeddings(self, request: Recorded, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        self.requests.append(request)
        self.arrived.set()
        fault = self._script.popleft() if self._script else self._forever
        if fault is None:
            self.answered.append(request)
            return await self._send(writer, 200, self._answer(request, None))
        if fault.hang:
            await reader.read()  # until the client disconnects
            return False
        if fault.reset:
            _reset(writer)
            return False
        if fault.held:
            await self._released.wait()
        await asyncio.sleep(fault.delay_seconds)
        return await self._misbehave(fault, request, writer)

    async def _misbehave(self, fault: Fault, request: Recorded, writer: asyncio.StreamWriter) -> bool:
        body = fault.body
        if body is None and fault.status == 200:
            body = self._answer(request, fault)
        elif body is None:
            body = _error(f"{request.headers.get('authorization')} {request.inputs}")
        return await self._send(writer, fault.status, body, fault)

    def _answer(self, request: Recorded, fault: Fault | None) -> bytes:
        size = request.payload.get("dimensions") or _SIZES.get(request.payload["model"], 1024)
        data: list[Item] = [
            {
                "object": "embedding",
                "index": place,
                "embedding": hashed_words(self.meanings.get(text, text), size).tolist(),
            }
            for place, text in enumerate(request.inputs)
        ]
        if fault and fault.tamper:
            data = fault.tamper(data)
        if request.payload.get("encoding_format") == "base64" and not self._floats_only:
            data = [{**item, "embedding": _base64(item["embedding"])} for item in data]
        tokens = sum(len(text.split()) for text in request.inputs)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return json.dumps({"object": "list", "data": data, "model": request.payload["model"], "usage": usage}).encode()

    async def _send(self, writer: asyncio.StreamWriter, status: int, body: bytes, fault: Fault | None = None) -> bool:
        headers = {
            "content-type": fault.content_type if fault else "application/json",
            "content-length": str(len(body)),
            **dict(fault.headers if fault else ()),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        share = fault.keep_share if fault else 1.0
        writer.write(f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{head}\r\n".encode("latin-1"))
        writer.write(body[: int(len(body) * share)])
        await writer.drain()
        if share < 1.0:
            writer.close()
        return share == 1.0


def _error(secret: str) -> bytes:
    """An error body that quotes the request, as real ones sometimes do: none of it may reach a log or a user."""
    message = f"upstream says: {secret}"
    return json.dumps({"error": {"message": message, "type": "stub_error", "code": None, "param": None}}).encode()


def _base64(vector: object) -> object:
    if not isinstance(vector, list) or None in vector:
        return vector
    return base64.b64encode(np.array(vector, "<f4").tobytes()).decode()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST instead of FIN: with a linger time of zero, a socket discards its data."""
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
