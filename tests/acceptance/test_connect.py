"""`nur connect`: every client's file gets an entry, keeps everything else, and loses the entry again."""

from __future__ import annotations

import asyncio
import json
import stat
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client as McpClient
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from nur.domain.errors import Conflict
from nur.entrypoints.cli.app import run
from nur.entrypoints.cli.clients import jsonc, toml_tables
from nur.entrypoints.cli.clients.config_file import ConfigFile
from nur.entrypoints.cli.clients.table import CLIENTS, Client, Folders
from tests.servers.nur_server import NurProcess

if TYPE_CHECKING:
    from collections.abc import Callable

NUR = str(Path(sys.executable).with_name("nur"))
WITH_FILE = [name for name, client in CLIENTS.items() if client.user is not None]
WITH_PROJECT = [name for name, client in CLIENTS.items() if client.project is not None]

JSONC = """// My settings, edited by hand.
{
  "theme": "dark", // not the light one
  "KEY": {
    /* the file server: "memory": {} is not it */
    "files": {"command": "npx", "args": ["-y", "files // not a comment"]}, // last one
  },
  "afterwards": [1, 2,],
}
"""
TOML = """# My settings, edited by hand.
model = "large" # not the small one

[KEY.files]
command = "npx"
args = ["-y", "files"]

# Where I work.
[projects."/work"]
trust_level = "trusted"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, and a project to stand in; no data folder is named."""
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "NUR_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "home"


