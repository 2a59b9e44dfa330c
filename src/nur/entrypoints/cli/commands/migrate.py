"""nur migrate."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from nur.bootstrap.moving import move_store
from nur.entrypoints.cli.client import data_dir_option
from nur.settings import load

if TYPE_CHECKING:
    from nur.adapters.sql.moving.move import MoveManifest


@click.command()
@click.option(
    "--to", "target", required=True, metavar="URL", help="Target: postgresql://user:password@host/name, or a folder."
)
@click.option("--json", "as_json", is_flag=True, help="Print the manifest as JSON.")
@data_dir_option
def command(target: str, as_json: bool, data_dir: str | None) -> None:
    """Copy the store to PostgreSQL, or from PostgreSQL to a SQLite file. Stop all servers first.

    Copies everything, vectors, versions and traces included, and embeds nothing again. The source is not changed. An
    interrupted copy continues with the next run.
    """
    settings = load(**({"nur_data_dir": data_dir} if data_dir else {}))
    quiet = as_json or not sys.stderr.isatty()
    manifest = move_store(settings, target, (lambda *_: None) if quiet else _show)
    if as_json:
        click.echo(json.dumps(asdict(manifest), indent=2))
    else:
        click.echo(_report(manifest, target))


def _show(name: str, rows: int) -> None:
    click.echo(f"\r{name}: {rows:,} rows\033[K", nl=False, err=True)


def _report(manifest: MoveManifest, target: str) -> str:
    lines = [f"{one.name:<24}{one.rows:>12,}  {one.sha256[:16]}" for one in manifest.tables if one.rows]
    where = "DATABASE_URL" if target.startswith("postgres") else "NUR_DATA_DIR"
    end = f"Every table was read back and has the same hash. Set {where} to the target and start the server."
    return "\n".join(["table                           rows  sha256", *lines, end])
