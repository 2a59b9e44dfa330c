"""What exists is documented, and what is documented exists."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from nur.entrypoints.cli.app import COMMANDS, nur
from nur.entrypoints.cli.clients.entry import Http, Stdio
from nur.entrypoints.cli.clients.table import CLIENTS, Client
from nur.entrypoints.mcp.server import tools
from nur.entrypoints.rest.app import make_fastapi
from nur.observability.metrics import REGISTRY
from nur.settings import CONFIG_FILE_VARIABLE, NotesChunking, Settings
from release.reference import PAGES as GENERATED
from release.site import problems

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from nur.bootstrap import Services

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "changes").glob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
#: A file or folder of ours in backticks: modules are named from `src/nur/` on.
NAMED_PATH = re.compile(r"`((?:tests|src|domain|ports|retrieval|services|adapters|entrypoints|observability)/[\w/.]*)`")


def nobody() -> AbstractAsyncContextManager[Services]:
    raise AssertionError("a description needs no services")


@cache
def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def section(text: str, title: str) -> str:
    """What stands under a second-level heading; empty when there is none."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def anchors(text: str) -> set[str]:
    """The names that headings can be linked by: small letters, hyphens for spaces, no punctuation."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in HEADING.findall(text)}


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_every_setting_has_a_row(name: str) -> None:
    assert re.search(rf"^\| `{name.upper()}` \|", page("reference/settings.md"), re.MULTILINE)


@pytest.mark.parametrize("name", ["chroma_port", "embedding_deadline", "index", "mcp_port", "openai_embed_model"])
def test_a_settings_row_states_its_default(name: str) -> None:
    default = Settings.model_fields[name].get_default(call_default_factory=True)
    default = int(default) if isinstance(default, float) else default
    assert f"| `{name.upper()}` | `{default}` |" in page("reference/settings.md")


def test_the_chunking_table_and_the_file_variable_are_explained() -> None:
    text = page("reference/settings.md")
    assert [name for name in NotesChunking.model_fields if not re.search(rf"^{name} = ", text, re.MULTILINE)] == []
    assert f"`{CONFIG_FILE_VARIABLE}`" in text


@pytest.mark.parametrize("tool", tools(nobody), ids=lambda tool: tool.name)
def test_every_tool_has_a_section_with_all_its_parameters(tool: object) -> None:
    name, parameters = getattr(tool, "name", ""), getattr(tool, "parameters", {})
    text = section(page("reference/tools.md"), name)
    assert text
    assert [field for field in parameters["properties"] if f"| `{field}` |" not in text] == []


def test_the_readme_lists_every_tool() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [tool.name for tool in tools(nobody) if f"| `{tool.name}` |" not in text] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_section_with_all_its_options(name: str) -> None:
    text = section(page("reference/commands.md"), f"nur {name}")
    command = nur.get_command(click.Context(nur), name)
    assert text
    assert command is not None
    parts = list(command.commands.values()) if isinstance(command, click.Group) else []
    assert [part.name for part in parts if f"`nur {name} {part.name}`" not in text] == []
    options = [option for one in (command, *parts) for parameter in one.params for option in parameter.opts]
    assert [option for option in options if f"`{option}" not in text] == []


@pytest.mark.parametrize("client", CLIENTS.values(), ids=list(CLIENTS))
def test_every_client_has_a_section_with_its_files_and_entries(client: Client) -> None:
    text = section(page("how-to/connect-clients.md"), client.title)
    assert f"$ nur connect {client.name}\n" in text
    assert f"`{client.name}`" in section(page("reference/commands.md"), "nur connect")
    for place in filter(None, (client.user, *client.user_elsewhere.values(), client.project)):
        assert place.rpartition("}")[2] in text
    ways: list[Stdio | Http] = [Stdio(["/path/to/nur", "stdio"])]
    if client.url_key is not None:
        ways.append(Http("http://127.0.0.1:3000/mcp", None))
    for way in ways:
        assert client.format.show([client.key, "memory"], way.entry(client, shared=False)) in text


def test_every_metric_has_a_row() -> None:
    text = page("reference/logs-and-metrics.md")
    names = [f"{metric.name}_total" if metric.type == "counter" else metric.name for metric in REGISTRY.collect()]
    assert names
    assert [name for name in names if f"| `{name}` |" not in text] == []


def test_every_decision_is_in_the_index() -> None:
    index = page("adr/README.md")
    decisions = sorted(path.name for path in (DOCS / "adr").glob("0*.md"))
    assert decisions
    assert [name for name in decisions if f"({name})" not in index] == []


@pytest.mark.parametrize("path", sorted((DOCS / "adr").glob("0*.md")), ids=shown)
def test_a_decision_has_context_decision_evidence_and_consequences(path: Path) -> None:
    titles = re.findall(r"^## (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert titles == ["Context", "Decision", "Evidence", "Consequences"]


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_every_link_leads_somewhere(path: Path) -> None:
    broken = []
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        aim = (path.parent / file).resolve() if file else path
        if not aim.exists() or (anchor and anchor not in anchors(aim.read_text(encoding="utf-8"))):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_no_mark_of_a_merge_is_left(path: Path) -> None:
    assert re.findall(r"^(?:<{7}|={7}|>{7})(?: .*)?$", path.read_text(encoding="utf-8"), re.MULTILINE) == []


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_every_file_that_is_named_exists(path: Path) -> None:
    named = set(NAMED_PATH.findall(path.read_text(encoding="utf-8")))
    assert sorted(name for name in named if not any((base / name).exists() for base in (ROOT, ROOT / "src/nur"))) == []


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_docs_speak_of_the_specification_by_its_name(path: Path) -> None:
    assert re.findall(r"(?i)\bseeds?\b", path.read_text(encoding="utf-8")) == []


def routes() -> set[str]:
    """Every REST call, as `METHOD /path`."""
    described = make_fastapi(nobody).openapi()["paths"]
    return {f"{method.upper()} {path}" for path, methods in described.items() for method in methods}


def test_every_route_is_in_the_reference_and_nothing_else() -> None:
    named = set(re.findall(r"`((?:GET|POST|PATCH|DELETE|PUT) /v2/[^`?]*)[^`]*`", page("reference/rest.md")))
    assert named == routes()


def test_every_tool_has_a_route() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)`", section(page("reference/rest.md"), "Tools and routes"), re.MULTILINE)
    assert [tool.name for tool in tools(nobody) if tool.name not in dict(rows)] == []
    assert {route for _, route in rows} <= routes()


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_page_is_as_the_code_is(name: str) -> None:
    assert page(f"reference/generated/{name}") == GENERATED[name](), "run `make reference`"


def test_the_site_has_every_page_in_its_contents() -> None:
    """Decisions are reached through their index."""
    listed = set(re.findall(r'"([\w/-]+\.md)"', (ROOT / "zensical.toml").read_text(encoding="utf-8")))
    pages = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    assert listed == {name for name in pages if not name.startswith("adr/0")}


def test_a_broken_link_of_the_site_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<h1 id="top">A</h1><a href="b.html#here">b</a><a href="#top">top</a>')
    (tmp_path / "b.html").write_text('<p id="here">B</p><a href="https://example.com/">elsewhere</a>')
    assert problems(tmp_path) == []
    (tmp_path / "b.html").write_text(
        '<a href="gone.html">x</a><img src="no.png"><script src="https://cdn.example/x.js">'
    )
    assert problems(tmp_path) == [
        "a.html: b.html#here: no such heading",
        "b.html: gone.html: no such file",
        "b.html: no.png: no such file",
        "b.html: loads https://cdn.example/x.js",
    ]
