"""Mean–risk models: the mean minus a risk measure, with bootstrap intervals and an aggregated ranking.

Source: [RAB] Table 1 and Table 5; method §5.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.aggregation.rank_aggregation import Aggregation, aggregate_rankings
from riskrank.engine.numeric import CommonScale, competition_ranks
from riskrank.engine.portfolio import quantiles
from riskrank.engine.portfolio.risks import RiskColumn, risk_columns
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.processes import Jobs, run_tasks
from riskrank.engine.sampling.resamples import ResampleBlock, batches, make_blocks
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.types import Booleans, Floats, Integers, Progress

# Squares of scores between 2^-300 and 2^300, and long sums of them, neither underflow nor overflow.
_ORDINARY = 300


@dataclass(frozen=True)
class MeanRisk:
    """Mean–risk models of k samples for R risk measures.

    Attributes
    ----------
    columns : tuple of RiskColumn, length R
        The risk measures with their levels.
    mean : ndarray, shape (k,)
        Sample means.
    risk : ndarray, shape (k, R)
        Risks, in the unit of the scores.
    value : ndarray, shape (k, R)
        Mean minus risk; larger is better.
    rank : ndarray of int, shape (k, R)
        Rank by value in each column, 1 for the best; ties share the smaller rank (1, 2, 2, 4).
    """

    columns: tuple[RiskColumn, ...]
    mean: Floats
    risk: Floats
    value: Floats
    rank: Integers

    @property
    def ssd_consistent(self) -> Booleans:
        """Mask of the risk measures consistent with second-order stochastic dominance (SSD), shape (R,)."""
        return np.array([column.risk.ssd_consistent for column in self.columns])

    @property
    def rescaled(self) -> Floats:
        """Mean − risk of each model and risk, rescaled linearly to [0, 1], shape (k, R).

        In each column, 0 is the worst and 1 the best model. All values are ½ if the models are equal.
        """
        value = CommonScale.fit([self.value], shift=False).apply(self.value)
        low, high = value.min(axis=0), value.max(axis=0)
        return np.where(high > low, (value - low) / np.where(high > low, high - low, 1.0), 0.5)

    @property
    def rescaled_order(self) -> Integers:
        """Indices of the models from best to worst by mean rescaled value over all risks, shape (k,)."""
        return np.argsort(-self.rescaled.mean(axis=1), kind="stable")

    def order(self, column: int) -> Integers:
        """Return the indices of the models from best to worst by mean − risk, shape (k,).

        `column` is the index of the risk measure.
        """
        return self.rank[:, column].argsort(kind="stable")

    def frontier(self, column: int) -> Booleans:
        """Return a mask of the models on the mean–risk efficient frontier, shape (k,).

        `column` is the index of the risk measure.
        """
        from riskrank.engine.copa.population import pareto_front

        return pareto_front(np.column_stack([self.mean, -self.risk[:, column]]))


def mean_risk(
    samples: Sequence[Floats],
    columns: Sequence[RiskColumn] | None = None,
    *,
    weights: Sequence[ArrayLike] = (),
) -> MeanRisk:
    """Compute mean, risk, mean − risk and ranks of several samples.

    Integrals of the empirical quantile function are computed exactly, so samples may differ in size.

    Parameters
    ----------
    samples : sequence of k ndarrays, shapes (n_i,)
        Scores; larger is better.
    columns : sequence of RiskColumn, optional
        From `risk_columns`; by default all risks at the default levels.
    weights : sequence of k ndarrays, shapes (n_i,), optional
        Weight of each row; equal by default.

    Returns
    -------
    MeanRisk

    References
    ----------
    [RAB] Table 1 and definition 1; method §5.
    """
    ordered = [np.sort(sample) for sample in samples]
    columns = tuple(columns) if columns is not None else risk_columns()
    scale = risk_scale(ordered)
    parts = []
    for row, sorted_row, shares in zip(samples, ordered, weights or [1.0] * len(ordered), strict=True):
        if quantiles.has_equal_weights(shares):
            parts.append(means_and_risks(scale.apply(sorted_row)[None, :], columns))
        else:
            steps = quantiles.weighted_steps(scale.apply(row), shares)
            parts.append(means_and_risks(Steps(steps.values, steps.cumulated[None]), columns))
    mean = np.concatenate([part[0] for part in parts])
    risk = np.concatenate([part[1] for part in parts])
    value = mean[:, None] - risk
    size = max(float(np.abs(scale.apply(row)).max()) for row in ordered)
    ranks = np.column_stack([competition_ranks(-column, scale=size) for column in value.T])
    return MeanRisk(columns, scale.undo(mean), scale.undo(risk), scale.undo(value), ranks)


def risk_scale(samples: Sequence[Floats]) -> CommonScale:
    """Choose the scale on which risks are computed.

    It is the original scale of the scores, unless their squares would overflow.

    Parameters
    ----------
    samples : sequence of k ndarrays, shapes (n_i,)
        Finite scores.

    Returns
    -------
    CommonScale
        Scale without a shift.
    """
    scale = CommonScale.fit(samples, shift=False)
    return scale if abs(scale.exponent) > _ORDINARY else CommonScale(0.0, 0)


def means_and_risks(scores: Floats | Steps, columns: Sequence[RiskColumn]) -> tuple[Floats, Floats]:
    """Compute means and risks of many samples of equal size, such as bootstrap resamples.

    Parameters
    ----------
    scores : ndarray, shape (..., n), or Steps
        Samples sorted along the last axis, or resamples of unequally weighted scores.
    columns : sequence of RiskColumn, length R
        Risks at their levels.

    Returns
    -------
    mean : ndarray, shape (...)
        Means of the samples.
    risk : ndarray, shape (..., R)
        Risks of the samples.
    """
    levels = sorted({column.level for column in columns if column.level is not None})
    summed = (
        quantiles.sorted_weighted_scores(scores, levels)
        if isinstance(scores, Steps)
        else quantiles.sorted_scores(scores, levels)
    )
    risk = np.empty((*summed.mean.shape, len(columns)))
    for index, column in enumerate(columns):
        risk[..., index] = column.risk.compute(summed, column.level or 0.0)
    return summed.mean, risk


def contradicted_pairs(result: MeanRisk) -> tuple[tuple[int, int], ...]:
    """Return the pairs whose order by mean − σ contradicts all SSD-consistent risks ([RAB] Table 5).

    Parameters
    ----------
    result : MeanRisk
        Mean–risk models whose columns include the standard deviation.

    Returns
    -------
    tuple of (int, int)
        Pairs (i, j): mean − σ ranks i above j, but every SSD-consistent risk ranks j above i.
    """
    consistent = result.rank[:, result.ssd_consistent]
    sigma = [i for i, column in enumerate(result.columns) if column.risk.name == "standard-deviation"]
    if not sigma or consistent.shape[1] == 0:
        return ()
    above = result.rank[:, None, sigma[0]] < result.rank[None, :, sigma[0]]
    below = (consistent[:, None, :] > consistent[None, :, :]).all(axis=2)
    return tuple((int(i), int(j)) for i, j in zip(*np.nonzero(above & below), strict=True))


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
    progress: Progress | None = None,
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
        done, parts, blocks = 0, [], make_blocks(resamples, seed)
        for part in run_tasks(_resample_values, (scaled, result.columns), blocks, jobs=jobs):
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
    """Return replicates of mean − risk for one block of resamples, shape (B, k, R).

    `problem` consists of the scores and the risk measures, `task` is the block.
    """
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
