"""Profiles of embedding models, as files."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from nur.retrieval.model_profile import COSINE_WEIGHT, ModelProfile


@pytest.mark.parametrize("floor", [None, 0.27])
def test_a_profile_survives_its_file(floor: float | None) -> None:
    profile = ModelProfile(
        embedding_version="local:model:256",
        cosine_weight=0.4,
        floor=floor,
        measured_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        questions=240,
    )
    assert ModelProfile.from_json(profile.to_json()) == profile


def test_a_model_that_nobody_measured_has_the_usual_weight_and_no_floor() -> None:
    profile = ModelProfile(embedding_version="openai:new:8")
    assert (profile.cosine_weight, profile.floor, profile.measured_at) == (COSINE_WEIGHT, None, None)
    assert ModelProfile.from_json('{"embedding_version": "openai:new:8"}') == profile


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"embedding_version": 3}',
        '{"embedding_version": "m", "floor": "low"}',
        '{"embedding_version": "m", "cosine_weight": true}',
        '{"embedding_version": "m", "measured_at": "yesterday"}',
    ],
)
def test_a_file_that_is_no_profile_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whichever it is, the file is named by who reads it
        ModelProfile.from_json(text)


def test_a_profile_never_leaves_its_folder() -> None:
    name = ModelProfile(embedding_version="onnx:../../evil/model:8").file_name
    assert "/" not in name
