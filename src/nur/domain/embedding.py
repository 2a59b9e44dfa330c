"""Embedding models, and the result of probing one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """One model at one vector size. Vectors of different versions are never compared."""

    provider: str
    name: str
    dimensions: int

    @property
    def version(self) -> str:
        """`provider:model:dims`, stored with every vector."""
        return f"{self.provider}:{self.name}:{self.dimensions}"

    @classmethod
    def parse(cls, version: str) -> EmbeddingModel:
        """Parse a `version` string. The model's name may contain colons."""
        provider, rest = version.split(":", 1)
        name, dimensions = rest.rsplit(":", 1)
        return cls(provider, name, int(dimensions))


@dataclass(frozen=True, slots=True)
class Probe:
    """Result of a small test embedding."""

    healthy: bool
    latency_ms: int
    dimensions: int | None = None
    error: str | None = None
    key_refused: bool = False  #: retrying does not help: the operator has to act
    misnamed: bool = False  #: the provider has no such model, or one with other dimensions
