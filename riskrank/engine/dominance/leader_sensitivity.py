"""Sensitivity of the leader to removing a model or metric, or to changing a weight, without tests."""

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.dominance.leader_comparison import RankedColumn
from riskrank.engine.dominance.ranking import violation_ratios
from riskrank.engine.dominance.violation import one_versus_all
from riskrank.engine.portfolio.score_tables import EMPIRICAL, INDEPENDENT
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats

# Limit of score comparisons for excluding each model in turn, about a second.
_WORK = 2e7
# Factors of a weight to try, and the largest number of two-digit factors between two of them.
_FACTORS, _STEPS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0), 6


def leaders_without_model(ranked: RankedColumn, leader: int) -> dict[int, int] | None:
    """Return the new leader for each model whose removal changes the leader (without tests).

    Parameters
    ----------
    ranked : RankedColumn
    leader : int
        Index of the current leader.

    Returns
    -------
    dict of int to int, or None
        New leader by removed model. None for two models, for the empirical copula, or if the computation
        would take too long.
    """
    k = ranked.scores.models
    if k < 3 or ranked.name == EMPIRICAL or k * k * (k - 1) / 2 * max(ranked.scores.sizes) > _WORK:
        return None
    leaders = {}
    # A portfolio depends on the pooled scores of all models.
    pooled = ranked.name == INDEPENDENT and INDEPENDENT not in ranked.tables.metrics
    # It depends on their ranks alone, which are sorted once.
    tables = ranked.tables.as_ranks() if pooled else ranked.tables
    for excluded in [i for i in range(k) if i != leader]:
        models = [i for i in range(k) if i != excluded]
        selected = tables.select_models(models).clustered_column(ranked.name) if pooled else None
        scores = selected or ranked.scores.select_models(models)
        first = models[int(np.argmin(one_versus_all_ratios(scores, ranked.order)))]
        if first != leader:
            leaders[excluded] = first
    return leaders


def leaders_without_metric(ranked: RankedColumn, leader: int) -> dict[int, int] | None:
    """Return the new leader for each metric whose removal changes the leader (without tests).

    Parameters
    ----------
    ranked : RankedColumn
    leader : int
        Index of the current leader.

    Returns
    -------
    dict of int to int, or None
        New leader by removed metric. None for one metric, for the empirical copula, or if the computation
        would take too long.
    """
    if not _can_vary_weights(ranked, 1):
        return None
    weights = ranked.tables.weights
    excluded = np.flatnonzero(weights < 1)
    first = _leaders_by_weights(ranked, weights * (excluded[:, None] != np.arange(len(weights))))
    return {metric: model for metric, model in zip(excluded.tolist(), first, strict=True) if model != leader}


def leader_changing_factors(ranked: RankedColumn, leader: int) -> dict[int, dict[int, float]] | None:
    """Return the smallest factors on each metric's weight that change the leader (without tests).

    Parameters
    ----------
    ranked : RankedColumn
    leader : int
        Index of the current leader.

    Returns
    -------
    dict of int to dict of int to float, or None
        Factor (at most 64) by metric and new leader. None in the same cases as `leaders_without_metric`.
    """
    if not _can_vary_weights(ranked, _STEPS + len(_FACTORS)):
        return None
    weights, leaders = ranked.tables.weights, dict[int, dict[int, float]]()
    for metric in np.flatnonzero((weights > 0) & (weights < 1)).tolist():
        heavier = np.eye(len(weights))[metric] * weights

        def leaders_at(factor: ArrayLike, heavier: Floats = heavier) -> list[int]:
            """Return the leader for each factor on the weight of the current metric."""
            return _leaders_by_weights(ranked, weights + (np.atleast_1d(factor)[:, None] - 1) * heavier)

        winners = dict(zip(_FACTORS, leaders_at(_FACTORS), strict=True))
        searched = {leader}
        while untried := {*winners.values()} - searched:  # between two factors a third model can lead
            model = min(untried)
            searched.add(model)
            high = min(factor for factor, winner in winners.items() if winner == model)
            low = max((factor for factor in winners if factor < high), default=1.0)
            while low < (middle := float(f"{(low + high) / 2:.2g}")) < high:
                (winners[middle],) = leaders_at(middle)
                low, high = (low, middle) if winners[middle] == model else (middle, high)
        for factor in sorted(winners):
            if winners[factor] != leader:
                leaders.setdefault(metric, {}).setdefault(winners[factor], factor)
    return leaders


def _can_vary_weights(ranked: RankedColumn, trials: int) -> bool:
    """Return True if weights matter, and `trials` weight vectors per metric are fast to evaluate."""
    tables, k, sizes = ranked.tables, ranked.scores.models, ranked.scores.sizes
    m = len(tables.metrics)
    pooled = ranked.name == INDEPENDENT and INDEPENDENT not in tables.metrics
    return pooled and m > 1 and trials * m * max(k * k / 2 * max(sizes), m * sum(sizes)) <= _WORK


def _leaders_by_weights(ranked: RankedColumn, weights: Floats) -> list[int]:
    """Return the leader under each weight vector; ``weights`` has shape (vectors, m)."""
    tables = ranked.tables.with_weights(weights)
    return [
        int(np.argmin(one_versus_all_ratios(tables.clustered_column(name), ranked.order)))
        for name in tables.metrics
    ]


def one_versus_all_ratios(scores: ClusteredScores, order: int) -> Floats:
    """Return the one-versus-all ratios, rounded so that they do not depend on the order of summation."""
    return np.round(one_versus_all(violation_ratios(scores, orders=(order,))[0]), 12)
