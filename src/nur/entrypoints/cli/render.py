"""Notes and hits on a terminal. Stored text is quoted: none of it is markup, and it steers no terminal."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

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
LIST_CHARS = 250  #: of a note in a list: its title and the beginning that the server sends


NOTHING_STORED = "Nothing is stored yet."


def as_json(value: Any) -> None:
    """Print JSON."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def one_line(text: str | None, most: int = 100) -> str:
    """On one line, cut where it is longer."""
    line = harmless(" ".join((text or "").split()))
    return line if len(line) <= most else line[: most - 1] + "…"


def harmless(text: str) -> str:
    """Without control characters, which could move the cursor or set the title."""
    return str(_CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text))


_CONTROLS = re.compile(r"[^\P{Cc}\n\t]")


def when(moment: str) -> str:
    """A time as the server writes it, in the local zone, to the minute."""
    return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M %Z}"


def table(shown: Table) -> None:
    """Print a table: fitted to a terminal; in a pipe one line per row, with tabs between the cells and nothing cut."""
    console = Console()
    if console.is_terminal:
        console.print(shown)
        return
    columns = [[column.header, *column.cells] if shown.show_header else list(column.cells) for column in shown.columns]
    for row in zip(*columns, strict=True):
        click.echo("\t".join(" ".join(str(cell).split()) for cell in row))


def notes(found: Sequence[dict[str, Any]]) -> None:
    """A table of notes."""
    if not found:
        click.echo("No notes.")
        return
    shown = Table(box=None, pad_edge=False)
    for name in ("id", "kind", "type", "stored", "text"):
        shown.add_column(name, no_wrap=name != "text", overflow="fold" if name == "id" else "ellipsis")
    for note in found:
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


def note(found: dict[str, Any]) -> None:
    """One note: what is known about it, then its text."""
    shown = Table(box=None, pad_edge=False, show_header=False)
    for name, value in found.items():
        if name not in _NOT_IN_TABLE and value not in (None, "", [], {}):
            shown_value = when(value) if name.endswith("_at") else _plain(value)
            shown.add_row(Text(name, style="bold"), Text(shown_value))
    table(shown)
    click.echo("\n" + harmless(found["text"]))
    for chunk in found.get("chunks") or ():
        place = f"characters {chunk['start_char']}–{chunk['end_char']}, {chunk['token_count']} tokens"
        click.secho(f"\n{chunk['chunk_id']}  {place}", dim=True)


_NOT_IN_TABLE = ("text", "preview", "chunks", "near_duplicates", "content_hash")


def hits(answer: dict[str, Any]) -> None:
    """What a search found: place, score, id, whole passages, how well the first one fits, and how to ask why."""
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
        click.secho(_fit(answer["confidence"]), dim=True)
    click.secho(f"Why: nur explain {answer['search_id']}", dim=True)


def _hit(console: Console, item: dict[str, Any]) -> None:
    head = Text(f"{item['rank']}. ", style="bold")
    head.append(one_line(item["note_id"]), style="bold cyan")
    head.append(f"  {item['kind']}  {item['score']:.4f}  said {when(item['ts'])[:10]}", style="dim")
    if item["title"]:
        head.append(f"  {one_line(item['title'])}")
    console.print(head, soft_wrap=not console.is_terminal)
    for passage in item["passages"]:
        place = f"characters {passage['start_char']}–{passage['end_char']}"
        if passage.get("location"):
            place = f"{one_line(passage['location'])}, {place}"
        if item["source"]["url"]:
            place += f", {one_line(item['source']['url'])}"
        indented(console, Text(harmless(passage["text"])))
        indented(console, Text(place, style="dim"))
    if item["times"]:
        indented(console, Text(_times(item["times"]), style="dim"))
    if item["newer"]:
        indented(console, Text(f"{_OLDER[item['newer']['rule']]}: {one_line(item['newer']['note_id'])}"))


_OLDER = {"decided": "Replaced by", "value": "Older value; newer", "update": "There is a newer one"}


def _times(found: Sequence[dict[str, Any]]) -> str:
    """The times that passages name: 2026-05-07 "yesterday"."""
    days = (one["from"] if one["from"] == one["to"] else f"{one['from']} to {one['to']}" for one in found)
    return ", ".join(f'{day} "{one_line(one["quote"])}"' for day, one in zip(days, found, strict=True))


def indented(console: Console, text: Text) -> None:
    """Print with three blanks before every line, so that stored text never looks like a line of ours."""
    if console.is_terminal:
        console.print(Padding(text, (0, 0, 0, INDENT), expand=False))
        return
    for line in text.split("\n", allow_blank=True):
        click.echo(" " * INDENT + line.plain)


def _fit(confidence: float) -> str:
    """How likely it is that the first hit answers, in words."""
    for least, words in _FITS:
        if confidence >= least:
            return f"The first hit {words}."
    return "The first hit is a weak match: read it before you rely on it."


_FITS = ((0.5, "probably answers the question"), (0.2, "may answer the question"))


def _plain(value: Any) -> str:
    return harmless(json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value))
