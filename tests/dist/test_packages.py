"""The wheel and the sdist: what they contain, and what they say about themselves."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tarfile
import zipfile
from email import message_from_bytes
from typing import TYPE_CHECKING

import pytest

from tests.dist.conftest import ROOT

if TYPE_CHECKING:
    from email.message import Message
    from pathlib import Path

MODELS = json.loads((ROOT / "src/nur/data/models.json").read_text(encoding="utf-8"))
MAX_WHEEL = 20_000_000


def content(wheel: Path, name: str) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        (found,) = [member for member in archive.namelist() if member.endswith(name)]
        return archive.read(found)


@pytest.fixture
def metadata(wheel: Path) -> Message:
    return message_from_bytes(content(wheel, ".dist-info/METADATA"))


def test_the_wheel_is_for_every_platform_and_python_3(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    assert wheel.stat().st_size < MAX_WHEEL


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {
        "nur",
        wheel.name.removesuffix("-py3-none-any.whl") + ".dist-info",
    }
    expected = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src/nur").rglob("*.py")}
    pages = [path for folder in ("static", "docs") for path in (ROOT / "src/nur/entrypoints/web" / folder).iterdir()]
    expected |= {str(path.relative_to(ROOT / "src")) for path in pages}
    assert expected <= set(names)
    assert "nur/py.typed" in names


@pytest.mark.parametrize(("model", "file"), [(model, file) for model in MODELS for file in MODELS[model]["files"]])
def test_the_models_files_are_in_the_wheel_as_published(wheel: Path, model: str, file: str) -> None:
    found = content(wheel, f"nur/data/{model}/{file}")
    assert hashlib.sha256(found).hexdigest() == MODELS[model]["files"][file]["sha256"]


def test_the_command_has_two_names(wheel: Path) -> None:
    scripts = content(wheel, ".dist-info/entry_points.txt").decode()
    assert sorted(re.findall(r"^([\w-]+) = nur\.__main__:main$", scripts, re.MULTILINE)) == ["nur", "nur-memory"]


def test_licences_are_included(wheel: Path) -> None:
    notice = content(wheel, "licenses/NOTICE").decode()
    assert all(f"nur/data/{model}/" in notice for model in MODELS)
    assert b"Apache License" in content(wheel, "licenses/LICENSE")


def test_no_link_of_the_page_is_relative(metadata: Message) -> None:
    page = metadata.get_payload()
    assert isinstance(page, str)
    assert "# Nur" in page
    assert [link for link in re.findall(r"\]\(([^)\s]+)\)", page) if not re.match(r"https?:|#", link)] == []


@pytest.mark.skipif(not os.environ.get("NUR_REPOSITORY"), reason="only a release knows its repository")
def test_a_release_links_to_its_repository_and_is_known_to_the_registry(metadata: Message) -> None:
    assert f"Homepage, {os.environ['NUR_REPOSITORY']}" in metadata.get_all("Project-URL", [])
    registered = json.loads((ROOT / "dist/server.json").read_text(encoding="utf-8"))["name"]
    assert f"mcp-name: {registered} " in str(metadata.get_payload())


def test_the_sdist_builds_without_a_download(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
    assert {f"src/nur/data/{model}/{file}" for model in MODELS for file in MODELS[model]["files"]} <= names
    assert {"README.md", "CHANGELOG.md", "SECURITY.md", "docs/quickstart.md", "release/model_files.py"} <= names
    assert [name for name in names if name.startswith((".venv", "dist/"))] == []
