"""A rerank endpoint on loopback that can simulate faults, in the API variants of Cohere, Voyage and TEI.

    with RerankStub() as stub:
        stub.fail_forever(faults.status(500))
        stub.heal()

A passage's score is how often it contains the words of the query. A fault's `tamper` changes the list of results.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.servers.faults import Fault, Item


class RerankStub:
    """Serves `POST /rerank` at `url`, in its own threads. `requests` lists headers and payload of each request."""

    def __init__(self, dialect: str = "cohere") -> None:
        self.requests: list[tuple[Mapping[str, str], dict[str, Any]]] = []
        self.dialect = dialect
        self._fault: Fault | None = None
        self._over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="rerank-stub", daemon=True)

    @property
    def url(self) -> str:
        """The endpoint's URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/rerank"

    def fail_forever(self, fault: Fault) -> None:
        """Apply the fault to every request."""
        self._fault = fault

    def heal(self) -> None:
        """Remove the fault."""
        self._fault = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=10)

    def answer(self, headers: Mapping[str, str], payload: dict[str, Any]) -> tuple[int, bytes] | None:
        """Status and body; None for no response."""
        self.requests.append((headers, payload))
        fault = self._fault
        if fault is not None and fault.hang:
            self._over.wait(30)
            return None
        if fault is not None and (fault.status != 200 or fault.body is not None):
            return fault.status, fault.body or json.dumps({"error": f"upstream says: {payload}"}).encode()
        if self.dialect == "voyage" and "top_n" in payload:
            return 400, b'{"detail": "Argument top_n is not supported."}'
        results = self._results(payload)
        if fault is not None and fault.tamper is not None:
            results = fault.tamper(results)
        body = {"cohere": {"results": results}, "voyage": {"data": results}, "tei": results}[self.dialect]
        return 200, json.dumps(body).encode()

    def _results(self, payload: dict[str, Any]) -> list[Item]:
        name, passages = ("score", "texts") if self.dialect == "tei" else ("relevance_score", "documents")
        asked = set(payload["query"].lower().split())
        scored = [
            {"index": index, name: float(sum(word.strip(".,!?") in asked for word in text.lower().split()))}
            for index, text in enumerate(payload[passages])
        ]
        return sorted(scored, key=lambda result: -result[name])


def _handler(stub: RerankStub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the library's name
            payload = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = stub.answer({name.lower(): value for name, value in self.headers.items()}, payload)
            if answer is None:
                self.close_connection = True
                return
            status, body = answer
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Log nothing."""

    return Handler
