from __future__ import annotations

from typing import Any

import pytest

from nur.domain.errors import BadConfiguration
from nur.retrieval.chunking.policy import SENTENCES, STRUCTURE, WHOLE, WINDOW, ChunkingPolicy


@pytest.mark.parametrize(
    ("policy", "version"),
    [
        (WINDOW, "window:1200:900:100"),
        (SENTENCES, "sentences:512:512:128"),
        (STRUCTURE, "structure:1200:900:100"),
        (WHOLE, "whole"),
        (ChunkingPolicy("window", 10, 10, 0), "window:10:10:0"),
    ],
)
def test_a_version_reads_back_as_its_policy(policy: ChunkingPolicy, version: str) -> None:
    assert policy.version == version
    assert ChunkingPolicy.parse(version) == policy


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"target": 0, "overlap": 0}, "target"),
        ({"overlap": 900}, "overlap"),  # as much as the target: windows would never advance
        ({"overlap": -1}, "overlap"),
        ({"whole_max": 899}, "single-piece"),
        ({"strategy": "pages"}, "window, sentences, structure, whole"),
    ],
)
def test_impossible_sizes_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(BadConfiguration, match=message):
        ChunkingPolicy(**values)


@pytest.mark.parametrize(
    "version", ["", "window", "window:1:2", "window:a:b:c", "window:1200:900:-1", "pages:3:2:1", "whole:1:1:0:0"]
)
def test_a_version_that_is_none_is_refused(version: str) -> None:
    with pytest.raises(BadConfiguration):
        ChunkingPolicy.parse(version)
