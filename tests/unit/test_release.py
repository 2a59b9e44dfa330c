"""What a release is made of, without building it; `make dist` checks what was built."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nur.entrypoints.mcp.server import tools
from release import changelog
from release.bundle import NO_NAME, manifest, server
from release.model_files import provide
from release.readme import links, page, registry_name

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from nur.bootstrap import Services

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MODELS: dict[str, Any] = json.loads((ROOT / "src/nur/data/models.json").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
REPOSITORY = "https://github.com/someone/nur"
#: Large, or bound to platforms, and not needed by the default profile.
EXTRAS_ONLY = {"chromadb", "onnxruntime", "openai", "tokenizers", "wordllama"}


def nobody() -> AbstractAsyncContextManager[Services]:
    raise AssertionError("a description needs no services")


def test_a_default_install_brings_nothing_that_only_extras_need() -> None:
    names = {re.split(r"[^\w-]", requirement)[0] for requirement in PROJECT["project"]["dependencies"]}
    assert names & EXTRAS_ONLY == set()


def test_both_names_run_the_same_command() -> None:
    assert PROJECT["project"]["scripts"] == dict.fromkeys(["nur", "nur-memory"], "nur.__main__:main")


@pytest.mark.parametrize("model", MODELS)
def test_a_models_files_are_packaged_and_kept_out_of_the_repository(model: str) -> None:
    folder = f"src/nur/data/{model}/"
    assert folder in PROJECT["tool"]["hatch"]["build"]["artifacts"]
    assert folder in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert folder.removeprefix("src/") in (ROOT / "NOTICE").read_text(encoding="utf-8")


def test_files_that_are_there_are_not_downloaded_again(tmp_path: Path) -> None:
    """The package does not exist: an attempt to download it would fail."""
    empty = {"path": "none", "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}
    model = {"requirement": "no-such-package-at-all==1", "files": {"weights": empty}}
    (tmp_path / "models.json").write_text(json.dumps({"toy": model}), encoding="utf-8")
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "weights").touch()
    provide(tmp_path)


def test_links_of_the_page_lead_into_the_repository_at_the_tag() -> None:
    text = "[a](docs/a.md#b) [c](https://example.org) [d](#e)"
    assert page(text, REPOSITORY, "2.0.0").splitlines() == [
        f"[a]({REPOSITORY}/blob/v2.0.0/docs/a.md#b) [c](https://example.org) [d](#e)",
        "<!-- mcp-name: io.github.someone/nur-memory -->",
    ]


def test_without_a_repository_relative_links_become_text() -> None:
    assert page("[a](docs/a.md) [c](https://example.org)", "", "2.0.0") == "a [c](https://example.org)"
    assert links("", "2.0.0") == {}


def test_no_link_of_the_readme_stays_relative() -> None:
    assert re.findall(r"\]\((?!https?:|#)", page(README, REPOSITORY, "2.0.0")) == []


def test_only_github_accounts_own_names_in_the_registry() -> None:
    assert registry_name("https://example.org/someone/nur") is None
    assert server("2.0.0", "")["name"] == NO_NAME
    assert server("2.0.0", REPOSITORY)["name"] == "io.github.someone/nur-memory"


def test_the_bundle_lists_every_tool() -> None:
    listed = manifest("2.0.0", "")["tools"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in tools(nobody)]
    assert all(tool["description"] for tool in listed)


def test_the_release_workflow_has_no_secrets_and_publishes_what_was_tried() -> None:
    workflow = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert "secrets." not in workflow
    assert "id-token: write" in workflow
    assert "needs: [build, install]" in workflow


def test_a_picture_of_the_readme_is_shown_from_the_repository_or_left_out() -> None:
    text = "Before.\n\n![A view](docs/images/view.png)\n\nAfter."
    assert page(text, "", "2.0.0") == "Before.\n\nAfter."
    shown = page(text, "https://example.com/owner/nur", "2.0.0")
    assert "![A view](https://example.com/owner/nur/raw/v2.0.0/docs/images/view.png)" in shown


OLD = "# Changes\n\n## 2.0.0 (2026-11-16)\n\n### Features\n\n- One.\n\n## 1.0 (2020-01-01)\n\n### Features\n\n- Old.\n"


def test_fragments_are_added_to_the_section_of_a_version_that_has_one() -> None:
    drafted = "## 2.0.0 (2026-12-01)\n\n### Features\n\n- Two.\n\n### Bugfixes\n\n- Three.\n"
    text = changelog.merged(OLD, "2.0.0", drafted)
    assert re.sub(r"\n+", "\n", text).splitlines() == [
        *("# Changes", "## 2.0.0 (2026-11-16)", "### Features", "- One.", "- Two.", "### Bugfixes", "- Three."),
        *("## 1.0 (2020-01-01)", "### Features", "- Old."),
    ]
