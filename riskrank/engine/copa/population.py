"""A population of models, ranked on objectives without a common unit, and its Pareto front.

The relative rank of a model on an objective is the proportion of other models that are better. No other model
dominates those on the front. Constraints bound objectives in their original units, and restrict the models
that may be chosen.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, listing

# Largest number of pairs compared at once, so that they stay in the processor's cache.
_PAIRS = 1 << 18


def pareto_front(objectives: Floats) -> Booleans:
    """Return a mask of the models that no other model dominates.

    A model is dominated if another is at least as good on every objective and better on one (COPA §2, method
    §7). Models with the same values as a front member are on the front too.

    Parameters
    ----------
    objectives : array of shape (N, K)
        One row per model, larger is better in every column; none is NaN.

    Returns
    -------
    array of bool, shape (N,)
        True for the models on the front.

    """
    # A dominator has a larger sum of ranks than the model it dominates. In descending order of this sum, the
    # first remaining model is therefore not dominated, and likely dominators come first.
    ranks = [np.unique(column, return_inverse=True)[1] for column in objectives.T]
    remaining = np.argsort(-np.sum(ranks, axis=0), kind="stable")
    values = np.ascontiguousarray(objectives[remaining].T)
    on_front = np.zeros(remaining.size, dtype=bool)
    while remaining.size:
        count = max(_PAIRS // remaining.size, 1)
        undominated = np.asarray(~dominance_matrix(values[:, :count], values).any(axis=0))
        on_front[remaining[:count][undominated[:count]]] = True
        undominated[:count] = False
        remaining, values = remaining[undominated], values[:, undominated]
    return on_front


def dominance_matrix(first: Floats, second: Floats) -> Booleans:
    """Return a mask of the pairs in which a model in `first` dominates a model in `second`, shape (M, N).

    Parameters
    ----------
    first : array of shape (K, M)
        Objectives of M models, one row per objective; larger is better.
    second : array of shape (K, N)
        Objectives of N models.
    """
    matches = np.ones((first.shape[1], second.shape[1]), dtype=bool)
    exceeds = np.zeros_like(matches)
    for a, b in zip(first, second, strict=True):
        matches &= a[:, None] >= b
        exceeds |= a[:, None] > b
    return matches & exceeds


def dominators(objectives: Floats, model: int) -> Integers:
    """Return the indices of the models that dominate a given model.

    Parameters
    ----------
    objectives : array of shape (N, K)
        One row per model, larger is better in every column.
    model : int
        Row of the model.

    Returns
    -------
    array of int
        Rows of the dominating models, in order; empty for a model on the front.
    """
    return np.flatnonzero(dominance_matrix(objectives.T, objectives[[model]].T))


def rank_counts(objectives: Floats) -> tuple[Integers, Integers]:
    """Count, for each model and objective, the models that are strictly better and at least as good.

    Parameters
    ----------
    objectives : array of shape (N, K)
        Larger is better; no NaN.

    Returns
    -------
    better, matched : arrays of int, shape (N, K)
        Numbers of models that are strictly better, and of models that are at least as good. The second
        number includes the model itself.
    """
    better, matched = np.empty((2, *objectives.shape), dtype=np.int64)
    for k, column in enumerate(objectives.T):
        ordered = np.sort(-column)
        better[:, k] = np.searchsorted(ordered, -column, side="left")
        matched[:, k] = np.searchsorted(ordered, -column, side="right")
    return better, matched


def rank_denominator(n_models: int, denominator: str) -> int:
    """Return the number by which rank counts of N = `n_models` models are divided: N − 1 or N.

    `denominator` is ``"n-1"`` or ``"n"``.
    """
    return n_models - 1 if denominator == "n-1" else n_models


def ccdf_quantiles(
    u: Floats, probabilities: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0)
) -> tuple[Floats, Floats]:
    """Return each model's quantiles and mean of 1 - u over the objectives (COPA Fig. 8).

    Parameters
    ----------
    u : array of shape (N, K)
        Relative ranks.
    probabilities : sequence of Q float
        In [0, 1].

    Returns
    -------
    quantiles : array of shape (N, Q)
        Quantiles x_(⌈Kp⌉) without interpolation (method §3); the smallest value for p = 0.
    mean : array of shape (N,)
        Mean of 1 - u.
    """
    complement = 1 - u
    return np.quantile(complement, probabilities, axis=1, method="inverted_cdf").T, complement.mean(axis=1)


@dataclass(frozen=True)
class Population:
    """Models with their ranks on all objectives, their Pareto front, and the subset that may be chosen.

    Attributes
    ----------
    objectives : array of shape (N, K)
        Larger is better; missing values are minus infinity.
    missing : array of bool, shape (N, K)
        True for missing values.
    u : array of shape (N, K)
        Relative ranks in [0, 1], 0 for the best (COPA eq. 9).
    feasible : array of bool, shape (N,)
        True for models that may be chosen. Infeasible models are still included in the ranks.
    front : array of bool, shape (N,)
        True for feasible models that no feasible model dominates (COPA §2).
    names : tuple of str
        Names of the N models.
    metrics : tuple of str
        Names of the K objectives.
    name_order : array of int, shape (N,)
        Position of each model in alphabetical order, which breaks the last ties.
    tie_share : float
        Proportion of other models with the same value that count as better.
    denominator : {"n-1", "n"}
        Divisor of the rank counts.
    """

    objectives: Floats
    missing: Booleans
    u: Floats
    feasible: Booleans
    front: Booleans
    names: tuple[str, ...]
    metrics: tuple[str, ...]
    name_order: Integers
    tie_share: float
    denominator: str


def build_population(
    objectives: Floats,
    *,
    names: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    feasible: Booleans | None = None,
    ties: str = "min",
    denominator: str = "n-1",
) -> Population:
    """Rank every model on every objective, and find the Pareto front.

    u_k(i) = #{models strictly better than i on k} / (N - 1), COPA eq. 9 with the denominator of its published
    tables. All models are included in the ranks, feasible or not. Only then is the front computed, among
    feasible models (method §7).

    Parameters
    ----------
    objectives : array of shape (N, K)
        One row per model, larger is better in every column. A missing value, NaN, is worse than all others.
    names : sequence of N str, optional
        Names of the models. Without names, the order of the rows breaks the last ties.
    metrics : sequence of K str, optional
        Names of the objectives.
    feasible : array of bool, shape (N,), optional
        True for models that may be chosen, of which there must be at least one; all by default.
    ties : {"min", "average", "max"}
        Whether none, half or all of the other models with the same value count as better.
    denominator : {"n-1", "n"}
        Divisor of the rank counts: N - 1, or N as in eq. 9.

    Returns
    -------
    Population
    """
    N, K = objectives.shape
    feasible = np.ones(N, dtype=bool) if feasible is None else feasible
    missing = np.isnan(objectives)
    values = np.where(missing, -np.inf, objectives)
    share = {"min": 0.0, "average": 0.5, "max": 1.0}[ties]
    better, matched = rank_counts(values)
    counts = (1 - share) * better + share * (matched - 1)
    front = np.zeros(N, dtype=bool)
    front[feasible] = pareto_front(values[feasible])
    by_name = range(N) if names is None else sorted(range(N), key=names.__getitem__)
    return Population(
        objectives=values,
        missing=missing,
        u=np.where(missing, 1.0, counts / rank_denominator(N, denominator)),
        feasible=feasible,
        front=front,
        names=tuple(names or (f"row {i + 1}" for i in range(N))),
        metrics=tuple(metrics or (f"column {k + 1}" for k in range(K))),
        name_order=np.argsort(by_name),
        tie_share=share,
        denominator=denominator,
    )


def constant_objectives(models: Population) -> Integers:
    """Return the indices of the objectives on which all models have the same value."""
    return np.flatnonzero((models.objectives == models.objectives[0]).all(axis=0))


def duplicated_models(models: Population) -> tuple[Integers, ...]:
    """Return groups of models with the same values on all objectives, as arrays of indices.

    Duplicates shift the ranks of all other models. Models without any value are not duplicates.
    """
    _, group, size = np.unique(models.objectives, axis=0, return_inverse=True, return_counts=True)
    members = np.argsort(group.ravel(), kind="stable")  # NumPy 2.0 returns a column
    groups = np.split(members, np.cumsum(size)[:-1])
    n_present = np.isfinite(models.objectives).sum(axis=1)  # models without any value are not duplicates
    return tuple(sorted((g for g in groups if g.size > 1 and n_present[g[0]]), key=lambda g: g[0]))


_OPERATORS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "==": operator.eq}


@dataclass(frozen=True)
class Constraint:
    """A bound on the values of an objective, such as ``co2 <= 0.5``.

    Attributes
    ----------
    objective : int
        Index of the bounded objective.
    relation : {"<=", "<", ">=", ">", "=="}
        Comparison operator.
    bound : float
        In the original units of the objective.
    """

    objective: int
    relation: str
    bound: float

    def holds(self, values: Floats) -> Booleans:
        """Return a mask of the models that satisfy the constraint; missing values do not.

        Parameters
        ----------
        values : array of shape (..., K)
            Values of the K objectives in original units; NaN where missing.

        Returns
        -------
        array of bool, shape (...)
        """
        column = values[..., self.objective]
        return _OPERATORS[self.relation](column, self.bound) & ~np.isnan(column)

    def format(self, metrics: Sequence[str]) -> str:
        """Format the constraint as the user would type it, such as ``co2 <= 0.5``.

        `metrics` holds the names of the objectives.
        """
        return f"{metrics[self.objective]} {self.relation} {self.bound:g}"


def feasible_models(
    values: Floats, constraints: Sequence[Constraint], *, names: Sequence[str], metrics: Sequence[str]
) -> Booleans:
    """Return a mask of the models that meet every constraint.

    Parameters
    ----------
    values : array of shape (N, K)
        Values in original units and orientation; NaN where missing.
    constraints : sequence of Constraint
        Bounds on the objectives.
    names, metrics : sequences of str
        Names of the N models and K objectives, for the error message.

    Returns
    -------
    array of bool, shape (N,)

    Raises
    ------
    InputError
        If no model meets every constraint. The message names the model that is closest to feasibility: it has
        the smallest total excess over the bounds, relative to the range of each column.
    """
    feasible = np.ones(len(values), dtype=bool)
    for constraint in constraints:
        feasible &= constraint.holds(values)
    if feasible.any():
        return feasible
    nearest = int(np.argmin(sum(_relative_excess(values, constraint) for constraint in constraints)))
    violated = [c for c in constraints if not c.holds(values)[nearest]]
    problem = f"no model meets {' and '.join(c.format(metrics) for c in constraints)}"
    detail = f"the nearest model, {names[nearest]}, has " + listing(
        f"{metrics[c.objective]} = {values[nearest, c.objective]:g}, "
        f"off by {abs(values[nearest, c.objective] - c.bound):g}"
        for c in violated
    )
    raise InputError(problem, found=detail, hint=f"loosen {' or '.join(c.format(metrics) for c in violated)}")


def _relative_excess(values: Floats, constraint: Constraint) -> Floats:
    """Return how far the value of each model is beyond the bound of a constraint, shape (N,).

    `values` has shape (N, K). The distance is relative to the range of the objective. It is 0 for models that
    satisfy the constraint, and infinite for missing values.
    """
    column = values[:, constraint.objective]
    present = column[~np.isnan(column)]
    span = np.ptp(present) if present.size else 0.0
    distance = np.abs(column - constraint.bound) / (span if span > 0 else 1.0)
    return np.where(constraint.holds(values), 0.0, np.where(np.isnan(column), np.inf, distance))
