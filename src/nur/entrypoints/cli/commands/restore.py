"""nur restore."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nur.adapters.sql.sqlite.files import StoreFiles
from nur.adapters.sql.sqlite.restore import check_backup, restore
from nur.bootstrap.backups import passphrase, require_file
from nur.domain.errors import NotFound
from nur.entrypoints.cli.client import data_dir_option
from nur.entrypoints.cli.progress import shown_progress
from nur.ports.clock import SystemClock
from nur.settings import load

if TYPE_CHECKING:
    from nur.settings import Settings


@click.command()
@click.argument("file")
@click.option("--check", is_flag=True, help="Verify the backup, but restore nothing.")
@click.option("--other-store", is_flag=True, help="Replace the store even if the backup is of another store.")
@click.option("--ask-passphrase", is_flag=True, help="Ask for the passphrase of an encrypted backup.")
@click.option("--yes", is_flag=True, help="Do not ask before replacing the store.")
@data_dir_option
def command(file: str, check: bool, other_store: bool, ask_passphrase: bool, yes: bool, data_dir: str | None) -> None:
    """Verify the backup FILE and replace the data folder's store with it. Stop the server first.

    The previous store is kept in the data folder as before-restore-….
    """
    settings = load(**({"nur_data_dir": data_dir} if data_dir else {}))
    require_file(settings)
    path = Path(file)
    if not path.is_file():
        raise NotFound(f"There is no file {file}.")
    secret = click.prompt("Passphrase", hide_input=True, err=True) if ask_passphrase else passphrase(settings)
    if check:
        _check(path, secret)
        return
    if not yes and StoreFiles(settings.nur_data_dir).exists:
        click.confirm(f"Replace the store in {settings.nur_data_dir}?", abort=True)
    _restore(settings, path, secret, other_store=other_store)


def _check(path: Path, secret: str | None) -> None:
    with tempfile.TemporaryDirectory(prefix="nur-check-", dir=path.parent) as folder, shown_progress() as progress:
        task = progress.add_task("verifying", total=None)
        manifest = check_backup(path, secret, Path(folder), lambda size: progress.update(task, advance=size))
    click.echo(f"{path} is valid: {manifest.notes} notes, made {manifest.created_at}, schema {manifest.schema}")


def _restore(settings: Settings, path: Path, secret: str | None, *, other_store: bool) -> None:
    with shown_progress() as progress:
        task = progress.add_task("restoring", total=None)
        restored = restore(
            settings.nur_data_dir,
            path,
            SystemClock().now(),
            secret,
            other_store=other_store,
            progress=lambda size: progress.update(task, advance=size),
        )
    manifest = restored.manifest
    click.echo(f"{manifest.notes} notes restored to {settings.nur_data_dir}, as they were at {manifest.created_at}")
    if restored.aside is not None:
        click.echo(f"The previous store is in {restored.aside}; delete it when you no longer need it.")
