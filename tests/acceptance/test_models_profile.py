"""With the package of sentence models installed; here it has random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nur.domain.errors import BadConfiguration
from nur.entrypoints.cli.app import run
from tests.sentence_models import installed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.acceptance.conftest import OpenDoor

MODEL = "models:use-minilm-2:896"


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    """The package, installed for one test."""
    with installed(tmp_path / "site") as found:
        yield found


async def provider(open_door: OpenDoor, **settings: str) -> str:
    async with open_door(**settings) as nur:
        return str((await nur.data("embedding_health"))["provider"])


@pytest.mark.usefixtures("package")
async def test_a_new_store_uses_the_models_that_are_installed(open_door: OpenDoor) -> None:
    async with open_door() as nur:
        await nur.text("memory_store", content="Tea in the morning.", type="fact", confidence=1)
        found = await nur.data("memory_search", query="tea in the morning")
        assert found["hits"][0]["snippet"] == "Tea in the morning."
        health = await nur.data("embedding_health")
    assert (health["provider"], health["model"], health["test_embedding_dimensions"]) == ("models", "use-minilm-2", 896)


@pytest.mark.usefixtures("package")
async def test_a_new_store_uses_the_packaged_model_where_the_settings_say_so(open_door: OpenDoor) -> None:
    assert await provider(open_door, embeddings="local") == "local"


async def test_a_store_keeps_its_model_when_better_ones_are_installed(open_door: OpenDoor, tmp_path: Path) -> None:
    async with open_door() as nur:
        await nur.text("memory_store", content="Tea in the morning.", type="fact", confidence=1)
    with installed(tmp_path / "site"):
        assert await provider(open_door) == "local"


@pytest.mark.usefixtures("package")
def test_a_store_moves_to_the_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NUR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("EMBEDDINGS", "local")
    assert run(["remember", "Tea in the morning."]) == 0
    monkeypatch.delenv("EMBEDDINGS")
    assert run(["reembed", "--to", "models"]) == 0
    assert f"1 chunks embedded with {MODEL}" in capsys.readouterr().out
    assert run(["search", "tea in the morning"]) == 0
    assert "Tea in the morning." in capsys.readouterr().out


async def test_a_damaged_file_is_named(open_door: OpenDoor, package: Path) -> None:
    (package / "use" / "sp.model").write_bytes(b"")
    async with open_door() as nur:
        refusal = await nur.refusal("memory_store", content="Tea.", type="fact", confidence=1)
    assert "nur_models/use/sp.model is damaged. Install nur-memory-models again." in refusal


async def test_a_store_of_models_that_are_gone_says_what_to_install(open_door: OpenDoor, tmp_path: Path) -> None:
    with installed(tmp_path / "site"):
        async with open_door() as nur:
            await nur.text("memory_store", content="Tea in the morning.", type="fact", confidence=1)
    with pytest.raises(BadConfiguration, match=r"pip install 'nur-memory\[models\]'"):
        await provider(open_door)
