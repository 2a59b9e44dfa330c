"""artifact_ingest, artifact_get, artifact_delete, artifact_reembed, as a client sees them."""

from __future__ import annotations

import json
import re
import sqlite3
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nur.domain.kinds import collection_of
from nur.retrieval.text.tokens import count
from tests.artifact_texts import ODD, chapters, tokens
from tests.doubles.clock import ManualClock
from tests.doubles.embedder import InMemoryEmbedder
from tests.profiles import INDEX_STATE, embedded_only
from tests.servers import faults

if TYPE_CHECKING:
    from pathlib import Path

    from nur.domain.notes import Note
    from tests.acceptance.conftest import Door, OpenDoor, OpenWithoutJobs
    from tests.servers.openai_stub import OpenAIStub

pytestmark = pytest.mark.asyncio(loop_scope="module")

DOC = {"artifact_type": "doc", "source_system": "drive"}
CHUNK_ID = re.compile(r"art_[0-9a-f]{8,}::chunk::\d{3,}::[0-9a-f]{8}")
YEAR = 366 * 24 * 3600


def hexed(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def openai(stub: OpenAIStub) -> dict[str, Any]:
    """Settings that point at the stub."""
    return {"openai_api_key": "sk-test", "openai_base_url": stub.url, "openai_embed_dims": 64}


async def note_of(nur: Door, artifact_id: str) -> Note:
    note = await nur.services.stores.notes.get("default", artifact_id)
    assert note is not None
    return note


async def vectors_of(nur: Door, artifact_id: str) -> list[np.ndarray[Any, Any]]:
    """The vectors of an artifact's chunks, in order; fails when one is missing."""
    chunks = await nur.services.stores.chunks.of_note((await note_of(nur, artifact_id)).note_id)
    keys = [chunk.chunk_key for chunk in chunks]
    found = await nur.services.stores.vectors.of_chunks(keys, nur.services.embedder.model.version)
    return [found[key] for key in keys]


# --- small and large ---


async def test_ingest_small_artifact(shared: Door) -> None:
    made = await shared.data("artifact_ingest", **DOC, source_id="small", content=tokens(800))
    assert (made["is_chunked"], made["num_chunks"]) == (False, 0)
    assert made["stored_ids"] == [made["artifact_id"]]
    assert (made["outcome"], made["version"], made["index_state"]) == ("created", 1, INDEX_STATE)
    assert collection_of(await note_of(shared, made["artifact_id"])) == "artifacts"
    assert len(await vectors_of(shared, made["artifact_id"])) == 1
    got = await shared.data("artifact_get", artifact_id=made["artifact_id"])
    assert (got["metadata"]["token_count"], got["metadata"]["is_chunked"]) == (800, False)


async def test_a_receipt_of_a_long_text_lists_fifty_ids_if_asked(shared: Door) -> None:
    huge = {**DOC, "source_id": "huge", "content": tokens(60_000)}
    result = await shared.call("artifact_ingest", **huge)
    short = result.structured_content
    assert short is not None
    assert (short["stored_ids"], short["stored_ids_total"]) == ([short["artifact_id"]], 1 + short["num_chunks"])
    assert len(str(result.content[0].text)) < 400  # type: ignore[union-attr]
    made = await shared.data("artifact_ingest", **huge, response_format="detailed")
    assert made["num_chunks"] > 50
    assert (len(made["stored_ids"]), made["stored_ids_total"]) == (50, 1 + made["num_chunks"])
    every = await shared.data("artifact_get", artifact_id=made["artifact_id"], include_chunks=True)
    assert len(every["chunks"]) == made["num_chunks"]


async def test_a_model_is_reported_only_of_vectors_that_are_there(open_without_jobs: OpenWithoutJobs) -> None:
    embedder = InMemoryEmbedder()
    async with open_without_jobs(embedder=embedder, on_embedding_failure="defer") as nur:
        fields = ("embedding_provider", "embedding_model", "embedding_dimensions")

        async def model_of(name: str) -> list[object]:
            metadata = (await nur.data("artifact_get", artifact_id=name))["metadata"]
            return [metadata[field] for field in fields]

        model = [embedder.model.provider, embedder.model.name, embedder.model.dimensions]
        made = await nur.data("artifact_ingest", **DOC, source_id="1", content="A lighthouse")
        assert await model_of(made["artifact_id"]) == model
        embedder.down = True
        made = await nur.data("artifact_ingest", **DOC, source_id="1", content="Another lighthouse")
        assert made["index_state"] == "pending"
        assert await model_of(made["artifact_id"]) == [None, None, None]


async def test_ingest_large_artifact(shared: Door) -> None:
    text = tokens(5000)
    made = await shared.data("artifact_ingest", **DOC, source_id="large", content=text)
    assert (made["is_chunked"], made["num_chunks"]) == (True, 7)  # 900, then 800 new ones each: 6 do not reach 5,000
    assert made["stored_ids"][0] == made["artifact_id"]
    assert len(made["stored_ids"]) == 8
    assert all(CHUNK_ID.fullmatch(name) for name in made["stored_ids"][1:])
    assert collection_of(await note_of(shared, made["artifact_id"])) == "artifact_chunks"
    assert len(await vectors_of(shared, made["artifact_id"])) == 7

    chunks = (await shared.data("artifact_get", artifact_id=made["artifact_id"], include_chunks=True))["chunks"]
    assert [chunk["token_count"] for chunk in chunks] == [900] * 6 + [200]
    for one, other in pairwise(chunks):
        assert count(text[other["start_char"] : one["end_char"]]) == 100


@pytest.mark.parametrize(("size", "chunks"), [(1199, 0), (1200, 0), (1201, 2)])
async def test_the_threshold_is_1200_tokens(shared: Door, size: int, chunks: int) -> None:
    made = await shared.data("artifact_ingest", **DOC, source_id=f"threshold {size}", content=tokens(size))
    assert made["num_chunks"] == chunks
    assert made["is_chunked"] is (chunks > 0)


async def test_the_three_sizes_can_be_set(open_door: OpenDoor) -> None:
    sizes: dict[str, Any] = {"single_piece_max_tokens": 100, "chunk_target_tokens": 50, "chunk_overlap_tokens": 10}
    async with open_door(**sizes) as nur:
        whole = await nur.data("artifact_ingest", **DOC, source_id="1", content=tokens(100))
        cut = await nur.data("artifact_ingest", **DOC, source_id="2", content=tokens(101))
        assert whole["num_chunks"] == 0
        got = await nur.data("artifact_get", artifact_id=cut["artifact_id"], include_chunks=True)
        assert [chunk["token_count"] for chunk in got["chunks"]] == [50, 50, 21]


# --- identity ---


async def test_an_artifacts_id_is_the_hash_of_its_source(shared: Door) -> None:
    made = await shared.data("artifact_ingest", **DOC, source_id="42", content="a document of that source")
    assert made["artifact_id"] == "art_" + hexed("drive:42")[:8]


async def test_without_a_source_id_the_text_is_the_identity(shared: Door) -> None:
    text = "a document that came from nowhere in particular"
    first = await shared.data("artifact_ingest", **DOC, content=text)
    again = await shared.data("artifact_ingest", **DOC, content=text)
    other = await shared.data("artifact_ingest", **DOC, content=text + "!")
    assert first["artifact_id"] == again["artifact_id"] == "art_" + hexed(text)[:8]
    assert (first["outcome"], again["outcome"], other["outcome"]) == ("created", "unchanged", "created")


async def test_two_sources_whose_hashes_begin_alike_are_two_artifacts(shared: Door) -> None:
    one, other = hexed("drive:146780"), hexed("drive:157186")
    assert one[:8] == other[:8]
    first = await shared.data("artifact_ingest", **DOC, source_id="146780", content="the first of the two")
    second = await shared.data("artifact_ingest", **DOC, source_id="157186", content="the second of the two")
    assert first["artifact_id"] == f"art_{one[:8]}"
    assert second["artifact_id"] == f"art_{other[:12]}"  # taken by another source: the id is lengthened
    again = await shared.data("artifact_ingest", **DOC, source_id="157186", content="the second of the two")
    assert (again["artifact_id"], again["outcome"]) == (second["artifact_id"], "unchanged")
    for made, text in ((first, "the first of the two"), (second, "the second of the two")):
        got = await shared.data("artifact_get", artifact_id=made["artifact_id"], include_content=True)
        assert got["content"] == text


async def test_a_colon_does_not_make_two_sources_one(shared: Door) -> None:
    one = await shared.data(
        "artifact_ingest", artifact_type="doc", source_system="a:b", source_id="c", content="of a:b, c"
    )
    other = await shared.data(
        "artifact_ingest", artifact_type="doc", source_system="a", source_id="b:c", content="of a, b:c"
    )
    assert one["artifact_id"] != other["artifact_id"]
    assert other["outcome"] == "created"


async def test_the_same_text_of_two_sources_is_two_artifacts(shared: Door) -> None:
    text = "the same words in two places"
    ids = {
        (await shared.data("artifact_ingest", **DOC, source_id=f"twin {i}", content=text))["artifact_id"]
        for i in range(2)
    }
    assert len(ids) == 2


# --- storing again ---


async def test_ingest_idempotency(shared: Door) -> None:
    text = tokens(2000, "idempotent")
    source = {**DOC, "source_id": "idempotent", "content": text}
    first = await shared.data("artifact_ingest", **source)
    existing = await shared.indexed()
    again = await shared.data("artifact_ingest", **source)
    assert again == first | {"outcome": "unchanged", "index_state": "indexed"}
    assert len(again["stored_ids"]) == 1 + again["num_chunks"] == 4
    assert await shared.indexed() == existing
    assert (await note_of(shared, first["artifact_id"])).revision == 1  # nothing was written at all


async def test_ingest_content_change(shared: Door) -> None:
    source = {**DOC, "source_id": "changing"}
    old, new = chapters(150, "gardener"), chapters(90, "stonemason")
    first = await shared.data("artifact_ingest", **source, content=old)
    existing = await shared.indexed()
    result = await shared.call("artifact_ingest", **source, content=new)
    assert result.content[0].text == f"Updated existing artifact {first['artifact_id']}"  # type: ignore[union-attr]
    second = result.structured_content
    assert second is not None
    assert (second["artifact_id"], second["outcome"], second["version"]) == (first["artifact_id"], "replaced", 2)
    assert not set(second["stored_ids"][1:]) & set(first["stored_ids"][1:])
    assert await shared.indexed() == existing - first["num_chunks"] + second["num_chunks"]
    got = await shared.data("artifact_get", artifact_id=first["artifact_id"], include_content=True)
    assert got["content"] == new
    assert got["metadata"]["version"] == 2
    found = await shared.data("artifact_search", query="gardener number 77", limit=50)
    assert first["artifact_id"] not in {hit["id"] for hit in found["hits"] if "gardener" in hit["snippet"]}


async def test_other_metadata_with_the_same_text_is_updated_in_place(shared: Door) -> None:
    source = {**DOC, "source_id": "described", "content": tokens(1500, "described")}
    first = await shared.data("artifact_ingest", **source, title="Draft")
    second = await shared.data("artifact_ingest", **source, title="Final", sensitivity="sensitive")
    assert (second["outcome"], second["version"]) == ("metadata_updated", 1)
    assert second["stored_ids"] == first["stored_ids"]
    got = await shared.data("artifact_get", artifact_id=first["artifact_id"])
    assert (got["metadata"]["title"], got["metadata"]["sensitivity"]) == ("Final", "sensitive")
    third = await shared.data("artifact_ingest", **source, title="Final", sensitivity="sensitive")
    assert third["outcome"] == "unchanged"


async def test_versions_count_up_and_a_text_that_returns_is_a_new_version(shared: Door) -> None:
    source = {**DOC, "source_id": "versioned"}
    seen = [
        await shared.data("artifact_ingest", **source, content=text) for text in ("text one", "text two", "text one")
    ]
    assert [made["version"] for made in seen] == [1, 2, 3]
    assert [made["outcome"] for made in seen] == ["created", "replaced", "replaced"]


async def test_a_deleted_source_stored_again_is_created_under_its_id(shared: Door) -> None:
    source = {**DOC, "source_id": "revived"}
    first = await shared.data("artifact_ingest", **source, content="a text that comes back")
    await shared.text("artifact_delete", artifact_id=first["artifact_id"])
    again = await shared.data("artifact_ingest", **source, content="a text that comes back")
    assert (again["outcome"], again["artifact_id"]) == ("created", first["artifact_id"])
    await shared.text("artifact_delete", artifact_id=first["artifact_id"])
    other = await shared.data("artifact_ingest", **source, content="another text in its place")
    assert (other["outcome"], other["artifact_id"]) == ("created", first["artifact_id"])
    got = await shared.data("artifact_get", artifact_id=first["artifact_id"], include_content=True)
    assert got["content"] == "another text in its place"


async def test_only_changed_chunks_are_embedded_again(open_door: OpenDoor, openai_stub: OpenAIStub) -> None:
    async with open_door(**openai(openai_stub)) as nur:
        text = tokens(5000, "partly")
        first = await nur.data("artifact_ingest", **DOC, source_id="1", content=text)
        before = len(openai_stub.requests)
        await nur.data("artifact_ingest", **DOC, source_id="1", content=text + " and a new end")
        embedded = [sent for request in openai_stub.requests[before:] for sent in request.inputs]
        assert len(embedded) == 1  # the last chunk of seven
        assert embedded[0].endswith("and a new end")
        assert first["num_chunks"] == 7


async def test_a_section_under_another_heading_is_embedded_again(open_without_jobs: OpenWithoutJobs) -> None:
    body = "## Steps\n\n" + "Turn the valve. " * 90 + "\n"
    sizes: dict[str, Any] = {"single_piece_max_tokens": 300, "chunk_target_tokens": 300, "chunk_overlap_tokens": 20}
    async with open_without_jobs(chunking_strategy="structure", **sizes) as nur:
        first, second = (f"# {name}\n\n{'Read this first. ' * 60}\n\n{body}" for name in ("Boiler", "Furnace"))
        made = await nur.data("artifact_ingest", **DOC, source_id="1", content=first)
        await nur.data("artifact_ingest", **DOC, source_id="1", content=second)
        fresh = await nur.data("artifact_ingest", **DOC, source_id="2", content=second)
        for mine, theirs in zip(
            await vectors_of(nur, made["artifact_id"]), await vectors_of(nur, fresh["artifact_id"]), strict=True
        ):
            np.testing.assert_array_equal(mine, theirs)


# --- artifact_get ---


async def test_artifact_get_unchunked(shared: Door) -> None:
    text = "A short text,\r\nwith its line ends  and blanks kept. "
    made = await shared.data("artifact_ingest", **DOC, source_id="short", content=text)
    got = await shared.data("artifact_get", artifact_id=made["artifact_id"], include_content=True, include_chunks=True)
    assert got["content"] == text
    assert "chunks" not in got  # a whole artifact has none
    assert set(await shared.data("artifact_get", artifact_id=made["artifact_id"])) == {"artifact_id", "metadata"}


@pytest.mark.parametrize("name", sorted(ODD))
async def test_artifact_get_chunked_reconstructed(shared: Door, name: str) -> None:
    text = ODD[name]
    made = await shared.data("artifact_ingest", **DOC, source_id=f"odd {name}", content=text)
    got = await shared.data("artifact_get", artifact_id=made["artifact_id"], include_content=True, include_chunks=True)
    assert made["is_chunked"]
    assert got["content"] == text
    assert got["metadata"]["content_hash"] == hexed(text)
    rebuilt = ""
    for chunk in got["chunks"]:
        part = text[chunk["start_char"] : chunk["end_char"]]
        assert chunk["content_hash"] == hexed(part)
        assert chunk["chunk_id"].endswith(hexed(part)[:8])
        assert chunk["token_count"] <= 900
        assert chunk["start_char"] <= len(rebuilt)
        rebuilt += part[len(rebuilt) - chunk["start_char"] :]
    assert rebuilt == text


async def test_artifact_get_chunk_list(shared: Door) -> None:
    made = await shared.data("artifact_ingest", **DOC, source_id="listed", content=tokens(3000, "listed"))
    got = await shared.data("artifact_get", artifact_id=made["artifact_id"], include_chunks=True)
    assert "content" not in got
    assert [chunk["chunk_id"] for chunk in got["chunks"]] == made["stored_ids"][1:]
    assert [chunk["chunk_index"] for chunk in got["chunks"]] == list(range(made["num_chunks"]))
    assert set(got["chunks"][0]) == {
        "chunk_id", "chunk_index", "start_char", "end_char", "token_count", "content_hash"
    }  # fmt: skip


async def test_artifact_get_tells_everything_that_was_said_about_it(shared: Door) -> None:
    said: dict[str, Any] = {
        "artifact_type": "email",
        "source_system": "gmail",
        "source_id": "message-id:abc123@gmail.com",
        "source_url": "https://mail.example/abc123",
        "title": "Contract – Solid Base",
        "author": "anna@example.com",
        "participants": ["anna@example.com", "ben@example.com"],
        "sensitivity": "sensitive",
        "visibility_scope": "team",
        "retention_policy": "until_resolved",
    }
    text = "Payment terms are net-30 days from invoice."
    made = await shared.data("artifact_ingest", **said, content=text, ts="2025-12-25T11:30:00+01:00")
    got = (await shared.data("artifact_get", artifact_id=made["artifact_id"]))["metadata"]
    assert {name: got[name] for name in said} == said
    model = shared.services.embedder.model
    assert (got["embedding_provider"], got["embedding_model"], got["embedding_dimensions"]) == (
        model.provider, model.name, model.dimensions
    )  # fmt: skip
    assert got["ts"] == "2025-12-25T10:30:00Z"
    assert (got["content_hash"], got["token_count"]) == (hexed(text), count(text))
    assert (got["is_chunked"], got["num_chunks"], got["version"]) == (False, 0, 1)
    assert got["ingested_at"].endswith("Z")
    assert "expires_at" not in got


async def test_the_required_metadata_is_there_when_nothing_was_said(shared: Door) -> None:
    made = await shared.data("artifact_ingest", **DOC, content="said about this: nothing")
    got = (await shared.data("artifact_get", artifact_id=made["artifact_id"]))["metadata"]
    assert {
        "artifact_type", "source_system", "ts", "content_hash", "token_count", "is_chunked",
        "embedding_provider", "embedding_model", "embedding_dimensions",
    } <= set(got)  # fmt: skip
    assert (got["sensitivity"], got["visibility_scope"], got["retention_policy"]) == ("normal", "me", "forever")
    assert not {"source_id", "source_url", "title", "author", "participants"} & set(got)
    assert None not in got.values()


async def test_the_text_of_a_dictionary_answer_is_the_same_as_json(shared: Door) -> None:
    for tool, arguments in (
        ("artifact_ingest", {**DOC, "content": "answers in JSON, ü included"}),
        ("artifact_get", {"artifact_id": "art_" + hexed("answers in JSON, ü included")[:8]}),
        ("embedding_health", {}),
    ):
        result = await shared.call(tool, **arguments)
        told, existing = json.loads(result.content[0].text), result.structured_content  # type: ignore[union-attr]
        assert existing is not None
        assert told == existing


# --- artifact_delete ---


async def test_artifact_delete_unchunked(shared: Door) -> None:
    made = await shared.data("artifact_ingest", **DOC, source_id="gone", content="an unmistakable quokka document")
    name = made["artifact_id"]
    assert await shared.text("artifact_delete", artifact_id=name) == f"Deleted artifact {name} and 0 chunks"
    assert await shared.refusal("artifact_get", artifact_id=name) == f"Artifact {name} not found"
    assert await shared.refusal("artifact_delete", artifact_id=name) == f"Artifact {name} not found"
    assert "quokka" not in await shared.text("artifact_search", query="unmistakable quokka")


@embedded_only
async def test_artifact_delete_cascade(open_door: OpenDoor, tmp_path: Path) -> None:
    async with open_door() as nur:
        empty = _derived(tmp_path)
        made = await nur.data("artifact_ingest", **DOC, source_id="1", content=chapters(300))
        await nur.data("artifact_ingest", **DOC, source_id="1", content=chapters(200))  # leaves nothing of the first
        name = made["artifact_id"]
        chunks = (await nur.data("artifact_get", artifact_id=name))["metadata"]["num_chunks"]
        assert await nur.indexed() == chunks > 1
        assert _derived(tmp_path)["memory_note_chunks"] == chunks
        assert await nur.text("artifact_delete", artifact_id=name) == f"Deleted artifact {name} and {chunks} chunks"
        assert await nur.refusal("artifact_get", artifact_id=name) == f"Artifact {name} not found"
        assert (
            await nur.text("artifact_search", query="lighthouse keeper")
            == "No results found. No documents are stored yet."
        )
        assert _derived(tmp_path) == empty
        assert await nur.indexed() == 0


def _derived(folder: Path) -> dict[str, int]:
    """Rows of everything that is made from notes, counted by another program's eyes."""
    with sqlite3.connect(f"file:{folder / 'data' / 'nur.db'}?mode=ro", uri=True) as store:
        tables = (
            "memory_note_chunks",
            "note_chunk_embeddings",
            "note_embeddings",
            "chunk_pieces",
            "piece_terms",
            "indexing_outbox",
        )
        rows = {name: store.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}
        rows["words"] = store.execute("SELECT count(*) FROM piece_vocabulary").fetchone()[0]
        rows["counted"] = store.execute("SELECT chunks + pieces + terms FROM lexical_totals").fetchone()[0]
    store.close()
    return rows


# --- artifact_reembed ---


async def test_reembed_replaces_the_vectors_and_nothing_else(open_door: OpenDoor, openai_stub: OpenAIStub) -> None:
    async with open_door(**openai(openai_stub)) as nur:
        made = await nur.data(
            "artifact_ingest", **DOC, source_id="1", content=tokens(2000, "again"), retention_policy="1y"
        )
        before = await nur.data("artifact_get", artifact_id=made["artifact_id"], include_content=True)
        sent = len(openai_stub.requests)
        done = await nur.data("artifact_reembed", artifact_id=made["artifact_id"])
        assert sum(request.batch_size for request in openai_stub.requests[sent:]) == 3
        assert done == {
            "artifact_id": made["artifact_id"],
            "num_chunks": 3,
            "embedding_model": "text-embedding-3-large",
            "embedding_dimensions": 64,
            "index_state": INDEX_STATE,
        }
        assert await nur.data("artifact_get", artifact_id=made["artifact_id"], include_content=True) == before
        assert await nur.indexed() == 3
        openai_stub.fail_forever(faults.status(400))
        told = await nur.refusal("artifact_reembed", artifact_id=made["artifact_id"])
        assert told.startswith("Failed to generate embeddings: Invalid text for embedding: ")
        assert len(await vectors_of(nur, made["artifact_id"])) == 3  # the old ones stay


# --- privacy and retention ---


@pytest.mark.parametrize("source", ["medical", "health", "kids", "school", "family", "Medical"])
async def test_delicate_sources_are_highly_sensitive_and_for_me_by_default(shared: Door, source: str) -> None:
    arguments = {"artifact_type": "note", "source_system": source, "source_id": "1", "content": f"about {source}"}
    made = await shared.data("artifact_ingest", **arguments)
    got = (await shared.data("artifact_get", artifact_id=made["artifact_id"]))["metadata"]
    assert (got["sensitivity"], got["visibility_scope"]) == ("highly_sensitive", "me")


async def test_an_explicit_sensitivity_wins_over_the_sources(shared: Door) -> None:
    said = {"sensitivity": "normal", "visibility_scope": "team"}
    made = await shared.data("artifact_ingest", artifact_type="note", source_system="kids", content="a recipe", **said)
    got = (await shared.data("artifact_get", artifact_id=made["artifact_id"]))["metadata"]
    assert (got["sensitivity"], got["visibility_scope"]) == ("normal", "team")


async def test_an_end_in_the_past_is_refused(shared: Door) -> None:
    past = {"retention_policy": "custom", "expires_at": "2020-01-01"}
    for said in (past, past | {"retention_policy": "forever"}, {"expires_at": "2020-01-01"}):
        refusal = await shared.refusal("artifact_ingest", **DOC, source_id="dead on arrival", content="x", **said)
        assert refusal == "expires_at must lie in the future"


async def test_a_re_ingest_keeps_what_protects_the_artifact(shared: Door) -> None:
    protection = {"sensitivity": "sensitive", "visibility_scope": "team", "retention_policy": "until_resolved"}
    source = {**DOC, "source_id": "protected"}
    artifact = (await shared.data("artifact_ingest", **source, content="One.", **protection))["artifact_id"]
    assert (await shared.data("artifact_ingest", **source, content="One."))["outcome"] == "unchanged"
    assert (await shared.data("artifact_ingest", **source, content="Two."))["outcome"] == "replaced"
    got = (await shared.data("artifact_get", artifact_id=artifact))["metadata"]
    assert {name: got[name] for name in protection} == protection
    lowered = {"sensitivity": "normal", "visibility_scope": "me", "retention_policy": "forever"}
    again = await shared.data("artifact_ingest", **source, content="Two.", **lowered)
    assert again["outcome"] == "metadata_updated"
    got = (await shared.data("artifact_get", artifact_id=artifact))["metadata"]
    assert {name: got[name] for name in lowered} == lowered


async def test_a_medical_text_stays_one_when_it_comes_from_elsewhere(shared: Door) -> None:
    said = {"artifact_type": "doc", "content": "The knee is operated in May."}
    artifact = (await shared.data("artifact_ingest", **said, source_system="medical"))["artifact_id"]
    again = await shared.data("artifact_ingest", **said, source_system="manual")
    assert (again["artifact_id"], again["outcome"]) == (artifact, "unchanged")
    got = (await shared.data("artifact_get", artifact_id=artifact))["metadata"]
    assert (got["sensitivity"], got["source_system"]) == ("highly_sensitive", "medical")


async def test_which_sources_are_delicate_can_be_set(open_without_jobs: OpenWithoutJobs) -> None:
    async with open_without_jobs(sensitive_sources="diary") as nur:
        for source, expected in (("diary", "highly_sensitive"), ("medical", "normal")):
            made = await nur.data("artifact_ingest", artifact_type="note", source_system=source, content=source)
            got = (await nur.data("artifact_get", artifact_id=made["artifact_id"]))["metadata"]
            assert got["sensitivity"] == expected


async def test_chunks_inherit_the_privacy_of_their_artifact(shared: Door) -> None:
    arguments = {"artifact_type": "transcript", "source_system": "health", "source_id": "long"}
    await shared.data("artifact_ingest", **arguments, content=chapters(200, "physiotherapist"))
    query = {"query": "physiotherapist number 123", "source_system": "health"}
    found = await shared.data("artifact_search", **query, sensitivity="highly_sensitive", visibility_scope="me")
    assert found["hits"][0]["type"] == "artifact_chunk"
    assert found["hits"][0]["sensitivity"] == "highly_sensitive"
    hidden = await shared.data("artifact_search", **query, sensitivity="normal")
    assert not [hit for hit in hidden["hits"] if "physiotherapist" in hit["snippet"]]


@pytest.mark.parametrize(
    ("retention", "seconds"),
    [
        ({"retention_policy": "1y"}, YEAR),
        ({"retention_policy": "custom", "expires_at": "2026-01-02T00:00:00Z"}, 24 * 3600),
    ],
)
async def test_an_expired_artifact_is_found_by_nothing_until_it_is_stored_again(
    open_without_jobs: OpenWithoutJobs, retention: dict[str, str], seconds: int
) -> None:
    clock = ManualClock()  # starts with 2026
    async with open_without_jobs(clock=clock) as nur:
        source = {**DOC, "source_id": "1", "content": "a passing remark"}
        made = await nur.data("artifact_ingest", **source, **retention)
        clock.advance(seconds - 3600 * 24 * 2 if seconds > YEAR / 2 else seconds - 1)
        assert "passing" in await nur.text("artifact_search", query="passing remark")
        clock.advance(3600 * 24 * 2)
        assert (
            await nur.text("artifact_search", query="passing remark")
            == "No results found. No documents are stored yet."
        )
        name = made["artifact_id"]
        assert await nur.refusal("artifact_get", artifact_id=name, include_content=True) == f"Artifact {name} not found"
        again = await nur.data("artifact_ingest", **source)
        assert (again["outcome"], again["artifact_id"]) == ("created", name)
        assert "passing" in await nur.text("artifact_search", query="passing remark")


async def test_one_year_counts_from_the_ingest_not_from_the_event(open_without_jobs: OpenWithoutJobs) -> None:
    async with open_without_jobs(clock=ManualClock()) as nur:
        made = await nur.data(
            "artifact_ingest", **DOC, content="old news", ts="2001-01-01T00:00:00Z", retention_policy="1y"
        )
        got = (await nur.data("artifact_get", artifact_id=made["artifact_id"]))["metadata"]
        assert (got["ts"], got["expires_at"]) == ("2001-01-01T00:00:00Z", "2027-01-01T00:00:00Z")


# --- progress ---


async def test_a_long_ingest_tells_its_progress(open_door: OpenDoor, openai_stub: OpenAIStub) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with open_door(**openai(openai_stub), openai_batch_size=2) as nur:
        arguments = {**DOC, "source_id": "1", "content": tokens(5000)}
        result = await nur.client.call_tool("artifact_ingest", arguments, progress_callback=hear)
        assert not result.is_error
    assert heard
    assert [done for done, _, _ in heard] == sorted({done for done, _, _ in heard})
    assert heard[-1] == (7, 7, "7 of 7 chunks embedded")
