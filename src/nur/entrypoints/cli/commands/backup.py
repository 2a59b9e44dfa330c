"""nur backup."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nur.adapters.sql.sqlite.backup import back_up, backup_name
from nur.bootstrap.backups import passphrase, require_file
from nur.domain.errors import BadRequest
from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option
from nur.entrypoints.cli.progress import shown_progress
from nur.ports.clock import SystemClock
from nur.settings import load

if TYPE_CHECKING:
    from nur.settings import Settings


@click.command()
@click.option(
    "--output", metavar="PATH", help="File or folder to write to. Default: BACKUP_DIR, else the current folder."
)
@click.option("--ask-passphrase", is_flag=True, help="Ask for a passphrase and encrypt the backup with it.")
@json_option
@data_dir_option
def command(output: str | None, ask_passphrase: bool, as_json: bool, data_dir: str | None) -> None:
    """Back up a snapshot of the store to one file, with a manifest of hashes. The server may keep running.

    The copy is verified before and after it is packed. BACKUP_PASSPHRASE, if set, encrypts it.
    """
    settings = load(**({"nur_data_dir": data_dir} if data_dir else {}))
    require_file(settings)
    secret = click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True) if ask_passphrase else None
    secret = secret or passphrase(settings)
    now = SystemClock().now()
    target = _target(settings, output, backup_name(now, encrypted=secret is not None))
    with shown_progress(quiet=as_json) as progress:
        task = progress.add_task("backup", total=None)
        manifest = back_up(
            settings.nur_data_dir,
            target,
            now,
            secret,
            lambda done, total: progress.update(task, completed=done, total=total),
        )
    size = target.stat().st_size
    if as_json:
        render.as_json({"file": str(target), "bytes": size, "notes": manifest.notes, "encrypted": secret is not None})
    else:
        click.echo(f"{target}: {manifest.notes} notes, {size / 1e6:.1f} MB, verified")


def _target(settings: Settings, output: str | None, name: str) -> Path:
    path = Path(output) if output is not None else settings.backup_dir or Path.cwd()
    target = path / name if path.is_dir() or output is None or output.endswith("/") else path
    if target.exists():
        raise BadRequest(f"{target} already exists. Choose another file.")
    return target
