"""Numbers and lists in the sentences of verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence


def number(value: float) -> str:
    """A score or a difference with three significant digits."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if 1e-4 <= abs(value) < 1e6:
        decimals = max(0, 2 - math.floor(math.log10(abs(value))))
        return f"{value:,.{decimals}f}".replace("-", "−")
    return f"{value:.2e}".replace("-", "−")


def counted(count: int, noun: str) -> str:
    """A number of things: 1 metric, 2,000 metrics."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def percent(share: float) -> str:
    """A share in percent with two significant digits at most."""
    return f"{100 * share:.2g} %"


def interval(low: float, high: float) -> str:
    """Two ends as words."""
    return f"{number(low)} to {number(high)}"


def names(models: Sequence[str], most: int = 4) -> str:
    """Names joined as in a sentence; a long list is cut with a count of the rest."""
    shown = list(models)
    if len(shown) > most:
        shown = [*shown[: most - 1], f"{len(shown) - most + 1} others"]
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def unseen(samples: int) -> str:
    """What n samples cannot see: what happens in fewer than about 3/n of the cases."""
    return (
        f"{samples:,} samples say nothing about what happens in fewer than about 3 in {samples:,} cases "
        f"({percent(3 / samples)})."
    )
