"""Simulate gates that are looked at 40 times, every 50 samples up to 2,000: false passes, and when they stop.

The bets are written here once more, in cumulated sums over the samples as they come, so that the simulation
also checks the engine, which knows no order.
"""

from __future__ import annotations

import argparse
import math
from statistics import NormalDist

import numpy as np

from riskrank.engine.gates.anytime import BETS, Wagers

LOOKS = range(50, 2001, 50)
MOST = 2000


def binary(rng: np.random.Generator, new: float, old: float) -> np.ndarray:
    """Passed or not; what makes a sample hard is half the same for both models."""
    shared, own = rng.normal(size=MOST), rng.normal(size=(2, MOST))
    luck = (shared + own) / np.sqrt(2)
    quantile = NormalDist().inv_cdf
    return (luck[0] < quantile(new)).astype(float) - (luck[1] < quantile(old))


def beta(rng: np.random.Generator, new: float, old: float) -> np.ndarray:
    return rng.beta(4 * new, 4 * (1 - new), MOST) - rng.beta(4 * old, 4 * (1 - old), MOST)


def clustered(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Differences of clusters of 1 to 10 that agree among themselves, and the cluster of each sample."""
    sizes = rng.integers(1, 11, MOST)
    numbers = np.repeat(np.arange(MOST), sizes)[:MOST]
    shared = rng.choice([-1.0, 0.0, 1.0], MOST)
    own = rng.choice([-1.0, 0.0, 1.0], MOST)
    return np.where(rng.random(MOST) < 0.7, shared[numbers], own), numbers


def disasters(rng: np.random.Generator) -> np.ndarray:
    """One loss in a hundred, at a boundary of that size."""
    return -1.0 * (rng.random(MOST) < 0.01)


# Name, differences, boundary; the true mean is the boundary in every null.
NULLS = {
    "0/1, equal": (lambda rng: binary(rng, 0.7, 0.7), 0.0),
    "0/1, at the margin": (lambda rng: binary(rng, 0.65, 0.7), -0.05),
    "beta, equal": (lambda rng: beta(rng, 0.5, 0.5), 0.0),
    "one disaster in 100": (disasters, -0.01),
}
# Name, differences, boundary, median stop to expect.
CASES = {
    "0/1, .75 against .70": (lambda rng: binary(rng, 0.75, 0.70), 0.0, 1050),
    "0/1, .80 against .70": (lambda rng: binary(rng, 0.80, 0.70), 0.0, 300),
    "0/1, not worse by .05": (lambda rng: binary(rng, 0.70, 0.70), -0.05, 1000),
    "beta, .55 against .50": (lambda rng: beta(rng, 0.55, 0.50), 0.0, 400),
}


def first_pass(differences: np.ndarray, boundary: float, level: float = 0.025) -> float:
    """Samples at the first look that passes; infinite if none does."""
    gains = (differences - boundary) / (1 + boundary)
    wealth = np.cumsum(np.log1p(np.outer(gains, BETS)), axis=0)[np.array(LOOKS) - 1]
    most = wealth.max(axis=1)
    evidence = most + np.log(np.mean(np.exp(wealth - most[:, None]), axis=1))
    passed = np.flatnonzero(evidence >= -math.log(level))
    last = Wagers.of(differences, 1.0).log_e_value(boundary)
    assert abs(last - evidence[-1]) < 1e-9 * max(abs(last), 1)
    return float(LOOKS[passed[0]]) if passed.size else math.inf


def passes_once_in_a_while(differences: np.ndarray, boundary: float) -> bool:
    """Whether a test of a single look, by the normal approximation at .025, passes at one of the looks."""
    at, away = np.array(LOOKS), differences - boundary
    means = np.cumsum(away)[at - 1] / at
    deviations = np.sqrt(np.maximum(np.cumsum(away**2)[at - 1] / at - means**2, 1e-300))
    return bool(np.any(means > NormalDist().inv_cdf(0.975) * deviations / np.sqrt(at)))


def first_pass_of_clusters(differences: np.ndarray, numbers: np.ndarray) -> float:
    """The same of whole clusters, at looks at about as many samples."""
    for look in LOOKS:
        whole = numbers < numbers[look - 1]
        if whole.any():
            wagers = Wagers.of(differences[whole], 1.0, clusters=numbers[whole], largest=10)
            if wagers.log_e_value(0.0) >= math.log(40):
                return float(look)
    return math.inf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    tables = parser.parse_args().tables
    for name, (draw, boundary) in NULLS.items():
        rng = np.random.default_rng(11)
        passed = np.mean([first_pass(draw(rng), boundary) < math.inf for _ in range(tables)])
        rng = np.random.default_rng(11)
        once = np.mean([passes_once_in_a_while(draw(rng), boundary) for _ in range(tables)])
        told = f"of a single look's test at every look {once:.3f}"
        print(f"{name:24} false passes {passed:.3f}, wanted at most 0.025; {told}", flush=True)
    rng = np.random.default_rng(11)
    found = np.mean([first_pass_of_clusters(*clustered(rng)) < math.inf for _ in range(tables)])
    print(f"{'clusters of 1 to 10':24} false passes {found:.3f}, wanted at most 0.025", flush=True)
    for name, (draw, boundary, expected) in CASES.items():
        rng = np.random.default_rng(12)
        stops = [first_pass(draw(rng), boundary) for _ in range(tables)]
        by_then = np.mean(np.isfinite(stops))
        print(
            f"{name:24} median stop {np.median(stops):,.0f} (expected {expected:,}), {by_then:.2f} by 2,000"
        )


if __name__ == "__main__":
    main()
