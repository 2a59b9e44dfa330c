"""A provider that is down while notes come in: the short form of tests/faults, for every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.provider_outage import Outage

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.openai_stub import OpenAIStub


@pytest.mark.timeout(300)
async def test_an_outage_delays_nothing_but_vectors(tmp_path: Path, openai_stub: OpenAIStub) -> None:
    await Outage(tmp_path / "data", openai_stub).survive(seconds=0, notes=30)
