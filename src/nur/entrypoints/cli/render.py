"""Print notes and hits. Stored text is data: it is never read as markup, and control characters are replaced."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import click
import regex as re
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from nur.domain.notices import WEAK

if TYPE_CHECKING:
    from collections.abc import Sequence

INDENT = 3
LIST_CHARS = 250  #: of a note in a list: its title, and the preview that the server sends
NOTHING_STORED = "Nothing is stored yet."


def as_json(value: Any) -> None:
    """Print JSON."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def one_line(text: str | None, most: int = 100) -> str:
    """The text on one line, cut to `most` characters."""
    line = harmless(" ".join((text or "").split()))
    return line if len(line) <= most else line[: most - 1] + "…"


def harmless(text: str) -> str:
    """Replace control characters, which could move the cursor or set the terminal's title."""
    return str(_CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text))


_ZONE = "nur.zone"  #: key of the command's context
_CONTROLS = re.compile(r"[^\P{Cc}\n\t]")


def use_zone(name: str | None) -> None:
    """Show the times of this command in a zone, such as Europe/Berlin; None: in the system's."""
    click.get_current_context().meta[_ZONE] = ZoneInfo(name) if name else None


def when(moment: str) -> str:
    """Format the server's ISO time to the minute, in the store's zone (`use_zone`)."""
    context = click.get_current_context(silent=True)
    zone = None if context is None else context.meta.get(_ZONE)
    return f"{datetime.fromisoformat(moment).astimezone(zone):%Y-%m-%d %H:%M %Z}"


def table(shown: Table) -> None:
    """Print a table, fitted to the terminal; in a pipe one line per row, tab-separated and uncut."""
    console = Console()
    if console.is_terminal:
        console.print(shown)
        return
    columns = [[column.header, *column.cells] if shown.show_header else list(column.cells) for column in shown.columns]
    for row in zip(*columns, strict=True):
        click.echo("\t".join(" ".join(str(cell).split()) for cell in row))


def notes(listed: Sequence[dict[str, Any]]) -> None:
    """Print a table of notes."""
    if not listed:
        click.echo("No notes.")
        return
    shown = Table(box=None, pad_edge=False)
    for name in ("id", "kind", "type", "stored", "text"):
        shown.add_column(name, no_wrap=name != "text", overflow="fold" if name == "id" else "ellipsis")
    for note in listed:
        title, text = note["title"], note.get("preview") or note.get("text")
        row = (
            one_line(note["note_id"]),
            note["kind"],
            note["type"] or "",
            when(note["ingested_at"]),
            one_line(f"{title}: {text}" if title else text, LIST_CHARS),
        )
        shown.add_row(*map(Text, row))
    table(shown)


def note(fields: dict[str, Any]) -> None:
    """Print a note: its fields, then its text, then its chunks if there are any."""
    shown = Table(box=None, pad_edge=False, show_header=False)
    for name, value in fields.items():
        if name not in _NOT_IN_TABLE and value not in (None, "", [], {}):
            shown_value = when(value) if name.endswith("_at") else _plain(value)
            shown.add_row(Text(name, style="bold"), Text(shown_value))
    table(shown)
    click.echo("\n" + harmless(fields["text"]))
    for chunk in fields.get("chunks") or ():
        span = f"characters {chunk['start_char']}–{chunk['end_char']}, {chunk['token_count']} tokens"
        click.secho(f"\n{chunk['chunk_id']}  {span}", dim=True)


_NOT_IN_TABLE = ("text", "preview", "chunks", "near_duplicates", "content_hash")


def hits(answer: dict[str, Any]) -> None:
    """Print a search result: each hit with its passages, the confidence in the first, and how to explain it."""
    console = Console()
    if not answer["items"]:
        click.echo(" ".join(["No results found.", *([answer["notice"]] if answer["notice"] else [])]))
    elif answer["notice"]:
        click.echo(answer["notice"], err=True)
    for item in answer["items"]:
        _hit(console, item)
    for pair in answer["conflicts"]:
        quotes = (f'{one_line(quote["note_id"])} "{one_line(quote["text"])}"' for quote in pair)
        click.echo(f"These disagree: {' / '.join(quotes)}")
    if answer["confidence"] is not None and WEAK not in (answer["notice"] or ""):
        click.secho(_confidence(answer["confidence"]), dim=True)
    click.secho(f"Why: nur explain {answer['search_id']}", dim=True)


def _hit(console: Console, item: dict[str, Any]) -> None:
    head = Text(f"{item['rank']}. ", style="bold")
    head.append(one_line(item["note_id"]), style="bold cyan")
    head.append(f"  {item['kind']}  {item['score']:.4f}  said {when(item['ts'])[:10]}", style="dim")
    if item["title"]:
        head.append(f"  {one_line(item['title'])}")
    console.print(head, soft_wrap=not console.is_terminal)
    for passage in item["passages"]:
        location = f"characters {passage['start_char']}–{passage['end_char']}"
        if passage.get("location"):
            location = f"{one_line(passage['location'])}, {location}"
        if item["source"]["url"]:
            location += f", {one_line(item['source']['url'])}"
        indented(console, Text(harmless(passage["text"])))
        indented(console, Text(location, style="dim"))
    if item["times"]:
        indented(console, Text(_times(item["times"]), style="dim"))
    if item["newer"]:
        indented(console, Text(f"{_OLDER[item['newer']['rule']]}: {one_line(item['newer']['note_id'])}"))


_OLDER = {"decided": "Replaced by", "value": "Older value; newer", "update": "There is a newer one"}


def _times(times: Sequence[dict[str, Any]]) -> str:
    """The dates that passages mention, with the words: 2026-05-07 "yesterday"."""
    days = (one["from"] if one["from"] == one["to"] else f"{one['from']} to {one['to']}" for one in times)
    return ", ".join(f'{day} "{one_line(one["quote"])}"' for day, one in zip(days, times, strict=True))


def indented(console: Console, text: Text) -> None:
    """Print every line indented, so that stored text cannot pass for output of the program."""
    if console.is_terminal:
        console.print(Padding(text, (0, 0, 0, INDENT), expand=False))
        return
    for line in text.split("\n", allow_blank=True):
        click.echo(" " * INDENT + line.plain)


def _confidence(confidence: float) -> str:
    """The confidence in the first hit, in words."""
    for least, words in _CONFIDENCES:
        if confidence >= least:
            return f"The first hit {words}."
    return "The first hit is a weak match: read it before you rely on it."


_CONFIDENCES = ((0.5, "probably answers the question"), (0.2, "may answer the question"))


def _plain(value: Any) -> str:
    return harmless(json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value))
