"""Mean–risk models: mean minus a measure of what can go wrong ([RAB] Table 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.portfolio.quantiles import alike, sorted_scores, weighted_scores, weighted_steps
from riskrank.engine.portfolio.risks import RiskColumn, risk_columns
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.ties import competition_ranks
from riskrank.engine.types import Booleans, Floats, Integers

# Scores of a size between 2^-300 and 2^300 have squares, and long sums of squares, that are numbers.
_ORDINARY = 300


@dataclass(frozen=True)
class MeanRisk:
    """Mean–risk models of k samples under R risks.

    Attributes
    ----------
    columns : tuple of RiskColumn, length R
        The risks and levels.
    mean : ndarray, shape (k,)
        Sample means.
    risk : ndarray, shape (k, R)
        Risks, in the unit of the scores.
    value : ndarray, shape (k, R)
        mean − risk; large is good.
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
        """Whether each column is consistent with second-order dominance, shape (R,)."""
        return np.array([column.risk.ssd_consistent for column in self.columns])

    @property
    def share(self) -> Floats:
        """Mean − risk from 0 for the worst model under that risk to 1 for the best; ½ if all are equal."""
        value = CommonScale.of([self.value], shift=False).apply(self.value)
        low, high = value.min(axis=0), value.max(axis=0)
        return np.where(high > low, (value - low) / np.where(high > low, high - low, 1.0), 0.5)

    @property
    def share_order(self) -> Integers:
        """Models by their mean share under all risks, the best first, shape (k,)."""
        return np.argsort(-self.share.mean(axis=1), kind="stable")

    def order(self, column: int) -> Integers:
        """Models by their rank under one risk, the best first, shape (k,)."""
        return self.rank[:, column].argsort(kind="stable")

    def frontier(self, column: int) -> Booleans:
        """Models that no other surpasses in mean and one risk, shape (k,): the efficient frontier."""
        from riskrank.engine.copa.pareto import pareto_front

        return pareto_front(np.column_stack([self.mean, -self.risk[:, column]]))


def mean_risk(
    samples: Sequence[Floats],
    columns: Sequence[RiskColumn] | None = None,
    *,
    weights: Sequence[ArrayLike] = (),
) -> MeanRisk:
    """Mean, risk, mean − risk and ranks of several samples.

    Integrals of the empirical quantile function are exact, so samples may differ in size.

    Parameters
    ----------
    samples : sequence of k ndarrays, shapes (n_i,)
        Scores, larger is better.
    columns : sequence of RiskColumn, optional
        From `risk_columns`; all risks at the default levels if left out.
    weights : sequence of k ndarrays, shapes (n_i,), optional
        How much each row counts; all the same by default.

    Returns
    -------
    MeanRisk

    References
    ----------
    [RAB] Table 1 and definition 1; method §5.
    """
    ordered = [np.sort(sample) for sample in samples]
    columns = tuple(columns) if columns is not None else risk_columns()
    scale = unit_of(ordered)
    parts = []
    for row, own, shares in zip(samples, ordered, weights or [1.0] * len(ordered), strict=True):
        if alike(shares):
            parts.append(mean_risk_of(scale.apply(own)[None, :], columns))
        else:
            one = weighted_steps(scale.apply(row), shares)
            parts.append(mean_risk_of(Steps(one.values, one.cumulated[None]), columns))
    mean = np.concatenate([part[0] for part in parts])
    risk = np.concatenate([part[1] for part in parts])
    value = mean[:, None] - risk
    size = max(float(np.abs(scale.apply(row)).max()) for row in ordered)
    ranks = np.column_stack([competition_ranks(-column, size=size) for column in value.T])
    return MeanRisk(columns, scale.undo(mean), scale.undo(risk), scale.undo(value), ranks)


def unit_of(samples: Sequence[Floats]) -> CommonScale:
    """The unit risks are computed in: the scores' own, unless their squares were beyond any number.

    Parameters
    ----------
    samples : sequence of k ndarrays, shapes (n_i,)
        Finite scores.

    Returns
    -------
    CommonScale
        Without a shift. Risks follow it, being in the unit of the scores.
    """
    scale = CommonScale.of(samples, shift=False)
    return scale if abs(scale.exponent) > _ORDINARY else CommonScale(0.0, 0)


def mean_risk_of(scores: Floats | Steps, columns: Sequence[RiskColumn]) -> tuple[Floats, Floats]:
    """Means and risks of many samples of one size, for use inside a bootstrap.

    Parameters
    ----------
    scores : ndarray, shape (..., n), or Steps
        Samples sorted along the last axis, or resamples of scores that weigh differently.
    columns : sequence of RiskColumn, length R
        The risks and levels.

    Returns
    -------
    mean : ndarray, shape (...)
    risk : ndarray, shape (..., R)
    """
    levels = sorted({column.level for column in columns if column.level is not None})
    summed = weighted_scores(scores, levels) if isinstance(scores, Steps) else sorted_scores(scores, levels)
    risk = np.empty((*summed.mean.shape, len(columns)))
    for at, column in enumerate(columns):
        risk[..., at] = column.risk.of(summed, column.level or 0.0)
    return summed.mean, risk


def contradicted_by_consistent(result: MeanRisk) -> tuple[tuple[int, int], ...]:
    """The pairs that mean − σ orders against every SSD-consistent risk ([RAB] Table 5).

    Parameters
    ----------
    result : MeanRisk
        A study with the standard deviation among its columns.

    Returns
    -------
    tuple of (int, int)
        Pairs (i, j): mean − σ ranks i above j, every consistent column ranks j above i.
    """
    consistent = result.rank[:, result.ssd_consistent]
    sigma = [at for at, column in enumerate(result.columns) if column.risk.name == "standard-deviation"]
    if not sigma or consistent.shape[1] == 0:
        return ()
    above = result.rank[:, None, sigma[0]] < result.rank[None, :, sigma[0]]
    below = (consistent[:, None, :] > consistent[None, :, :]).all(axis=2)
    return tuple((int(i), int(j)) for i, j in zip(*np.nonzero(above & below), strict=True))
