"""Shares of runs that pass, against a least share: exact binomial evidence (method §10).

Of r runs of a sample c passed. Were each to pass with probability p, so many or more would with P(X ≥ c) of
the binomial distribution; the interval is Clopper and Pearson's. Runs of one sample are taken as independent.

References
----------
C. J. Clopper and E. S. Pearson (1934). The use of confidence or fiducial limits illustrated in the case of
the binomial. Biometrika 26(4), 404-413. doi:10.1093/biomet/26.4.404
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betaincinv

from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.types import Floats

# Runs nobody will ever make.
_MOST = 10_000_000


def exact_shares(passed: ArrayLike, runs: ArrayLike, boundary: float) -> Evidence:
    """What the runs of samples say of the claim that each passes more often than a share.

    Parameters
    ----------
    passed, runs : array_like of int, shape (m,)
        c of r.
    boundary : float
        The claim is that a run passes with a probability above it.

    Returns
    -------
    Evidence
        With Clopper and Pearson's intervals, and the runs that decide if as many of them pass as did.
    """
    c, r = np.asarray(passed, dtype=np.float64), np.asarray(runs, dtype=np.float64)
    share = c / r

    def ends(level: float) -> tuple[Floats, Floats]:
        with np.errstate(invalid="ignore"):
            low = np.where(c == 0, 0.0, betaincinv(c, r - c + 1, level / 2))
            high = np.where(c == r, 1.0, betaincinv(c + 1, r - c, 1 - level / 2))
        return low, high

    def needed(level: float) -> Floats:
        each = zip(share.tolist(), r.astype(int).tolist(), strict=True)
        counts = [runs_needed(own, boundary, level, made) for own, made in each]
        return np.array([np.inf if count is None else count for count in counts])

    return Evidence.of(
        share,
        [_at_least(*pair, boundary) for pair in zip(c.tolist(), r.tolist(), strict=True)],
        [_at_most(*pair, boundary) for pair in zip(c.tolist(), r.tolist(), strict=True)],
        error=np.sqrt(share * (1 - share) / r),
        boundary=boundary,
        worth=r,
        ends=ends,
        needed=needed,
    )


@lru_cache(maxsize=4096)
def runs_needed(share: float, boundary: float, level: float, runs: int = 0) -> int | None:
    """Fewest runs beyond some that decide whether a share lies above a boundary, if so many pass.

    Parameters
    ----------
    share : float
        Of the runs that pass.
    boundary : float
    level : float
        Two-sided.
    runs : int
        Those there are.
    """
    tail = _at_least if share > boundary else _at_most

    def decided(count: int) -> bool:
        return 2 * tail(share * count, count, boundary) <= level

    return None if share == boundary else least_size(decided, runs + 1, _MOST)


def least_size(enough: Callable[[int], bool], smallest: int, limit: int) -> int | None:
    """The smallest size that is enough, where every larger one is, too; None beyond the limit."""
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
    """Where something holds and where it does not, from two such places brought together in so many steps."""
    for _ in range(steps):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside, outside


def _at_least(passed: float, runs: float, p: float) -> float:
    return 1.0 if passed <= 0 else float(betainc(passed, runs - passed + 1, p))


def _at_most(passed: float, runs: float, p: float) -> float:
    return 1.0 if passed >= runs else float(betaincc(passed + 1, runs - passed, p))
