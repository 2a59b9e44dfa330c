"""A provider that is down for minutes; `NUR_FAULT_MINUTES=10` makes it longer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.provider_outage import Outage

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.openai_stub import OpenAIStub

MINUTES = float(os.environ.get("NUR_FAULT_MINUTES", "4"))


@pytest.mark.timeout(7200)
async def test_an_outage_of_minutes_delays_nothing_but_vectors(tmp_path: Path, openai_stub: OpenAIStub) -> None:
    outage = Outage(tmp_path / "data", openai_stub)
    await outage.survive(seconds=MINUTES * 60, notes=100)
    print(f"{MINUTES:g} minutes, {len(outage.written)} notes, {outage.chunks} chunks")
