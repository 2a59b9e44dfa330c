"""The static model from the package: its files, its tokens, its means."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import threading
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tokenizers import Tokenizer

from nur.adapters.local.embedder import FIRST_NAME, NAME, PIECE_CHARS, LocalEmbedder, StaticModel
from nur.adapters.local.model_files import read
from nur.domain.errors import BadConfiguration

if TYPE_CHECKING:
    from pathlib import Path

TOKENIZER = "l2_supercat_tokenizer_config.json"


@pytest.fixture(scope="module")
def model() -> StaticModel:
    return StaticModel.from_package()


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the packaged files that may be damaged: the model's folder."""
    with resources.as_file(resources.files("nur.data")) as data:
        copied = shutil.copytree(data, tmp_path / "data")
    monkeypatch.setattr(resources, "files", lambda _package: copied)
    return copied / "wordllama"


def ids(model: StaticModel, text: str) -> list[int]:
    return [int(token) for token in model.token_ids([text])[0]]


def whole(model: StaticModel, text: str) -> list[int]:
    return [int(token) for token in model.tokenizer.encode(text)]


def test_the_weights_are_usable(model: StaticModel) -> None:
    assert (model.matrix.shape, model.matrix.dtype.name) == ((32_000, 256), "float32")
    assert np.isfinite(model.matrix).all()
    assert np.linalg.norm(model.matrix, axis=1).min() > 0


def test_a_vector_is_the_mean_of_its_token_rows(model: StaticModel) -> None:
    tokens = model.token_ids(["tea with milk, and tea with lemon"])[0]
    mean = model.matrix[tokens].mean(axis=0)
    np.testing.assert_allclose(model.pooled(tokens), mean / np.linalg.norm(mean), atol=1e-6)


def test_a_text_without_tokens_has_the_vector_nowhere(model: StaticModel) -> None:
    vector = model.pooled(model.token_ids([""])[0])
    np.testing.assert_array_equal(vector, np.full(256, 1 / 16, np.float32))
    assert np.linalg.norm(vector) == 1.0


def test_words_that_mean_the_same_are_nearer_than_others(model: StaticModel) -> None:
    doctor, physician, bicycle = (
        model.pooled(tokens) for tokens in model.token_ids(["doctor", "physician", "bicycle"])
    )
    assert doctor @ physician > doctor @ bicycle + 0.2


def test_a_long_text_cut_at_spaces_has_the_tokens_of_the_whole(model: StaticModel) -> None:
    text = "The quick brown fox jumps over the lazy dog. " * 1000
    assert len(text) > 5 * PIECE_CHARS
    assert ids(model, text) == whole(model, text)


def test_a_long_text_without_spaces_loses_no_character(model: StaticModel) -> None:
    text = "記憶する" * 5000
    decoded = Tokenizer.from_str(read("wordllama", TOKENIZER).decode()).decode(ids(model, text))
    assert decoded.replace(" ", "") == text


def test_a_long_run_of_spaces_counts_as_a_short_one(model: StaticModel) -> None:
    assert ids(model, "a" + " " * 1_000_000 + "b") == ids(model, "a" + " " * 64 + "b")
    assert ids(model, "a" + " " * 64 + "b") == whole(model, "a" + " " * 64 + "b")


def test_special_tokens_in_a_text_are_ordinary_text(model: StaticModel) -> None:
    assert not {1, 2} & set(ids(model, "<s>hello</s>"))


def test_lone_surrogates_do_no_harm(model: StaticModel) -> None:
    assert ids(model, "a\ud800b") == ids(model, "a?b")


async def test_a_text_of_millions_of_tokens_is_embedded() -> None:
    embedder = LocalEmbedder()
    vectors = await embedder.embed(["ab " * 1_000_000])
    assert np.linalg.norm(vectors[0]) == pytest.approx(1.0, abs=1e-5)
    await embedder.close()


async def test_tokens_and_rows_are_there_for_weighting() -> None:
    embedder = LocalEmbedder()
    tokens = embedder.tokenize(["tea"])[0]
    row = embedder.token_vectors[tokens].sum(axis=0)
    np.testing.assert_allclose(await embedder.embed_query("tea"), row / np.linalg.norm(row), atol=1e-6)
    await embedder.close()


async def test_nothing_is_read_before_the_first_use_and_then_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read_in: list[str] = []
    load = StaticModel.from_package

    def counted() -> StaticModel:
        read_in.append(threading.current_thread().name)
        return load()

    monkeypatch.setattr(StaticModel, "from_package", counted)
    embedder = LocalEmbedder()
    assert read_in == []
    await asyncio.gather(*(embedder.embed(["tea"]) for _ in range(8)))
    assert len(read_in) == 1
    assert read_in[0].startswith("nur-embedder")  # never on the event loop
    await embedder.close()


async def test_a_missing_file_is_named_and_a_probe_of_it_does_not_raise(packaged: Path) -> None:
    (packaged / TOKENIZER).unlink()
    embedder = LocalEmbedder()
    with pytest.raises(BadConfiguration, match=f"{TOKENIZER} is missing"):
        await embedder.embed(["tea"])
    probe = await embedder.probe()
    assert not probe.healthy
    assert f"{TOKENIZER} is missing" in str(probe.error)
    await embedder.close()


def test_a_damaged_file_is_named(packaged: Path) -> None:
    (packaged / TOKENIZER).write_bytes(b"{}")
    with pytest.raises(BadConfiguration, match=f"{TOKENIZER} is damaged"):
        StaticModel.from_package()


def test_no_extra_is_imported() -> None:
    program = (
        "import asyncio, sys; from nur.adapters.local.embedder import FIRST_NAME, NAME, LocalEmbedder;"
        "asyncio.run(LocalEmbedder().embed(['tea']));"
        "sys.exit(bool({'openai', 'tokenizers', 'huggingface_hub'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


async def test_other_languages_are_read_in_english_words_but_not_by_the_first_version() -> None:
    french, english = "le médecin de ma mère est malade", "my mother's doctor is ill"
    cosine = {}
    for name in (NAME, FIRST_NAME):
        embedder = LocalEmbedder(name)
        one, other = await embedder.embed([french, english])
        cosine[name] = float(one @ other)
        await embedder.close()
    assert cosine[NAME] > cosine[FIRST_NAME] + 0.2
