"""Mean-risk models of one column of scores with bootstrap intervals, and how they agree.

Source: [RAB] Table 1 and Table 5; method §5.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import Aggregation, aggregate_rankings
from riskrank.engine.portfolio.mean_risk import (
    MeanRisk,
    contradicted_by_consistent,
    mean_risk,
    mean_risk_of,
    unit_of,
)
from riskrank.engine.portfolio.risks import RiskColumn
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.processes import Jobs, run_tasks
from riskrank.engine.sampling.resamples import ResampleBlock, batches, blocks
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.types import Floats

# Scores resampled in one process before a second one pays for its own start.
_WORTH_A_PROCESS = 60_000_000

# Scores resampled at once: enough to keep NumPy's own cost per call small, and within the cache.
_BATCH = 1 << 16


@dataclass(frozen=True)
class MeanRiskStudy:
    """Mean-risk models of k models under R risks.

    Attributes
    ----------
    models : MeanRisk
        Means, risks, values and ranks.
    value_low, value_high : ndarray, shape (k, R), or None
        Bootstrap interval of mean − risk; None without resampling.
    aggregation : Aggregation or None
        Exact aggregation of the rankings under the consistent risks, ``RA(MRM@…)``; None if there is no
        consistent risk among them.
    contradicted : tuple of (int, int)
        Pairs that mean − standard deviation orders against every consistent risk.
    """

    models: MeanRisk
    value_low: Floats | None
    value_high: Floats | None
    aggregation: Aggregation | None
    contradicted: tuple[tuple[int, int], ...]


def study_mean_risk(
    scores: ClusteredScores,
    columns: Sequence[RiskColumn],
    *,
    names: Sequence[str],
    resamples: int = 1000,
    level: float = 0.05,
    seed: int = 0,
    jobs: Jobs = 1,
    aggregator: str = "kemeny",
    progress: Callable[[int, int], None] | None = None,
) -> MeanRiskStudy:
    """Compute mean − risk for every model and risk, with intervals and an aggregated ranking.

    Parameters
    ----------
    scores : ClusteredScores
        k models' scores.
    columns : sequence of RiskColumn, length R
        Risks at their levels.
    names : sequence of k str
        Models, for a choice among equally good aggregations.
    resamples : int
        Bootstrap resamples; 0 for no intervals.
    level : float
        Intervals hold a share 1 − level of the resamples.
    seed, jobs, progress
        As in :func:`riskrank.engine.dominance.bootstrap.Bootstrap`.
    aggregator : str
        Distance of rank aggregation.

    Returns
    -------
    MeanRiskStudy
        Identical for any number of jobs.
    """
    found = mean_risk(scores.values, columns, weights=scores.weights)
    low = high = None
    if resamples:
        scale = unit_of(scores.values)
        scaled = replace(scores, values=scale.of_all(scores.values))
        jobs = jobs if resamples * sum(scores.sizes) > _WORTH_A_PROCESS else 1
        done, parts = 0, []
        for part in run_tasks(_block, (scaled, found.columns), blocks(resamples, seed), jobs=jobs):
            parts.append(part)
            done += len(part)
            if progress is not None:
                progress(done, resamples)
        low, high = scale.undo(np.quantile(np.concatenate(parts), [level / 2, 1 - level / 2], axis=0))
    consistent = found.rank.T[found.ssd_consistent]
    whole = aggregate_rankings(consistent, method=aggregator, names=names) if len(consistent) else None
    return MeanRiskStudy(found, low, high, whole, contradicted_by_consistent(found))


def aggregate_over_metrics(
    studies: Sequence[MeanRiskStudy], weights: Floats, *, names: Sequence[str], aggregator: str = "kemeny"
) -> Aggregation | None:
    """Aggregate the consistent rankings of several metrics, ``RA(MRM@M)``.

    Parameters
    ----------
    studies : sequence of m MeanRiskStudy
        One a metric.
    weights : ndarray, shape (m,)
        Weights of the metrics; a metric's weight is shared by its risks.
    names, aggregator
        As in :func:`study_mean_risk`.
    """
    lists, shares = [], []
    for study, weight in zip(studies, weights, strict=True):
        consistent = study.models.rank.T[study.models.ssd_consistent]
        lists += list(consistent)
        shares += [weight / max(len(consistent), 1)] * len(consistent)
    if not lists:
        return None
    return aggregate_rankings(np.array(lists), method=aggregator, weights=shares, names=names)


def _block(problem: tuple[ClusteredScores, tuple[RiskColumn, ...]], task: ResampleBlock) -> Floats:
    """Replicates of mean − risk of a block of resamples, shape (B, k, R)."""
    scores, columns = problem
    values = []
    for models in _resampled(scores, task, size=max(_BATCH // sum(scores.sizes), 1)):
        found = [mean_risk_of(own, columns) for own in models]
        values.append(np.stack([mean[:, None] - risk for mean, risk in found], axis=1))
    return np.concatenate(values)


def _resampled(
    scores: ClusteredScores, task: ResampleBlock, *, size: int
) -> Iterator[Iterable[Floats | Steps]]:
    """Resamples of each model; where scores weigh differently only the weights change, and none is sorted."""
    if scores.even:
        yield from batches(scores, [task], size=size)
        return
    design = WeightedDesign(scores)
    for cumulated in design.batches([task], size=size):
        yield [Steps(*one) for one in zip(design.values, cumulated, strict=True)]
