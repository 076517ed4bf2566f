"""Comparison of COPA with the classical scalarizations."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.aggregation.agreement import RankComparison, compare_rankings
from riskrank.engine.copa.population import Population
from riskrank.engine.copa.ranking import rank_models
from riskrank.engine.copa.scalarizations import Scalarizations, outer_weighted_norm
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError

BASELINES = ("average", "delta", "min-max", "p-norm", "saw", "ahp", "mew")

# Order of the usual weighted p-norm if no finite p above 1 is requested: the order in COPA Fig. B.2.
_USUAL_P = 8.0


@dataclass(frozen=True)
class ScalarizationComparison:
    """Rankings of the feasible models by several scalarizations.

    Attributes
    ----------
    names : tuple of str
        Names of the M scalarizations.
    models : array of int, shape (N,)
        Feasible models in the COPA order for the first p, best first.
    scores : array of shape (M, N)
        COPA norms, and values of the other scalarizations; smaller is better.
    comparison : RankComparison
        Agreement of the rankings, with models in the same order.
    excluded : dict of str to InputError
        Scalarizations that cannot be computed for this table, with the reason.
    """

    names: tuple[str, ...]
    models: Integers
    scores: Floats
    comparison: RankComparison
    excluded: dict[str, InputError]

    def movers(self, limit: int) -> list[int]:
        """Return the positions in ``models`` of the models whose ranks differ most between scalarizations.

        Parameters
        ----------
        limit : int
            Largest number of models to return.
        """
        return [int(j) for j in self.comparison.movers[:limit] if self.comparison.movement[j] > 0]


def compare_scalarizations(
    models: Population,
    values: Floats,
    larger_is_better: Booleans,
    weights: Floats,
    *,
    orders: Sequence[float],
    baselines: Sequence[str] = BASELINES,
    lenient: bool = True,
) -> ScalarizationComparison:
    """Rank models by COPA with several norms and by classical scalarizations (COPA Fig. 6 and 7).

    Every scalarization, with its ideals and ranges, is computed on the whole population. Then the rankings of
    the feasible models are compared.

    Parameters
    ----------
    models : Population
    values : array of shape (N, K)
        Values of N models on K objectives in original units; NaN where missing.
    larger_is_better : array of bool, shape (K,)
        True for objectives to maximise.
    weights : array of shape (K,)
        Weights of the objectives, the same for all scalarizations.
    orders : sequence of float
        Orders p of the COPA norm.
    baselines : sequence of str
        Scalarizations to compare with, from `BASELINES`.
    lenient : bool
        Whether to exclude scalarizations that cannot be computed, instead of raising an error.

    Returns
    -------
    ScalarizationComparison

    Raises
    ------
    InputError
        If a scalarization cannot be computed and `lenient` is False, or if there are fewer than two feasible
        models.
    """
    rankings = [rank_models(models, weights, p=p) for p in orders]
    names = [f"copa(p={p:g})" for p in orders]
    scores = [ranking.norm for ranking in rankings]
    # Ranks are used because tied norms have different ranks after tie-breaking.
    sort_keys = [ranking.rank.astype(np.float64) for ranking in rankings]
    oriented = values * np.where(larger_is_better, 1.0, -1.0)
    usual_p = max((p for p in orders if 1 < p < np.inf), default=_USUAL_P)
    scalarizations = Scalarizations(oriented, larger_is_better, weights, models.metrics)
    methods = {
        "average": scalarizations.weighted_sum,
        "delta": scalarizations.delta,
        "min-max": scalarizations.min_max,
        "p-norm": lambda: outer_weighted_norm(models.u, weights, usual_p),
        "saw": scalarizations.simple_additive_weighting,
        "ahp": scalarizations.analytic_hierarchy_process,
        "mew": scalarizations.multiplicative_exponent_weighting,
    }
    excluded = {}
    for name in baselines:
        try:
            score = methods[name]()
        except InputError as error:
            if not lenient:
                raise
            excluded[name] = error
            continue
        names.append(f"p-norm(p={usual_p:g})" if name == "p-norm" else name)
        scores.append(score)
        sort_keys.append(score)
    feasible = rankings[0].order
    return ScalarizationComparison(
        names=tuple(names),
        models=feasible,
        scores=np.stack(scores)[:, feasible],
        comparison=compare_rankings(np.stack(sort_keys)[:, feasible]),
        excluded=excluded,
    )
