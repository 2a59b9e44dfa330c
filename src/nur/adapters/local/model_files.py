"""The files of the local models that ship with the package."""

from __future__ import annotations

import hashlib
import json
from importlib import resources

from nur.domain.errors import BadConfiguration

MANIFEST = "models.json"


def read(model: str, file: str) -> bytes:
    """A model's file, compared with its hash. Raises BadConfiguration."""
    data = resources.files("nur.data")
    sha256 = json.loads(data.joinpath(MANIFEST).read_bytes())[model]["files"][file]["sha256"]
    try:
        content = data.joinpath(model, file).read_bytes()
    except OSError as error:
        raise BadConfiguration(
            f"The package file nur/data/{model}/{file} is missing. Install nur-memory again."
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise BadConfiguration(f"The package file nur/data/{model}/{file} is damaged. Install nur-memory again.")
    return content
