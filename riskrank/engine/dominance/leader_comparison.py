"""Comparison of the leader with all other models, and its sensitivity to single models, metrics and weights.

The comparison consists of direct dominance tests, means and tails (method §4). The sensitivity is not tested.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.dominance.column_tests import DominanceStudy, asymptotic_tests
from riskrank.engine.dominance.contrasts import Contrasts, contrasts
from riskrank.engine.dominance.inference import DIRECT, Claim, ColumnClaims, Inference
from riskrank.engine.dominance.metric_tails import MetricTails
from riskrank.engine.dominance.ranking import violation_ratios
from riskrank.engine.dominance.resampled_tests import BootstrapTest
from riskrank.engine.dominance.tail_contrasts import TailContrasts, tail_contrasts
from riskrank.engine.dominance.task_mean_tests import combine_task_means
from riskrank.engine.dominance.tests import COMBINED, DominanceTests
from riskrank.engine.dominance.violation import one_versus_all
from riskrank.engine.portfolio.score_tables import EMPIRICAL, INDEPENDENT, ScoreTables
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats


@dataclass(frozen=True)
class RankedColumn:
    """A ranked column of scores and the tables from which it was computed.

    Attributes
    ----------
    tables : ScoreTables
        Scores of k models on all metrics.
    name : str
        A metric, ``P(IC)`` or ``P(EC)``.
    scores : ClusteredScores
        Scores of the column.
    study : DominanceStudy
        Dominance tests on the column.
    order : {1, 2}
        Order of dominance used by the ranking.
    tails : MetricTails or None
        Tail means by metric of a portfolio; None for a single metric or without resampling.
    weighted : bool
        True if the user set metric weights.
    """

    tables: ScoreTables
    name: str
    scores: ClusteredScores
    study: DominanceStudy
    order: int
    tails: MetricTails | None = None
    weighted: bool = False


@dataclass(frozen=True)
class ModelComparison:
    """Comparison of a reference model with all others.

    Attributes
    ----------
    model : int
        Index of the reference model.
    ahead, behind : tuple of int
        Models that significantly dominate the reference, and models significantly dominated by it.
    undecided : tuple of int
        Models for which there are too few resamples to decide the claim in either direction.
    contrasts : Contrasts
        Differences in means from the reference.
    better : tuple of int
        Models whose mean is at least as good on every metric and significantly better on at least one.
    tails : TailContrasts or None
        Differences in tail means from the reference; None for a single metric or without resampling.
    milder : tuple of int
        Models that have a significantly better tail on some metric and over which the reference has no
        advantage.
    worse : tuple of int
        Models with significantly worse means on all of several metrics and no significantly better tail.
    """

    model: int
    ahead: tuple[int, ...]
    behind: tuple[int, ...]
    undecided: tuple[int, ...]
    contrasts: Contrasts
    better: tuple[int, ...]
    tails: TailContrasts | None = None
    milder: tuple[int, ...] = ()
    worse: tuple[int, ...] = ()

    @property
    def beaten_by(self) -> tuple[int, ...]:
        """Indices of the models that beat the reference, which is evidence against recommending it."""
        return tuple(sorted({*self.ahead, *self.better, *self.milder}))


def compare_model(ranked: RankedColumn, model: int, inference: Inference) -> ModelComparison:
    """Compare one model with all others, by direct dominance tests and on every metric.

    With a single metric, a model with a better mean does not count as better if the reference significantly
    dominates it. Such a pair is a trade-off between mean and tail.

    Parameters
    ----------
    ranked : RankedColumn
        Ranked column of scores, with its dominance tests.
    inference : Inference
        Test settings: level, correction, resamples and seed.
    model : int
        Index of the reference model.

    Returns
    -------
    ModelComparison
    """
    rivals = [i for i in range(ranked.scores.models) if i != model]
    tests = head_to_head_tests(ranked, model, inference)
    ahead = tuple(i for i in rivals if tests.dominates[i, model])
    behind = tuple(i for i in rivals if tests.dominates[model, i])
    undecided = tuple(i for i in rivals if not (tests.decided[i, model] and tests.decided[model, i]))
    means, tails, better, milder = _compare_on_metrics(ranked, model, inference)
    worse = [i for i in means.worse_throughout.tolist() if tails is None or not tails.milder[i].any()]
    if len(ranked.tables.metrics) == 1:
        better, worse = [i for i in better if i not in behind], []
    return ModelComparison(
        model, ahead, behind, undecided, means, tuple(better), tails, tuple(milder), tuple(worse)
    )


def is_beaten(ranked: RankedColumn, model: int, inference: Inference) -> bool:
    """Return True if some other model is a better recommendation than `model`.

    A model is better if its means are at least as good on every metric and significantly better on at least
    one. It must not have a significantly worse tail. It is also better if its tail is significantly better on
    some metric and the other model has no advantage.
    """
    _, tails, better, milder = _compare_on_metrics(ranked, model, inference)
    if tails is not None:
        better = [i for i in better if not tails.advantages[i].any()]
    return bool(better or milder)


def _compare_on_metrics(
    ranked: RankedColumn, model: int, inference: Inference
) -> tuple[Contrasts, TailContrasts | None, list[int], list[int]]:
    """Compare all models with a reference model on every metric.

    Parameters
    ----------
    ranked : RankedColumn
        Ranked column of scores, with its dominance tests.
    model : int
        Index of the reference model.
    inference : Inference
        Test settings: level, correction, resamples and seed.

    Returns
    -------
    Contrasts
        Differences in means from the reference.
    TailContrasts or None
        Differences in tail means; None if the tail means are not available.
    list of int
        Models with better means.
    list of int
        Models with better tails.
    """
    means = contrasts(ranked.tables, model, inference)
    better = means.better_throughout.tolist()
    if ranked.tails is None:
        return means, None, better, []
    tails = tail_contrasts(ranked.tails, means, inference)
    return means, tails, better, tails.milder_models.tolist()


def head_to_head_tests(ranked: RankedColumn, model: int, inference: Inference) -> DominanceTests:
    """Test whether the model with index `model` dominates each other model, and whether it is dominated.

    The family consists of 2(k − 1) direct claims. The tests reuse the resamples of the ranking, or its
    influence functions. If tasks are sampled, the tests of the macro means must also be significant, as in
    the ranking.
    """
    rivals = [i for i in range(ranked.scores.models) if i != model]
    pairs = tuple(pair for i in rivals for pair in ((i, model), (model, i)))
    claim = Claim(ranked.order, DIRECT)
    column = ColumnClaims(ranked.scores, (claim,), pairs)
    replicates = ranked.study.replicates
    if replicates is None:
        return asymptotic_tests(column, inference)[0]
    test = BootstrapTest(column, claim, inference)
    test.update(replicates, last=True)
    result = test.result(replicates)
    if not ranked.scores.n_random_tasks:
        return result
    return combine_task_means(column, result, inference, COMBINED)


# Limit of score comparisons for excluding each model in turn, about a second.
_WORK = 2e7
# Factors of a weight to try, and the largest number of two-digit factors between two of them.
_FACTORS, _STEPS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0), 6


def leaders_without_model(ranked: RankedColumn, leader: int) -> dict[int, int] | None:
    """Find the models whose removal changes the leader, without testing for significance.

    Parameters
    ----------
    ranked : RankedColumn
        Ranked column of scores, with its dominance tests.
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
    """Find the metrics whose removal changes the leader, without testing for significance.

    Parameters
    ----------
    ranked : RankedColumn
        Ranked column of scores, with its dominance tests.
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
    """Find the smallest factor on the weight of each metric that changes the leader.

    Differences between models are not tested for significance.

    Parameters
    ----------
    ranked : RankedColumn
        Ranked column of scores, with its dominance tests.
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
            """Return the leader for each factor by which the weight of the current metric is multiplied.

            `heavier` holds the weight of this metric, and 0 for all others.
            """
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
    """Return True if the leader can be recomputed for other metric weights in a short time.

    This requires that `ranked` is a portfolio of several metrics. `trials` is the number of weight vectors to
    try per metric.
    """
    tables, k, sizes = ranked.tables, ranked.scores.models, ranked.scores.sizes
    m = len(tables.metrics)
    pooled = ranked.name == INDEPENDENT and INDEPENDENT not in tables.metrics
    return pooled and m > 1 and trials * m * max(k * k / 2 * max(sizes), m * sum(sizes)) <= _WORK


def _leaders_by_weights(ranked: RankedColumn, weights: Floats) -> list[int]:
    """Return the index of the leader of a portfolio under each vector of metric weights.

    `ranked` is the portfolio, and `weights` has shape (vectors, m).
    """
    tables = ranked.tables.with_weights(weights)
    columns = map(tables.clustered_column, tables.metrics)
    return [int(np.argmin(one_versus_all_ratios(column, ranked.order))) for column in columns]


def one_versus_all_ratios(scores: ClusteredScores, order: int) -> Floats:
    """Return the mean violation ratio of each model against all others, shape (k,).

    Ratios are rounded so that they do not depend on the order of summation.
    """
    return np.round(one_versus_all(violation_ratios(scores, orders=(order,))[0]), 12)
