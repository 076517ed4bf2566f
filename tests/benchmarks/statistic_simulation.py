"""Simulate claims on every statistic of gates at their boundary: differences, ratios and one model's number.

The new model's scores have the distribution of the old model's, times a constant. All statistics except
shares and passes are proportional to the scores, so the true difference follows from the old statistic.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.special import ndtr, ndtri
from riskrank.studies.gate.claim import AT_LEAST, AT_MOST, NOT_WORSE, GateClaim
from riskrank.studies.gate.claim_list import _build_claim
from riskrank.studies.gate.columns import UNBOUNDED, ScoreColumn
from riskrank.studies.gate.derived_columns import derive_columns, level_column, log_means
from riskrank.studies.gate.evidence import claim_evidence
from riskrank.studies.statistics import parse_statistic
from riskrank.studies.targets import Units

# Numbers of independent units: samples, or clusters of samples.
SIZES = (30, 100, 300)
DESIGNS = ("paired", "unpaired", "clusters")
# Samples per cluster, and runs per sample of passes.
CLUSTER, RUNS = 3, 5
# Resamples of percentiles and tails, fewer than by default; means have their own number.
RESAMPLES = 999
# Correlation of the normal variables behind the scores: of two models on one sample, and within a cluster.
SHARED = 0.5
# Proportion of successes, the denominator of ratios of sums.
SUCCESSES = 0.8
# Probabilities for which true values are averaged.
GRID = (np.arange(1_000_000) + 0.5) / 1_000_000


def normal(share: np.ndarray) -> np.ndarray:
    return 10 + 2 * ndtri(share)


def lognormal(share: np.ndarray) -> np.ndarray:
    return np.exp(0.8 * ndtri(share))


def spikes(share: np.ndarray) -> np.ndarray:
    """Return quantiles of latencies: 95 % are normal, and 5 % have an exponential tail."""
    usual = 10 + ndtri(np.minimum(share / 0.95, 1 - 1e-6))
    return np.where(share < 0.95, usual, 15 - 10 * np.log(np.maximum(1 - share, 1e-12) / 0.05))


@dataclass(frozen=True)
class Scores:
    """Distribution of scores, with the factor of the new model and the direction."""

    quantiles: Callable[[np.ndarray], np.ndarray]
    factor: float
    sign: float
    # Proportion of the old scores below the number of a share, and pass rates of samples.
    below: float
    rates: tuple[float, float]


SCORES = {
    "normal": Scores(normal, 0.95, 1.0, 0.3, (2.0, 1.0)),
    "lognormal": Scores(lognormal, 1.1, -1.0, 0.5, (0.5, 0.5)),
    "spikes": Scores(spikes, 1.1, -1.0, 0.9, (8.0, 2.0)),
}
STATISTICS = ("mean", "median", "p90", "geomean", "share>=x", "tvar@0.05", "sum(a)/sum(b)", "pass^3")
# Largest one-sided share of false claims, and limits on the coverage, at a two-sided level.
LEVEL, MOST_FALSE, COVERAGE = 0.05, 0.035, (0.93, 0.98)


@dataclass(frozen=True)
class StatisticCase:
    """Statistic, design, distribution of scores, and number of independent units."""

    statistic: str
    design: str
    scores: str
    n: int

    @property
    def key(self) -> str:
        return f"{self.statistic}; {self.design}; {self.scores}; n={self.n}"

    @property
    def discrete(self) -> bool:
        """True if intervals may cover more than promised: order statistics, tails and binary scores."""
        return self.statistic in ("median", "p90", "share>=x", "tvar@0.05")


CASES = [
    StatisticCase(statistic, design, scores, n)
    for statistic in STATISTICS
    for n in SIZES
    for design in DESIGNS
    for scores in SCORES
]


@cache
def truth(case: StatisticCase) -> tuple[float, float]:
    """Return the true statistics of the new and the old model."""
    model = SCORES[case.scores]
    old, factor = model.quantiles(GRID), model.factor
    if case.statistic == "pass^3":
        a, b = model.rates
        return (a * (a + 1) * (a + 2) / ((a + b) * (a + b + 1) * (a + b + 2)),) * 2
    if case.statistic == "share>=x":
        number = model.quantiles(np.array(model.below))
        return tuple(float(np.mean(scale * old >= number)) for scale in (factor, 1.0))
    values = {
        "mean": old.mean(),
        "median": model.quantiles(np.array(0.5)),
        "p90": model.quantiles(np.array(0.9)),
        "geomean": np.exp(np.log(np.maximum(old, 1e-9)).mean()),
        "tvar@0.05": (old[:50_000] if model.sign > 0 else old[-50_000:]).mean(),
        "sum(a)/sum(b)": old.mean() / SUCCESSES,
    }
    value = float(values[case.statistic])
    return factor * value, value


def columns(case: StatisticCase, rng: np.random.Generator) -> dict[str, ScoreColumn]:
    """Draw the scores of the new and the old model, one column per metric."""
    model, n, grouped = SCORES[case.scores], case.n, case.design == "clusters"
    samples = n * CLUSTER if grouped else n
    clusters = np.repeat(np.arange(n), CLUSTER) if grouped else np.arange(n)
    shared = 0.0 if case.design == "unpaired" else SHARED

    def latent() -> np.ndarray:
        """Draw normal variables of both models, shape (2, samples)."""
        of_sample, of_model = rng.normal(size=samples), rng.normal(size=(2, samples))
        values = np.sqrt(shared) * of_sample + np.sqrt(1 - shared) * of_model
        if not grouped:
            return values
        of_cluster = np.sqrt(shared) * rng.normal(size=n) + np.sqrt(1 - shared) * rng.normal(size=(2, n))
        return np.sqrt(SHARED) * of_cluster[:, clusters] + np.sqrt(1 - SHARED) * values

    def column(name: str, values: Sequence[np.ndarray], sign: float) -> ScoreColumn:
        """Return a column of oriented scores."""
        runs = values[0].size // samples
        units, of_runs = np.repeat(clusters, runs), np.repeat(np.arange(samples), runs)
        scores = ClusteredScores.build(
            [sign * part for part in values],
            [units, units],
            samples=[of_runs, of_runs],
            paired=case.design != "unpaired",
        )
        return ScoreColumn(name, scores, Units(sign, name), UNBOUNDED)

    shares = ndtr(latent())
    if case.statistic == "pass^3":
        from scipy.special import betaincinv

        rates = betaincinv(*model.rates, shares)
        passes = rng.random((2, samples, RUNS)) < rates[:, :, None]
        return {"x": column("x", passes.reshape(2, -1).astype(float), 1.0)}
    values = model.quantiles(shares) * np.array([[model.factor], [1.0]])
    if case.statistic != "sum(a)/sum(b)":
        return {"x": column("x", values, model.sign)}
    # Successes are more frequent on the samples with small scores.
    easy = ndtr(0.5 * ndtri(1 - shares) + np.sqrt(0.75) * rng.normal(size=shares.shape))
    below = (easy < SUCCESSES).astype(float)
    return {"a": column("a", values, model.sign), "b": column("b", below, 1.0)}


def claims(case: StatisticCase, rng: np.random.Generator) -> Iterator[GateClaim | None]:
    """Yield claims at their boundary: a difference, a ratio, and a number; None if undefined."""
    model, (new, old) = SCORES[case.scores], truth(case)
    by_metric = columns(case, rng)
    number = model.quantiles(np.array(model.below))
    name = f"share>={number:.17g}" if case.statistic == "share>=x" else case.statistic
    statistic = parse_statistic(name, [*by_metric])
    (column,) = derive_columns(statistic, {key: [part] for key, part in by_metric.items()}, ("new", "old"))
    claim, sign = _build_claim(NOT_WORSE, 0, 1, column, statistic), column.units.sign
    yield None if case.statistic == "geomean" else replace(claim, margin=sign * (old - new))
    change = new / old - 1
    relative = replace(claim, share=abs(change), margin=abs(change) * old)
    if claim.percentile is not None or case.statistic == "geomean":
        relative = replace(claim, share=abs(change)).as_ratio()
    yield None if claim.level is not None else relative
    of_level = log_means(column) if statistic.sums else column
    kind = AT_LEAST if sign > 0 else AT_MOST
    single = _build_claim(kind, 0, 2, level_column(of_level, kind, 0), statistic)
    yield None if case.design == "unpaired" else replace(single, margin=new)


def statistic_rows(case: StatisticCase, seeds: Sequence[int]) -> list[list[float]]:
    """Return for each table and contrast whether the claim is significant, and whether it is contradicted.

    At the boundary both are false, and the interval covers the truth if neither is the case. Undefined
    contrasts are NaN.
    """
    at, rows = CASES.index(case), []
    for seed in seeds:
        listed = [*claims(case, np.random.default_rng([seed, at]))]
        defined = [claim for claim in listed if claim is not None]
        evidence, _ = claim_evidence(defined, Inference(resamples=RESAMPLES), ("new", "old", ""), None)
        p_values = np.array([evidence.p_above, evidence.p_below])
        ratio = listed[1]
        if ratio is not None and case.statistic.startswith("sum("):
            # Claims about ratios of sums must also hold for logarithms.
            logs, _ = claim_evidence(
                [ratio.as_ratio()], Inference(resamples=RESAMPLES), ("new", "old", ""), None
            )
            index = defined.index(ratio)
            p_values[:, index] = np.maximum(p_values[:, index], [logs.p_above[0], logs.p_below[0]])
        decided = iter((p_values <= LEVEL / 2).T.astype(float).tolist())
        rows.append([rate for claim in listed for rate in ([np.nan] * 2 if claim is None else next(decided))])
    return rows
