from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from nur.adapters.rerank import onnx
from nur.adapters.rerank.onnx import OnnxReranker
from nur.domain.errors import BadConfiguration, RerankerDown
from tests.onnx_models import weigh_words

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_without_a_model_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match="RERANK_MODEL"):
        OnnxReranker(tmp_path / "nothing")
    folder = weigh_words(tmp_path / "broken", {"tea": 1.0})
    (folder / "model.onnx").write_bytes(b"no model")
    with pytest.raises(BadConfiguration, match="RERANK_MODEL"):
        OnnxReranker(folder)


def test_a_model_in_the_onnx_subfolder_is_found(tmp_path: Path) -> None:
    folder = weigh_words(tmp_path / "model", {"tea": 1.0})
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert OnnxReranker(folder).name == "model"


async def test_the_passage_is_cut_at_the_models_limit_and_the_question_is_not(tmp_path: Path) -> None:
    reranker = OnnxReranker(weigh_words(tmp_path, {"tea": 1.0, "salt": 0.0}))
    question = "salt " * 100
    [score] = await reranker.score(question, ["tea " * 2000])
    assert score == onnx.MAX_TOKENS - 100 - 3  # the marks between them: one before, two behind


async def test_numbers_that_are_none_are_an_outage(tmp_path: Path) -> None:
    reranker = OnnxReranker(weigh_words(tmp_path, {"tea": float("nan")}))
    with pytest.raises(RerankerDown):
        await reranker.score("tea", ["tea"])


async def test_who_stops_waiting_stops_the_work_after_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reranker = OnnxReranker(weigh_words(tmp_path, {"tea": 1.0}))
    batches, started, go_on = [], asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def run(query: str, passages: list[str]) -> list[float]:
        batches.append(len(passages))
        loop.call_soon_threadsafe(started.set)
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result(30)
        return [0.0] * len(passages)

    monkeypatch.setattr(reranker, "_run", run)
    scoring = asyncio.create_task(reranker.score("tea", ["tea"] * 100))
    await started.wait()
    scoring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await scoring
    go_on.set()
    await asyncio.get_running_loop().run_in_executor(None, lambda: None)
    assert batches == [onnx.BATCH]
