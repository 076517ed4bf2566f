"""Simulate the intervals of differences and the hidden risks of a ranking (method §4).

Each table is drawn with a known truth. Measured are the coverage of the intervals, and the true and false
reports of hidden risks. Used by ``make calibrate``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.effect_sizes import effect_sizes, mean_differences
from riskrank.engine.dominance.hidden_risk import RISK, find_hidden_risks
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.ranking import difference_spread
from riskrank.engine.numeric import competition_ranks
from riskrank.engine.portfolio.quantiles import sorted_tail_value_at_risk
from riskrank.engine.sampling.design import ClusteredScores

# Scores resampled at once: 100 MB of doubles.
BATCH = 12_000_000

Draw = Callable[[np.random.Generator, int, int], np.ndarray]


def tail_level(n: int) -> float:
    return max(0.05, 5 / n)


def statistics(values: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and tail mean along the last axis; only the tail is sorted."""
    worst = math.ceil(level * values.shape[-1] + 1e-9)
    part = np.partition(values, worst - 1, axis=-1)[..., :worst]
    part.sort(axis=-1)
    # A tail mean depends on the worst scores only; the other scores are not sorted.
    padded = np.concatenate([part, np.zeros((*part.shape[:-1], values.shape[-1] - worst))], axis=-1)
    return values.mean(axis=-1), sorted_tail_value_at_risk(padded, level)


def replicates(values: np.ndarray, level: float, resamples: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Return means and tail means of resamples of paired models, two arrays of shape (resamples, k)."""
    k, n = values.shape
    parts = []
    for start in range(0, resamples, max(BATCH // (k * n), 1)):
        count = min(max(BATCH // (k * n), 1), resamples - start)
        chosen = rng.integers(0, n, (count, n))
        parts.append(statistics(np.moveaxis(values[:, chosen], 0, 1), level))
    means, tails = (np.concatenate(kind) for kind in zip(*parts, strict=True))
    return means, tails


# (generator, models, samples) -> scores, shape (models, samples).


def normal(rng, k, n):
    return rng.normal(size=(k, n))


def student(rng, k, n):
    return rng.standard_t(3, size=(k, n))


def correlated(rng, k, n):
    return math.sqrt(0.8) * rng.normal(size=n) + math.sqrt(0.2) * rng.normal(size=(k, n))


def skewed(rng, k, n):
    return rng.exponential(size=(k, n))


def lognormal(rng, k, n):
    """Draw models of which only the first is skewed; the others are constant."""
    return np.concatenate([rng.lognormal(size=(1, n)), np.zeros((k - 1, n))])


def rare_ones(rng, k, n):
    return (rng.random((k, n)) < 0.02).astype(float)


def rare_zeros(rng, k, n):
    return 1 - rare_ones(rng, k, n)


def uneven(rng, k, n):
    """Draw normal scores with standard deviations 1 and 2 and correlation ½."""
    z = math.sqrt(0.5) * rng.normal(size=n) + math.sqrt(0.5) * rng.normal(size=(k, n))
    return z * np.linspace(1, 2, k)[:, None]


def five_points(rng, k, n):
    return np.clip(np.rint(3 + correlated(rng, k, n)), 1, 5)


def binary_scores(rng, k, n):
    return (rng.random((k, n)) < np.linspace(0.6, 0.8, k)[:, None]).astype(float)


# Least coverage of intervals of means by n, if it is not .93.
LEAST_COVERAGE = {"lognormal, σ = 1, against a constant": {12: 0.90, 20: 0.92, 40: 0.93, 100: 0.94}}
SIZES = (12, 20, 40, 100, 300)

COVERAGE: dict[str, Draw] = {
    "normal": normal,
    "normal, correlation .8": correlated,
    "sd 1 against 2, correlation .5": uneven,
    "exponential": skewed,
    "t with 3 df": student,
    "lognormal, σ = 1, against a constant": lognormal,
    "0/1, 2 % ones": rare_ones,
    "0/1, 98 % ones": rare_zeros,
    "5-point scale": five_points,
    "0/1, .6 against .8": binary_scores,
}


def truth(draw: Draw, level: float) -> np.ndarray:
    """Return the true differences of means and tail means, second minus first, from two million samples."""
    values = draw(np.random.default_rng(0), 2, 2_000_000)
    differences = np.array([np.diff(both)[0] for both in statistics(values, level)])
    # Estimates for identical models differ by simulation error, and an interval can be [0, 0].
    return np.where(np.abs(differences) < 0.01, 0.0, differences)


def coverage_rows(case, seeds, resamples=1000):
    """Return whether the intervals of the mean difference and of the tail difference cover the truth."""
    (name, n), covered = case, []
    level = tail_level(n)
    expected = truth(COVERAGE[name], level)
    for seed in seeds:
        rng = np.random.default_rng(np.random.SeedSequence([seed, n, *name.encode()]))
        values = COVERAGE[name](rng, 2, n)
        _, resampled = replicates(values, level, resamples, rng)
        means, tails = statistics(values, level)
        inference = Inference(seed=int(rng.integers(2**31)))
        effects = effect_sizes(
            means,
            tails,
            leader=0,
            tail_fraction=level,
            samples=n,
            mean_difference=mean_differences(ClusteredScores.build(values), inference),
            tail_spread=difference_spread(tails, resampled),
        )
        both = zip((effects.mean_difference, effects.tail_difference), expected, strict=True)
        covered.append([int(interval.low[1] <= true <= interval.high[1]) for interval, true in both])
    return covered


@dataclass(frozen=True)
class RiskCase:
    """Case with eight models, of which the first may be a hidden risk."""

    name: str
    draw: Draw
    sizes: tuple[int, ...]
    risky: bool = False


def shifted(rng, k, n):
    return rng.normal(size=(k, n)) + np.linspace(0, 0.7, k)[:, None]


def disasters(share: float, loss: float) -> Draw:
    """Draw a first model that is better by half a standard deviation except for rare disasters."""

    def draw(rng, k, n):
        scores = rng.normal(size=(k, n))
        scores[0] = np.where(rng.random(n) < share, loss, scores[0] + 0.5)
        return scores

    return draw


RISKS = (
    RiskCase("identical normals", normal, (50, 150, 500)),
    RiskCase("identical t with 3 df", student, (50, 150, 500)),
    RiskCase("identical normals, correlation .8", correlated, (50, 150, 500)),
    RiskCase("plain shifts of .1", shifted, (150, 500)),
    RiskCase("5 % chance of -6", disasters(0.05, -6.0), (150, 500), risky=True),
    RiskCase("2 % chance of -20", disasters(0.02, -20.0), (150, 500), risky=True),
)


def risk_rows(case, seeds, resamples=1000):
    """Return whether the first model, and whether any other, is reported as a hidden risk."""
    (number, n), outcomes = case, []
    case, level = RISKS[number], tail_level(n)
    for seed in seeds:
        rng = np.random.default_rng(np.random.SeedSequence([seed, n, number]))
        values = case.draw(rng, 8, n)
        means, tails = statistics(values, level)
        resampled = replicates(values, level, resamples, rng)[1]
        # Rank by the tail means, so that every model with a worse tail may be reported.
        risks = find_hidden_risks(
            means, tails, resampled, rank=competition_ranks(-tails), samples=np.full((8, 8), float(n))
        )
        flagged = risks.status == RISK
        outcomes.append([int(flagged[0]), int(flagged[1:].any())])
    return outcomes
