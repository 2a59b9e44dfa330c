"""Stored traces: those of older versions can be read."""

from __future__ import annotations

import json
import zlib

from nur.adapters.sql.search_log import decode, encode
from nur.domain.notes import ChunkKey
from nur.domain.traces import CandidateOutcome, TracedCandidate

CANDIDATES = (
    TracedCandidate(ChunkKey(7), CandidateOutcome.RETURNED, "mem_1", place=1, score=0.5),
    TracedCandidate(ChunkKey(8), CandidateOutcome.NOT_VISIBLE),
)


def test_candidates_come_back_as_they_were() -> None:
    assert decode(encode({"hits": 1}, CANDIDATES)) == ({"hits": 1}, CANDIDATES)


def test_a_trace_that_names_the_outcome_a_verdict_is_read() -> None:
    names = ["verdict" if name == "outcome" else name for name in TracedCandidate._fields]
    older = zlib.compress(json.dumps({"outcome": {"hits": 1}, "names": names, "rows": CANDIDATES}).encode())
    assert decode(older) == ({"hits": 1}, CANDIDATES)
