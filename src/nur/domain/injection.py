"""When passages are put into a prompt whose writer did not ask for them. Standard library only: hooks start quickly."""

from __future__ import annotations

SHORTEST_PROMPT = 15
SKIP = "#skip"
#: Of a search's confidence; docs/quality.md has what lower and higher ones show.
LEAST_CONFIDENCE = 0.45
#: Hits whose passages are shown.
PASSAGES = 3


def may_inject(prompt: str) -> bool:
    """Whether a prompt is long enough to ask memory about, and does not forbid it."""
    return len(prompt) >= SHORTEST_PROMPT and SKIP not in prompt


def is_worth_showing(confidence: float | None) -> bool:
    """Whether what a search found is worth reading for somebody who did not ask for it."""
    return (confidence or 0.0) >= LEAST_CONFIDENCE
