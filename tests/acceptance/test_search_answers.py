"""artifact_search and hybrid_search as a client sees them: budgets, formats, duplicates, silence, explanations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from nur.retrieval.calibration import LOCAL, ModelCalibration, file_name
from tests.callers import LOCAL_CALLER
from tests.doubles.embedder import InMemoryEmbedder
from tests.servers import faults

if TYPE_CHECKING:
    from pathlib import Path

    from tests.acceptance.conftest import Door, OpenDoor, OpenWithoutJobs
    from tests.servers.rerank_stub import RerankStub

LONG = " ".join(
    f"Keeper {number} of the lighthouse on the {where} rock trims the lamp and writes the log."
    for number in range(40)
    for where in ("north", "south", "east", "west")
)
BY_WORDS = (
    "Searched by words only: the embedding provider or the vector index does not answer, "
    "so notes that use other words are missing."
)
MEMO = "The harbour crane will be tested in spring by its new crew before it is handed over to the town"


async def ingest(nur: Door, text: str, name: str, **more: Any) -> str:
    stored = await nur.data(
        "artifact_ingest", artifact_type="doc", source_system="drive", content=text, source_id=name, **more
    )
    return str(stored["artifact_id"])


@pytest.mark.parametrize("tool", ["artifact_search", "hybrid_search"])
async def test_passages_keep_to_the_budget(nur: Door, tool: str) -> None:
    await ingest(nur, LONG, "lamps")
    for most in (200, 1000, 5000):
        hits = (
            await nur.data(
                tool, query="who trims the lamp on the south rock?", max_chars=most, response_format="detailed"
            )
        )["hits"]
        shown = sum(len(passage["text"]) for hit in hits for passage in hit["passages"])
        assert most / 2 < shown <= most
        for passage in hits[0]["passages"]:
            assert LONG[passage["start_char"] : passage["end_char"]] == passage["text"]


@pytest.mark.parametrize("tool", ["artifact_search", "hybrid_search"])
async def test_detailed_adds_ranks_offsets_and_provenance_to_the_concise_text(nur: Door, tool: str) -> None:
    await ingest(nur, MEMO, "memo", title="Crane", ts="2026-01-02T03:04:05Z")
    concise = await nur.text(tool, query="crane test")
    assert concise == await nur.text(tool, query="crane test", response_format="concise")
    detailed = await nur.text(tool, query="crane test", response_format="detailed")
    assert detailed.startswith(concise)
    added = detailed.removeprefix(concise)
    assert (
        f"Offsets: 0-{len(MEMO)}\nRanks: dense 1, lexical 1\nProvenance: ts 2026-01-02T03:04:05Z | ingested " in added
    )
    assert re.search(r"\n\nSearch: [0-9a-f-]{36}$", added)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_chars": 199}, "max_chars must be between 200 and 20000"),
        ({"max_chars": 20_001}, "max_chars must be between 200 and 20000"),
        ({"response_format": "long"}, "Invalid response_format: long. Must be one of: concise, detailed"),
    ],
)
async def test_what_is_out_of_range_is_refused(nur: Door, arguments: dict[str, Any], message: str) -> None:
    assert await nur.refusal("hybrid_search", query="crane", **arguments) == message


async def test_near_identical_notes_are_one_hit_with_a_count(nur: Door) -> None:
    ids = {await ingest(nur, MEMO + end, f"memo{place}") for place, end in enumerate((".", "!", " "))}
    other = await ingest(nur, "The crane is a bird that the town likes", "bird")
    found = await nur.data("artifact_search", query="harbour crane test", limit=2)
    first, second = found["hits"]
    assert {first["id"], *first["near_identical"]["ids"]} == ids
    assert first["near_identical"]["count"] == 2
    assert (second["id"], "near_identical" in second) == (other, False)
    text = await nur.text("artifact_search", query="harbour crane test", limit=2)
    assert text.count("+2 near-identical") == 1
    assert "+2 near-identical" in await nur.text("hybrid_search", query="harbour crane test")


async def test_memories_that_differ_in_a_word_are_all_shown(nur: Door) -> None:
    for day in ("Monday", "Thursday"):
        text = (
            f"The weekly planning meeting of the platform team with the people from design, sales and support, where "
            f"we choose what is to be built next and by whom, takes place in the large room every {day}."
        )
        await nur.text("memory_store", content=text, type="fact", confidence=0.9)
    told = await nur.text("memory_search", query="when is the weekly planning meeting of the platform team")
    assert "Monday" in told
    assert "Thursday" in told
    assert "near-identical" not in told


@pytest.mark.parametrize("tool", ["artifact_search", "hybrid_search"])
async def test_documents_that_differ_in_a_name_are_all_shown(nur: Door, tool: str) -> None:
    companies = ("Alpha", "Beta", "Gamma", "Delta", "Epsilon")
    for company in companies:
        text = (
            f"Framework contract between Solid Base Consult and {company} Ltd about advice on tax and law, signed "
            "in Riga by both boards, valid for two years unless one side ends it in writing three months before"
        )
        await ingest(nur, text, company, title=f"Contract {company}")
    told = await nur.text(tool, query="with which companies does Solid Base Consult have contracts", limit=10)
    assert [company for company in companies if f"{company} Ltd" not in told] == []


async def test_long_documents_that_share_the_best_page_are_all_shown(nur: Door) -> None:
    ids = {await ingest(nur, f"{LONG} {end}", end) for end in ("Signed by Anna.", "Signed by Ben.")}
    hits = (await nur.data("artifact_search", query="keeper 3 of the lighthouse on the north rock"))["hits"]
    assert {hit["id"] for hit in hits} == ids


async def test_the_newest_of_notes_that_say_the_same_is_shown(nur: Door) -> None:
    old = await ingest(nur, MEMO, "old", ts="2026-04-01T00:00:00Z")
    new = await ingest(nur, MEMO, "new", ts="2026-05-01T00:00:00Z")
    (hit,) = (await nur.data("artifact_search", query="harbour crane test"))["hits"]
    assert (hit["id"], hit["near_identical"]["ids"]) == (new, [old])


async def test_near_identical_memories_share_a_line(nur: Door) -> None:
    for end in (".", "!"):
        await nur.text("memory_store", content=MEMO + end, type="fact", confidence=1.0)
    lines = (await nur.text("memory_search", query="harbour crane test")).splitlines()
    assert len(lines) == 1
    assert lines[0].endswith("+1 near-identical")


async def test_three_kinds_of_silence(open_door: OpenDoor, tmp_path: Path) -> None:
    profile = ModelCalibration(
        embedding_version="local:wordllama-l2-supercat-2:256", floor=0.6, measured_at="2026-11-15"
    )
    (tmp_path / "data" / "profiles").mkdir()
    (tmp_path / "data" / "profiles" / file_name(profile.embedding_version)).write_text(profile.to_json())
    async with open_door() as nur:
        await nur.text("memory_store", content="Tea is drunk at four", type="fact", confidence=0.5)
        sure = await nur.data("memory_search", query="tea", min_confidence=0.9)
        assert (sure["hits"], sure["reason"]) == ([], "nothing_stored")
        told = await nur.text("memory_search", query="tea", min_confidence=0.9)
        assert told == "No memories found. No stored memories match the filters."
        assert await nur.text("hybrid_search", query="tea") == "No results found. No documents are stored yet."
        told = await nur.text("memory_list", type="project")
        assert told == "No memories found. No stored memories match the filters."
        other = await nur.data("memory_search", query="xylophone lessons in Ulm")
        assert (other["hits"], other["reason"], other["degraded"]) == ([], "below_floor", [])
        told = await nur.text("memory_search", query="xylophone lessons in Ulm")
        assert told.startswith("No memories found. Nothing stored is close enough to the question (best match: mem_")
        assert (await nur.data("memory_search", query="Tea is drunk at four"))["hits"]


async def test_an_answer_by_words_alone_says_so_in_every_tools_text(open_without_jobs: OpenWithoutJobs) -> None:
    embedder = InMemoryEmbedder()
    async with open_without_jobs(embedder=embedder) as nur:
        await nur.text("memory_store", content="Tea is drunk at four", type="fact", confidence=0.5)
        await ingest(nur, MEMO, "memo")
        assert BY_WORDS not in await nur.text("memory_search", query="tea at four")
        embedder.down = True
        for tool, empty in (
            ("memory_search", "memories"),
            ("artifact_search", "results"),
            ("hybrid_search", "results"),
        ):
            lines = (await nur.text(tool, query="tea crane")).splitlines()
            assert (lines[0][0] in "[F", lines[-1]) == (True, BY_WORDS)
            assert await nur.text(tool, query="xylophone") == f"No {empty} found. {BY_WORDS}"
            structured = await nur.data(tool, query="xylophone")
            assert (structured["reason"], structured["notice"]) == ("degraded", BY_WORDS)


async def test_a_broken_profile_stops_the_start_and_names_the_file(open_door: OpenDoor, tmp_path: Path) -> None:
    path = tmp_path / "data" / "profiles" / file_name(LOCAL.embedding_version)
    path.parent.mkdir()
    path.write_text('{"embedding_version": "local:wordllama-l2-supercat-2:256", "floor": "high"}')
    with pytest.raises(Exception, match=r"profiles.*floor must be"):
        async with open_door(embeddings="local"):
            pass


async def test_ranks_decide_where_the_setting_says_so(open_door: OpenDoor) -> None:
    async with open_door(fusion="rrf") as nur:
        for text in ("Tea is drunk at four", "Four ships with tea", "The bridge is closed", "Milk for tea, at five"):
            await nur.text("memory_store", content=text, type="fact", confidence=1.0)
        hits = (await nur.data("memory_search", query="when is tea drunk?", response_format="detailed"))["hits"]
        scores = [hit["rrf_score"] for hit in hits]
        assert scores == sorted(scores, reverse=True)


async def test_a_rerank_endpoint_orders_hits_and_its_outage_is_said(
    open_door: OpenDoor, rerank_stub: RerankStub
) -> None:
    async with open_door(rerank="http", rerank_url=rerank_stub.url, rerank_model="m", rerank_deadline=5) as nur:
        for text in ("Tea is drunk at four", "tea tea tea tea tea"):
            await nur.text("memory_store", content=text, type="fact", confidence=1.0)
        found = await nur.data("memory_search", query="tea at four")
        assert [hit["rerank_score"] for hit in found["hits"]] == [5.0, 3.0]
        assert (found["hits"][0]["snippet"], found["degraded"]) == ("tea tea tea tea tea", [])
        rerank_stub.fail_forever(faults.status(500))
        found = await nur.data("memory_search", query="tea at four")
        assert (found["hits"][0]["snippet"], found["degraded"]) == ("Tea is drunk at four", ["rerank"])
        assert "rerank_score" not in found["hits"][0]
        told = await nur.text("memory_search", query="tea at four")
        assert told.splitlines()[-1].startswith("Not reranked: the reranker does not answer")


async def test_a_rerank_endpoint_that_hangs_costs_no_more_than_the_deadline(
    open_door: OpenDoor, rerank_stub: RerankStub
) -> None:
    rerank_stub.fail_forever(faults.HANG)
    async with open_door(rerank="http", rerank_url=rerank_stub.url, rerank_deadline=0.1) as nur:
        await nur.text("memory_store", content="Tea is drunk at four", type="fact", confidence=1.0)
        assert (await nur.data("memory_search", query="tea"))["degraded"] == ["rerank"]


async def test_a_search_can_be_explained_after_a_restart(open_door: OpenDoor) -> None:
    async with open_door() as nur:
        await nur.text("memory_store", content="Tea is drunk at four", type="fact", confidence=1.0)
        found = await nur.data("memory_search", query="when is tea drunk", response_format="detailed")
    async with open_door() as nur:
        explained = await nur.services.explain(UUID(found["search_id"]), LOCAL_CALLER, found["hits"][0]["id"])
        assert explained.note is not None
        assert explained.note.outcome == "returned"
        assert str(explained.trace.trace_id) == found["trace_id"]
        item = await nur.services.search_log.find_item(UUID(found["hits"][0]["item_id"]), LOCAL_CALLER)
        assert item is not None
        assert item.rank == 1


TABLE = "item,size,price,shop\noak board,2 m,18,Harbour\npine board,3 m,9,Harbour\nash board,2 m,21,Market\n"


@pytest.mark.parametrize("tool", ["artifact_search", "hybrid_search"])
async def test_lines_that_mean_something_stay_lines_in_the_text(nur: Door, tool: str) -> None:
    await ingest(nur, TABLE, "prices")
    shown = await nur.text(tool, query="what does the ash board cost?")
    assert "\n    pine board,3 m,9,Harbour\n    ash board,2 m,21,Market" in shown
