"""Handlers translate: what they do with stored notes, they ask a service to do."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path

import pytest

from nur import entrypoints
from nur.bootstrap import Services

ROOT = Path(entrypoints.__file__).parent
HANDLERS = sorted(path for room in ("mcp", "rest") for path in (ROOT / room).glob("*.py"))
#: Fields of Services that are ports.
PORTS = {field.name for field in fields(Services) if field.type in {"Stores", "VectorIndex", "Embedder", "Clock"}}


def ports_used(source: str) -> set[str]:
    """The ports that a module reaches through `services`."""
    attributes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)]
    return {one.attr for one in attributes if ast.unparse(one.value).endswith("services")} & PORTS


def test_a_port_behind_services_is_seen() -> None:
    assert {"stores", "index", "embedder", "clock"} == PORTS
    assert ports_used("await services.stores.notes.get(1); self._services.clock; services.search()") == {
        "stores",
        "clock",
    }


@pytest.mark.parametrize("path", HANDLERS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_handler_reaches_for_a_store_or_an_embedder(path: Path) -> None:
    assert ports_used(path.read_text(encoding="utf-8")) == set()
