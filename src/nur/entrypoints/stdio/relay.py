"""Relay between lines of JSON-RPC and HTTP: each line is a POST to /mcp, each event of the response a line."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nur.entrypoints.stdio.locate import Server

CONCURRENT_CALLS = 16
#: A server that sends nothing for this long is gone; an ingest may take minutes.
SILENCE_SECONDS = 600
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_NAME_PARAMETERS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_INTERNAL_ERROR = -32603
_PARSE_ERROR = -32700


class Relay:
    """Relays messages between a client's lines and a server."""

    def __init__(self, locate: Callable[[], Server], write: Callable[[str], None], project: str = "") -> None:
        """`project`, if set, is sent with every message."""
        self._project = project
        self._locate = locate
        self._server = locate()
        self._write = write
        self._writing = threading.Lock()
        self._locating = threading.Lock()
        self._version: str | None = None  #: negotiated by `initialize`; newer clients send it with every message
        self._calls: dict[Any, http.client.HTTPConnection] = {}

    def run(self, lines: Iterable[str]) -> None:
        """Relay every line until the input ends, then wait for open responses."""
        with ThreadPoolExecutor(CONCURRENT_CALLS, thread_name_prefix="nur-relay") as pool:
            for line in lines:
                if not line.strip():
                    continue
                try:
                    message = json.loads(line)
                except ValueError:
                    self._error(None, _PARSE_ERROR, "Parse error")
                    continue
                done = pool.submit(self._relay, line, message)
                if isinstance(message, dict) and message.get("method") == "initialize":
                    done.result()  # later messages need the negotiated version

    def _relay(self, line: str, message: Any) -> None:
        call_id = message.get("id") if isinstance(message, dict) else None
        if isinstance(message, dict) and message.get("method") == "notifications/cancelled":
            self._cancel(message)
        try:
            self._post(line, message, call_id)
        except (OSError, http.client.HTTPException):
            if call_id is not None:
                self._error(call_id, _INTERNAL_ERROR, "The memory server did not answer. Try again.")

    def _post(self, line: str, message: Any, call_id: Any) -> None:
        connection = self._request(line, self._headers(message))
        self._calls[call_id] = connection
        try:
            response = connection.getresponse()
            for data in _events(response):
                self._remember_version(data)
                self._send(data)
        finally:
            self._calls.pop(call_id, None)
            connection.close()

    def _request(self, line: str, headers: dict[str, str]) -> http.client.HTTPConnection:
        """Send the request; if the server has exited, find or start another one and send it again."""
        server = self._server
        try:
            return _send_request(server, line, headers)
        except ConnectionError:
            return _send_request(self._replacement(server), line, headers)

    def _replacement(self, gone: Server) -> Server:
        """The server that replaces one that has exited; concurrent calls start only one."""
        with self._locating:
            if self._server is gone:
                self._server = self._locate()
            return self._server

    def _headers(self, message: Any) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self._project:
            headers["X-Nur-Project"] = quote(self._project)
        if self._server.token:
            headers["Authorization"] = f"Bearer {self._server.token}"
        if not isinstance(message, dict):
            return headers
        params = message.get("params") or {}
        method = str(message.get("method", ""))
        version = (params.get("_meta") or {}).get(VERSION_KEY)
        if version:
            headers |= {"MCP-Protocol-Version": str(version), "Mcp-Method": method}
            if name := params.get(_NAME_PARAMETERS.get(method, "")):
                headers["Mcp-Name"] = _header_value(str(name))
        elif self._version and method != "initialize":
            headers["MCP-Protocol-Version"] = self._version
        return headers

    def _remember_version(self, data: str) -> None:
        if self._version is None and "protocolVersion" in data:
            result = json.loads(data).get("result") or {}
            self._version = result.get("protocolVersion")

    def _cancel(self, message: dict[str, Any]) -> None:
        """Close the cancelled call's connection: a server without sessions has no other way to notice."""
        connection = self._calls.pop((message.get("params") or {}).get("requestId"), None)
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.close()

    def _error(self, call_id: Any, code: int, text: str) -> None:
        self._send(json.dumps({"jsonrpc": "2.0", "id": call_id, "error": {"code": code, "message": text}}))

    def _send(self, data: str) -> None:
        with self._writing:
            self._write(data)


def _send_request(server: Server, line: str, headers: dict[str, str]) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=SILENCE_SECONDS)
    connection.request("POST", "/mcp", line.encode(), headers)
    return connection


def _events(response: http.client.HTTPResponse) -> Iterator[str]:
    """Messages of a response, which is a stream of events or one JSON body."""
    if "text/event-stream" not in (response.getheader("Content-Type") or ""):
        body = response.read().decode().strip()
        if body.startswith("{"):
            yield json.dumps(json.loads(body))
        return
    for raw in response:
        line = raw.decode().rstrip("\r\n")
        if line.startswith("data:") and (data := line[5:].strip()):
            yield data


def _header_value(text: str) -> str:
    """Encode a header value: visible ASCII as it is, anything else in base64, as the protocol requires."""
    if text.isascii() and text.isprintable():
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="
