"""When a gate that may be looked at again stops: samples until its bets have an answer (method §9).

The bets are those of :mod:`riskrank.engine.evidence.bets`, summed up as samples come in.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from riskrank.engine.evidence.bets import BETS
from riskrank.engine.types import Floats

# Samples drawn before looking: few, as most runs stop early.
_CHUNK = 4096


@dataclass(frozen=True, eq=False)
class Stops:
    """What simulated runs came to.

    Attributes
    ----------
    passed, failed : ndarray, shape (R,)
        Samples at the look at which each run passes, or fails; infinite where it does not.
    limit : int
        Samples after which a run ends without an answer.
    """

    passed: Floats
    failed: Floats
    limit: int

    def error(self, size: int) -> float:
        """Monte Carlo error of the share that has passed by a size."""
        passed = np.mean(self.passed <= size)
        return float(np.sqrt(passed * (1 - passed) / self.passed.size))

    @property
    def answered(self) -> Floats:
        """Samples at the look with an answer, whichever."""
        return np.minimum(self.passed, self.failed)

    def by_share(self, share: float) -> int | None:
        """Samples by which a share of all runs has an answer; None where that is beyond the limit."""
        stop = np.sort(self.answered)[math.ceil(share * self.answered.size) - 1]
        return int(stop) if math.isfinite(stop) else None

    def median_interval(self, level: float = 0.95) -> tuple[int | None, int | None]:
        """Order statistics between which the median of more runs lies: by the binomial distribution."""
        runs = np.sort(self.answered)
        half = float(ndtri((1 + level) / 2)) * math.sqrt(runs.size) / 2
        low = max(math.floor(runs.size / 2 - half), 0)
        high = min(math.ceil(runs.size / 2 + half), runs.size - 1)
        ends = [int(stop) if math.isfinite(stop) else None for stop in runs[[low, high]].tolist()]
        return ends[0], ends[1]


def simulate_stops(
    draw: Callable[[np.random.Generator, int], Floats],
    *,
    reach: float,
    boundary: float,
    level: float,
    every: int,
    limit: int,
    repeats: int,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> Stops:
    """Draw samples until a look has an answer, many times.

    Parameters
    ----------
    draw : callable
        Differences of so many samples, larger is better, in [−reach, reach].
    reach : float
    boundary : float
        The claim is that the mean difference lies above it.
    level : float
        Two-sided, as of a gate.
    every : int
        Samples between two looks.
    limit : int
        Samples after which nobody looks any more.
    repeats : int
        Runs, each with a random stream of its own.
    seed : int
    progress : callable, optional
        Called with the runs done and all of them.
    """
    wanted, last, chunk = -math.log(level / 2), limit // every * every, max(_CHUNK // every, 1) * every

    def stops_of(rng: np.random.Generator) -> tuple[float, float]:
        """Samples at which one run passes, or fails."""
        wealth = np.zeros((2, BETS.size))
        for start in range(0, last, chunk):
            count = min(chunk, last - start)
            away = draw(rng, count) - boundary
            gains = np.stack([away / (reach + boundary), -away / (reach - boundary)])
            # Rounding must not carry a loss beyond all that was bet.
            grown = np.log1p(np.maximum(gains, -1.0)[:, :, None] * BETS)
            grown = grown.reshape(2, count // every, every, BETS.size).sum(axis=2)
            looks = wealth[:, None] + np.cumsum(grown, axis=1)
            most = looks.max(axis=2)
            evidence = most + np.log(np.mean(np.exp(looks - most[:, :, None]), axis=2))
            for look in np.flatnonzero((evidence >= wanted).any(axis=0)).tolist()[:1]:
                stop = float(start + (look + 1) * every)
                above = evidence[0, look] >= evidence[1, look]
                return (stop, math.inf) if above else (math.inf, stop)
            wealth = looks[:, -1]
        return math.inf, math.inf

    stops = []
    for done, stream in enumerate(np.random.SeedSequence(seed).spawn(repeats)):
        stops.append(stops_of(np.random.default_rng(stream)))
        if progress is not None:
            progress(done + 1, repeats)
    passed, failed = np.array(stops).T
    return Stops(passed, failed, limit)


def size_of_one_look(mean: float, variance: float, boundary: float, level: float, power: float) -> int | None:
    """Samples a single look needs by the normal approximation; None where the mean is at its boundary."""
    distance = abs(mean - boundary)
    if distance == 0:
        return None
    width = float(ndtri(1 - level / 2) + ndtri(power))
    return max(math.ceil(width**2 * variance / distance**2), 1)
