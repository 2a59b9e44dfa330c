"""Serve the files of the web page and of the REST reference, with ETags and a strict Content-Security-Policy."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

#: The page, and the REST reference at /docs.
FOLDERS = ("static", "docs")
#: Path of the page's scripts and styles. They need no token: they reveal nothing about stored notes.
PREFIX = "/web/"
MEDIA_TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml"}
#: No foreign and no inline resources, and no markup made from text: with trusted types, innerHTML throws.
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
HEADERS = {
    "Cache-Control": "no-cache",  # cached, but revalidated each time, so that an update shows at once
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file in memory, ready to be sent."""

    body: bytes
    etag: str
    media_type: str

    def response(self, request: Request) -> Response:
        """The file, or 304 if the browser already has it."""
        headers = {**HEADERS, "ETag": self.etag}
        known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
        if self.etag in known:
            return Response(status_code=304, headers=headers)
        return Response(self.body, headers=headers, media_type=self.media_type)


@cache
def static_files() -> Mapping[str, StaticFile]:
    """Files of the page by name, read once per process."""
    folders = [files(__package__).joinpath(folder) for folder in FOLDERS]
    found = [entry for folder in folders for entry in folder.iterdir() if entry.is_file()]
    return {entry.name: _loaded(entry.name, entry.read_bytes()) for entry in found}


def _loaded(name: str, body: bytes) -> StaticFile:
    return StaticFile(body, f'"{hashlib.sha256(body).hexdigest()[:16]}"', MEDIA_TYPES[PurePosixPath(name).suffix])


async def _index(request: Request) -> Response:
    return static_files()["index.html"].response(request)


async def _docs(request: Request) -> Response:
    return static_files()["docs.html"].response(request)


async def _file(request: Request) -> Response:
    found = static_files().get(request.path_params["name"])
    return PlainTextResponse("Not Found", 404) if found is None else found.response(request)


def page_routes() -> list[Route]:
    """The page at /, the REST reference at /docs, and their files."""
    return [Route("/", _index), Route("/docs", _docs), Route(PREFIX + "{name}", _file)]
