"""Embedding models by name, and the result of probing one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """One model at one size. Vectors of different versions never meet."""

    provider: str
    name: str
    dimensions: int

    @property
    def version(self) -> str:
        """`provider:model:dims`, the name under which its vectors are kept."""
        return f"{self.provider}:{self.name}:{self.dimensions}"

    @classmethod
    def parse(cls, version: str) -> EmbeddingModel:
        """Read a `version` back; a model's name may hold colons."""
        provider, rest = version.split(":", 1)
        name, dimensions = rest.rsplit(":", 1)
        return cls(provider, name, int(dimensions))


@dataclass(frozen=True, slots=True)
class Probe:
    """What a small test embedding showed."""

    healthy: bool
    latency_ms: int
    dimensions: int | None = None
    error: str | None = None
    key_refused: bool = False  #: waiting will not help: the operator has to act
    misnamed: bool = False  #: the provider answered, but knows no such model, or one of another size
