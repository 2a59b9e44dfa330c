"""With a transformer of the user's own: a folder that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nur.domain.errors import BadConfiguration
from nur.entrypoints.cli.app import run
from tests.onnx_models import embed_words

if TYPE_CHECKING:
    from pathlib import Path

    from tests.acceptance.conftest import OpenDoor

#: Two words for one thing share a direction: only meaning can find one by the other.
WORDS = {"crimson": [1.0, 0.0, 0.0], "red": [1.0, 0.1, 0.0], "bicycle": [0.0, 1.0, 0.0], "soup": [0.0, 0.0, 1.0]}


async def test_a_new_store_uses_the_model_and_finds_by_its_meaning(open_door: OpenDoor, tmp_path: Path) -> None:
    model = embed_words(tmp_path / "little", WORDS)
    async with open_door(embeddings="onnx", onnx_model=model) as nur:
        await nur.text("memory_store", content="crimson bicycle", type="fact", confidence=1)
        await nur.text("memory_store", content="bicycle soup", type="fact", confidence=1)
        assert (await nur.data("memory_search", query="red"))["hits"][0]["snippet"] == "crimson bicycle"
        health = await nur.data("embedding_health")
        assert (health["provider"], health["model"], health["test_embedding_dimensions"]) == ("onnx", "little", 3)
    async with open_door(onnx_model=model) as nur:  # the store's model wins
        assert (await nur.data("embedding_health"))["provider"] == "onnx"


async def test_a_store_whose_model_is_not_there_says_which_folder_it_wants(open_door: OpenDoor, tmp_path: Path) -> None:
    async with open_door(embeddings="onnx", onnx_model=embed_words(tmp_path / "little", WORDS)):
        pass
    with pytest.raises(BadConfiguration, match="ONNX_MODEL: name the folder"):
        async with open_door():
            pass
    other = embed_words(tmp_path / "other", WORDS)
    with pytest.raises(BadConfiguration, match="has vectors of onnx:little:3"):
        async with open_door(onnx_model=other):
            pass


def test_a_store_moves_to_a_transformer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NUR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("ONNX_MODEL", str(embed_words(tmp_path / "little", WORDS)))
    assert run(["remember", "crimson bicycle"]) == 0
    assert run(["reembed", "--to", "onnx"]) == 0
    assert "1 chunks embedded with onnx:little:3" in capsys.readouterr().out
    assert run(["search", "red"]) == 0
    assert "crimson bicycle" in capsys.readouterr().out
