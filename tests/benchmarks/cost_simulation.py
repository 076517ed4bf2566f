"""Simulate costs per success: coverage of intervals, and false choices of the cheapest model.

``python tests/benchmarks/cost_simulation.py`` prints the figures of docs/costs.md.
"""

from dataclasses import replace

import numpy as np

from riskrank.engine.evidence.cost_per_success import Costs, p_value_cheaper
from riskrank.engine.evidence.mean_differences import PairDifferences
from riskrank.engine.evidence.statistics import pseudo_logarithms, pseudo_ratios
from riskrank.engine.evidence.student import Student, mean_difference
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores


def misses(n: int, p: float, tables: int, sigma: float = 1.0, seed: int = 0) -> np.ndarray:
    """Return error rates of 95 % intervals on either side, without and with refusals; rate of refusals."""
    truth, units = np.exp(sigma**2 / 2) / p, np.arange(n)
    outcomes = []
    for stream in np.random.SeedSequence(seed).spawn(tables):
        rng = np.random.default_rng(stream)
        costs = Costs(rng.lognormal(0, sigma, n), (rng.random(n) < p).astype(float), units)
        # The engine's tests check that the interval agrees with the p-values of both sides.
        outcomes.append(
            (costs.p_below(truth) <= 0.025, costs.p_above(truth) <= 0.025, costs.has_enough_successes)
        )
    missed, enough = np.array(outcomes)[:, :2], np.array(outcomes)[:, 2]
    return np.concatenate([missed[enough].mean(axis=0), missed.mean(axis=0), [1 - enough.mean()]])


def simulate_costs(rng: np.random.Generator, n: int, p: float, sigma: float) -> Costs:
    """Draw lognormal costs with mean 1."""
    costs = rng.lognormal(-(sigma**2) / 2, sigma, n)
    return Costs(costs, (rng.random(n) < p).astype(float), np.arange(n))


def cost_ratios(rng: np.random.Generator, n: int, p: float, sigmas: list[float]) -> ClusteredScores:
    """Draw costs of models and return pseudo-scores with the negative costs per success as means."""
    drawn = [simulate_costs(rng, n, p, sigma) for sigma in sigmas]
    costs, successes = ([getattr(part, name) for part in drawn] for name in ("costs", "successes"))
    ratios = pseudo_ratios(ClusteredScores.build(costs), ClusteredScores.build(successes))
    return replace(ratios, values=tuple(-values for values in ratios.values))


def falsely_cheaper(n: int, p: float, sigmas: tuple[float, float], tables: int, seed: int = 0) -> list[float]:
    """Return the shares of tables in which an equal model is found cheaper, one-sided at .025.

    The tests are those of `copa`, of differences, and of a margin in per cent.
    """
    p_values = []
    for stream in np.random.SeedSequence(seed).spawn(tables):
        rng = np.random.default_rng(stream)
        by_copa = p_value_cheaper(*(simulate_costs(rng, n, p, sigma) for sigma in sigmas))
        scores = cost_ratios(rng, n, p, [*sigmas])
        logarithms = pseudo_logarithms(scores, -1.0)
        assert logarithms is not None
        plain, relative = (
            float(PairDifferences.from_scores(part).p_above()[0, 1]) for part in (scores, logarithms)
        )
        p_values.append((by_copa, plain, max(plain, relative)))
    return (np.array(p_values) <= 0.025).mean(axis=0).tolist()


def false_separations(n: int, p: float, models: int, sigma: float, tables: int, seed: int = 0) -> float:
    """Return the share of tables in which a ranking separates some pair of equal models at .05."""
    family, significant = Family(), []
    for stream in np.random.SeedSequence([seed, n, models]).spawn(tables):
        scores = cost_ratios(np.random.default_rng(stream), n, p, [sigma] * models)
        p_values = PairDifferences.from_scores(scores).p_above()
        compared = ~np.eye(models, dtype=bool)
        significant.append(family.significant(family.adjust_pairs(p_values, compared)).any())
    return float(np.mean(significant))


def false_choices(candidates: int, tables: int, margin: float = 0.02, n: int = 400, seed: int = 0) -> float:
    """Return the share of tables that accept a candidate that is worse by the margin, one-sided at .05."""
    units, count = np.arange(n), 0
    for stream in np.random.SeedSequence(seed).spawn(tables):
        rng = np.random.default_rng(stream)
        rank = rng.random(n)
        big = np.where(rng.random(n) < 0.5, rank, rng.random(n)) < 0.8
        differences = []
        for _ in range(candidates):
            small = np.where(rng.random(n) < 0.5, rank, rng.random(n)) < 0.8 - margin
            pair = ((small.astype(float), units), (big.astype(float), units))
            differences.append(mean_difference(*pair, paired=True))
        parts = [
            (difference.value, difference.error, difference.df, difference.skewness)
            for difference in differences
        ]
        evidence = Student(*np.array(parts).T).evidence(-margin)
        count += bool(Family(0.1).answer(evidence).significant.any())
    return count / tables


def error(share: float, tables: int) -> float:
    """Return the Monte Carlo standard error of a share."""
    return float(np.sqrt(share * (1 - share) / tables))


if __name__ == "__main__":
    TABLES = 20_000
    for size, chance in ((100, 0.1), (300, 0.7), (30, 0.7)):
        low, high, low_all, high_all, few = misses(size, chance, TABLES)
        print(
            f"n = {size}, p = {chance}: below {low:.3f} ± {error(low, TABLES):.3f}, above {high:.3f} ± "
            f"{error(high, TABLES):.3f}; refused {few:.3f}, with these {low_all:.3f}, {high_all:.3f}"
        )
    for size, *sigmas in ((100, 1.0, 1.0), (100, 1.5, 1.5), (100, 1.5, 0.3), (40, 1.5, 0.3)):
        shares = falsely_cheaper(size, 0.7, (sigmas[0], sigmas[1]), 600)
        print(f"n = {size}, equal models, σ = {sigmas}, falsely cheaper", shares)
    for models in (2, 5):
        share = false_separations(300, 0.7, models, 1.0, 600)
        print(f"{models} equal models, some pair {share:.3f} ± {error(share, 600):.3f}")
    for count in (5, 10):
        share = false_choices(count, 4000)
        print(f"{count} candidates at the margin: false choice {share:.3f} ± {error(share, 4000):.3f}")
