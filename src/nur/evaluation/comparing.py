"""Two systems on the same questions: the mean difference, and how sure it is."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Difference(NamedTuple):
    """Mean of B minus mean of A, with a 95% interval. ``low > 0``: B is better; ``high < 0``: B is worse."""

    mean: float
    low: float
    high: float


def paired_bootstrap(
    a: Sequence[float],
    b: Sequence[float],
    groups: Sequence[str] | None = None,
    rounds: int = 2000,
    seed: int = 0,
) -> Difference:
    """Compare two systems on the same questions, in the same order.

    Questions about one conversation or document are not independent. Name each question's conversation in ``groups``
    and whole groups are drawn: the interval gets wider and more honest. With fewer than about 8 groups it is itself
    unsure, so look at both intervals.
    """
    if not len(a) == len(b) or (groups is not None and len(groups) != len(a)) or not a:
        raise ValueError("needs the same questions from both systems")
    differences = [right - left for left, right in zip(a, b, strict=True)]
    names = groups if groups is not None else [str(i) for i in range(len(a))]
    totals: dict[str, tuple[float, int]] = {}
    for name, difference in zip(names, differences, strict=True):
        total, count = totals.get(name, (0.0, 0))
        totals[name] = (total + difference, count + 1)
    pool = list(totals.values())

    draw = random.Random(seed)  # noqa: S311 - a sample, not a secret
    means: list[float] = []
    for _ in range(rounds):
        sample = draw.choices(pool, k=len(pool))
        means.append(sum(total for total, _ in sample) / sum(count for _, count in sample))
    means.sort()
    return Difference(sum(differences) / len(differences), means[int(0.025 * rounds)], means[int(0.975 * rounds)])
