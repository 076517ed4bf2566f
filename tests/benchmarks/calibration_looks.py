"""Simulate 40 interim looks at a gate, every 50 samples up to 2,000: false passes and stopping times.

The bets are reimplemented with cumulative sums over the samples. The simulation is therefore an independent
check of the engine, which does not depend on the order of samples. Used by ``make calibrate``.
"""

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from riskrank.engine.evidence.e_values import BETS, Wagers

LOOKS = range(50, 2001, 50)
MOST = 2000
LEVEL = 0.025

Draw = Callable[[np.random.Generator], np.ndarray]


def binary(new: float, old: float) -> Draw:
    """Draw differences of binary scores; both models share half of what makes a sample difficult."""
    quantile = NormalDist().inv_cdf

    def draw(rng: np.random.Generator) -> np.ndarray:
        shared, individual = rng.normal(size=MOST), rng.normal(size=(2, MOST))
        luck = (shared + individual) / np.sqrt(2)
        return (luck[0] < quantile(new)).astype(float) - (luck[1] < quantile(old))

    return draw


def beta(new: float, old: float) -> Draw:
    return lambda rng: rng.beta(4 * new, 4 * (1 - new), MOST) - rng.beta(4 * old, 4 * (1 - old), MOST)


def clustered(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw correlated differences in clusters of 1 to 10, and the cluster of each sample."""
    sizes = rng.integers(1, 11, MOST)
    numbers = np.repeat(np.arange(MOST), sizes)[:MOST]
    shared = rng.choice([-1.0, 0.0, 1.0], MOST)
    individual = rng.choice([-1.0, 0.0, 1.0], MOST)
    return np.where(rng.random(MOST) < 0.7, shared[numbers], individual), numbers


def disasters(rng: np.random.Generator) -> np.ndarray:
    """Draw differences with one loss in a hundred; its size puts the mean on the boundary."""
    return -1.0 * (rng.random(MOST) < 0.01)


@dataclass(frozen=True)
class LookCase:
    """Distribution of the differences of a pair of models.

    Attributes
    ----------
    name : str
    draw : callable
        Return the differences of 2,000 samples and, for clustered cases, the cluster of each sample.
    boundary : float
        The claim is that the mean difference is above this value.
    median : int or None
        Median number of samples at the first look that passes, as stated in method §9. None if the true
        difference is the boundary, where no look should pass.
    clusters : bool
        Whether the samples are clustered.
    """

    name: str
    draw: Callable
    boundary: float = 0.0
    median: int | None = None
    clusters: bool = False


LOOK_CASES = (
    LookCase("0/1, equal", binary(0.7, 0.7)),
    LookCase("0/1, at the margin", binary(0.65, 0.7), -0.05),
    LookCase("beta, equal", beta(0.5, 0.5)),
    LookCase("clusters of 1 to 10, equal", clustered, clusters=True),
    LookCase("one disaster in 100, at the margin", disasters, -0.01),
    LookCase("0/1, .75 against .70", binary(0.75, 0.70), 0.0, 1050),
    LookCase("0/1, .80 against .70", binary(0.80, 0.70), 0.0, 300),
    LookCase("0/1, not worse by .05", binary(0.70, 0.70), -0.05, 1000),
    LookCase("beta, .55 against .50", beta(0.55, 0.50), 0.0, 400),
)
NAMES = {case.name: case for case in LOOK_CASES}


def look_rows(name: str, seeds: Sequence[int]) -> list[list[float]]:
    """Return for each table the samples at the first pass (0 if none), and whether a fixed test passes."""
    case = NAMES[name]
    rows = []
    for seed in seeds:
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        if case.clusters:
            rows.append([first_pass_of_clusters(*case.draw(rng)), 0])
            continue
        differences = case.draw(rng)
        once = passes_fixed_sample_test(differences, case.boundary)
        rows.append([first_pass(differences, case.boundary), int(once)])
    return rows


def first_pass(differences: np.ndarray, boundary: float) -> float:
    """Return the number of samples at the first look that passes, or 0 if none does."""
    gains = (differences - boundary) / (1 + boundary)
    wealth = np.cumsum(np.log1p(np.outer(gains, BETS)), axis=0)[np.array(LOOKS) - 1]
    most = wealth.max(axis=1)
    evidence = most + np.log(np.mean(np.exp(wealth - most[:, None]), axis=1))
    passed = np.flatnonzero(evidence >= -math.log(LEVEL))
    last = Wagers.from_differences(differences, 1.0).log_e_value(boundary)
    assert abs(last - evidence[-1]) < 1e-9 * max(abs(last), 1)
    return float(LOOKS[passed[0]]) if passed.size else 0.0


def passes_fixed_sample_test(differences: np.ndarray, boundary: float) -> bool:
    """Return whether a fixed-sample normal test at .025 passes at any of the looks."""
    at, away = np.array(LOOKS), differences - boundary
    means = np.cumsum(away)[at - 1] / at
    deviations = np.sqrt(np.maximum(np.cumsum(away**2)[at - 1] / at - means**2, 1e-300))
    return bool(np.any(means > NormalDist().inv_cdf(1 - LEVEL) * deviations / np.sqrt(at)))


def first_pass_of_clusters(differences: np.ndarray, numbers: np.ndarray) -> float:
    """Return the same for clustered samples; each look includes complete clusters only."""
    for look in LOOKS:
        complete = numbers < numbers[look - 1]
        if complete.any():
            wagers = Wagers.from_differences(
                differences[complete], 1.0, clusters=numbers[complete], largest=10
            )
            if wagers.log_e_value(0.0) >= -math.log(LEVEL):
                return float(look)
    return 0.0
