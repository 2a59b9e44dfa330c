"""nur status."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table
from rich.text import Text

from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option, with_store
from nur.entrypoints.cli.running import answering_server
from nur.settings import load

if TYPE_CHECKING:
    from nur.entrypoints.cli.client import Store
    from nur.entrypoints.cli.running import ServerFacts

NOT_RUNNING = 1
UNHEALTHY_STATUS = 503
HOW_TO_START = "Start one: nur serve. To keep it running: nur service install"


@click.command()
@json_option
@data_dir_option
@click.pass_context
def command(ctx: click.Context, as_json: bool, data_dir: str | None) -> None:
    """Show the running server: address, process, health, number of notes, indexing backlog.

    Exit code 0: it runs and is usable; 1: no server runs, or its store is unusable.
    """
    settings = load(**({"nur_data_dir": data_dir} if data_dir else {}))
    render.use_zone(settings.nur_timezone)
    folder = settings.nur_data_dir
    server = answering_server(folder)
    if server is None:
        if as_json:
            render.as_json({"running": False, "data_dir": str(folder)})
        else:
            click.echo(f"No server runs for {folder}. {HOW_TO_START}")
        ctx.exit(NOT_RUNNING)
    status = {**_identity(server), "data_dir": str(folder), **with_store(data_dir, _health)}
    render.as_json(status) if as_json else _show(status)
    ctx.exit(NOT_RUNNING if status["health"] == "unhealthy" else 0)


def _identity(server: ServerFacts) -> dict[str, Any]:
    return {
        "running": True,
        "url": server.url,
        "pid": server.pid,
        "version": server.version,
        "started_at": server.started_at.isoformat(timespec="seconds"),
        "uptime_seconds": max(0, round((datetime.now(UTC) - server.started_at).total_seconds())),
    }


async def _health(store: Store) -> dict[str, Any]:
    report = await store.call("GET", "/health", accept_status=UNHEALTHY_STATUS)
    health = {"health": report["status"], "checks": report["checks"]}
    if report["checks"]["store"]["status"] != "healthy":
        return {**health, "notes": None, "backlog": None}
    outbox = await store.call("GET", "/v2/admin/outbox")
    notes = (await store.call("GET", "/v2/admin/stats"))["notes"]
    return {**health, "notes": notes, "backlog": {"pending": outbox["pending"], "dead": outbox["dead"]}}


def _show(status: dict[str, Any]) -> None:
    checks = status["checks"]
    rows = {
        "server": f"{status['url']} (MCP at {status['url']}/mcp)",
        "process": f"{status['pid']}, version {status['version']}",
        "started": f"{render.when(status['started_at'])}, {_duration(status['uptime_seconds'])} ago",
        "data": status["data_dir"],
        "health": status["health"],
        "store": _check(checks["store"]),
        "index": f"{checks['index']['name']}, {_check(checks['index'])}",
        "embedder": f"{checks['embedder']['model']}, {_check(checks['embedder'])}",
        "notes": _notes(status["notes"]),
        "backlog": _backlog(status["backlog"]),
    }
    shown = Table(box=None, pad_edge=False, show_header=False)
    shown.add_column(no_wrap=True)
    shown.add_column(overflow="fold")
    for name, value in rows.items():
        if value is not None:
            shown.add_row(Text(name, style="bold"), Text(value))
    render.table(shown)


def _check(check: dict[str, Any]) -> str:
    return f"{check['status']}: {check['error']}" if check.get("error") else str(check["status"])


def _notes(notes: dict[str, int] | None) -> str | None:
    if notes is None:
        return None
    return f"{sum(notes.values())} ({', '.join(f'{kind} {count}' for kind, count in notes.items())})"


def _backlog(backlog: dict[str, int] | None) -> str | None:
    if backlog is None:
        return None
    failed = f", {backlog['dead']} failed (nur doctor shows why)" if backlog["dead"] else ""
    return f"{backlog['pending']} to be indexed{failed}"


def _duration(seconds: int) -> str:
    """The duration in its two largest units: 2 d 3 h, 5 min 2 s."""
    parts: list[str] = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count or (unit == "s" and not parts):
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])
