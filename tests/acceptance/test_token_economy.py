"""What answers cost in tokens: the structure beside the text, and the table in the documents."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nur.entrypoints.mcp.server import OFFERS
from nur.retrieval.text.tokens import count
from tests.artifact_texts import chapters

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from tests.acceptance.conftest import Door

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOOLS_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "tools.md"
#: A receipt of a few words has an id and two fields in its structure; below this there is nothing to save.
RECEIPT_TOKENS = 100
#: Dates differ from run to run.
TOLERANCE = 0.15
#: A random id is 16 to 27 tokens: each one is counted as if it were this one.
RANDOM_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=mem_)[0-9a-f]{12}")
SAMPLE_ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"

MEMORIES = [
    "Mira moved from Berlin to Lisbon on 1 November 2026 and lives near the Graça viewpoint",
    "The release train leaves every second Tuesday; hotfixes go out whenever two people have approved them",
    "Prefers pnpm over npm, because the shared cache keeps the laptop's disk from filling up",
    "The dentist is Dr Okafor on Harbour Street; check-ups are in March and September",
    "We decided to keep PostgreSQL and not to move the ledger to a graph database",
    "The landlord wants the meter readings by e-mail on the first working day of each quarter",
    "Allergic to hazelnuts; walnuts and almonds are fine",
    "The staging cluster runs Kubernetes 1.31 and is rebuilt from scratch on Sunday nights",
]
ROLLOUT = (
    "Ten percent of the accounts first, and everyone else after a week without a complaint about a bill. You wanted "
    "Petra to look at the numbers on the Friday before, and the switch back to the old pages should stay in place "
    "until the end of the quarter. Nothing was said about the pages for resellers; they are still the old ones."
)
ROUTES = (
    "Then the old routes should redirect, and the tests of the export should follow the redirect once. I would keep a "
    "list of the addresses that are still asked for, and look at it in a month: most of them come from bookmarks."
)
REPORT = (
    "There are forty of them. The report can be made from the ledger with one query on the currency, and sent as a "
    "table with name, address and the last three amounts. Should I note that they get it before Thursday?"
)
TURNS = [
    ("user", "Can you remind me what we agreed about the rollout of the new billing pages last time?"),
    ("assistant", ROLLOUT),
    ("user", "Good. Petra wants the old invoices to stay reachable under their old addresses, too."),
    ("assistant", ROUTES),
    ("user", "Fine. I also promised the accountants a list of all customers that pay in Swiss francs."),
    ("assistant", REPORT),
]
NOTES = (
    "Minutes of the harbour board, 3 November. The crane on the north quay will be tested in spring by its new crew, "
    "before it is handed over to the town. The board accepted the offer of Nordlys for the lamps. The contract of "
    "the Berlin office ends on 30 June 2027; Petra will ask for two more years at the same rent."
)
BIG_BYTES = 1_400_000


async def _call(nur: Door, tool: str, **arguments: Any) -> CallToolResult:
    result = await nur.call(tool, **arguments)
    assert not result.is_error, result.content
    return result


async def _typical_calls(nur: Door) -> dict[str, CallToolResult]:
    """Every tool once or twice, on a small store; the keys are the first column of the table."""
    calls: dict[str, CallToolResult] = {}
    for text in MEMORIES:
        stored = await _call(nur, "memory_store", content=text, type="fact", confidence=0.9)
        calls["`memory_store`"] = stored
    for place, (role, text) in enumerate(TURNS):
        turn = {"conversation_id": "billing", "role": role, "content": text, "turn_index": place}
        calls["`history_append`"] = await _call(nur, "history_append", **turn)
    source = {"artifact_type": "doc", "source_system": "drive"}
    short = {**source, "source_id": "minutes", "title": "Harbour board", "content": NOTES}
    calls["`artifact_ingest`, a page"] = await _call(nur, "artifact_ingest", **short)
    book = chapters(400)
    calls["`artifact_ingest`, 9 chunks"] = cut = await _call(nur, "artifact_ingest", **source, content=book)
    library = chapters(BIG_BYTES // 64, "archivist")
    calls["`artifact_ingest`, 1.4 MB"] = big = await _call(nur, "artifact_ingest", **source, content=library)
    calls["`memory_search`, 5 hits"] = await _call(
        nur, "memory_search", query="which meals and meetings does the landlord or the dentist plan on Tuesday"
    )
    calls["`memory_search`, nothing stored"] = await _call(
        nur, "memory_search", query="when is the dentist", min_confidence=0.95
    )
    everything = {"include_memory": True, "include_history": True}
    calls["`hybrid_search`, everything"] = await _call(
        nur, "hybrid_search", query="what did the board decide about the Berlin office and the billing?", **everything
    )
    calls["`artifact_search`"] = await _call(nur, "artifact_search", query="when is the harbour crane tested?")
    calls["`artifact_search`, `expand_neighbors`"] = await _call(
        nur, "artifact_search", query="lighthouse keeper number 217", expand_neighbors=True
    )
    calls["`memory_list`, 8 memories"] = await _call(nur, "memory_list")
    calls["`history_get`, 6 turns"] = await _call(nur, "history_get", conversation_id="billing")
    name = {"artifact_id": cut.structured_content["artifact_id"]}
    calls["`artifact_get`"] = await _call(nur, "artifact_get", **name)
    calls["`artifact_get`, `include_chunks`"] = await _call(nur, "artifact_get", **name, include_chunks=True)
    calls["`artifact_reembed`"] = await _call(nur, "artifact_reembed", **name)
    calls["`artifact_delete`"] = await _call(
        nur,
        "artifact_delete",
        artifact_id=big.structured_content["artifact_id"],
    )
    calls["`memory_delete`"] = await _call(
        nur,
        "memory_delete",
        memory_id=stored.structured_content["memory_id"],
    )
    calls["`search_everything`"] = await _call(nur, "search_everything", query="what did the board decide?")
    calls["`memory_context`"] = await _call(nur, "memory_context")
    calls["`memory_timeline`"] = await _call(nur, "memory_timeline", query="where does Mira live?")
    calls["`memory_review`"] = await _call(nur, "memory_review")
    calls["`embedding_health`"] = await _call(nur, "embedding_health")
    return calls


def _costs(result: CallToolResult) -> tuple[int, int]:
    text = "\n".join(part.text for part in result.content)  # type: ignore[union-attr]
    structure = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
    return _tokens(text), _tokens(structure)


def _tokens(text: str) -> int:
    return count(RANDOM_ID.sub(lambda match: SAMPLE_ID[: len(match[0])], text))


def _table() -> dict[str, tuple[int, int]]:
    rows = re.findall(
        r"^\| (`[^|]+?) \| ([\d,]+) \| ([\d,]+) \|$", TOOLS_PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    return {call: (int(text.replace(",", "")), int(data.replace(",", ""))) for call, text, data in rows}


async def test_answers_stay_small_and_the_table_of_the_documents_is_true(shared: Door) -> None:
    costs = {call: _costs(result) for call, result in (await _typical_calls(shared)).items()}
    print(*(f"| {call} | {text} | {data} |" for call, (text, data) in costs.items()), sep="\n")
    assert {call: cost for call, cost in costs.items() if cost[1] > max(2 * cost[0], RECEIPT_TOKENS)} == {}
    assert sum(costs["`artifact_ingest`, 1.4 MB"]) < 150
    table = _table()
    assert list(table) == list(costs)
    far = {
        call: (cost, table[call])
        for call, cost in costs.items()
        if any(abs(one - said) > max(8, TOLERANCE * said) for one, said in zip(cost, table[call], strict=True))
    }
    assert far == {}


async def test_every_tool_is_in_the_table(shared: Door) -> None:
    del shared
    named = {match for call in _table() for match in re.findall(r"^`(\w+)`", call)}
    assert {offer.function.__name__ for offer in OFFERS} <= named


async def test_neighbours_keep_to_the_budget(shared: Door) -> None:
    text = chapters(900, "signalman")
    await _call(shared, "artifact_ingest", artifact_type="doc", source_system="drive", content=text)
    for tool, most, limit in product(("artifact_search", "hybrid_search"), (200, 333, 2000, 8000), (1, 3, 5, 10)):
        asked = {"query": "signalman number 417", "expand_neighbors": True, "max_chars": most, "limit": limit}
        found = await shared.data(tool, **asked)
        shown = sum(len(part) for hit in found["hits"] for part in hit.get("neighbors", ()))
        assert most / 4 < shown <= most
        assert all(hit["snippet"] for hit in found["hits"])
        told = await shared.text(tool, **asked)
        assert len(told) < most + 300 * (len(found["hits"]) + 1)  # the lines around the passages


async def test_detailed_answers_have_every_field_of_a_hit(shared: Door) -> None:
    await _call(shared, "memory_store", content="The kettle was descaled in May", type="fact", confidence=0.8)
    for tool, more in (("memory_search", {}), ("hybrid_search", {"include_memory": True})):
        asked = {"query": "when was the kettle descaled?", "limit": 1, **more}
        found = await shared.data(tool, **asked, response_format="detailed")
        (hit,) = found["hits"]
        assert {"ranks", "rrf_score", "item_id", "chunk_id", "title", "sensitivity", "near_identical"} <= set(hit)
        assert {"embedding_model", "embedding_dimensions", "ts", "ingested_at", "version"} <= set(hit["provenance"])
        assert "trace_id" in found
        (short,) = (await shared.data(tool, **asked))["hits"]
        assert set(short) < set(hit)
        assert all(hit[name] == short[name] for name in ("type", "id", "score", "snippet", "start_char", "end_char"))


async def test_detailed_ingest_lists_ids(shared: Door) -> None:
    source = {
        "artifact_type": "doc",
        "source_system": "drive",
        "source_id": "ids",
        "content": chapters(1200, "ferryman"),
    }
    short = await shared.data("artifact_ingest", **source)
    assert (short["stored_ids"], short["stored_ids_total"] > 10) == ([short["artifact_id"]], True)
    long = await shared.data("artifact_ingest", **source, response_format="detailed")
    assert len(long["stored_ids"]) == min(50, long["stored_ids_total"])
