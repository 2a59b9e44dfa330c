"""embedding_health."""

# Signatures are read at run time, so annotations are not postponed here.
from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult

from nur.entrypoints.mcp.parameters import READS
from nur.entrypoints.mcp.tool import ToolSpec, as_json

if TYPE_CHECKING:
    from nur.bootstrap import Services


async def embedding_health(services: "Services") -> CallToolResult:
    """Check that the embedding model works."""
    report = await services.embedding_health()
    model, probe = report.model, report.probe
    found: dict[str, Any] = {
        "provider": model.provider,
        "model": model.name,
        "dimensions": model.dimensions,
        "api_key_configured": report.key_configured,
        "api_status": "healthy" if probe.healthy else "unhealthy",
    }
    if probe.healthy:
        found |= {"test_embedding_dimensions": probe.dimensions, "api_latency_ms": probe.latency_ms}
    else:
        found["error"] = probe.error
    return as_json(found)


TOOLS = [ToolSpec(embedding_health, READS)]
