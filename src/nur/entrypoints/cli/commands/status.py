"""nur status."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table
from rich.text import Text

from nur.entrypoints.cli import render as showing
from nur.entrypoints.cli.client import data_dir_option, json_option, with_store
from nur.entrypoints.cli.running import find
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
    """Show the running server: address, process, health, what is stored, what waits to be indexed.

    Exit code 0: it runs and can be used; 1: none runs, or its store cannot be used.
    """
    folder = load(**({"nur_data_dir": data_dir} if data_dir else {})).nur_data_dir
    server = find(folder)
    if server is None:
        if as_json:
            showing.as_json({"running": False, "data_dir": str(folder)})
        else:
            click.echo(f"No server runs for {folder}. {HOW_TO_START}")
        ctx.exit(NOT_RUNNING)
    found = {**_identity(server), "data_dir": str(folder), **with_store(data_dir, _health)}
    showing.as_json(found) if as_json else _show(found)
    ctx.exit(NOT_RUNNING if found["health"] == "unhealthy" else 0)


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
    report = await store.call("GET", "/health", also=UNHEALTHY_STATUS)
    found = {"health": report["status"], "checks": report["checks"]}
    if report["checks"]["store"]["status"] != "healthy":
        return {**found, "notes": None, "backlog": None}
    outbox = await store.call("GET", "/v2/admin/outbox")
    notes = (await store.call("GET", "/v2/admin/stats"))["notes"]
    return {**found, "notes": notes, "backlog": {"pending": outbox["pending"], "dead": outbox["dead"]}}


def _show(found: dict[str, Any]) -> None:
    checks = found["checks"]
    rows = {
        "server": f"{found['url']} (MCP at {found['url']}/mcp)",
        "process": f"{found['pid']}, version {found['version']}",
        "started": f"{showing.when(found['started_at'])}, {_duration(found['uptime_seconds'])} ago",
        "data": found["data_dir"],
        "health": found["health"],
        "store": _check(checks["store"]),
        "index": f"{checks['index']['name']}, {_check(checks['index'])}",
        "embedder": f"{checks['embedder']['model']}, {_check(checks['embedder'])}",
        "notes": _notes(found["notes"]),
        "backlog": _backlog(found["backlog"]),
    }
    shown = Table(box=None, pad_edge=False, show_header=False)
    shown.add_column(no_wrap=True)
    shown.add_column(overflow="fold")
    for name, value in rows.items():
        if value is not None:
            shown.add_row(Text(name, style="bold"), Text(value))
    showing.table(shown)


def _check(check: dict[str, Any]) -> str:
    return f"{check['status']}: {check['error']}" if check.get("error") else str(check["status"])


def _notes(notes: dict[str, int] | None) -> str | None:
    if notes is None:
        return None
    return f"{sum(notes.values())} ({', '.join(f'{kind} {count}' for kind, count in notes.items())})"


def _backlog(backlog: dict[str, int] | None) -> str | None:
    if backlog is None:
        return None
    given_up = f", {backlog['dead']} given up (run nur doctor for the reason)" if backlog["dead"] else ""
    return f"{backlog['pending']} to be indexed{given_up}"


def _duration(seconds: int) -> str:
    """In the two largest units: 2 d 3 h, 5 min 2 s."""
    parts: list[str] = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count or (unit == "s" and not parts):
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])
