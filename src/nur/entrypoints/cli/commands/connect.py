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
from nur.entrypoints.cli import render as showing
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


def _variables(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    if wrong := next((pair for pair in given if not re.match(r"\w+=", pair)), None):
        raise click.BadParameter(f"{wrong} is not NAME=VALUE")
    return dict(pair.split("=", 1) for pair in given)


def _server_name(_: click.Context, __: click.Parameter, given: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", given):
        raise click.BadParameter("use letters, digits, - and _")
    return given


@click.command()
@click.argument("client", required=False, type=click.Choice(list(CLIENTS)), metavar="[CLIENT]")
@click.option("--http", "over_http", is_flag=True, help="Call a running server, instead of starting nur stdio.")
@click.option("--url", help="With --http: its address, else the one of the settings (NUR_BIND, MCP_PORT).")
@click.option("--scope", type=click.Choice(["user", "project"]), default="user", help="All projects, or this folder.")
@click.option("--name", default="memory", callback=_server_name, help="What the client calls the server: memory.")
@click.option("--env", multiple=True, callback=_variables, help="NAME=VALUE for the server that nur stdio starts.")
@click.option("--config", type=click.Path(dir_okay=False), help="Another file than the client's usual one.")
@click.option("--print", "only_print", is_flag=True, help="Print the entry, write nothing.")
@click.option("--remove", is_flag=True, help="Take the entry out again.")
@click.option("--hooks", is_flag=True, help="Write hooks instead: a brief at the start, turns kept at the end.")
@click.option("--list", "only_list", is_flag=True, help="Show which clients are installed and connected.")
@json_option
@data_dir_option
def command(client: str | None, only_list: bool, as_json: bool, name: str, **options: Any) -> None:
    """Connect an MCP client: write Nur into its configuration, which is copied before it is changed.

    CLIENT is one of those that nur connect --list shows. Without one, the list is shown.
    """
    if client is None or only_list:
        _list(name, as_json=as_json)
        return
    settings = load(**({"nur_data_dir": options["data_dir"]} if options["data_dir"] else {}))
    (_hooks if options["hooks"] else _connect)(CLIENTS[client], name, settings, options)


def _connect(client: Client, name: str, settings: Settings, options: dict[str, Any]) -> None:
    shared = options["scope"] == "project"
    url = _url(settings, options["url"])
    wanted = _how(settings, url, options).entry(client, shared=shared)
    path = [client.key, name]
    if client.user is None and options["remove"]:
        raise BadConfiguration(f"{client.title} keeps its servers in its settings: take it out there.")
    if options["only_print"] or client.user is None:
        click.echo(client.format.show(path, wanted))
        click.echo(client.then if client.user is None else f"For {_place(client, options)}", err=True)
        return
    file = ConfigFile(_place(client, options), client.format)
    existing = file.entry(path)
    if existing is not None and not is_ours(client, existing, url):
        raise BadConfiguration(
            f"{file.path} has another server named {name}. Nothing was changed; choose a name with --name."
        )
    if options["remove"]:
        _remove(client, file, path, existing)
    elif existing == wanted:
        click.echo(f"{client.title} is connected already: {name} in {file.path}")
    else:
        _told(f"{client.title} is connected: {name} in {file.path}", file.set(path, wanted), client)


def _hooks(client: Client, _name: str, settings: Settings, options: dict[str, Any]) -> None:
    known = hook_files.hook_file(client.name)
    folder = ["--data-dir", str(settings.nur_data_dir.absolute())] if _is_given(settings) else []
    hooks = hook_files.wanted(client.name, program(), folder)
    folders = Folders.here()
    place = known.place(folders, shared=options["scope"] == "project")
    place = folders.project / str(options["config"]) if options["config"] else place
    if options["only_print"]:
        click.echo(jsonc.show([hook_files.KEY], hooks))
        click.echo(f"For {place}", err=True)
        return
    file = ConfigFile(place, jsonc)
    if options["remove"]:
        changed, backup = hook_files.remove(client.name, file)
        what = f"hooks taken out of {place}" if changed else f"no hooks of Nur in {place}"
    else:
        changed, backup = hook_files.install(client.name, file, hooks)
        what = f"hooks written into {place}" if changed else f"its hooks are there already, in {place}"
    _told(f"{client.title}: {what}", backup, client)


def _remove(client: Client, file: ConfigFile, path: list[str], existing: Any) -> None:
    if existing is None:
        click.echo(f"{client.title} is not connected: no {path[-1]} in {file.path}")
        return
    _told(f"{client.title} is no longer connected: {path[-1]} taken out of {file.path}", file.remove(path), client)


def _told(what: str, backup: Path | None, client: Client) -> None:
    click.echo(what)
    if backup is not None:
        click.echo(f"The file as it was: {backup}")
    click.echo(client.then)


def _how(settings: Settings, url: str, options: dict[str, Any]) -> Http | Stdio:
    if not options["over_http"]:
        if options["url"]:
            raise click.UsageError("--url needs --http.")
        folder = ["--data-dir", str(settings.nur_data_dir.absolute())] if _is_given(settings) else []
        return Stdio([*program(), "stdio", *folder], options["env"])
    if options["env"]:
        raise click.UsageError("--env is for the server that nur stdio starts: it goes without --http.")
    if not (options["url"] or settings.mcp_port):
        raise BadConfiguration("MCP_PORT=0 is another port at each start: name one with --url, or leave --http out.")
    return Http(url, settings.nur_token.get_secret_value() if settings.nur_token else None)


def _is_given(settings: Settings) -> bool:
    """Whether the data folder is not the usual one: the client does not know our environment."""
    return "nur_data_dir" in settings.model_fields_set


def _url(settings: Settings, given: str | None) -> str:
    if given is not None:
        if not re.match(r"https?://[^/]", given):
            raise click.UsageError(f"--url: {given} is no address such as http://127.0.0.1:3000")
        return f"{given.rstrip('/').removesuffix('/mcp')}/mcp"
    host = "127.0.0.1" if settings.nur_bind in ("0.0.0.0", "::") else settings.nur_bind  # noqa: S104  # to listen on
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.mcp_port}/mcp"


def _place(client: Client, options: dict[str, Any]) -> Path:
    folders = Folders.here()
    if options["config"]:
        return folders.project / str(options["config"])
    file = client.project_file(folders) if options["scope"] == "project" else client.user_file(folders)
    if file is None:
        raise BadConfiguration(f"{client.title} has no configuration for a project: leave --scope out.")
    return file


def _list(name: str, *, as_json: bool) -> None:
    folders = Folders.here()
    rows = [row for client in CLIENTS.values() for row in _rows(client, name, folders)]
    if as_json:
        showing.as_json(rows)
        return
    shown = Table(box=None, pad_edge=False)
    for column in ("client", "installed", "connected", "file"):
        shown.add_column(column, no_wrap=column != "file", overflow="fold")
    for row in rows:
        place = _short(row["file"], folders) or "in its settings"
        cells = (row["client"], "yes" if row["installed"] else "no", row["connected"], place)
        shown.add_row(*(Text(str(cell)) for cell in cells))
    showing.table(shown)


def _short(place: str | None, folders: Folders) -> str | None:
    """A path with ~ for the home folder on a terminal; the whole path in a pipe."""
    home = str(folders.home)
    if place is None or not Console().is_terminal or not place.startswith(home):
        return place
    return "~" + place.removeprefix(home)


def _rows(client: Client, name: str, folders: Folders) -> Iterator[dict[str, Any]]:
    """The client for all projects and, where it is connected there, for this folder."""
    traces = any(folders.path(place).exists() for place in client.traces)
    installed = traces or any(shutil.which(found) for found in client.programs)
    user, project = client.user_file(folders), client.project_file(folders)
    yield _row(client, installed, "user", _state(client, user, name), user)
    connected = _state(client, project, name)
    if connected != "no":
        yield _row(client, installed, "project", connected, project)


def _row(client: Client, installed: bool, scope: str, connected: str, file: Path | None) -> dict[str, Any]:
    place = None if file is None else str(file)
    return {"client": client.name, "installed": installed, "scope": scope, "connected": connected, "file": place}


def _state(client: Client, file: Path | None, name: str) -> str:
    """How the client reaches Nur: stdio or http; no; or unreadable, for a file that is not valid."""
    if file is None:
        return "no"
    try:
        entry = ConfigFile(file, client.format).entry([client.key, name])
    except NurError:
        return "unreadable"
    return transport(entry) if is_ours(client, entry, "") else "no"
