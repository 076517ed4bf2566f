"""The sample size at which a test reaches a power ([RAB] Fig. 6 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from riskrank.engine.sampling.design import FEWEST_SAMPLES
from riskrank.engine.types import Floats, Integers
from riskrank.errors import UsageError, option

# The search goes no further than this many times the largest size that was asked for.
_LIMIT = 5

# Sizes at which tables are tested whole, where they disagree with the closed form.
_LOOKS = 3


@dataclass(frozen=True)
class RequiredSize:
    """The sample size that gives a power.

    Attributes
    ----------
    size : int or None
        Samples per model; None if the power was not reached within the limit.
    target : float
        The power asked for.
    power, standard_error : float
        Power at `size` (at the limit, if None) and its error.
    confirmed : bool
        Whether tables of this size that were tested whole agree.
    sizes, powers : ndarray, shape (s,)
        All sizes looked at and their powers.
    """

    size: int | None
    target: float
    power: float
    standard_error: float
    confirmed: bool
    sizes: Integers
    powers: Floats


def least_size(enough: Callable[[int], bool], smallest: int, limit: int) -> int | None:
    """The smallest size that is enough, where every larger one is, too; None beyond the limit."""
    if not enough(limit):
        return None
    low = smallest - 1
    while limit - low > 1:
        middle = (low + limit) // 2
        low, limit = (low, middle) if enough(middle) else (middle, limit)
    return limit


def find_size(
    power: Callable[[int, float], float],
    look: Callable[[int, float], float],
    *,
    target: float,
    smallest: int,
    limit: int,
    otherwise: int,
) -> tuple[int | None, float, bool]:
    """The size at which a claim has a power by a closed form, and by tests of whole tables.

    Parameters
    ----------
    power : callable
        Power at a size in closed form, of a test that stands so many standard errors too high.
    look : callable
        Tests tables of a size whole; says how high the test stands: as it was told, where they agree.
    target : float
    smallest, limit : int

    Returns
    -------
    size : int or None
        None where the limit is not enough.
    height : float
    confirmed : bool
        Whether the tables agree with the last height.
    """
    height, tried = 0.0, set[int]()
    while True:
        size = least_size(partial(_reaches, power, height, target), smallest, limit)
        at = otherwise if size is None else size
        if at in tried or len(tried) == _LOOKS:
            return size, height, at in tried
        tried.add(at)
        before, height = height, look(at, height)
        if height == before:
            return size, height, True


def _reaches(power: Callable[[int, float], float], height: float, target: float, size: int) -> bool:
    return power(size, height) >= target


def check_search(
    sizes: Sequence[int],
    *,
    target: float,
    limit: int | None,
    smallest: int = FEWEST_SAMPLES,
    of: str = "",
) -> int:
    """The largest size to try, given or by default, if sizes and target make sense; `of` is what they count.

    Raises
    ------
    UsageError
        If a size lies below the smallest or above the limit, or the target outside (0, 1).
    """
    if not sizes or min(sizes) < smallest:
        raise UsageError(
            f"sizes must be at least {f'{smallest} {of}'.rstrip()}",
            found=f"{min(sizes)}" if sizes else "none",
            hint=f"give sizes such as {option('sizes', '10,20,50' if smallest < 10 else '20,50,100')}",
        )
    largest = max(sizes)
    if limit is not None and limit < largest:
        raise UsageError(
            "the limit of the search lies below the largest size",
            found=f"{option('limit', limit)}, {option('sizes')} up to {largest}",
            hint=f"leave out {option('limit')}, or raise it",
        )
    if not 0 < target < 1:
        raise UsageError(
            "the power wanted must lie between 0 and 1",
            found=option("target", f"{target:g}"),
            hint="0.8 is usual",
        )
    return _LIMIT * largest if limit is None else limit
