"""Secrets from files, as Docker and Kubernetes mount them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nur.domain.errors import BadConfiguration
from nur.settings import from_environment, load

if TYPE_CHECKING:
    from pathlib import Path


def test_a_setting_is_read_from_the_file_of_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "nur_token").write_text("from-a-file\n")
    (tmp_path / "something_else").write_text("not ours")
    monkeypatch.setenv("NUR_SECRETS_DIR", str(tmp_path))
    token = load().nur_token
    assert token is not None
    assert token.get_secret_value() == "from-a-file"
    assert from_environment()["NUR_SECRETS_DIR"] == str(tmp_path)

    monkeypatch.setenv("NUR_TOKEN", "from-the-environment")
    token = load().nur_token
    assert token is not None
    assert token.get_secret_value() == "from-the-environment"


def test_a_folder_that_is_not_there_stops_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUR_SECRETS_DIR", str(tmp_path / "nowhere"))
    with pytest.raises(BadConfiguration, match="NUR_SECRETS_DIR: there is no folder"):
        load()
