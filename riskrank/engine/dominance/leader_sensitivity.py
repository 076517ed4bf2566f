"""Who would come first otherwise: without a model or a metric, or with one that counts more; not tested."""

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.dominance.leader_comparison import Ranked
from riskrank.engine.dominance.ranking import matrices_of
from riskrank.engine.dominance.violation import one_versus_all
from riskrank.engine.portfolio.score_tables import EMPIRICAL, INDEPENDENT
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats

# Score comparisons that leaving out each model in turn may cost: a second or so.
_WORK = 2e7
# Multiples of a weight that are tried, and how many of two digits between two of them, at most.
_TIMES, _STEPS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0), 6


def leaders_without(ranked: Ranked, leader: int) -> dict[int, int] | None:
    """Who comes first when another model is left out, where that is not the leader; without a test.

    Parameters
    ----------
    ranked : Ranked
    leader : int

    Returns
    -------
    dict of int to int, or None
        By the model left out. None of two models, of the empirical copula, and where it would take long.
    """
    k = ranked.scores.models
    if k < 3 or ranked.name == EMPIRICAL or k * k * (k - 1) / 2 * max(ranked.scores.sizes) > _WORK:
        return None
    found = {}
    # A portfolio pools the scores of the models that are there.
    pooled = ranked.name == INDEPENDENT and INDEPENDENT not in ranked.tables.metrics
    for out in range(k):
        if out == leader:
            continue
        left = [i for i in range(k) if i != out]
        scores = (
            ranked.tables.of_models(left).column(ranked.name) if pooled else ranked.scores.of_models(left)
        )
        first = left[int(np.argmin(ratios(scores, ranked.order)))]
        if first != leader:
            found[out] = first
    return found


def leaders_without_metric(ranked: Ranked, leader: int) -> dict[int, int] | None:
    """Who comes first when a metric is left out of a portfolio, where that is not the leader; no test.

    Parameters
    ----------
    ranked : Ranked
    leader : int

    Returns
    -------
    dict of int to int, or None
        By the metric left out. None of one metric, of the empirical copula, and where it would take long.
    """
    if not _may_weigh(ranked, 1):
        return None
    weights = ranked.tables.weights
    out = np.flatnonzero(weights < 1)
    first = _firsts(ranked, weights * (out[:, None] != np.arange(len(weights))))
    return {at: model for at, model in zip(out.tolist(), first, strict=True) if model != leader}


def leaders_with_more(ranked: Ranked, leader: int) -> dict[int, dict[int, float]] | None:
    """Whom a metric makes come first if it counts more, and from which multiple of its weight on; no test.

    Parameters
    ----------
    ranked : Ranked
    leader : int

    Returns
    -------
    dict of int to dict of int to float, or None
        By metric and model, where a multiple that is tried, up to 64, does. None as of metrics left out.
    """
    if not _may_weigh(ranked, _STEPS + len(_TIMES)):
        return None
    weights, found = ranked.tables.weights, dict[int, dict[int, float]]()
    for at in np.flatnonzero((weights > 0) & (weights < 1)).tolist():
        heavier = np.eye(len(weights))[at] * weights

        def first(times: ArrayLike, heavier: Floats = heavier) -> list[int]:
            return _firsts(ranked, weights + (np.atleast_1d(times)[:, None] - 1) * heavier)

        who = dict(zip(_TIMES, first(_TIMES), strict=True))
        searched = {leader}
        while later := {*who.values()} - searched:  # between two multiples a third model may come first
            model = min(later)
            searched.add(model)
            high = min(times for times, other in who.items() if other == model)
            low = max((times for times in who if times < high), default=1.0)
            while low < (middle := float(f"{(low + high) / 2:.2g}")) < high:
                (who[middle],) = first(middle)
                low, high = (low, middle) if who[middle] == model else (middle, high)
        for times in sorted(who):
            if who[times] != leader:
                found.setdefault(at, {}).setdefault(who[times], times)
    return found


def _may_weigh(ranked: Ranked, times: int) -> bool:
    """Whether weights can be others, and to try some for each metric would not take long."""
    tables, k, sizes = ranked.tables, ranked.scores.models, ranked.scores.sizes
    m = len(tables.metrics)
    pooled = ranked.name == INDEPENDENT and INDEPENDENT not in tables.metrics
    return pooled and m > 1 and times * m * max(k * k / 2 * max(sizes), m * sum(sizes)) <= _WORK


def _firsts(ranked: Ranked, weights: Floats) -> list[int]:
    """Who comes first by each of several sets of weights, shape (sets, m)."""
    tables = ranked.tables.weighed(weights)
    return [int(np.argmin(ratios(tables.column(name), ranked.order))) for name in tables.metrics]


def ratios(scores: ClusteredScores, order: int) -> Floats:
    """One-versus-all ratios, rounded as sums of the same numbers in another order are."""
    return np.round(one_versus_all(matrices_of(scores, orders=(order,))[0]), 12)
