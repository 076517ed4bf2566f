"""A population of models, ranked on objectives that have no common unit.

Relative ranks: the share of the other models that do better, objective by objective.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.pareto import pareto_front
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, UsageError, listing, one_of, option

# How much of the other models tied with a model count as better than it.
_TIE_SHARE = {"min": 0.0, "average": 0.5, "max": 1.0}


def rank_transform(
    objectives: Floats,
    *,
    names: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    ties: str = "min",
    denominator: str = "n-1",
    missing: str = "error",
) -> Floats:
    """Replace every value by the share of the other models that do better.

    u_k(i) = #{models strictly better than i on k} / (N - 1), COPA eq. 9 with the denominator of its
    published tables.

    Parameters
    ----------
    objectives : array of shape (N, K)
        One row per model, larger is better in every column.
    names, metrics : sequence of str, optional
        Used in error messages.
    ties : {"min", "average", "max"}
        Whether none, half or all of the other models with the same value count as better.
    denominator : {"n-1", "n"}
        N - 1, or N as eq. 9 is written.
    missing : {"error", "worst"}
        Whether NaN is an error, or worse than everything else: u = 1.

    Returns
    -------
    array of shape (N, K)
        Values in [0, 1], 0 for the best.

    Raises
    ------
    InputError
        For fewer than two models, infinite values, NaN under ``missing="error"``.
    """
    objectives = _validated(objectives, names, metrics, missing)
    lacking = np.isnan(objectives)
    better, matched = places(np.where(lacking, -np.inf, objectives))
    share = tie_share(ties)
    counts = (1 - share) * better + share * (matched - 1)
    return np.where(lacking, 1.0, counts / divisor(len(objectives), denominator))


def places(objectives: Floats) -> tuple[Integers, Integers]:
    """Count, per model and objective, the models strictly better, and those at least as good.

    Parameters
    ----------
    objectives : array of shape (N, K)
        Larger is better; no NaN.

    Returns
    -------
    better, matched : arrays of int, shape (N, K)
        `matched` counts the model itself.
    """
    better, matched = np.empty((2, *objectives.shape), dtype=np.int64)
    for k, column in enumerate(objectives.T):
        ordered = np.sort(-column)
        better[:, k] = np.searchsorted(ordered, -column, side="left")
        matched[:, k] = np.searchsorted(ordered, -column, side="right")
    return better, matched


def divisor(models: int, denominator: str) -> int:
    """What the counts of a population of that many models are divided by."""
    return models - 1 if one_of("denominator", denominator, ("n-1", "n")) == "n-1" else models


def tie_share(ties: str) -> float:
    """The share of tied models that counts as better."""
    return _TIE_SHARE[one_of("ties", ties, tuple(_TIE_SHARE))]


def ccdf_quantiles(
    u: Floats, probabilities: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0)
) -> tuple[Floats, Floats]:
    """Summarise 1 - u over the objectives, model by model (COPA Fig. 8).

    Parameters
    ----------
    u : array of shape (N, K)
        Relative ranks.
    probabilities : sequence of Q float
        In [0, 1].

    Returns
    -------
    quantiles : array of shape (N, Q)
        Step-function quantiles x_(⌈Kp⌉) (method §3), the smallest value for p = 0: always a rank that
        the model really has.
    mean : array of shape (N,)
    """
    wrong = [q for q in probabilities if not 0 <= q <= 1]
    if wrong:
        raise UsageError(
            "probabilities of quantiles lie between 0 and 1", found=listing(wrong), hint="for example 0.25"
        )
    complement = 1 - u
    return np.quantile(complement, probabilities, axis=1, method="inverted_cdf").T, complement.mean(axis=1)


def labels(
    objectives: Floats, names: Sequence[str] | None, metrics: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of models and objectives, or of their rows and columns."""
    N, K = objectives.shape
    model_names = tuple(names) if names is not None else tuple(f"row {i + 1}" for i in range(N))
    metric_names = tuple(metrics) if metrics is not None else tuple(f"column {k + 1}" for k in range(K))
    return model_names, metric_names


