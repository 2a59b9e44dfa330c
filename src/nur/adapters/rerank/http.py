"""HttpReranker: calls a rerank endpoint as offered by Cohere, Jina, Voyage, vLLM and TEI.

    POST {"model", "query", "documents", "top_n"}  →  {"results": [{"index", "relevance_score"}]}

Variants: Text Embeddings Inference (TEI) takes no model, calls the passages `texts`, and returns a bare list of
{"index", "score"}. Voyage rejects `top_n` and returns its results as `data`; others require `top_n`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import httpx2

from nur.domain.errors import RerankerDown

if TYPE_CHECKING:
    from collections.abc import Sequence

#: About 512 tokens, which every reranker accepts; more would be slower.
MAX_CHARS = 2_000
#: The caller's deadline is shorter; this only keeps connections from hanging forever.
TIMEOUT_SECONDS = 60.0
_INVALID_REQUEST = (400, 422)  #: statuses of a request whose fields the server rejects


class HttpReranker:
    """Scores passages through an endpoint. The API key is only ever sent in a header."""

    max_chars = MAX_CHARS

    def __init__(self, url: str, *, model: str | None = None, api_key: str | None = None) -> None:
        self.name = model or "http"
        self._url = url
        self._model = model
        self._sends_top_n = True
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_SECONDS)

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score per passage, in order. Raises RerankerDown."""
        if not passages:
            return []
        try:
            answer = await self._client.post(self._url, json=self._payload(query, passages))
            if answer.status_code in _INVALID_REQUEST and self._model and self._sends_top_n:
                self._sends_top_n = False
                answer = await self._client.post(self._url, json=self._payload(query, passages))
            answer.raise_for_status()
            body = answer.json()
        except httpx2.HTTPStatusError as error:
            raise RerankerDown(f"The rerank endpoint answered with status {error.response.status_code}.") from error
        except httpx2.HTTPError as error:
            raise RerankerDown("The rerank endpoint cannot be reached.") from error
        except ValueError as error:
            raise RerankerDown("The rerank endpoint did not answer in JSON.") from error
        return _scores(body, len(passages))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _payload(self, query: str, passages: Sequence[str]) -> dict[str, Any]:
        if self._model is None:
            return {"query": query, "texts": list(passages)}
        payload: dict[str, Any] = {"model": self._model, "query": query, "documents": list(passages)}
        return payload | ({"top_n": len(passages)} if self._sends_top_n else {})


def _scores(body: Any, size: int) -> list[float]:
    """One finite score per passage, in passage order. Raises RerankerDown for any other response."""
    results = body.get("results", body.get("data")) if isinstance(body, dict) else body
    if not isinstance(results, list):
        raise RerankerDown("The rerank endpoint's answer has no results.")
    found: dict[int, float] = {}
    for result in results:
        index, score = _read(result)
        if not 0 <= index < size or index in found:
            raise RerankerDown("The rerank endpoint's answer has an unknown or duplicate index.")
        found[index] = score
    if len(found) != size:
        raise RerankerDown(f"The rerank endpoint scored {len(found)} of {size} passages.")
    return [found[index] for index in range(size)]


def _read(result: Any) -> tuple[int, float]:
    if isinstance(result, dict):
        index, score = result.get("index"), result.get("relevance_score", result.get("score"))
        if isinstance(index, int) and isinstance(score, int | float) and math.isfinite(score):
            return index, float(score)
    raise RerankerDown("The rerank endpoint's answer has a result without an index and a score.")
