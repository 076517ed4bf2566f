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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from riskrank.engine.bisection import bisected, least_size
from riskrank.engine.power.effects import Effects
from riskrank.engine.power.simulation import PilotSampler
from riskrank.engine.sampling.degrees_of_freedom import Behind, expanded_share, satterthwaite
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
    smallest: int,
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


LEVEL = 0.95
"""How often the interval holds the size that is truly needed."""

# Resamples of the pilot.
_RESAMPLES = 4000

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


def size_interval(
    sampler: PilotSampler,
    effects: Effects,
    claimed: Integers,
    found: RequiredSize,
    *,
    nominal: float,
    smallest: int,
    limit: int,
    seed: int,
) -> SizeInterval:
    """The sizes that resamples of a pilot suggest.

    Parameters
    ----------
    sampler : PilotSampler
        The pilot, whose samples are drawn.
    effects : Effects
        Of the family.
    claimed : ndarray of int
        The pairs of it that are to be shown.
    found : RequiredSize
        What the search found on the pilot itself.
    nominal : float
        Height of the test where the pilot shows nothing.
    smallest, limit : int
        Smallest and largest size there is.
    seed : int

    Returns
    -------
    SizeInterval
        It holds the size found.
    """
    # Samples of a task, if all had as many and told as much; and what stands behind the spread of all.
    strata = sampler.scores.strata
    squares = np.ones(1) if strata.random else strata.weights**2
    spread = squares / sampler.units
    units, behind = float(squares.sum() / spread.sum()), satterthwaite(spread, sampler.units)
    own = effects.mean[claimed]
    noise = effects.noise(np.random.default_rng([seed, 0, 3]), _RESAMPLES)[:, claimed]
    at = int(found.sizes[-1]) if found.size is None else found.size
    reached = min(max(found.power, 1e-4), 1 - 1e-4)
    height = _height(own, at, reached) if own.min() > 0 else nominal
    drawn = np.vstack([own, own + noise / sqrt(units)])
    ends = _ends(drawn, height, found.target, behind)
    if found.size is not None:
        ends = min(ends[0], found.size), max(ends[1], found.size)
    low, high = (None if end >= limit + 0.5 else max(round(end), smallest) for end in ends)
    return SizeInterval(low, high, limit)


def _ends(effects: Floats, height: float, target: float, behind: Behind) -> tuple[float, float]:
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


def _height(effects: Floats, size: int, power: float) -> float:
    """Height of the test that has this power at this size."""
    root = np.array(sqrt(size))
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
