"""Formats hits as text, in the specification's forms, so that stored text cannot forge a hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nur.domain.documents import location
from nur.domain.kinds import collections_of
from nur.domain.notes import Kind
from nur.domain.search import BOUNDARY
from nur.domain.times import day_of
from nur.entrypoints.mcp.tool import one_line, quoted, utc

if TYPE_CHECKING:
    from nur.domain.embedding import EmbeddingModel
    from nur.domain.search import Hit, Quote, SearchResult
    from nur.domain.times import Zone

NOTHING = "No results found."
#: Most times shown in the text of a hit; the structured content has all.
MAX_TIMES = 3
#: Label of the newer hit in an outdated one's text, by rule.
OLDER = {"decided": "Replaced by", "value": "Older value; newer", "update": "There is a newer one"}


def noticed(text: str, result: SearchResult, between: str) -> str:
    """Append conflicts between hits, and the notice."""
    return between.join([text, *map(_disagree, result.conflicts), *([result.notice] if result.notice else [])])


def older(hit: Hit) -> list[str]:
    """A line that names the newer hit, if this one is outdated."""
    return [] if hit.newer is None else [f"{OLDER[hit.newer.rule]}: {one_line(hit.newer.public_id)}"]


def _disagree(pair: tuple[Quote, Quote]) -> str:
    return "These disagree: " + " / ".join(f'[{one_line(one.public_id)}] "{one_line(one.text)}"' for one in pair)


def artifact_text(result: SearchResult, zone: Zone, *, detailed: bool = False) -> str:
    """The answer of artifact_search, in the form of the specification's section 4.2.2."""
    if not result.hits:
        return noticed(NOTHING, result, " ")
    blocks = [f"Found {len(result.hits)} results:"]
    for place, hit in enumerate(result.hits, 1):
        meta = hit.note.meta
        name = "chunk" if hit.note.is_chunked else "artifact"
        lines = [
            f"[{place}] {name}: {hit.chunk_id} (score: {hit.score:.2f})",
            *_line("Title", meta.title),
            f"Type: {meta.type} | Source: {one_line(meta.source_system or '')}",
            *_shown(hit),
            *_line("Evidence", _evidence(hit)),
            f"When: {when(hit, zone)}",
            *older(hit),
            *near_identical(hit),
            *(details(hit, result.model) if detailed else ()),
        ]
        blocks.append("\n".join(lines))
    blocks += search_line(result) if detailed else ()
    return noticed("\n\n".join(blocks), result, "\n\n")


def hybrid_text(result: SearchResult, kinds: frozenset[Kind], zone: Zone, *, detailed: bool = False) -> str:
    """The answer of hybrid_search, in the form of the specification's section 4.2.5."""
    if not result.hits:
        return noticed(NOTHING, result, " ")
    searched = ", ".join(collections_of(kinds))
    blocks = [f"Found {len(result.hits)} results (searched: {searched}):"]
    for place, hit in enumerate(result.hits, 1):
        head = [
            f"[{place}] RRF score: {hit.rrf_score:.4f} (from: {', '.join(hit.collections)})",
            f"Relevance: {hit.score:.4f}",
        ]
        body = _artifact_lines(hit) if hit.note.kind is Kind.ARTIFACT else _note_lines(hit)
        more = details(hit, result.model) if detailed else ()
        blocks.append("\n".join([*head, *body, f"When: {when(hit, zone)}", *older(hit), *near_identical(hit), *more]))
    blocks += search_line(result) if detailed else ()
    return noticed("\n\n".join(blocks), result, "\n\n")


def when(hit: Hit, zone: Zone) -> str:
    """Times that the passages name in words, and the day on which the note was said, by the calendar of `zone`.

    For example `2026-05-07 "yesterday", said 2026-05-08`.
    """
    named = ((one.window, passage.quote(one)) for passage in hit.passages for one in passage.times)
    shown = [f'{window} "{one_line(quote)}"' for window, quote in named if str(window.first.year) not in quote]
    return ", ".join([*dict.fromkeys(shown[:MAX_TIMES]), f"said {day_of(hit.note.said_at, zone)}"])


def near_identical(hit: Hit) -> list[str]:
    """A line with the number of near-identical notes, if there are any."""
    return [f"+{len(hit.duplicates)} near-identical"] if hit.duplicates else []


def details(hit: Hit, model: EmbeddingModel) -> list[str]:
    """Lines with offsets of the passages, ranks and provenance."""
    note = hit.note
    ranks = [f"{ranker} {rank}" for ranker, rank in sorted(hit.ranks.items())]
    reranked = [] if hit.rerank_score is None else [f"reranker score {hit.rerank_score:.4f}"]
    times = f"ts {utc(note.said_at)} | ingested {utc(note.ingested_at)}"
    return [
        f"Offsets: {', '.join(f'{passage.start_char}-{passage.end_char}' for passage in hit.passages)}",
        f"Ranks: {', '.join([*ranks, *reranked]) or 'none'}",
        f"Provenance: {times} | version {note.version} | {model.name}, {model.dimensions} dimensions",
    ]


def search_line(result: SearchResult) -> list[str]:
    """A line with the search's id, which `explain` takes."""
    return [f"Search: {result.search_id}"]


def _artifact_lines(hit: Hit) -> list[str]:
    meta = hit.note.meta
    return [
        f"Type: {'chunk' if hit.note.is_chunked else 'artifact'} | ID: {hit.chunk_id}",
        *_line("Title", meta.title),
        f"Source: {one_line(meta.source_system or '')} | Sensitivity: {meta.sensitivity}",
        *_shown(hit),
        *_line("Evidence", meta.source_url or meta.source_id),
    ]


def _evidence(hit: Hit) -> str | None:
    """The source, and the locations of the passages in it, each once."""
    meta = hit.note.meta
    source = meta.source_url or meta.source_id
    found = (location(meta.metadata, passage.start_char, passage.end_char) for passage in hit.passages)
    return ", ".join(dict.fromkeys(filter(None, (source, *found)))) or None


def _note_lines(hit: Hit) -> list[str]:
    meta = hit.note.meta
    speaker = f"{meta.role}: " if meta.role else ""
    return [
        f"Type: {hit.type} | ID: {one_line(hit.chunk_id)}",
        *(f"Content: {speaker}{quoted(passage.text)}" for passage in hit.passages),
        *_line("Confidence", None if meta.confidence is None else str(meta.confidence)),
    ]


def _shown(hit: Hit) -> list[str]:
    """The passages, or the chunk with its neighbours if requested."""
    if hit.expanded is not None:
        parts = (f"...{quoted(part)}..." for part in hit.expanded.parts)
        return ["Content with neighbors:", f"\n{BOUNDARY}\n".join(parts)]
    first, *more = (f'"...{quoted(passage.text)}..."' for passage in hit.passages)
    return [f"Snippet: {first}", *(f"Also: {snippet}" for snippet in more)]


def _line(name: str, value: str | None) -> list[str]:
    return [f"{name}: {one_line(value)}"] if value else []
