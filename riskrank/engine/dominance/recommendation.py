"""Whether a ranking's first model may be recommended (method §4, "What a verdict may say").

A method's leader is recommended only if no other model is significantly ahead of it: head to head, by direct
claims of the order ranked by, from the same resamples; nor throughout, on the metrics themselves, with a mean
as good on each and a significantly better one; nor in its worst samples on some metric, where the leader has
nothing to show for them. Otherwise the other models that nobody beats in these two ways are looked for, and
the first of them by the metrics' own rankings together, RA(R-SSD@M), of whom no other of them is
significantly better on a metric without being significantly worse on another: ranks that no test separates do
not outweigh a difference that is shown. It is no alternative where a third model is significantly ahead of it
head to head, or where the leader is and the ranking puts a third before it: then nothing but means backs it.

A leader that stands may yet be a trade: another model's mean is significantly higher, of the score ranked, or
of a metric where nobody said how much each counts. Almost second-order dominance is no better mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import aggregate_rankings
from riskrank.engine.dominance.contrasts import PassedOver, contrasts, passed_over
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.leader_comparison import Challenge, Ranked, beaten, challenge
from riskrank.engine.dominance.leader_sensitivity import leaders_without, leaders_without_metric, ratios
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.ties import competition_ranks
from riskrank.engine.types import Booleans, Floats, Integers


@dataclass(frozen=True)
class Recommendation:
    """What the evidence says of a method's leader.

    Attributes
    ----------
    leader : Challenge
    unbeaten : tuple of int
        Where the leader does not stand: the others that nobody beats throughout, or in their worst samples,
        by the metrics' own rankings together. The leader alone where it does.
    choice : int or None
        The first of them that no other of them betters on balance; None where there are none.
    deciding : tuple of int
        Metrics without which another unbeaten model would come first; empty where nothing is taste, and where
        tests choose another than the first.
    passed_over : tuple of PassedOver
        Unbeaten models before the choice by the metrics' rankings, that another betters on balance.
    first_by_metrics : int or None
        First model of RA(R-SSD@M), or R-FSD where the first order is ranked by; None where names settle it.
    first_without : dict of int to int, or None
        By model left out: who comes first then, where that is not the leader. None where nobody looked.
    first_without_metric : dict of int to int, or None
        The same by metric left out of a portfolio.
    ahead_of_choice : tuple of int
        Where the leader does not stand: models significantly ahead of the choice head to head.
    before_choice : tuple of int
        Models but the leader that the ranking puts before the choice.
    tied : int or None
        Another that is the choice as well, where only names settle which of them comes first.
    trade : tuple of int
        Where the leader stands: models of a significantly higher mean of the score ranked, or of a metric
        that nobody weighed, the surest first.
    hidden_tails : ndarray of bool, shape (k, m), or None
        Where another's worst samples on a metric are significantly milder than the leader's, its mean there
        is not, and it comes before the leader by that metric alone. None where tails are not tested.
    """

    leader: Challenge
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
    trade: tuple[int, ...] = ()
    hidden_tails: Booleans | None = None

    @property
    def holds(self) -> bool:
        """Whether the method's leader may be recommended."""
        return not self.leader.beaten_by

    @property
    def alternative(self) -> int | None:
        """The choice, where no third model speaks against it, nor another is as much one."""
        ahead = {*self.ahead_of_choice}
        third = ahead - {self.leader.model} or (ahead and self.before_choice)
        return None if third or self.tied is not None else self.choice

    @property
    def rival(self) -> int:
        """Who speaks against the leader: the choice if it does, else one better throughout."""
        against = self.leader.beaten_by
        if self.choice is not None and self.choice in against:
            return self.choice
        return next(iter(self.leader.better), against[0])


