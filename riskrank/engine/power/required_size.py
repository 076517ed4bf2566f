"""The sample size at which a test reaches a power ([RAB] Fig. 6 and 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np

from riskrank.engine.power.simulation import PowerCurve, Run, Simulation
from riskrank.engine.sampling.design import FEWEST_SAMPLES
from riskrank.engine.sampling.processes import run_tasks
from riskrank.engine.types import Floats, Integers
from riskrank.errors import UsageError, option

# The search goes no further than this many times the largest size that was asked for.
_LIMIT = 5


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
        Power simulated at `size` (at the limit, if None) and its Monte Carlo error.
    confirmed : bool
        Whether that power lies within two of its errors of the target, or above it at the smallest size.
    sizes, powers : ndarray, shape (s,)
        All sizes simulated on the way and their powers.
    """

    size: int | None
    target: float
    power: float
    standard_error: float
    confirmed: bool
    sizes: Integers
    powers: Floats


def size_for_power(
    simulation: Simulation,
    *,
    claim: int | None = None,
    target: float = 0.8,
    start: int = 50,
    smallest: int = 10,
    limit: int = 100_000,
    known: PowerCurve | None = None,
    repeats: int = 200,
    seed: int = 0,
    rounds: int = 8,
    run: Run = run_tasks,
) -> RequiredSize:
    """Find the sample size at which a claim reaches a power.

    Sizes are doubled or halved until the target is bracketed, or one's power agrees with the target within
    a Monte Carlo error and is taken. Within a bracket the size where a non-decreasing curve through all
    simulated powers crosses the target is simulated itself, and taken if its power agrees within two errors.
    Otherwise it joins the curve and the next crossing is tried.

    Parameters
    ----------
    simulation, repeats, seed, run
        As in `estimate_power`.
    claim : int, optional
        Which claim; all of them together by default.
    target : float
        The power wanted, in (0, 1).
    start : int
        First size tried, unless some are known.
    smallest, limit : int
        Smallest and largest size tried.
    known : PowerCurve, optional
        Powers already simulated, of the same simulation, repeats and seed.
    rounds : int
        Sizes tried within the bracket at most.

    Returns
    -------
    RequiredSize

    Raises
    ------
    UsageError
        If the target lies outside (0, 1) or the sizes are out of order.
    """
    if not 0 < target < 1 or not 1 <= smallest <= start <= limit:
        raise UsageError(
            "the power must lie inside (0, 1) and the sizes in order",
            found=f"power {target:g}, sizes from {smallest} over {start} to {limit}",
            hint="a power of 0.8 is usual",
        )
    search = _Search(simulation, claim, target, repeats, seed, run)
    if known is None:
        search.try_size(start)
    else:
        search.note(known)
    while search.highest < target and not search.agrees(search.nearest, 1):
        if search.largest >= limit:
            return search.result(None, search.largest, confirmed=False)
        search.try_size(min(2 * search.largest, limit))
    while search.lowest >= target and not search.agrees(search.nearest, 1):
        if search.smallest <= smallest:
            return search.result(search.smallest, search.smallest, confirmed=True)
        search.try_size(max(search.smallest // 2, smallest))
    if search.agrees(search.nearest, 1):
        return search.result(search.nearest, search.nearest, confirmed=True)
    for _ in range(rounds):
        size = search.crossing
        if size in search.met:
            break
        search.try_size(size)
        if search.agrees(size, 2):
            return search.result(size, size, confirmed=True)
    size = search.nearest
    return search.result(size, size, confirmed=search.agrees(size, 2))


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


class _Search:
    """Powers simulated so far, and what they say about the size that is looked for."""

    def __init__(
        self, simulation: Simulation, claim: int | None, target: float, repeats: int, seed: int, run: Run
    ) -> None:
        self._simulation, self._claim, self._target = simulation, claim, target
        self._repeats, self._seed, self._run = repeats, seed, run
        self.met: dict[int, tuple[float, float]] = {}

    def try_size(self, size: int) -> None:
        self.note(self._simulation.curve([size], repeats=self._repeats, seed=self._seed, run=self._run))

    def note(self, curve: PowerCurve) -> None:
        """Keep power and error of the claim at the sizes of a curve."""
        claim = self._claim
        share = curve.together if claim is None else curve.power[:, claim]
        error = curve.together_error if claim is None else curve.standard_error[:, claim]
        for size, *found in zip(curve.sizes.tolist(), share.tolist(), error.tolist(), strict=True):
            self.met[size] = (found[0], found[1])

    def agrees(self, size: int, errors: int) -> bool:
        """Whether the power at a size lies within so many of its errors of the target."""
        power, error = self.met[size]
        return abs(power - self._target) <= errors * error

    @property
    def sizes(self) -> list[int]:
        return sorted(self.met)

    @property
    def smallest(self) -> int:
        return min(self.met)

    @property
    def largest(self) -> int:
        return max(self.met)

    @property
    def nearest(self) -> int:
        """Size whose power is nearest to the target, the smaller of two."""
        return min(self.sizes, key=lambda size: abs(self.met[size][0] - self._target))

    @property
    def curve(self) -> list[float]:
        """A non-decreasing curve through the powers."""
        return _non_decreasing([self.met[size][0] for size in self.sizes])

    @property
    def lowest(self) -> float:
        return self.curve[0]

    @property
    def highest(self) -> float:
        return self.curve[-1]

    @property
    def crossing(self) -> int:
        """Size where the curve reaches the target, between two sizes on the scale of their logarithm."""
        sizes, curve = self.sizes, self.curve
        upper = next((at for at, share in enumerate(curve) if share >= self._target), len(sizes) - 1)
        if upper == 0:
            return sizes[0]
        low, high = curve[upper - 1], curve[upper]
        weight = min(max((self._target - low) / (high - low), 0.0), 1.0) if high > low else 1.0
        return round(exp(log(sizes[upper - 1]) + weight * (log(sizes[upper]) - log(sizes[upper - 1]))))

    def result(self, size: int | None, at: int, *, confirmed: bool) -> RequiredSize:
        """What was found, with the power simulated at a size."""
        powers = np.array([self.met[one][0] for one in self.sizes])
        return RequiredSize(size, self._target, *self.met[at], confirmed, np.array(self.sizes), powers)


def _non_decreasing(values: Sequence[float]) -> list[float]:
    """Pool adjacent violators: the nearest non-decreasing sequence in least squares."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        many = 1
        while blocks and blocks[-1][0] > value:
            before, count = blocks.pop()
            value = (before * count + value * many) / (count + many)
            many += count
        blocks.append((value, many))
    return [value for value, many in blocks for _ in range(many)]