def _validated(
    objectives: Floats, names: Sequence[str] | None, metrics: Sequence[str] | None, missing: str
) -> Floats:
    objectives = np.asarray(objectives, dtype=np.float64)
    if objectives.ndim != 2 or objectives.shape[1] == 0:
        raise InputError(
            "COPA needs a table of models by objectives",
            found=f"an array of shape {objectives.shape}",
            hint="give one row per model and at least one objective",
        )
    if len(objectives) < 2:
        raise InputError(
            "COPA compares at least two models",
            found=f"{len(objectives)} model{'s' * (len(objectives) != 1)}",
            hint="ranks are relative to the other models: add some",
        )
    model_names, metric_names = labels(objectives, names, metrics)
    wrong = np.isinf(objectives) | (np.isnan(objectives) if missing == "error" else False)
    if wrong.any():
        cells = [f"{model_names[i]}/{metric_names[k]}" for i, k in np.argwhere(wrong)[:9]]
        more = int(wrong.sum()) - 8
        shown = ", ".join(cells[:8]) + (f" … and {more} more" if more > 0 else "")
        kind = "infinite" if np.isinf(objectives).any() else "missing"
        raise InputError(
            f"{int(wrong.sum())} of {wrong.size} values are {kind if kind == 'missing' else 'not finite'}",
            found=f"model/objective {shown}",
            hint=f"drop these models ({option('missing', 'drop')}), or count a missing value as the worst "
            f"({option('missing', 'worst')})",
        )
    return objectives


@dataclass(frozen=True)
class Population:
    """The models among which ranks are taken, and those of them that may be chosen.

    Attributes
    ----------
    objectives : array of shape (N, K)
        Larger is better; missing values are minus infinity.
    missing : array of bool, shape (N, K)
    u : array of shape (N, K)
        Relative ranks in [0, 1], 0 for the best (COPA eq. 9).
    feasible : array of bool, shape (N,)
        Models that may be chosen. All models count in the ranks.
    front : array of bool, shape (N,)
        Feasible models that no feasible model dominates (COPA §2).
    names : tuple of str
        Names of the N models.
    metrics : tuple of str
        Names of the K objectives.
    name_order : array of int, shape (N,)
        Place of each model in alphabetical order, which settles the last ties.
    ties : {"min", "average", "max"}
    denominator : {"n-1", "n"}
    """

    objectives: Floats
    missing: Booleans
    u: Floats
    feasible: Booleans
    front: Booleans
    names: tuple[str, ...]
    metrics: tuple[str, ...]
    name_order: Integers
    ties: str
    denominator: str


def population(
    objectives: Floats,
    *,
    names: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    feasible: Booleans | None = None,
    ties: str = "min",
    denominator: str = "n-1",
    missing: str = "error",
) -> Population:
    """Rank every model on every objective and find the Pareto front.

    Ranks are taken over all the models; the constraints behind `feasible` and the front only filter
    afterwards (method §7).

    Parameters
    ----------
    objectives : array of shape (N, K)
        One row per model, larger is better in every column.
    names : sequence of N str, optional
        Names of the models; without them ties end at the order of the rows.
    metrics : sequence of K str, optional
        Names of the objectives.
    feasible : array of bool, shape (N,), optional
        Models that may be chosen; all by default.
    ties, denominator, missing
        See `rank_transform`.

    Raises
    ------
    InputError
        For fewer than two models, values that are not finite, no feasible model.
    """
    objectives = np.asarray(objectives, dtype=np.float64)
    u = rank_transform(
        objectives, names=names, metrics=metrics, ties=ties, denominator=denominator, missing=missing
    )
    N = len(u)
    model_names, metric_names = labels(objectives, names, metrics)
    feasible = np.ones(N, dtype=bool) if feasible is None else np.asarray(feasible, dtype=bool)
    if not feasible.any():
        raise InputError(
            "no model may be chosen",
            found=f"constraints that all {N} models violate",
            hint="loosen a constraint",
        )
    lacking = np.isnan(objectives)
    known = np.where(lacking, -np.inf, objectives)
    front = np.zeros(N, dtype=bool)
    front[feasible] = pareto_front(known[feasible])
    by_name = sorted(range(N), key=model_names.__getitem__) if names is not None else range(N)
    name_order = np.empty(N, dtype=np.int64)
    name_order[list(by_name)] = np.arange(N)
    return Population(
        objectives=known,
        missing=lacking,
        u=u,
        feasible=feasible,
        front=front,
        names=model_names,
        metrics=metric_names,
        name_order=name_order,
        ties=ties,
        denominator=denominator,
    )


def constant_objectives(models: Population) -> Integers:
    """List the objectives on which all models have the same value: they say nothing."""
    return np.flatnonzero((models.objectives == models.objectives[0]).all(axis=0))


def duplicated_models(models: Population) -> tuple[Integers, ...]:
    """Group the models with the same values everywhere: copies shift the ranks of everyone else."""
    _, group, size = np.unique(models.objectives, axis=0, return_inverse=True, return_counts=True)
    members = np.argsort(group.ravel(), kind="stable")  # NumPy 2.0 gives a column
    groups = np.split(members, np.cumsum(size)[:-1])
    return tuple(sorted((g for g in groups if g.size > 1), key=lambda g: g[0]))