@pytest.fixture
def nur(home: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command; its output when it succeeds, its error when it must fail."""

    def call(*arguments: str, code: int = 0) -> str:
        left = run(["connect", *arguments])
        printed = capsys.readouterr()
        assert left == code, printed
        return printed.out if code == 0 else printed.err

    return call


def file_of(client: Client, scope: str = "user") -> Path:
    folders = Folders.here()
    found = client.user_file(folders) if scope == "user" else client.project_file(folders)
    assert found is not None
    return found


def sample(client: Client) -> str:
    return (TOML if client.format is toml_tables else JSONC).replace("KEY", client.key)


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())


def content(client: Client, file: Path) -> dict[str, Any]:
    text = file.read_text()
    return tomllib.loads(text) if client.format is toml_tables else jsonc.parse(text)


def backups(file: Path) -> list[Path]:
    return sorted(file.parent.glob(f"{file.name}.*.bak"))


#: What each client's documentation asks for, written out: the table must say the same.
STDIO: dict[str, Any] = {"command": NUR, "args": ["stdio"]}
EXPECTED: dict[str, tuple[str, str, dict[str, Any], dict[str, Any] | None]] = {
    "claude-code": (".claude.json", "mcpServers", {"type": "stdio", **STDIO}, {"type": "http", "url": "URL"}),
    "claude-desktop": (".config/Claude/claude_desktop_config.json", "mcpServers", STDIO, {"url": "URL"}),
    "cursor": (".cursor/mcp.json", "mcpServers", STDIO, {"url": "URL"}),
    "vscode": (
        ".config/Code/User/mcp.json",
        "servers",
        {"type": "stdio", **STDIO},
        {"type": "http", "url": "URL"},
    ),
    "windsurf": (".codeium/windsurf/mcp_config.json", "mcpServers", STDIO, {"serverUrl": "URL"}),
    "codex": (".codex/config.toml", "mcp_servers", STDIO, {"url": "URL"}),
    "gemini": (".gemini/settings.json", "mcpServers", STDIO, {"httpUrl": "URL"}),
    "zed": (".config/zed/settings.json", "context_servers", STDIO, {"url": "URL"}),
    "cline": (
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        "mcpServers",
        STDIO,
        {"type": "streamableHttp", "url": "URL"},
    ),
    "cline-cli": (
        ".cline/data/settings/cline_mcp_settings.json",
        "mcpServers",
        STDIO,
        {"type": "streamableHttp", "url": "URL"},
    ),
    "copilot-cli": (
        ".copilot/mcp-config.json",
        "mcpServers",
        {"type": "local", "tools": ["*"], **STDIO},
        {"type": "http", "tools": ["*"], "url": "URL"},
    ),
    "kiro": (".kiro/settings/mcp.json", "mcpServers", STDIO, {"url": "URL"}),
    "lm-studio": (".lmstudio/mcp.json", "mcpServers", STDIO, {"url": "URL"}),
    "junie": (".junie/mcp/mcp.json", "mcpServers", STDIO, None),
}


@pytest.mark.skipif(sys.platform != "linux", reason="the paths written out here are Linux's")
@pytest.mark.parametrize("name", WITH_FILE)
def test_a_client_finds_the_entry_that_its_documentation_asks_for(
    name: str, home: Path, nur: Callable[..., str]
) -> None:
    place, key, stdio, http = EXPECTED[name]
    client, file = CLIENTS[name], home / place
    assert str(file) in nur(name)
    assert content(client, file) == {key: {"memory": stdio}}
    if http is None:
        assert "accepts commands only, not URLs" in nur(name, "--http", code=2)
        return
    nur(name, "--http", "--url", "http://127.0.0.1:3100/")
    url = {"URL": "http://127.0.0.1:3100/mcp"}
    assert content(client, file) == {
        key: {"memory": {field: url.get(str(value), value) for field, value in http.items()}}
    }


@pytest.mark.parametrize("name", WITH_FILE)
def test_comments_and_other_entries_stay_and_the_entry_goes_again(name: str, nur: Callable[..., str]) -> None:
    client = CLIENTS[name]
    file = file_of(client)
    before = sample(client)
    write(file, before)

    told = nur(name)
    connected = file.read_text()
    for line in before.splitlines():
        assert line.strip().rstrip(",") in connected
    entry = content(client, file)[client.key].pop("memory")
    assert entry["command"] == NUR
    (backup,) = backups(file)
    assert str(backup) in told
    assert backup.read_text() == before

    assert "already connected" in nur(name)
    assert (file.read_text(), backups(file)) == (connected, [backup])

    nur(name, "--remove")
    assert file.read_text() == before
    assert "is not connected" in nur(name, "--remove")


@pytest.mark.parametrize("name", WITH_PROJECT)
def test_a_project_has_its_own_file(name: str, home: Path, nur: Callable[..., str]) -> None:
    client = CLIENTS[name]
    nur(name, "--scope", "project")
    assert file_of(client, "project").is_relative_to(Path.cwd())
    assert content(client, file_of(client, "project"))[client.key]["memory"]["command"] == NUR
    assert not file_of(client).exists()
    listed = [row for row in json.loads(nur("--list", "--json")) if row["client"] == name]
    assert [(row["scope"], row["connected"]) for row in listed] == [("user", "no"), ("project", "stdio")]


def test_a_client_without_project_files_says_so(nur: Callable[..., str]) -> None:
    assert "no configuration per project" in nur("windsurf", "--scope", "project", code=2)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("cursor", '{"mcpServers": {', "is not valid"),  # cut off
        ("cursor", "[]", "is not valid"),  # no object
        ("cursor", '{"mcpServers": []}', "not an object"),
        ("cursor", '{"mcpServers": null}', "not an object"),
        ("cursor", "\udcff", "is not valid"),  # not UTF-8
        ("cursor", '{"mcpServers": {"memory": {"command": "npx", "args": ["server-memory"]}}}', "another server"),
        ("cursor", '{"mcpServers": {"memory": {"url": "https://example.com/mcp"}}}', "another server"),
        ("codex", "[mcp_servers\n", "is not valid"),
        ("codex", "mcp_servers = { memory = { command = 'nur', args = ['stdio'] } }\n", "cannot change safely"),
    ],
)
def test_what_cannot_be_changed_safely_is_left_as_it_is(
    name: str, text: str, words: str, nur: Callable[..., str]
) -> None:
    file = file_of(CLIENTS[name])
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode(errors="surrogateescape"))
    told = nur(name, code=2)
    assert words in told
    assert told.startswith("nur: ")
    assert file.read_bytes() == text.encode(errors="surrogateescape")
    assert list(file.parent.iterdir()) == [file]


def test_another_name_stands_beside_another_server(nur: Callable[..., str]) -> None:
    file = file_of(CLIENTS["cursor"])
    write(file, '{"mcpServers": {"memory": {"command": "npx"}}}')
    nur("cursor", "--name", "nur")
    assert content(CLIENTS["cursor"], file)["mcpServers"].keys() == {"memory", "nur"}


def test_print_writes_nothing(home: Path, nur: Callable[..., str]) -> None:
    assert json.loads(nur("vscode", "--print")) == {"servers": {"memory": {"type": "stdio", **STDIO}}}
    assert tomllib.loads(nur("codex", "--print", "--http"))["mcp_servers"]["memory"]["url"].endswith(":3000/mcp")
    assert json.loads(nur("jetbrains")) == {"mcpServers": {"memory": STDIO}}
    assert list(home.iterdir()) == []


def test_the_data_folder_and_settings_reach_the_server_that_the_client_starts(
    home: Path, nur: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUR_DATA_DIR", "notes")
    nur("claude-code", "--env", "OPENAI_API_KEY=sk=1")
    entry = content(CLIENTS["claude-code"], home / ".claude.json")["mcpServers"]["memory"]
    assert entry["args"] == ["stdio", "--data-dir", str(Path.cwd() / "notes")]
    assert entry["env"] == {"OPENAI_API_KEY": "sk=1"}
    assert stat.S_IMODE((home / ".claude.json").stat().st_mode) == 0o600


def test_a_token_is_sent_and_does_not_get_into_a_projects_file(
    nur: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUR_TOKEN", "a-secret-of-mine")
    for name, headers in (("cursor", "headers"), ("codex", "http_headers")):
        nur(name, "--http")
        entry = content(CLIENTS[name], file_of(CLIENTS[name]))[CLIENTS[name].key]["memory"]
        assert entry[headers] == {"Authorization": "Bearer a-secret-of-mine"}
        nur(name, "--http", "--scope", "project")
        shared = file_of(CLIENTS[name], "project").read_text()
        assert "a-secret-of-mine" not in shared
        assert "NUR_TOKEN" in shared
    assert "use --scope user" in nur("copilot-cli", "--http", "--scope", "project", code=2)


def test_a_linked_file_stays_a_link_and_keeps_its_mode(home: Path, nur: Callable[..., str]) -> None:
    kept = home / "dotfiles" / "mcp.json"
    write(kept, "{}")
    kept.chmod(0o640)
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").symlink_to(kept)
    nur("cursor")
    assert (home / ".cursor" / "mcp.json").is_symlink()
    assert "memory" in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640


@pytest.mark.parametrize("over", ["stdio", "http"])
async def test_a_client_that_follows_the_entry_reaches_nur(
    over: str, home: Path, nur: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with NurProcess(tmp_path / "data") as server:
        monkeypatch.setenv("NUR_DATA_DIR", str(server.folder))
        nur("cursor", *(["--http", "--url", server.url] if over == "http" else []))
        entry = content(CLIENTS["cursor"], home / ".cursor/mcp.json")["mcpServers"]["memory"]
        where = entry["url"] if over == "http" else stdio_client(StdioServerParameters(**entry, env={}))
        async with McpClient(where) as client:
            stored = await client.call_tool("memory_store", {"content": "Tea.", "type": "fact", "confidence": 1.0})
            assert not stored.is_error
        assert (await asyncio.to_thread(run, ["get", stored.structured_content["memory_id"]])) == 0


def test_the_list_says_what_is_installed_and_connected(home: Path, nur: Callable[..., str]) -> None:
    (home / ".codeium" / "windsurf").mkdir(parents=True)
    nur("cursor", "--http")
    write(file_of(CLIENTS["gemini"]), "{")
    rows = {line.split("\t")[0]: line.split("\t")[1:3] for line in nur().splitlines()}
    assert rows["windsurf"] == ["yes", "no"]
    assert rows["cursor"] == ["yes", "http"]
    assert rows["gemini"] == ["yes", "unreadable"]
    assert rows["zed"] == ["no", "no"]
    assert rows.keys() - {"client"} == CLIENTS.keys()


def test_the_list_fits_a_terminal(home: Path, nur: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(home / ".cursor/mcp.json") in nur()
    for name, value in {"TTY_COMPATIBLE": "1", "COLUMNS": "80", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    lines = nur().splitlines()
    assert max(map(len, lines)) <= 80
    row = next(line for line in lines if line.startswith("windsurf"))
    assert row.split()[-1] == "~/.codeium/windsurf/mcp_config.json"


def test_each_platform_has_its_own_places(tmp_path: Path) -> None:
    mac = Folders("darwin", tmp_path, tmp_path / "Library/Application Support", tmp_path)
    windows = Folders("win32", tmp_path, tmp_path / "AppData/Roaming", tmp_path)
    places = {
        ("claude-desktop", mac): "Library/Application Support/Claude/claude_desktop_config.json",
        ("claude-desktop", windows): "AppData/Roaming/Claude/claude_desktop_config.json",
        ("vscode", mac): "Library/Application Support/Code/User/mcp.json",
        ("vscode", windows): "AppData/Roaming/Code/User/mcp.json",
        ("zed", mac): ".config/zed/settings.json",
        ("zed", windows): "AppData/Roaming/Zed/settings.json",
        ("codex", windows): ".codex/config.toml",
    }
    for (name, folders), place in places.items():
        assert CLIENTS[name].user_file(folders) == tmp_path / place


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--http", "--url", "localhost:3000"], "not an address"),
        (["--url", "http://localhost:3000"], "--url needs --http"),
        (["--http", "--env", "A=1"], "or omit --http"),
        (["--env", "A"], "is not NAME=VALUE"),
        (["--name", "a.b"], "letters, digits"),
    ],
)
def test_what_does_not_go_together_is_refused(
    arguments: list[str], words: str, home: Path, nur: Callable[..., str]
) -> None:
    assert words in nur("cursor", *arguments, code=2)
    assert list(home.iterdir()) == []


def test_a_port_that_changes_cannot_be_written_down(nur: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_PORT", "0")
    assert "set one with --url" in nur("cursor", "--http", code=2)


def test_a_program_that_uv_may_delete_is_started_by_uv(
    home: Path, nur: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    uvx = home.parent / "bin" / "uvx"
    uvx.parent.mkdir()
    uvx.write_text("#!/bin/sh\n")
    uvx.chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(home / ".cache/uv/archive-v0/x"))
    entry = json.loads(nur("cursor", "--print"))["mcpServers"]["memory"]
    assert entry == {"command": str(uvx), "args": ["--from", "nur-memory", "nur", "stdio"]}
    nur("cursor")
    monkeypatch.undo()
    assert content(CLIENTS["cursor"], home / ".cursor/mcp.json") == {"mcpServers": {"memory": entry}}


def test_what_another_program_writes_meanwhile_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    write(path, "{}")
    file = ConfigFile(path, jsonc)
    write(path, '{"theirs": 1}')
    with pytest.raises(Conflict):
        file.set(["mcpServers", "memory"], {"url": "x"})
    assert path.read_text() == '{"theirs": 1}'
    assert list(tmp_path.iterdir()) == [path, *tmp_path.glob("data")]


def test_windows_line_ends_and_marks_stay(nur: Callable[..., str]) -> None:
    for name in ("cursor", "codex"):
        file = file_of(CLIENTS[name])
        write(file, "\ufeff" + sample(CLIENTS[name]).replace("\n", "\r\n"))
        nur(name)
        raw = file.read_bytes()
        assert raw.startswith(b"\xef\xbb\xbf")
        assert raw.count(b"\r\n") == raw.count(b"\n")


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(
    servers=st.dictionaries(st.text(max_size=4), _VALUES, max_size=3),
    others=st.dictionaries(st.text(max_size=4), _VALUES, max_size=3),
    indent=st.sampled_from([None, 2, 4, "\t"]),
)
def test_any_json_file_gets_the_entry_and_gives_it_back(
    servers: dict[str, Any], others: dict[str, Any], indent: int | str | None
) -> None:
    servers.pop("memory", None)
    whole = {**others, "servers": servers}
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    connected = jsonc.set_entry(text, ["servers", "memory"], {"url": "x"})
    assert json.loads(connected) == {**whole, "servers": {**servers, "memory": {"url": "x"}}}
    assert json.loads(jsonc.remove_entry(connected, ["servers", "memory"])) == whole