def recommend(ranked: Ranked, order: Sequence[int], inference: Inference) -> Recommendation:
    """Hold a method's leader against all others; if it does not stand, look for a model that does.

    Parameters
    ----------
    ranked : Ranked
        Of at least 10 samples.
    order : sequence of int
        Of the models by that method.
    inference : Inference

    Returns
    -------
    Recommendation
    """
    tables, leader = ranked.tables, order[0]
    first = challenge(ranked, leader, inference)
    places = metric_places(tables, ranked.order)
    by_metrics, renamed = _together(places, tables.weights)
    hidden, best = _hidden_tails(first, places), by_metrics[0] if by_metrics[0] == renamed[0] else None
    without = leaders_without(ranked, leader), leaders_without_metric(ranked, leader)
    if not first.beaten_by:
        traded = _trade(ranked, first, inference)
        stands = first, (leader,), leader, (), (), best
        return Recommendation(*stands, *without, trade=traded, hidden_tails=hidden)
    unbeaten = [model for model in by_metrics if model != leader and not beaten(ranked, model, inference)]
    passed = passed_over(tables, unbeaten, inference)
    choice = unbeaten[len(passed)] if unbeaten else None
    again = [model for model in renamed if model in unbeaten]
    tied = choice if again == unbeaten else again[len(passed_over(tables, again, inference))]
    taste = len(unbeaten) > 1 and not passed and tied == choice
    deciding = _deciding(places[:, unbeaten], tables.weights) if taste else ()
    ahead = () if choice is None else challenge(ranked, choice, inference).ahead
    before = () if choice is None else tuple(order[1 : order.index(choice)])
    found = first, tuple(unbeaten), choice, deciding, passed, best
    return Recommendation(*found, *without, ahead, before, None if tied == choice else tied, (), hidden)


def _trade(ranked: Ranked, leader: Challenge, inference: Inference) -> tuple[int, ...]:
    """Models whose mean is significantly higher, however the leader came first."""
    tables, held = ranked.tables, [leader.contrasts]
    if ranked.name not in tables.metrics:
        held = [] if ranked.weighed else held
        held.append(contrasts(tables.alone(ranked.name), leader.model, inference.family))
    elif len(tables.metrics) > 1:  # a metric ranked alone
        held = [contrasts(tables.alone(ranked.name), leader.model, inference.family)]
    better = np.column_stack([one.better for one in held])
    p_values = np.column_stack([one.answers.p_adjusted for one in held])
    surest = np.where(better, p_values, np.inf).min(axis=1)
    return tuple(i for i in np.argsort(surest, kind="stable").tolist() if better[i].any())


def _hidden_tails(leader: Challenge, places: Integers) -> Booleans | None:
    """Where a ranking of the metric alone and its tails speak for another, and the means do not say so.

    Or where means are all that the leader has to show against another's tails.
    """
    if leader.tails is None:
        return None
    ranked_behind = (places < places[:, [leader.model]]).T
    return (leader.tails.hidden & ranked_behind) | leader.tails.traded


def metric_places(tables: ScoreTables, order: int) -> Integers:
    """Ranks by the one-versus-all violation ratio of every metric alone, shape (m, k); without a test."""
    return np.array([competition_ranks(ratios(tables.column(name), order)) for name in tables.metrics])


def _together(places: Integers, weights: Floats) -> tuple[list[int], list[int]]:
    """Order of the metrics' own rankings together, and the same if names settle ties the other way round."""
    found = aggregate_rankings(places, weights=weights)
    order, last = found.order, places.shape[1] - 1
    renamed = order if found.unique else last - aggregate_rankings(places[:, ::-1], weights=weights).order
    return order.tolist(), renamed.tolist()


def _deciding(places: Integers, weights: Floats) -> tuple[int, ...]:
    """Metrics without which another of some models comes first; ``places`` has shape (m, models)."""
    first, found = _together(places, weights)[0][0], []
    for at in range(len(places)):
        kept = [m for m in range(len(places)) if m != at]
        if kept and weights[kept].sum() > 0:
            orders = _together(places[kept], weights[kept])
            found += [at] * all(order[0] != first for order in orders)
    return tuple(found)
