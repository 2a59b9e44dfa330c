"""A server made by our own factory, with the tools that the conformance suite asks for.

Our real tools return text alone; these show that images, sound, resources, progress and errors pass through the same
wrapping of tools, the same server and the same HTTP application.
"""

# Signatures are read at run time, so annotations are not postponed here.
import asyncio
import base64
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, cast

import uvicorn
from mcp.server.mcpserver import Context
from mcp_types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)

from nur.domain.errors import NurError
from nur.entrypoints.http.app import make_app
from nur.entrypoints.http.guard import AllowedCallers
from nur.entrypoints.mcp.parameters import READS
from nur.entrypoints.mcp.server import make_server
from nur.entrypoints.mcp.tool import CheckedTool, ToolSpec

if TYPE_CHECKING:
    from nur.bootstrap import Services

#: A red dot.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
#: No samples at all: the shortest sound there is.
WAV = (
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data"
    + bytes(4)
)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _image() -> ImageContent:
    return ImageContent(type="image", data=base64.b64encode(PNG).decode(), mime_type="image/png")


def _resource(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


async def test_simple_text(services: "Services") -> CallToolResult:
    """Text alone."""
    return CallToolResult(content=[_text("This is a simple text response for testing.")])


async def test_image_content(services: "Services") -> CallToolResult:
    """An image."""
    return CallToolResult(content=[_image()])


async def test_audio_content(services: "Services") -> CallToolResult:
    """A sound."""
    sound = AudioContent(type="audio", data=base64.b64encode(WAV).decode(), mime_type="audio/wav")
    return CallToolResult(content=[sound])


async def test_embedded_resource(services: "Services") -> CallToolResult:
    """A resource."""
    found = _resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    return CallToolResult(content=[found])


async def test_multiple_content_types(services: "Services") -> CallToolResult:
    """Three kinds at once."""
    data = json.dumps({"test": "data", "value": 123})
    found = _resource("test://mixed-content-resource", "application/json", data)
    return CallToolResult(content=[_text("Multiple content types test:"), _image(), found])


async def test_tool_with_progress(services: "Services", context: Context[Any, Any]) -> CallToolResult:
    """Progress, three times."""
    for done in (0, 50, 100):
        await context.report_progress(done, 100)
        await asyncio.sleep(0.05)
    return CallToolResult(content=[_text("Done.")])


async def test_error_handling(services: "Services") -> CallToolResult:
    """Always an error."""
    raise NurError("This tool intentionally returns an error for testing")


TOOLS: list[Callable[..., Awaitable[CallToolResult]]] = [
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_tool_with_progress,
    test_error_handling,
]


def _nothing() -> nullcontext["Services"]:
    return nullcontext(cast("Services", None))  # no fixture asks its services for anything


def main() -> None:
    """Serve on the port that is named."""
    server = make_server([CheckedTool.make(ToolSpec(tool, READS), _nothing) for tool in TOOLS])
    uvicorn.run(make_app(_nothing, server, AllowedCallers()), port=int(sys.argv[1]), log_level="error")


if __name__ == "__main__":
    main()
