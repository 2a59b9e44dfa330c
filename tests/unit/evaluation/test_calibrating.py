"""Where the relevance floor is put, and when there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nur.evaluation.calibrating import Calibration, choose_floor, with_floor, write
from nur.retrieval.calibration import ModelCalibration

if TYPE_CHECKING:
    from pathlib import Path

CLEAR = [0.8 + place / 1000 for place in range(100)]
OFF_TOPIC = [0.10, 0.15, 0.20, 0.30]


def test_the_floor_turns_away_one_in_four_off_topic_questions_and_loses_nothing() -> None:
    found = choose_floor(CLEAR, OFF_TOPIC)
    assert (found.floor, found.lost, found.rejected, found.auroc) == (0.15, 0.0, 0.25, 1.0)


def test_the_floor_is_lowered_until_hardly_any_known_item_is_lost() -> None:
    found = choose_floor([0.05, 0.14, 0.17, *CLEAR[:97]], OFF_TOPIC)
    assert found.floor == 0.14
    assert found.lost == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("known", "off_topic"),
    [
        ([0.2] * 100, OFF_TOPIC[::-1] * 3 + [0.9] * 40),  # a floor would turn away too few
        ([0.1, 0.1, *CLEAR], OFF_TOPIC),  # the weakest known items score no more than anything off topic
        (CLEAR[:29], OFF_TOPIC),  # too few notes to tell
        ([], OFF_TOPIC),  # no notes at all
    ],
)
def test_there_is_no_floor_where_none_is_safe(known: list[float], off_topic: list[float]) -> None:
    found = choose_floor(known, off_topic)
    assert (found.floor, found.lost, found.rejected) == (None, 0.0, 0.0)


def test_a_profile_gets_its_floor_keeps_its_weights_and_is_written_whole(tmp_path: Path) -> None:
    kept = ModelCalibration(embedding_version="onnx:org/model:384", cosine_weight=0.7, floor=0.5)
    path = write(with_floor(kept, Calibration(0.21, 0.0, 0.5, 0.97), 240), tmp_path)
    path = write(with_floor(kept, Calibration(None, 0.0, 0.0, 0.6), 250), tmp_path)
    assert list((tmp_path / "profiles").iterdir()) == [path]
    found = ModelCalibration.from_json(path.read_text(encoding="utf-8"))
    assert (found.embedding_version, found.cosine_weight) == ("onnx:org/model:384", 0.7)
    assert (found.floor, found.questions, bool(found.measured_at)) == (None, 250, True)
