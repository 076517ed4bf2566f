"""Bisection: the smallest size that is enough, and the boundary of a condition."""

from collections.abc import Callable


def least_size(enough: Callable[[int], bool], smallest: int, limit: int) -> int | None:
    """Return the smallest size that is enough, where every larger one is, too; None beyond the limit."""
    if not enough(limit):
        return None
    low = smallest - 1
    while limit - low > 1:
        middle = (low + limit) // 2
        low, limit = (low, middle) if enough(middle) else (middle, limit)
    return limit


def bisected(
    holds: Callable[[float], bool], inside: float, outside: float, steps: int
) -> tuple[float, float]:
    """Bring two places together in so many steps: one where a condition holds, and one where it does not."""
    for _ in range(steps):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside, outside
