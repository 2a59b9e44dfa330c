"""The files of models that packages bring."""

from __future__ import annotations

import hashlib
import json
from importlib import resources

from nur.domain.errors import BadConfiguration

MANIFEST = "models.json"
_PACKAGES = {"nur.data": "nur-memory", "nur_models": "nur-memory-models"}  #: by where the files are: who brings them


def read(model: str, file: str, package: str = "nur.data") -> bytes:
    """A model's file, compared with its hash. Raises BadConfiguration."""
    data = resources.files(package)
    path, again = f"{package.replace('.', '/')}/{model}/{file}", f"Install {_PACKAGES[package]} again."
    sha256 = json.loads(data.joinpath(MANIFEST).read_bytes())[model]["files"][file]["sha256"]
    try:
        content = data.joinpath(model, file).read_bytes()
    except OSError as error:
        raise BadConfiguration(f"The package file {path} is missing. {again}") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise BadConfiguration(f"The package file {path} is damaged. {again}")
    return content
