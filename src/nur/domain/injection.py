"""When a hook adds passages to a prompt unasked. Imports nothing, so that hooks start quickly."""

from __future__ import annotations

MIN_PROMPT_CHARACTERS = 15
SKIP = "#skip"
#: Minimum confidence of a search; docs/quality.md compares lower and higher values.
MIN_CONFIDENCE = 0.45
#: Number of hits whose passages are added.
PASSAGES = 3


def may_inject(prompt: str) -> bool:
    """Whether a prompt is long enough to search for and does not opt out."""
    return len(prompt) >= MIN_PROMPT_CHARACTERS and SKIP not in prompt


def is_worth_showing(confidence: float | None) -> bool:
    """Whether a search's confidence is high enough to show its passages unasked."""
    return (confidence or 0.0) >= MIN_CONFIDENCE
