"""Strengths of models from pairwise votes: the model of Bradley and Terry (method §19).

The first of two answers wins with probability 1/(1 + exp(−(β_first − β_second + γ))). The strengths β sum to
0. The advantage γ of the first position is estimated if the order of presentation is known. A tie counts as
half a win for both models. The strengths maximise the likelihood. Each vote v has the influence H⁻¹ s_v on
them, with its score s_v and the information matrix H. Sums of influences over voters or prompts yield
standard errors for votes that are not independent (sandwich estimator).

If one group of models never lost to the others, or one position always won, the likelihood has no maximum.
Each model then receives one more win and one more loss against a model of average strength, and the first
position receives one of each among equal models. They count as votes of their own.

References
----------
R. A. Bradley and M. E. Terry (1952). Rank analysis of incomplete block designs: I. The method of paired
comparisons. Biometrika 39(3/4), 324-345. doi:10.2307/2334029
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riskrank.engine import special
from riskrank.engine.types import Booleans, Floats, Integers

# Newton's method ends after this many steps, with a step of this size, or with such large logarithms of odds.
_STEPS, _TOLERANCE, _LARGEST = 100, 1e-12, 25.0


@dataclass(frozen=True, eq=False)
class Strengths:
    """Strengths of k models, from v votes.

    Attributes
    ----------
    strength : ndarray, shape (k,)
        Strengths β, with sum 0, as logarithms of odds.
    influence : ndarray, shape (v, k)
        Influence of each vote on the strengths, with sum 0. If `added`, the last rows are the added votes.
    position : float
        Advantage γ of the first position; 0 if it was not estimated.
    position_influence : ndarray, shape (v,)
        Influence of each vote on the advantage of the first position.
    added : bool
        True if models and positions received one more win and one more loss.
    """

    strength: Floats
    influence: Floats
    position: float
    position_influence: Floats
    added: bool


def fit_strengths(
    first: Integers, second: Integers, outcome: Floats, models: int, *, position: bool = False
) -> Strengths:
    """Fit the strengths of models in the Bradley–Terry model to pairwise votes.

    Parameters
    ----------
    first, second : ndarray of int, shape (v,)
        Models in the first and second position of each vote. Votes must connect all models.
    outcome : ndarray, shape (v,)
        1 if the first model won, 0 if the second won, ½ for a tie.
    models : int
        Number of models, k.
    position : bool
        True to estimate the advantage of the first position. Some pair must occur in both orders.
    """
    pairs, inverse = np.unique(first * models + second, return_inverse=True)
    rows = np.zeros((pairs.size, models + 1))
    rows[:, -1] = float(position)
    for columns, sign in zip(divmod(pairs, models), (1.0, -1.0), strict=True):
        rows[np.arange(pairs.size), columns] = sign
    # Directions that the votes do not determine are orthogonal to all scores.
    fixed = np.diag(np.eye(models + 1)[-1] * (not position))
    fixed[:models, :models] = 1.0
    fit = _fit_logistic(rows, np.bincount(inverse), np.bincount(inverse, outcome), fixed)
    if added := fit is None:
        extra = models + position
        rows = np.vstack([rows, np.eye(extra, models + 1)])
        inverse = np.append(inverse, np.repeat(np.arange(extra) + pairs.size, 2))
        outcome, fixed[:models, :models] = np.append(outcome, np.tile([1.0, 0.0], extra)), 0.0
        fit = _fit_logistic(rows, np.bincount(inverse), np.bincount(inverse, outcome), fixed)
    assert fit is not None
    parameters, information = fit
    residuals = outcome - special.expit(rows @ parameters)[inverse]
    influence = np.linalg.solve(information, rows.T).T[inverse] * residuals[:, None]
    parts = parameters[:-1], influence[:, :-1]
    strength, influences = (part - part.mean(axis=-1, keepdims=True) for part in parts)
    return Strengths(strength, influences, float(parameters[-1]), influence[:, -1], added)


def _fit_logistic(
    rows: Floats, counts: NDArray, wins: NDArray, fixed: Floats
) -> tuple[Floats, Floats] | None:
    """Return the parameters of a logistic regression and their information, or None if they are infinite.

    Parameters
    ----------
    rows : ndarray, shape (r, p)
        Distinct rows of the design.
    counts, wins : ndarray, shape (r,)
        Number of votes and sum of outcomes of each row.
    fixed : ndarray, shape (p, p)
        Information on the directions that no row determines.
    """
    parameters = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        expected = special.expit(rows @ parameters)
        information = (rows * (counts * expected * (1 - expected))[:, None]).T @ rows + fixed
        step = np.linalg.solve(information, rows.T @ (wins - counts * expected))
        # Steps of Newton's method are shortened, as long ones can diverge.
        parameters = parameters + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() <= _TOLERANCE:
            break
        if np.abs(rows @ parameters).max() > _LARGEST:
            return None
    return parameters, information


def wins_or_ties(first: Integers, second: Integers, outcome: Floats, models: int) -> Booleans:
    """Return a mask of the pairs in which the first model won or tied at least one vote, shape (k, k).

    The parameters are those of `fit_strengths`. The diagonal is True.
    """
    result = np.eye(models, dtype=bool)
    result[first[outcome > 0], second[outcome > 0]] = True
    result[second[outcome < 1], first[outcome < 1]] = True
    return result
