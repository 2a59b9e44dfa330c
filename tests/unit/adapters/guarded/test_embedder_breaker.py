"""When a provider is probed."""

from __future__ import annotations

import pytest

from nur.adapters.guarded.embedder import ProbePolicy, ProviderState, probe_in

POLICY = ProbePolicy(while_failing_seconds=2.0, while_healthy_seconds=30.0)


@pytest.mark.parametrize(
    ("state", "due"),
    [
        (
            ProviderState(healthy=True, age_seconds=900.0),
            None,
        ),  # nobody asked: no probe is needed
        (
            ProviderState(healthy=True, age_seconds=10.0, requested=True),
            20.0,
        ),  # the last result is recent
        (ProviderState(healthy=True, age_seconds=31.0, requested=True), 0.0),  # the last result is old
        (ProviderState(healthy=False, age_seconds=0.5), 1.5),  # it has just failed: probe for recovery soon
        (ProviderState(healthy=False, age_seconds=9.0), 0.0),
        (
            ProviderState(healthy=True, age_seconds=9.0, suspected=True),
            0.0,
        ),  # does it reject all texts?
        (ProviderState(healthy=True, age_seconds=0.5, suspected=True), 1.5),  # many rejected texts cause few probes
    ],
)
def test_a_probe_is_due(state: ProviderState, due: float | None) -> None:
    assert probe_in(state, POLICY) == due
