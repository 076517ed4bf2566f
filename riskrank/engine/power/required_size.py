"""The sample size at which a test reaches a power ([RAB] Fig. 6 and 7).

How far the size a pilot suggests can be believed: each resample of the pilot suggests one of its own.

With n samples a claim is shown about as often as Φ(√n δ − c) says, of the effect δ and the height c of the
test (:mod:`riskrank.engine.power.effects`). Resamples of a pilot of N samples have effects δ + ξ/√N. The
height is read off the power at the size found, so that correction, guard and resampling of it are in that.
Several pairs at once are taken for independent: their powers are multiplied.

The quantiles of the sizes suggested are corrected for the median (Efron 1987), since the hardest of several
pairs is harder still in most resamples, and expanded for few samples.

References
----------
B. Efron (1987). Better bootstrap confidence intervals. Journal of the American Statistical Association
82(397), 171-185. doi:10.1080/01621459.1987.10478410
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from riskrank.engine.bisection import bisected
from riskrank.engine.sampling.freedom import Behind, expanded_share
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, option

# The search goes no further than this many times the largest size that was asked for.
_LIMIT = 5


def check_search(sizes: Sequence[int], *, limit: int | None, smallest: int, of: str = "") -> int:
    """The largest size to try, given or by default, if sizes make sense; `of` is what they count.

    Raises
    ------
    UsageError
        If a size lies below the smallest or above the limit.
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
    return _LIMIT * largest if limit is None else limit


LEVEL = 0.95
"""How often the interval holds the size that is truly needed."""

# Largest size that is told from infinity.
_ENDLESS = 1e12


@dataclass(frozen=True)
class SizeInterval:
    """The sizes a pilot is compatible with.

    Attributes
    ----------
    low, high : int or None
        Samples per model; None for more than `limit`.
    limit : int
        Largest size of the search.
    level : float
        Nominal coverage.
    """

    low: int | None
    high: int | None
    limit: int
    level: float = LEVEL


def interval_ends(effects: Floats, height: float, target: float, behind: Behind) -> tuple[float, float]:
    """Ends of the size for all pairs, from the pilot's effects and those of its resamples, shape (1 + B, p).

    All pairs need no fewer samples than one, but of many the hardest is so by chance as well, and is harder
    still in nearly all resamples: the lower end is no higher than that of this pair alone.
    """
    together, alone = (
        corrected_ends(suggested[1:], float(suggested[0]), behind)
        for suggested in (_sizes(own, height, target) for own in (effects, effects[:, [effects[0].argmin()]]))
    )
    return min(together[0], alone[0]), together[1]


def _power(effects: Floats, roots: Floats, height: Floats | float) -> Floats:
    """Power of all pairs at once, from the root of the size; shape of the roots."""
    return ndtr(roots[..., None] * effects - np.asarray(height)[..., None]).prod(axis=-1)


def height_of_test(effects: Floats, size: int, power: float) -> float:
    """Height of the test that has this power at this size."""
    root, power = np.array(sqrt(size)), min(max(power, 1e-4), 1 - 1e-4)
    return bisected(lambda height: bool(_power(effects, root, height) > power), -1e4, 1e4, 100)[1]


def _sizes(effects: Floats, height: float, target: float) -> Floats:
    """Size at which each row of effects reaches the power wanted; infinite where none does."""
    low, high = np.zeros(len(effects)), np.full(len(effects), sqrt(_ENDLESS))
    for _ in range(100):
        middle = (low + high) / 2
        enough = _power(effects, middle, height) >= target
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    reached = (effects.min(axis=1) > 0) & (_power(effects, high, height) >= target)
    return np.where(reached, high**2, np.inf)


def corrected_ends(suggested: Floats, own: float, behind: Behind) -> tuple[float, float]:
    """Quantiles of the sizes suggested, corrected for the median and expanded for few samples."""
    many = len(suggested)
    below = (suggested < own).sum() + 0.5 * (suggested == own).sum()
    shift = float(ndtri((below + 0.5) / (many + 1)))
    tail = float(ndtri(expanded_share((1 - LEVEL) / 2, behind)))
    shares = ndtr([2 * shift + tail, 2 * shift - tail])
    # Sizes may be infinite, and there is nothing between them: quantiles that are in the sample.
    low, high = np.quantile(suggested, shares, method="inverted_cdf")
    return float(low), float(high)
