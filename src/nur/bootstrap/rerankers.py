"""Builds the configured reranker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nur.domain.errors import BadConfiguration

if TYPE_CHECKING:
    from nur.ports.reranker import Reranker
    from nur.settings import Settings


def make_reranker(settings: Settings) -> Reranker | None:
    """Return the configured reranker; None if reranking is off. Raises BadConfiguration."""
    if settings.rerank == "http" and settings.rerank_url is not None:
        from nur.adapters.rerank.http import HttpReranker

        key = settings.rerank_api_key.get_secret_value() if settings.rerank_api_key else None
        return HttpReranker(settings.rerank_url, model=settings.rerank_model, api_key=key)
    if settings.rerank == "onnx" and settings.rerank_model is not None:
        try:
            from nur.adapters.rerank.onnx import OnnxReranker
        except ImportError as error:
            raise BadConfiguration("RERANK=onnx needs an extra: pip install 'nur-memory[onnx]'") from error
        return OnnxReranker(Path(settings.rerank_model))
    return None
