"""The command line, as a process."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.servers.nur_server import NurProcess, clean_environment

if TYPE_CHECKING:
    from pathlib import Path


def nur(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nur", *arguments],
        env=clean_environment(folder, **settings),
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def test_help_lists_every_command(tmp_path: Path) -> None:
    page = nur(tmp_path, "--help")
    assert page.returncode == 0
    for command in ("serve", "stdio", "config"):
        assert command in page.stdout


def test_config_prints_effective_values_with_secrets_masked(tmp_path: Path) -> None:
    shown = nur(tmp_path, "config", "--json", OPENAI_API_KEY="sk-very-secret", MCP_PORT="4000")
    values = json.loads(shown.stdout)
    assert values["MCP_PORT"] == 4000
    assert values["OPENAI_API_KEY"] == "********"
    assert "sk-very-secret" not in shown.stdout + nur(tmp_path, "config", OPENAI_API_KEY="sk-very-secret").stdout


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MCP_PORT", "seventy"),  # not a number
        ("MCP_PORT", "70000"),  # not a port
        ("INDEX", "faiss"),  # not one of the choices
        ("OPENAI_TIMEOUT", "0"),  # below the limit
        ("OPENAI_BASE_URL", "localhost"),  # not a URL
        ("CHUNK_OVERLAP_TOKENS", "900"),  # does not fit its sibling
        ("SINGLE_PIECE_MAX_TOKENS", "100"),  # smaller than a chunk
        ("NUR_BIND", "0.0.0.0"),  # reachable by others, without a token
        ("NUR_CONFIG", "/nonexistent/nur.toml"),  # no such file
        ("EMBEDDINGS", "openai"),  # needs a key
        ("EMBEDDINGS", "onnx"),  # needs a folder
    ],
)
def test_a_bad_setting_exits_2_and_names_the_variable(tmp_path: Path, variable: str, value: str) -> None:
    left = (
        nur(tmp_path / "data", "serve", "--port", "0", **{variable: value})
        if variable != "MCP_PORT"
        else nur(tmp_path / "data", "serve", **{variable: value})
    )
    assert left.returncode == 2, left.stderr
    named = {"openai": "OPENAI_API_KEY", "onnx": "ONNX_MODEL"}.get(value, variable)
    assert named in left.stderr
    assert "Traceback" not in left.stderr


def test_a_second_server_on_the_same_folder_exits_3(tmp_path: Path) -> None:
    with NurProcess(tmp_path / "data") as first:
        left = nur(first.folder, "serve", "--port", "0")
        assert left.returncode == 3
        assert str(first.process.pid) in left.stderr
        assert first.stop() == 0


def test_a_damaged_store_exits_4_and_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    folder.mkdir()
    (folder / "nur.db").write_bytes(b"this is not a database" * 1000)
    left = nur(folder, "serve", "--port", "0")
    assert left.returncode == 4
    assert (folder / "nur.db").read_bytes().startswith(b"this is not")


def test_nur_toml_is_read_and_the_environment_wins(tmp_path: Path) -> None:
    file = tmp_path / "nur.toml"
    file.write_text('mcp_port = 4001\nlog_level = "DEBUG"\n[chunking]\nmax_tokens = 256\noverlap_tokens = 64\n')
    values = json.loads(nur(tmp_path, "config", "--json", NUR_CONFIG=str(file), MCP_PORT="4002").stdout)
    assert values["MCP_PORT"] == 4002
    assert values["LOG_LEVEL"] == "DEBUG"
    assert values["CHUNKING"]["max_tokens"] == 256


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[chunking]\nmax_tokens = 10\noverlap_tokens = 10\n", "overlap_tokens"),
        ("[chunking]\nmax_tokens = 0\n", "max_tokens"),
        ("mcp_port = \n", "nur.toml"),  # broken TOML
        ("mcp_prot = 9\n", "nur.toml: unknown key mcp_prot. Did you mean mcp_port?"),
        ("banana = 'sk-secret'\n", "nur.toml: unknown key banana. "),  # like none
        ("[chunking]\nmax_token = 9\n", "nur.toml: unknown key max_token in [chunking]. Did you mean max_tokens?"),
    ],
)
def test_a_bad_nur_toml_exits_2_and_says_where(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "nur.toml"
    file.write_text(text)
    left = nur(tmp_path, "config", NUR_CONFIG=str(file))
    assert left.returncode == 2
    assert named in left.stderr
    assert "secret" not in left.stderr


def test_a_token_that_can_be_guessed_is_refused_where_others_can_reach_the_server(tmp_path: Path) -> None:
    refused = nur(tmp_path, "serve", "--port", "0", NUR_BIND="0.0.0.0", NUR_TOKEN="fifteen-letters")
    assert refused.returncode == 2
    assert "secrets.token_urlsafe" in refused.stderr
    assert "fifteen-letters" not in refused.stderr
    assert nur(tmp_path, "config", NUR_BIND="0.0.0.0", NUR_TOKEN="sixteen-letters-").returncode == 0
