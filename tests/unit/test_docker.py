"""The container files say what deployment.md promises. Compose itself is asked too, where it is installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nur.settings import Settings

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
IGNORED = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()


def block(*path: str) -> str:
    """What stands under a path of keys in the compose file, comments left out."""
    lines = [line for line in COMPOSE.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for depth, name in enumerate(path):
        start = lines.index(f"{'  ' * depth}{name}:")
        end = next((at for at in range(start + 1, len(lines)) if _indent(lines[at]) <= 2 * depth), len(lines))
        lines = lines[start + 1 : end]
    return "\n".join(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def has_compose() -> bool:
    docker = shutil.which("docker")
    if docker is None:
        return False
    return subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode == 0


def test_every_image_is_pinned_by_a_full_version() -> None:
    images = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE) + re.findall(r"\bimage: (\S+)", COMPOSE)
    assert len(images) == 4  # two stages, the server, Chroma
    assert [image for image in images if not re.search(r":\d+\.\d+\.\d+", image)] == []


def test_the_image_runs_as_a_user_of_its_own() -> None:
    users = re.findall(r"^USER (\S+)", DOCKERFILE, re.MULTILINE)
    assert users == ["nur"]
    assert DOCKERFILE.index("\nUSER ") > DOCKERFILE.rindex("\nFROM ")


def test_the_image_installs_what_is_pinned() -> None:
    assert '-c requirements/run.txt ".[chroma]"' in DOCKERFILE
    pinned = (ROOT / "requirements" / "run.txt").read_text(encoding="utf-8")
    chroma = re.search(r"^chromadb==(\S+)", pinned, re.MULTILINE)
    assert chroma is not None
    assert f"image: chromadb/chroma:{chroma[1]}" in block("services", "chroma")  # client and server of one version


def test_the_image_is_healthy_when_livez_answers() -> None:
    healthcheck = DOCKERFILE[DOCKERFILE.index("HEALTHCHECK") :]
    assert "urllib.request.urlopen" in healthcheck
    assert "/livez" in healthcheck


def test_the_image_keeps_the_store_in_its_volume() -> None:
    assert "NUR_DATA_DIR=/data" in DOCKERFILE
    assert re.search(r"^VOLUME /data$", DOCKERFILE, re.MULTILINE)
    assert "nur_data:/data" in block("services", "mcp-server")


def test_the_builder_is_sent_all_that_is_copied_and_nothing_else() -> None:
    copied = {
        source.removesuffix("/")
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for source in line.split()[:-1]
    }
    assert all((ROOT / source).exists() for source in copied)
    assert "*" in IGNORED
    assert {line[1:] for line in IGNORED if line.startswith("!")} == copied


def test_the_server_is_published_on_loopback_only_and_says_so() -> None:
    assert re.findall(r'- "(\S+:3000)"', block("services", "mcp-server")) == ["127.0.0.1:3000:3000"]
    assert 'NUR_PUBLISHED_ON_LOOPBACK: "1"' in block("services", "mcp-server")


def test_chroma_is_not_published() -> None:
    assert "ports:" not in block("services", "chroma")


def test_the_server_waits_for_a_healthy_chroma() -> None:
    assert "condition: service_healthy" in block("services", "mcp-server", "depends_on", "chroma")
    assert "/api/v2/heartbeat" in block("services", "chroma", "healthcheck")


def test_both_stores_are_in_named_volumes() -> None:
    assert block("volumes").split() == ["nur_data:", "chroma_data:"]
    assert "chroma_data:/data" in block("services", "chroma")


def test_compose_needs_no_key_and_has_no_obsolete_version() -> None:
    assert "OPENAI_API_KEY: ${OPENAI_API_KEY:-}" in COMPOSE
    assert not re.search(r"^version:", COMPOSE, re.MULTILINE)


def test_every_variable_that_compose_sets_is_a_setting() -> None:
    names = {line.split(":")[0].strip() for line in block("services", "mcp-server", "environment").splitlines()}
    assert names
    assert names <= {name.upper() for name in Settings.model_fields}


@pytest.mark.skipif(not has_compose(), reason="docker compose is not installed")
def test_compose_accepts_the_file() -> None:
    found = subprocess.run(
        ["docker", "compose", "--env-file", "/dev/null", "config", "--format", "json"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    services = json.loads(found.stdout)["services"]
    assert set(services) == {"mcp-server", "chroma"}
    assert services["mcp-server"]["ports"][0]["host_ip"] == "127.0.0.1"
    assert services["mcp-server"]["depends_on"]["chroma"]["condition"] == "service_healthy"
    assert "ports" not in services["chroma"]
