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
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import aggregate_rankings
from riskrank.engine.dominance.contrasts import PassedOver, contrasts, find_passed_over
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.leader_comparison import (
    ModelComparison,
    RankedColumn,
    compare_model,
    is_beaten,
    leaders_without_metric,
    leaders_without_model,
    one_versus_all_ratios,
)
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.ties import competition_ranks
from riskrank.engine.types import Booleans, Floats, Integers


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
