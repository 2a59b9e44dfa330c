"""When a provider is probed."""

from __future__ import annotations

import pytest

from nur.adapters.guarded.embedder import Knowledge, ProbePolicy, probe_in

POLICY = ProbePolicy(while_failing_seconds=2.0, while_well_seconds=30.0)


@pytest.mark.parametrize(
    ("known", "due"),
    [
        (Knowledge(healthy=True, age_seconds=900.0), None),  # nobody asks: a probe would cost a request for nothing
        (Knowledge(healthy=True, age_seconds=10.0, asked=True), 20.0),  # a monitor gets what is known for a while
        (Knowledge(healthy=True, age_seconds=31.0, asked=True), 0.0),  # what is known is old
        (Knowledge(healthy=False, age_seconds=0.5), 1.5),  # it has just failed: recovery is looked for soon
        (Knowledge(healthy=False, age_seconds=9.0), 0.0),
        (Knowledge(healthy=True, age_seconds=9.0, suspected=True), 0.0),  # it refused a text: whose fault is that?
        (Knowledge(healthy=True, age_seconds=0.5, suspected=True), 1.5),  # many refused texts make few probes
    ],
)
def test_a_probe_is_due(known: Knowledge, due: float | None) -> None:
    assert probe_in(known, POLICY) == due
