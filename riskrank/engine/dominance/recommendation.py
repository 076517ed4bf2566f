"""Decide whether the top-ranked model can be recommended (method §4, "What a verdict may say").

The leader is not recommended if any of three comparisons provides evidence against it:

- Head to head: another model is significantly ahead, by direct claims of the ranking's order of dominance
  on the same resamples.
- Means of the metrics: another model's mean is at least as good on every metric and significantly better
  on at least one.
- Tails of the metrics: another model has a significantly better tail mean on some metric, and the leader
  has no advantage over it.

If there is such evidence, the alternatives are the other models that no model beats in the last two
comparisons. They are ordered by the aggregated rankings of the metrics, RA(R-SSD@M). The choice is the first
alternative that no other one beats on balance, that is, significantly on some metric and without being
significantly worse on any. Rank differences that are not significant do not outweigh a significant
difference. The choice is not proposed if a third model is significantly ahead of it head to head. Nor is it
proposed if the leader is ahead of it and a third model ranks before it, because then only means would support
it.

A confirmed leader can still be a trade-off. Another model can have a significantly higher mean on the ranked
score, or on a metric if the user set no weights. Almost second-order dominance does not imply a better mean.

The module also finds the single models, metrics and weights that change the leader; this sensitivity is not
tested for significance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.aggregation.rank_aggregation import aggregate_rankings
from riskrank.engine.dominance.column_tests import DominanceStudy, asymptotic_tests, combine_task_means
from riskrank.engine.dominance.contrasts import (
    Contrasts,
    MetricTails,
    PassedOver,
    TailContrasts,
    contrasts,
    find_passed_over,
    tail_contrasts,
)
from riskrank.engine.dominance.inference import DIRECT, Claim, ColumnClaims, Inference
from riskrank.engine.dominance.ranking import violation_ratios
from riskrank.engine.dominance.resampled_tests import BootstrapTest
from riskrank.engine.dominance.tests import COMBINED, DominanceTests
from riskrank.engine.dominance.violation import one_versus_all
from riskrank.engine.numeric import competition_ranks
from riskrank.engine.portfolio.score_tables import EMPIRICAL, INDEPENDENT, ScoreTables
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans, Floats, Integers


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


@dataclass(frozen=True)
class Recommendation:
    """Evidence for and against recommending the leader of a ranking.

    Attributes
    ----------
    leader : ModelComparison
        Comparison of the leader with all other models.
    unbeaten : tuple of int
        Models that no model beats on the metrics, ordered by the aggregated metric rankings, without the
        leader. Only the leader if it is confirmed.
    choice : int or None
        First unbeaten model that no other unbeaten model beats on balance, if any.
    deciding : tuple of int
        Metrics whose removal would change the first unbeaten model. Empty if only one model is unbeaten, or
        if the choice follows from tests or from ties broken by name.
    passed_over : tuple of PassedOver
        Unbeaten models that rank before the choice, but are beaten on balance by another one.
    first_by_metrics : int or None
        First model by RA(R-SSD@M), or by RA(R-FSD@M) for a first-order ranking; None if tied.
    first_without : dict of int to int, or None
        New leader by removed model, for removals that change the leader. None if not computed.
    first_without_metric : dict of int to int, or None
        New leader by removed metric of a portfolio, for removals that change the leader. None if not
        computed.
    ahead_of_choice : tuple of int
        Models significantly ahead of the choice in head-to-head tests; empty if the leader is confirmed.
    before_choice : tuple of int
        Models that rank between the leader and the choice.
    tied : int or None
        Another model that would be the choice if ties were broken by names in reverse order.
    trade_offs : tuple of int
        For a confirmed leader: models with a significantly higher mean on the ranked score, or on a metric if
        the user set no weights. Sorted by p-value.
    hidden_tails : ndarray of bool, shape (k, m), or None
        True where a model's tail is significantly better than the leader's, although its mean is not, and the
        model ranks before the leader on that metric. None if tails are not tested.
    """

    leader: ModelComparison
    unbeaten: tuple[int, ...]
    choice: int | None
    deciding: tuple[int, ...]
    passed_over: tuple[PassedOver, ...]
    first_by_metrics: int | None
    first_without: dict[int, int] | None
    first_without_metric: dict[int, int] | None
    ahead_of_choice: tuple[int, ...] = ()
    before_choice: tuple[int, ...] = ()
    tied: int | None = None
    trade_offs: tuple[int, ...] = ()
    hidden_tails: Booleans | None = None

    @property
    def confirmed(self) -> bool:
        """True if no other model beats the leader, so that the leader can be recommended."""
        return not self.leader.beaten_by

    @property
    def alternative(self) -> int | None:
        """Index of the model to recommend instead of the leader, if any.

        It is None if a third model beats the choice, or if the choice depends on how ties are broken.
        """
        ahead = {*self.ahead_of_choice}
        third = ahead - {self.leader.model} or (ahead and self.before_choice)
        return None if third or self.tied is not None else self.choice

    @property
    def rival(self) -> int:
        """Index of a model that beats the leader.

        It is the choice if possible, otherwise a model with better means or tails.
        """
        against = self.leader.beaten_by
        if self.choice is not None and self.choice in against:
            return self.choice
        return next(iter(self.leader.better), against[0])


def recommend(ranked: RankedColumn, order: Sequence[int], inference: Inference) -> Recommendation:
    """Check whether the leader of a ranking can be recommended, and otherwise find an alternative.

    The leader is compared with all other models.

    Parameters
    ----------
    ranked : RankedColumn
        A ranked column with at least 10 samples.
    order : sequence of int
        Models in ranking order.
    inference : Inference
        Test settings: level, correction, resamples and seed.

    Returns
    -------
    Recommendation
    """
    tables, leader = ranked.tables, order[0]
    first = compare_model(ranked, leader, inference)
    ranks, hidden = metric_ranks(tables, ranked.order), None
    by_metrics, renamed = _aggregated_orders(ranks, tables.weights)
    best = by_metrics[0] if by_metrics[0] == renamed[0] else None
    if first.tails is not None:
        ranked_before = (ranks < ranks[:, [leader]]).T
        # A tail that is offset only by better means of the leader is a trade-off on any metric.
        hidden = (first.tails.hidden & ranked_before) | first.tails.trade_offs
    without = leaders_without_model(ranked, leader), leaders_without_metric(ranked, leader)
    if not first.beaten_by:
        trade_offs = _find_trade_offs(ranked, first, inference)
        confirmed = first, (leader,), leader, (), (), best
        return Recommendation(*confirmed, *without, trade_offs=trade_offs, hidden_tails=hidden)
    unbeaten = [model for model in by_metrics if model != leader and not is_beaten(ranked, model, inference)]
    passed = find_passed_over(tables, unbeaten, inference)
    choice = unbeaten[len(passed)] if unbeaten else None
    reordered = [model for model in renamed if model in unbeaten]
    tied = choice if reordered == unbeaten else reordered[len(find_passed_over(tables, reordered, inference))]
    by_preference = len(unbeaten) > 1 and not passed and tied == choice
    deciding = _deciding_metrics(ranks[:, unbeaten], tables.weights) if by_preference else ()
    ahead = () if choice is None else compare_model(ranked, choice, inference).ahead
    before = () if choice is None else tuple(order[1 : order.index(choice)])
    outcome = first, tuple(unbeaten), choice, deciding, passed, best
    return Recommendation(*outcome, *without, ahead, before, None if tied == choice else tied, (), hidden)


def _find_trade_offs(ranked: RankedColumn, leader: ModelComparison, inference: Inference) -> tuple[int, ...]:
    """Return the indices of models with a significantly higher mean than the leader, by increasing p-value.

    If the user set no weights, the means of the metrics count as well as that of the ranked score.
    """
    tables, comparisons = ranked.tables, [leader.contrasts]
    if ranked.name not in tables.metrics:
        comparisons = [] if ranked.weighted else comparisons
        comparisons.append(contrasts(tables.single_column(ranked.name), leader.model, inference))
    elif len(tables.metrics) > 1:  # a metric ranked alone
        comparisons = [contrasts(tables.single_column(ranked.name), leader.model, inference)]
    better = np.column_stack([comparison.better for comparison in comparisons])
    p_values = np.column_stack([comparison.answers.p_adjusted for comparison in comparisons])
    surest = np.where(better, p_values, np.inf).min(axis=1)
    return tuple(i for i in np.argsort(surest, kind="stable").tolist() if better[i].any())


def metric_ranks(tables: ScoreTables, order: int) -> Integers:
    """Rank the models on each metric by violation ratio, without tests; return ranks of shape (m, k).

    `order` is the order of dominance.
    """
    columns = map(tables.clustered_column, tables.metrics)
    return np.array([competition_ranks(one_versus_all_ratios(column, order)) for column in columns])


def _aggregated_orders(ranks: Integers, weights: Floats) -> tuple[list[int], list[int]]:
    """Aggregate the metric rankings to an order of models, with two ways of breaking ties.

    The first order breaks ties by name, the second by name in reverse order.

    Parameters
    ----------
    ranks : ndarray of int, shape (m, models)
        Rank of each model on each metric.
    weights : ndarray, shape (m,)
        Weights of the metrics.

    Returns
    -------
    two lists of int
        Models from first to last.
    """
    result = aggregate_rankings(ranks, weights=weights)
    order, last = result.order, ranks.shape[1] - 1
    renamed = order if result.unique else last - aggregate_rankings(ranks[:, ::-1], weights=weights).order
    return order.tolist(), renamed.tolist()


def _deciding_metrics(ranks: Integers, weights: Floats) -> tuple[int, ...]:
    """Return the indices of metrics whose removal changes the first model of the aggregated ranking.

    `ranks` has shape (m, models), and `weights` shape (m,).
    """
    first, metrics = _aggregated_orders(ranks, weights)[0][0], []
    for metric in range(len(ranks)):
        remaining = [m for m in range(len(ranks)) if m != metric]
        if remaining and weights[remaining].sum() > 0:
            orders = _aggregated_orders(ranks[remaining], weights[remaining])
            metrics += [metric] * all(order[0] != first for order in orders)
    return tuple(metrics)
