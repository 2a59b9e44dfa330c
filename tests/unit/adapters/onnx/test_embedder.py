from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nur.adapters.onnx.embedder import OnnxEmbedder
from nur.domain.errors import BadConfiguration, EmbedderRefused
from tests.onnx_models import embed_words

if TYPE_CHECKING:
    from pathlib import Path

WORDS = {"tea": [1.0, 0.0, 0.0], "salt": [0.0, 1.0, 0.0], "find": [0.0, 0.0, 2.0]}


def say(folder: Path, name: str, **said: object) -> None:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(said))


async def test_a_text_is_the_mean_of_its_tokens_at_unit_length(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(embed_words(tmp_path / "little", WORDS))
    assert embedder.model.version == "onnx:little:3"
    [vector] = await embedder.embed(["tea salt"])
    np.testing.assert_allclose(vector, [0.5**0.5, 0.5**0.5, 0], atol=1e-6)


async def test_the_makers_say_which_words_come_before_a_question_and_a_text(tmp_path: Path) -> None:
    folder = embed_words(tmp_path, WORDS)
    say(folder, "config_sentence_transformers.json", prompts={"query": "find ", "passage": "salt "})
    embedder = OnnxEmbedder(folder)
    asked = await embedder.embed_query("tea")
    [stored] = await embedder.embed(["tea"])
    assert (asked[2] > asked[0] > 0, asked[1]) == (True, 0)
    assert (stored[0] == stored[1] > 0, stored[2]) == (True, 0)


async def test_a_model_that_speaks_by_its_first_token_is_read_there(tmp_path: Path) -> None:
    folder = embed_words(tmp_path, {"[CLS]": [1.0, 0.0], "tea": [0.0, 1.0]})
    say(folder, "1_Pooling/config.json", pooling_mode_cls_token=True)
    [vector] = await OnnxEmbedder(folder).embed(["tea tea tea"])
    np.testing.assert_allclose(vector, [1, 0])


async def test_a_text_is_cut_at_the_models_limit(tmp_path: Path) -> None:
    folder = embed_words(tmp_path, WORDS)
    say(folder, "sentence_bert_config.json", max_seq_length=8)
    embedder = OnnxEmbedder(folder)
    assert embedder.max_tokens == 6
    [vector] = await embedder.embed(["tea " * 20 + "salt"])
    np.testing.assert_allclose(vector, [1, 0, 0], atol=1e-6)


async def test_numbers_that_are_none_are_refused_and_words_it_does_not_know_have_a_vector(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(embed_words(tmp_path, {"tea": [float("nan"), 0.0], "salt": [0.0, 1.0]}))
    with pytest.raises(EmbedderRefused):
        await embedder.embed(["tea"])
    assert not (await embedder.probe()).key_refused
    [vector] = await embedder.embed(["nobody knows"])
    assert np.linalg.norm(vector) == pytest.approx(1)


def test_a_model_that_embeds_nothing_is_refused_by_its_setting(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match=r"ONNX_MODEL: .* is not a text embedding model"):
        OnnxEmbedder(embed_words(tmp_path, {"tea": [1.0]}, given="somebody_elses_input"))


def test_a_folder_without_a_model_is_refused_by_its_setting(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match=r"ONNX_MODEL: .* has no model\.onnx"):
        OnnxEmbedder(tmp_path)
