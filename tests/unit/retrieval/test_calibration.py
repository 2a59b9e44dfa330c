from __future__ import annotations

import json

import pytest

from nur.retrieval.calibration import LOCAL, ModelCalibration, calibration_of, file_name


def test_a_profile_comes_back_from_its_file_as_it_was() -> None:
    profile = ModelCalibration(
        embedding_version="openai:big:3072",
        cosine_weight=0.7,
        rrf_weight=2.0,
        piece_weight=0.2,
        floor=0.31,
        measured_at="2026-11-15T10:00:00Z",
        questions=200,
    )
    assert ModelCalibration.from_json(profile.to_json()) == profile


def test_keys_of_a_later_version_are_passed_over_and_missing_ones_are_defaults() -> None:
    profile = ModelCalibration.from_json('{"embedding_version": "a:b:1", "floor": null, "colour": "red"}')
    assert profile == ModelCalibration(embedding_version="a:b:1")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"embedding_version": 3}, "embedding_version"),  # not a name
        ({"cosine_weight": "half"}, "cosine_weight"),  # not a number
        ({"cosine_weight": -0.1}, "cosine_weight"),  # would rank the farthest first
        ({"cosine_weight": float("nan")}, "cosine_weight"),  # compares with nothing
        ({"floor": True}, "floor"),  # JSON's true is no number
        ({"piece_weight": "much"}, "piece_weight"),
        ({"measured_at": 2026}, "measured_at"),
    ],
)
def test_a_bad_value_is_named(change: dict[str, object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        ModelCalibration.from_json(json.dumps({"embedding_version": "a:b:1", **change}))


@pytest.mark.parametrize("text", ["[]", "null", "{", ""])
def test_what_is_no_profile_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        ModelCalibration.from_json(text)


def test_the_packaged_model_is_measured_and_any_other_has_no_floor() -> None:
    assert calibration_of("local:wordllama-l2-supercat-2:256") is LOCAL
    assert LOCAL.measured_at
    other = calibration_of("openai:text-embedding-3-large:3072")
    assert (other.floor, other.measured_at) == (None, "")


def test_a_version_names_a_file_on_every_system() -> None:
    assert file_name("openai:BAAI/bge-m3:1024") == "openai_BAAI_bge-m3_1024.json"
