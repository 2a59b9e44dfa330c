"""When to ask a provider how it is: decisions as values, nothing here waits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProbePolicy:
    """How often a provider is probed. A probe costs one request of one word."""

    while_failing_seconds: float = 2.0  #: recovery shows this soon, without anybody's call
    while_well_seconds: float = 30.0  #: a monitor that asks every second does not cause a request every second


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known about the provider."""

    healthy: bool
    age_seconds: float  #: since the last call or probe that decided
    suspected: bool = False  #: it refused a text: the text's fault, or everybody's
    asked: bool = False  #: a monitor wants to know


def probe_in(known: Knowledge, policy: ProbePolicy) -> float | None:
    """Seconds until the next probe is due; None: no probe is needed."""
    if not known.healthy or known.suspected:
        return max(0.0, policy.while_failing_seconds - known.age_seconds)
    if known.asked:
        return max(0.0, policy.while_well_seconds - known.age_seconds)
    return None
