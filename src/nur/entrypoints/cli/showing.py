"""Notes and hits on a terminal. Stored text is quoted: none of it is markup, and it steers no terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click
import regex as re
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def notes(found: Sequence[dict[str, Any]]) -> None:
    """A table of notes."""
    if not found:
        click.echo("No notes.")
        return
    table = Table(box=None, pad_edge=False)
    for name in ("id", "kind", "type", "stored", "text"):
        table.add_column(name, no_wrap=name != "text", overflow="fold" if name == "id" else "ellipsis")
    for note in found:
        shown = note["title"] or note.get("preview") or note.get("text")
        row = (one_line(note["note_id"]), note["kind"], note["type"] or "", note["ingested_at"][:16], one_line(shown))
        table.add_row(*map(Text, row))
    Console().print(table)


def note(found: dict[str, Any]) -> None:
    """One note: what is known about it, then its text."""
    console = Console()
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in found.items():
        if name not in ("text", "preview", "chunks", "near_duplicates", "content_hash") and value not in (
            None,
            "",
            [],
            {},
        ):
            table.add_row(Text(name, style="bold"), Text(_plain(value)))
    console.print(table)
    click.echo("\n" + harmless(found["text"]))
    for chunk in found.get("chunks") or ():
        place = f"characters {chunk['start_char']}–{chunk['end_char']}, {chunk['token_count']} tokens"
        console.print(Text(f"\n{chunk['chunk_id']}  {place}", style="dim"))


def hits(answer: dict[str, Any]) -> None:
    """What a search found: place, score, id, passages, and how sure it is."""
    console = Console()
    if answer["degraded"]:
        click.echo(f"degraded: {', '.join(answer['degraded'])}", err=True)
    if not answer["items"]:
        click.echo(f"No results found. ({answer['reason']})")
        return
    for item in answer["items"]:
        head = Text(f"{item['rank']}. ", style="bold")
        head.append(one_line(item["note_id"]), style="bold cyan")
        head.append(f"  {item['kind']}  {item['score']:.4f}", style="dim")
        if item["title"]:
            head.append(f"  {one_line(item['title'])}")
        console.print(head)
        for passage in item["passages"]:
            console.print(Text(f"   {one_line(passage['text'], 500)}"))
            place = f"   characters {passage['start_char']}–{passage['end_char']}"
            if item["source"]["url"]:
                place += f", {one_line(item['source']['url'])}"
            console.print(Text(place, style="dim"))
    if answer["confidence"] is not None:
        console.print(Text(f"Confidence that the first answers: {answer['confidence']:.2f} of 1", style="dim"))


def _plain(value: Any) -> str:
    return harmless(json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value))
