"""Bisection for the smallest sufficient size, and for the boundary of a condition."""

from collections.abc import Callable


def smallest_size(is_sufficient: Callable[[int], bool], smallest: int, limit: int) -> int | None:
    """Return the smallest size for which `is_sufficient` is true, or None if it is false at the limit.

    `is_sufficient` must be monotonic: true for every size above a sufficient one.
    """
    if not is_sufficient(limit):
        return None
    low = smallest - 1
    while limit - low > 1:
        middle = (low + limit) // 2
        low, limit = (low, middle) if is_sufficient(middle) else (middle, limit)
    return limit


def bisect(holds: Callable[[float], bool], inside: float, outside: float, steps: int) -> tuple[float, float]:
    """Narrow an interval between a point where a condition holds and one where it does not.

    Parameters
    ----------
    holds : callable
        Function that returns True if the condition holds at a point.
    inside, outside : float
        Initial points where the condition holds, and where it does not.
    steps : int
        Number of bisections.

    Returns
    -------
    inside, outside : float
        Final points, with the same meaning.
    """
    for _ in range(steps):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside, outside
