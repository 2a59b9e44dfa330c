"""nur config."""

from __future__ import annotations

import json

import click
from rich.table import Table

from nur.entrypoints.cli import render
from nur.settings import Settings, load, masked


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(as_json: bool) -> None:
    """Show the settings in effect; secrets are masked."""
    settings = load()
    values = masked(settings)
    if as_json:
        click.echo(json.dumps(values, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("setting", style="bold", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("set", no_wrap=True)
    table.add_column("meaning", style="dim")
    for name, field in Settings.model_fields.items():
        given = "yes" if name in settings.model_fields_set else ""
        table.add_row(name.upper(), str(values[name.upper()]), given, field.description or "")
    render.table(table)
