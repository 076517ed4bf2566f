"""Explanation of a model's COPA rank, and weights under which it would be chosen."""

from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.pareto import dominators
from riskrank.engine.copa.population import Population
from riskrank.engine.copa.ranking import CopaRanking, rank_models, weakest_objectives
from riskrank.engine.ties import TOLERANCE
from riskrank.engine.types import Floats, Integers
from riskrank.errors import NumericalError

# Larger ratios of powers are truncated: beyond this, their size is irrelevant, and the solver needs
# coefficients of moderate size.
_LARGEST_RATIO = 1e6


@dataclass(frozen=True)
class CopaExplanation:
    """Explanation of one model's rank under one norm and one set of weights.

    Attributes
    ----------
    model : int
        Row of the explained model.
    ranking : CopaRanking
        The explained ranking.
    weighted : array of shape (K,)
        Weighted ranks ω_k u_k.
    contribution : array of shape (K,)
        Proportion of norm^p due to each objective, summing to 1. For p = ∞, the weighted rank relative to the
        largest. All contributions are zero for a model that is best on every objective with a positive
        weight.
    binding : array of int
        Objectives with the largest weighted rank. Improvements on other objectives matter less, and not at
        all for p = ∞.
    dominators : array of int
        Feasible models that dominate the model. If there are any, no positive weights lead to its choice.
    weights : array of shape (K,) or None
        Weights with sum 1 under which the model is chosen at this p, or None if there are none. For finite p,
        these are the weights with the widest margin. Some weights may be zero.
    """

    model: int
    ranking: CopaRanking
    weighted: Floats
    contribution: Floats
    binding: Integers
    dominators: Integers
    weights: Floats | None


def explain_model(models: Population, model: int, ranking: CopaRanking) -> CopaExplanation:
    """Explain a model's rank, and find weights under which it would be chosen.

    Parameters
    ----------
    models : Population
    model : int
        Row of the model.
    ranking : CopaRanking
        The ranking to explain.

    Returns
    -------
    CopaExplanation

    Raises
    ------
    NumericalError
        If the linear program for the weights fails.
    """
    weighted = models.u[model] * ranking.weights
    largest = weighted.max()
    scaled = weighted / largest if largest > 0 else weighted
    powers = scaled if np.isinf(ranking.p) else scaled**ranking.p
    better = dominators(models.objectives, model)
    return CopaExplanation(
        model=int(model),
        ranking=ranking,
        weighted=weighted,
        contribution=powers if np.isinf(ranking.p) or largest == 0 else powers / powers.sum(),
        binding=np.flatnonzero(weakest_objectives(weighted)),
        dominators=better[models.feasible[better]],
        weights=choosing_weights(models, model, p=ranking.p),
    )


def choosing_weights(models: Population, model: int, *, p: float) -> Floats | None:
    """Return weights under which a model is chosen, or None if there are none.

    For p = ∞, every model on the front has such weights. With weights inversely proportional to its ranks,
    its weighted ranks are equal, and any model with a smaller norm would dominate it. This is the argument
    behind Miettinen (1999), Thm. 3.4.5, cited in COPA §3.3. For finite p, such weights exist only for some
    models. Let u_k(i) be the relative rank of model i on objective k. The model i is chosen if Σ_k ω_k^p
    (u_k(j)^p - u_k(i)^p) > 0 for every rival j. These conditions are linear in ω^p, so a linear program finds
    the weights with the widest margin.

    Parameters
    ----------
    models : Population
    model : int
        Row of the model.
    p : float
        At least 1; may be infinite.

    Returns
    -------
    array of shape (K,) or None
        Weights that sum to 1, verified by `rank_models`. None if the model is infeasible, dominated, never
        first, or a duplicate of a model that comes first by name.

    Raises
    ------
    NumericalError
        If the linear program fails.
    """
    if not models.front[model]:
        return None
    # A rank of zero would need an infinite weight. Half the smallest positive rank replaces it: any rival
    # that is worse there exceeds the model's largest weighted rank.
    scale = np.maximum(models.u[model], 1 / (2 * len(models.u)))
    candidates = [1 / scale]
    if not np.isinf(p):
        powers = _widest_margin(models, model, scale, p)
        if powers is not None:
            candidates.insert(0, powers ** (1 / p) / scale)
    for weights in candidates:
        if rank_models(models, weights, p=p).chosen == model:
            return weights / weights.sum()
    return None


def _widest_margin(models: Population, model: int, scale: Floats, p: float) -> Floats | None:
    """Return the weights v for which the model beats every rival by the widest margin.

    The linear program maximises min_j Σ_k v_k ((u_k(j)/s_k)^p - (u_k(i)/s_k)^p) over the rivals j of model i,
    subject to v ≥ 0 and Σ_k v_k = 1. Here u_k is the relative rank on objective k and s_k its `scale`. The
    result is None if the largest margin is negative.
    """
    from scipy.optimize import linprog

    ranks = models.u[model]
    rivals = np.flatnonzero(models.front)
    # Only models on the front can beat the model, and duplicates always tie.
    rivals = rivals[(models.u[rivals] != ranks).any(axis=1)]
    if not rivals.size:
        return np.full(ranks.size, 1 / ranks.size)
    with np.errstate(over="ignore"):
        gap = np.minimum((models.u[rivals] / scale) ** p, _LARGEST_RATIO) - (ranks / scale) ** p
    solution = linprog(
        c=np.append(np.zeros(ranks.size), -1.0),
        A_ub=np.column_stack([-gap, np.ones(rivals.size)]),
        b_ub=np.zeros(rivals.size),
        A_eq=np.append(np.ones(ranks.size), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * ranks.size + [(None, None)],
        method="highs",
    )
    if solution.status != 0:
        raise NumericalError(
            f"no weights could be found for model {models.names[model]!r}",
            found=f"the solver reports: {solution.message}",
            hint="use p = inf, which needs no solver",
        )
    return np.maximum(solution.x[:-1], 0.0) if solution.x[-1] > -TOLERANCE else None
