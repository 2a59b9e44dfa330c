"""The container files say what deployment.md promises. Compose itself is asked too, where it is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from nur.settings import Settings

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVER, CHROMA = COMPOSE["services"]["mcp-server"], COMPOSE["services"]["chroma"]
IGNORED = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()


def compose() -> list[str] | None:
    """The compose command that is installed: the plugin, or the program of its own."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]) is None:
            continue
        if subprocess.run([*command, "version"], capture_output=True, check=False).returncode == 0:
            return command
    return None


def test_every_image_is_pinned_by_a_full_version() -> None:
    images = [*re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE), SERVER["image"], CHROMA["image"]]
    assert len(images) == 4  # two stages, the server, Chroma
    assert [image for image in images if not re.search(r":\d+\.\d+\.\d+", image)] == []


def test_the_image_runs_as_a_user_of_its_own() -> None:
    users = re.findall(r"^USER (\S+)", DOCKERFILE, re.MULTILINE)
    assert users == ["nur"]
    assert DOCKERFILE.index("\nUSER ") > DOCKERFILE.rindex("\nFROM ")


def test_the_image_installs_what_is_pinned() -> None:
    assert "-c requirements/run.txt '.[files,openai,postgres,qdrant]'" in DOCKERFILE
    pinned = (ROOT / "requirements" / "run.txt").read_text(encoding="utf-8")
    chroma = re.search(r"^chromadb==(\S+)", pinned, re.MULTILINE)
    assert chroma is not None
    assert f"chromadb-client=={chroma[1]}" in DOCKERFILE
    assert CHROMA["image"] == f"chromadb/chroma:{chroma[1]}"  # client and server of one version


def test_the_image_is_healthy_when_livez_answers() -> None:
    healthcheck = DOCKERFILE[DOCKERFILE.index("HEALTHCHECK") :]
    assert "urllib.request.urlopen" in healthcheck
    assert "/livez" in healthcheck


def test_the_image_keeps_the_store_in_its_volume() -> None:
    assert "NUR_DATA_DIR=/data" in DOCKERFILE
    assert re.search(r"^VOLUME /data$", DOCKERFILE, re.MULTILINE)
    assert SERVER["volumes"] == ["nur_data:/data"]


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
    assert SERVER["ports"] == ["127.0.0.1:3000:3000"]
    assert SERVER["environment"]["NUR_PUBLISHED_ON_LOOPBACK"] == "1"
    assert SERVER["environment"]["MCP_PORT"] == "3000"


def test_chroma_is_not_published() -> None:
    assert "ports" not in CHROMA
    assert CHROMA.get("network_mode") != "host"


def test_the_server_waits_for_a_healthy_chroma() -> None:
    assert SERVER["depends_on"] == {"chroma": {"condition": "service_healthy"}}
    assert "/api/v2/heartbeat" in CHROMA["healthcheck"]["test"][-1]


def test_both_stores_are_in_named_volumes() -> None:
    assert set(COMPOSE["volumes"]) == {"nur_data", "chroma_data"}
    assert CHROMA["volumes"] == ["chroma_data:/data"]


def test_compose_needs_no_key_and_has_no_obsolete_version() -> None:
    assert SERVER["environment"]["OPENAI_API_KEY"] == "${OPENAI_API_KEY:-}"
    assert "version" not in COMPOSE


def test_every_variable_that_compose_sets_is_a_setting() -> None:
    assert set(SERVER["environment"]) <= {name.upper() for name in Settings.model_fields}


@pytest.mark.skipif(
    compose() is None, reason="needs `docker compose` or `docker-compose` to ask; continuous integration installs it"
)
def test_compose_accepts_the_file(tmp_path: Path) -> None:
    command = compose()
    assert command is not None
    nothing = tmp_path / "env"
    nothing.touch()  # a developer's own .env is not what is tested
    checked = subprocess.run(
        [*command, "--env-file", str(nothing), "config", "--quiet"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr


# Several machines

SCALE_FILE = ROOT / "docker-compose.scale.yml"
SCALE = yaml.safe_load(SCALE_FILE.read_text(encoding="utf-8"))
KUSTOMIZE = ROOT / "deploy" / "kustomize"
OURS = {"server-1", "server-2", "worker-1", "worker-2"}


def test_the_scaled_stack_has_two_servers_two_workers_and_what_they_need() -> None:
    services = SCALE["services"]
    assert services.keys() == OURS | {"proxy", "postgres", "qdrant"}
    assert {name for name in services if services[name].get("command") == ["nur", "worker"]} == {"worker-1", "worker-2"}
    assert [name for name in services if "ports" in services[name]] == ["proxy"]
    assert all(port.startswith("127.0.0.1:") for port in services["proxy"]["ports"])
    folders = [services[name]["volumes"][0] for name in sorted(OURS)]
    assert len(set(folders)) == len(OURS), "each process has a data folder of its own"
    assert {folder.split(":")[0] for folder in folders} <= SCALE["volumes"].keys()
    assert all("healthcheck" in services[name] for name in ("proxy", "postgres", "qdrant"))


def test_no_secret_is_written_into_the_files() -> None:
    fields = {name for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)}
    used = set(SCALE["services"]["server-1"]["secrets"])
    assert used <= fields, "a file's name is its setting's"
    for name in OURS:
        environment = SCALE["services"][name]["environment"]
        assert not {key for key in environment if key.lower() in fields}
        assert {key.lower() for key in environment} - {"nur_secrets_dir"} <= Settings.model_fields.keys()
    assert all("file" in secret for secret in SCALE["secrets"].values())
    written = "".join(file.read_text(encoding="utf-8") for file in KUSTOMIZE.glob("*.yaml"))
    assert "kind: Secret\n" not in written


def test_every_image_of_the_scaled_stack_is_pinned() -> None:
    images = [service["image"] for service in SCALE["services"].values()]
    images += [
        found for file in KUSTOMIZE.glob("*.yaml") for found in re.findall(r"image: (\S+:\S+)", file.read_text("utf-8"))
    ]
    assert [image for image in images if not re.search(r":v?\d+\.\d+\.\d+", image)] == []


def test_compose_accepts_the_scaled_stack(tmp_path: Path) -> None:
    command = compose()
    if command is None:
        pytest.skip("compose is not installed")
    for name in SCALE["secrets"]:
        (tmp_path / name).write_text("secret")
    asked = [*command, "-f", str(SCALE_FILE), "config", "--quiet"]
    environment = {**os.environ, "NUR_SECRETS": str(tmp_path)}
    done = subprocess.run(asked, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_kustomize_builds_the_base() -> None:
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    done = subprocess.run(["kubectl", "kustomize", str(KUSTOMIZE)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    built = list(yaml.safe_load_all(done.stdout))
    deployments = {one["metadata"]["name"]: one["spec"] for one in built if one["kind"] == "Deployment"}
    assert {name: spec["replicas"] for name, spec in deployments.items()} == {"nur-server": 2, "nur-worker": 2}
    settings = next(one["data"] for one in built if one["kind"] == "ConfigMap")
    assert {name.lower() for name in settings} - {"nur_secrets_dir"} <= Settings.model_fields.keys()
    for spec in deployments.values():
        pod = spec["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert all("password" not in str(container.get("env", "")) for container in pod["containers"])
