"""Mean–risk models of one score column, with bootstrap intervals and an aggregated ranking.

Source: [RAB] Table 1 and Table 5; method §5.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import Aggregation, aggregate_rankings
from riskrank.engine.portfolio.mean_risk import (
    MeanRisk,
    contradicted_pairs,
    mean_risk,
    means_and_risks,
    risk_scale,
)
from riskrank.engine.portfolio.risks import RiskColumn
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.processes import Jobs, run_tasks
from riskrank.engine.sampling.resamples import ResampleBlock, batches, make_blocks
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.types import Floats

# Scores resampled above which starting worker processes is faster.
_PROCESS_THRESHOLD = 60_000_000

# Scores resampled at once: enough to make NumPy's overhead negligible, few enough for the cache.
_BATCH = 1 << 16


@dataclass(frozen=True)
class MeanRiskStudy:
    """Mean–risk models of k models for R risks, with intervals and an aggregated ranking.

    Attributes
    ----------
    models : MeanRisk
        Means, risks, values and ranks.
    value_low, value_high : ndarray, shape (k, R), or None
        Bootstrap interval of mean − risk; None without resampling.
    aggregation : Aggregation or None
        Exact aggregation ``RA(MRM@…)`` of the rankings by all SSD-consistent risks; None without such a risk.
    contradicted : tuple of (int, int)
        Pairs whose order by mean − standard deviation contradicts all SSD-consistent risks.
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
        Scores of k models.
    columns : sequence of RiskColumn, length R
        Risks at their levels.
    names : sequence of k str
        Model names, which break ties between optimal aggregations.
    resamples : int
        Number of bootstrap resamples; with 0, no intervals are computed.
    level : float
        Error level α: each interval covers a proportion 1 − α of the resamples.
    seed, jobs, progress
        As in :func:`riskrank.engine.dominance.bootstrap.Bootstrap`.
    aggregator : str
        Rank distance to minimise; see
        :func:`riskrank.engine.aggregation.rank_aggregation.aggregate_rankings`.

    Returns
    -------
    MeanRiskStudy
        Identical for any number of jobs.
    """
    result = mean_risk(scores.values, columns, weights=scores.weights)
    low = high = None
    if resamples:
        scale = risk_scale(scores.values)
        scaled = replace(scores, values=scale.apply_all(scores.values))
        jobs = jobs if resamples * sum(scores.sizes) > _PROCESS_THRESHOLD else 1
        done, parts = 0, []
        for part in run_tasks(
            _resample_values, (scaled, result.columns), make_blocks(resamples, seed), jobs=jobs
        ):
            parts.append(part)
            done += len(part)
            if progress is not None:
                progress(done, resamples)
        low, high = scale.undo(np.quantile(np.concatenate(parts), [level / 2, 1 - level / 2], axis=0))
    consistent = result.rank.T[result.ssd_consistent]
    aggregation = aggregate_rankings(consistent, method=aggregator, names=names) if len(consistent) else None
    return MeanRiskStudy(result, low, high, aggregation, contradicted_pairs(result))


def aggregate_over_metrics(
    studies: Sequence[MeanRiskStudy], weights: Floats, *, names: Sequence[str], aggregator: str = "kemeny"
) -> Aggregation | None:
    """Aggregate the rankings by SSD-consistent risks over several metrics, ``RA(MRM@M)``.

    Parameters
    ----------
    studies : sequence of m MeanRiskStudy
        One per metric.
    weights : ndarray, shape (m,)
        Weights of the metrics; each metric's weight is divided equally among its SSD-consistent risks.
    names, aggregator
        As in :func:`study_mean_risk`.

    Returns
    -------
    Aggregation or None
        None without an SSD-consistent risk.
    """
    lists, shares = [], []
    for study, weight in zip(studies, weights, strict=True):
        consistent = study.models.rank.T[study.models.ssd_consistent]
        lists += list(consistent)
        shares += [weight / max(len(consistent), 1)] * len(consistent)
    if not lists:
        return None
    return aggregate_rankings(np.array(lists), method=aggregator, weights=shares, names=names)


def _resample_values(problem: tuple[ClusteredScores, tuple[RiskColumn, ...]], task: ResampleBlock) -> Floats:
    """Return replicates of mean − risk for one block of resamples, shape (B, k, R)."""
    scores, columns = problem
    size, values = max(_BATCH // sum(scores.sizes), 1), []
    resamples: Iterable[Iterable[Floats | Steps]] = batches(scores, [task], size=size)
    if not scores.balanced:
        # With unequal weights, only the weights change.
        design = WeightedDesign(scores)
        weights = design.batches([task], size=size)
        resamples = (map(Steps, design.values, cumulated) for cumulated in weights)
    for models in resamples:
        results = [means_and_risks(model, columns) for model in models]
        values.append(np.stack([mean[:, None] - risk for mean, risk in results], axis=1))
    return np.concatenate(values)
