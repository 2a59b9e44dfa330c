"""The files that `make dist` built."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def built(pattern: str) -> Path:
    """The only file of this kind in dist/."""
    found = list((ROOT / "dist").glob(pattern))
    assert len(found) == 1, f"dist/ has {len(found)} files {pattern}: run `make dist`"
    return found[0]


@pytest.fixture(scope="session")
def wheel() -> Path:
    return built("*.whl")


@pytest.fixture(scope="session")
def sdist() -> Path:
    return built("*.tar.gz")


@pytest.fixture(scope="session")
def bundle() -> Path:
    return built("*.mcpb")
