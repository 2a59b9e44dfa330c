"""A setting that needs an extra names it when it is not installed."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

#: None in place of a module: its import fails as if it were not installed.
WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[1:]))
from nur.entrypoints.cli.app import run
sys.exit(run(["list"]))
"""


def run_without(*modules: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NUR_DATA_DIR": str(folder / "data"), **settings}
    program = [sys.executable, "-c", WITHOUT, *modules]
    return subprocess.run(program, env=environment, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("module", "settings", "extra"),
    [
        ("openai", {"OPENAI_API_KEY": "sk-test"}, "openai"),
        ("openai", {"OPENAI_API_KEY": "sk-test", "EMBEDDINGS": "openai"}, "openai"),
        ("chromadb", {"INDEX": "chroma"}, "chroma"),
        ("psycopg", {"DATABASE_URL": "postgresql://nur@localhost/nur"}, "postgres"),
        ("onnxruntime", {"EMBEDDINGS": "onnx", "ONNX_MODEL": "model"}, "onnx"),
        ("tokenizers", {"EMBEDDINGS": "onnx", "ONNX_MODEL": "model"}, "onnx"),
        ("onnxruntime", {"RERANK": "onnx", "RERANK_MODEL": "model"}, "onnx"),
        ("tokenizers", {"NUR_CONFIG": "tokens.toml"}, "tokenizers"),
        ("nur_models", {"EMBEDDINGS": "models"}, "models"),
    ],
)
def test_the_error_names_the_extra(tmp_path: Path, module: str, settings: dict[str, str], extra: str) -> None:
    (tmp_path / "tokens.toml").write_text('[chunking]\ntokenizer_repo = "tokenizer.json"\n', encoding="utf-8")
    done = run_without(module, folder=tmp_path, **settings)
    assert done.returncode == 2, done.stderr
    assert f"pip install 'nur-memory[{extra}]'" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_default_profile_needs_no_extra(tmp_path: Path) -> None:
    done = run_without("openai", "chromadb", "psycopg", "onnxruntime", "tokenizers", "huggingface_hub", folder=tmp_path)
    assert done.returncode == 0, done.stderr
