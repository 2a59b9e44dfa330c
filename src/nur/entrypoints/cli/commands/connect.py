"""nur connect."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import click
import regex as re
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nur.domain.errors import BadConfiguration, NurError
from nur.entrypoints.cli import render
from nur.entrypoints.cli.client import data_dir_option, json_option
from nur.entrypoints.cli.clients import hook_files, jsonc
from nur.entrypoints.cli.clients.config_file import ConfigFile
from nur.entrypoints.cli.clients.entry import Http, Stdio, is_ours, program, transport
from nur.entrypoints.cli.clients.table import CLIENTS, Client, Folders
from nur.settings import load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nur.settings import Settings


def _variables(_: click.Context, __: click.Parameter, pairs: tuple[str, ...]) -> dict[str, str]:
    if wrong := next((pair for pair in pairs if not re.match(r"\w+=", pair)), None):
        raise click.BadParameter(f"{wrong} is not NAME=VALUE")
    return dict(pair.split("=", 1) for pair in pairs)


def _server_name(_: click.Context, __: click.Parameter, name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise click.BadParameter("use letters, digits, - and _")
    return name


@click.command()
@click.argument("client", required=False, type=click.Choice(list(CLIENTS)), metavar="[CLIENT]")
@click.option("--http", "over_http", is_flag=True, help="Call a running server instead of starting nur stdio.")
@click.option("--url", help="With --http: the server's address. Default: from the settings (NUR_BIND, MCP_PORT).")
@click.option("--scope", type=click.Choice(["user", "project"]), default="user", help="All projects, or this folder.")
@click.option(
    "--name", default="memory", show_default=True, callback=_server_name, help="Name of the server in the client."
)
@click.option("--env", multiple=True, callback=_variables, help="NAME=VALUE for the server that nur stdio starts.")
@click.option(
    "--config", type=click.Path(dir_okay=False), help="Configuration file to edit. Default: the client's own."
)
@click.option("--print", "only_print", is_flag=True, help="Print the entry instead of writing it.")
@click.option("--remove", is_flag=True, help="Remove the entry.")
@click.option("--hooks", is_flag=True, help="Write hooks instead: they load a brief, recall passages and store turns.")
@click.option("--list", "only_list", is_flag=True, help="Show which clients are installed and connected.")
@json_option
@data_dir_option
def command(client: str | None, only_list: bool, as_json: bool, name: str, **options: Any) -> None:
    """Connect an MCP client: add Nur to its configuration file. The file is backed up first.

    CLIENT is a name from nur connect --list. Without CLIENT, the list is shown.
    """
    if client is None or only_list:
        _list(name, as_json=as_json)
        return
    settings = load(**({"nur_data_dir": options["data_dir"]} if options["data_dir"] else {}))
    (_hooks if options["hooks"] else _connect)(CLIENTS[client], name, settings, options)


def _connect(client: Client, name: str, settings: Settings, options: dict[str, Any]) -> None:
    shared = options["scope"] == "project"
    url = _url(settings, options["url"])
    wanted = _connection(settings, url, options).entry(client, shared=shared)
    path = [client.key, name]
    if client.user is None and options["remove"]:
        raise BadConfiguration(f"{client.title} keeps its servers in its settings: remove it there.")
    if options["only_print"] or client.user is None:
        click.echo(client.format.show(path, wanted))
        click.echo(client.then if client.user is None else f"For {_config_path(client, options)}", err=True)
        return
    file = ConfigFile(_config_path(client, options), client.format)
    existing = file.entry(path)
    if existing is not None and not is_ours(client, existing, url):
        raise BadConfiguration(
            f"{file.path} has another server named {name}. Nothing was changed; choose another name with --name."
        )
    if options["remove"]:
        _remove(client, file, path, existing)
    elif existing == wanted:
        click.echo(f"{client.title} is already connected: {name} in {file.path}")
    else:
        _report(f"{client.title} is connected: {name} in {file.path}", file.set(path, wanted), client)


def _hooks(client: Client, _name: str, settings: Settings, options: dict[str, Any]) -> None:
    known = hook_files.hook_file(client.name)
    folder = ["--data-dir", str(settings.nur_data_dir.absolute())] if _has_own_folder(settings) else []
    hooks = hook_files.hooks_for(client.name, program(), folder)
    folders = Folders.here()
    path = known.path(folders, shared=options["scope"] == "project")
    path = folders.project / str(options["config"]) if options["config"] else path
    if options["only_print"]:
        click.echo(jsonc.show([hook_files.KEY], hooks))
        click.echo(f"For {path}", err=True)
        return
    file = ConfigFile(path, jsonc)
    if options["remove"]:
        changed, backup = hook_files.remove(client.name, file)
        outcome = f"hooks removed from {path}" if changed else f"no hooks of Nur in {path}"
    else:
        changed, backup = hook_files.install(client.name, file, hooks)
        outcome = f"hooks written to {path}" if changed else f"hooks are already in {path}"
    _report(f"{client.title}: {outcome}", backup, client)


def _remove(client: Client, file: ConfigFile, path: list[str], existing: Any) -> None:
    if existing is None:
        click.echo(f"{client.title} is not connected: no {path[-1]} in {file.path}")
        return
    _report(f"{client.title} is no longer connected: {path[-1]} removed from {file.path}", file.remove(path), client)


def _report(outcome: str, backup: Path | None, client: Client) -> None:
    click.echo(outcome)
    if backup is not None:
        click.echo(f"Backup of the file: {backup}")
    click.echo(client.then)


def _connection(settings: Settings, url: str, options: dict[str, Any]) -> Http | Stdio:
    if not options["over_http"]:
        if options["url"]:
            raise click.UsageError("--url needs --http.")
        folder = ["--data-dir", str(settings.nur_data_dir.absolute())] if _has_own_folder(settings) else []
        return Stdio([*program(), "stdio", *folder], options["env"])
    if options["env"]:
        raise click.UsageError("--env sets variables of the server that nur stdio starts: omit it, or omit --http.")
    if not (options["url"] or settings.mcp_port):
        raise BadConfiguration("MCP_PORT=0 means another port at each start: set one with --url, or omit --http.")
    return Http(url, settings.nur_token.get_secret_value() if settings.nur_token else None)


def _has_own_folder(settings: Settings) -> bool:
    """Whether NUR_DATA_DIR is set: the entry must name the folder, since clients have another environment."""
    return "nur_data_dir" in settings.model_fields_set


def _url(settings: Settings, option: str | None) -> str:
    if option is not None:
        if not re.match(r"https?://[^/]", option):
            raise click.UsageError(f"--url: {option} is not an address such as http://127.0.0.1:3000")
        return f"{option.rstrip('/').removesuffix('/mcp')}/mcp"
    host = "127.0.0.1" if settings.nur_bind in ("0.0.0.0", "::") else settings.nur_bind  # noqa: S104  # to listen on
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.mcp_port}/mcp"


def _config_path(client: Client, options: dict[str, Any]) -> Path:
    folders = Folders.here()
    if options["config"]:
        return folders.project / str(options["config"])
    file = client.project_file(folders) if options["scope"] == "project" else client.user_file(folders)
    if file is None:
        raise BadConfiguration(f"{client.title} has no configuration per project: omit --scope.")
    return file


def _list(name: str, *, as_json: bool) -> None:
    folders = Folders.here()
    rows = [row for client in CLIENTS.values() for row in _rows(client, name, folders)]
    if as_json:
        render.as_json(rows)
        return
    shown = Table(box=None, pad_edge=False)
    for column in ("client", "installed", "connected", "file"):
        shown.add_column(column, no_wrap=column != "file", overflow="fold")
    for row in rows:
        path = _short(row["file"], folders) or "in its settings"
        cells = (row["client"], "yes" if row["installed"] else "no", row["connected"], path)
        shown.add_row(*(Text(str(cell)) for cell in cells))
    render.table(shown)


def _short(path: str | None, folders: Folders) -> str | None:
    """The path with ~ for the home folder on a terminal; unchanged in a pipe."""
    home = str(folders.home)
    if path is None or not Console().is_terminal or not path.startswith(home):
        return path
    return "~" + path.removeprefix(home)


def _rows(client: Client, name: str, folders: Folders) -> Iterator[dict[str, Any]]:
    """The client's row for all projects and, if it is connected there, one for this folder."""
    traces = any(folders.path(path).exists() for path in client.traces)
    installed = traces or any(shutil.which(name) for name in client.programs)
    user, project = client.user_file(folders), client.project_file(folders)
    yield _row(client, installed, "user", _state(client, user, name), user)
    connected = _state(client, project, name)
    if connected != "no":
        yield _row(client, installed, "project", connected, project)


def _row(client: Client, installed: bool, scope: str, connected: str, file: Path | None) -> dict[str, Any]:
    path = None if file is None else str(file)
    return {"client": client.name, "installed": installed, "scope": scope, "connected": connected, "file": path}


def _state(client: Client, file: Path | None, name: str) -> str:
    """Connection of the client: stdio, http, no, or unreadable if its file is not valid."""
    if file is None:
        return "no"
    try:
        entry = ConfigFile(file, client.format).entry([client.key, name])
    except NurError:
        return "unreadable"
    return transport(entry) if is_ours(client, entry, "") else "no"
