"""COPA: compare incomparable objectives by relative ranks, aggregated by a weighted norm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from riskrank.engine.copa.pareto import pareto_front
from riskrank.errors import InputError, UsageError, listing, nearest

Ties = Literal["min", "average", "max"]
Denominator = Literal["n-1", "n"]
Missing = Literal["error", "worst"]

# Norms this close, relatively, are equal: sums of the same ranks in another order differ by less.
TOLERANCE = 1e-12
# After the norm itself: a robust norm, then the mean rank.
TIE_BREAKING_P = (8.0, 1.0)

# How much of the other models tied with a model count as better than it.
_TIE_SHARE = {"min": 0.0, "average": 0.5, "max": 1.0}


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

    objectives: np.ndarray
    missing: np.ndarray
    u: np.ndarray
    feasible: np.ndarray
    front: np.ndarray
    names: tuple[str, ...]
    metrics: tuple[str, ...]
    name_order: np.ndarray
    ties: Ties
    denominator: Denominator


@dataclass(frozen=True)
class CopaRanking:
    """Models ordered by the norm of their ranks.

    Attributes
    ----------
    p : float
    weights : array of shape (K,)
        Sum to one.
    norm : array of shape (N,)
        Small is better; given for infeasible models too.
    order : array of int
        Feasible models, best first.
    rank : array of int, shape (N,)
        1 for the chosen model; 0 for infeasible models.
    tie : array of int, shape (N,)
        Feasible models with the same number have the same norm; -1 for infeasible models.
    """

    p: float
    weights: np.ndarray
    norm: np.ndarray
    order: np.ndarray
    rank: np.ndarray
    tie: np.ndarray

    @property
    def chosen(self) -> int:
        """The chosen model."""
        return int(self.order[0])

    def tied_with(self, model: int) -> np.ndarray:
        """List the other feasible models of the same norm, best first."""
        if self.tie[model] < 0:
            return np.array([], dtype=np.int64)
        same = self.order[self.tie[self.order] == self.tie[model]]
        return same[same != model]


def population(
    objectives: np.ndarray,
    *,
    names: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    feasible: np.ndarray | None = None,
    ties: Ties = "min",
    denominator: Denominator = "n-1",
    missing: Missing = "error",
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
    model_names, metric_names = _labels(objectives, names, metrics)
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


def rank_transform(
    objectives: np.ndarray,
    *,
    names: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    ties: Ties = "min",
    denominator: Denominator = "n-1",
    missing: Missing = "error",
) -> np.ndarray:
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
    share = _TIE_SHARE[ties]
    counts = (1 - share) * better + share * (matched - 1)
    return np.where(lacking, 1.0, counts / divisor(len(objectives), denominator))


def places(objectives: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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


def divisor(models: int, denominator: Denominator) -> int:
    """Return what the counts of a population of that many models are divided by."""
    return models - 1 if denominator == "n-1" else models


def tie_share(ties: Ties) -> float:
    """Return the share of tied models that counts as better."""
    return _TIE_SHARE[ties]


def rank_norm(u: np.ndarray, weights: np.ndarray, p: float) -> np.ndarray:
    """Aggregate the last axis: (Σ_k (ω_k u_k)^p)^(1/p), or max_k ω_k u_k for p = ∞ (COPA eq. 11).

    The weights are inside the power, unlike in the usual weighted p-norm.

    Parameters
    ----------
    u : array of shape (..., K)
        Non-negative.
    weights : array of shape (K,)
        Non-negative; used as they are.
    p : float
        At least 1; may be infinite.
    """
    return power_norm(u * weights, p)


def power_norm(terms: np.ndarray, p: float) -> np.ndarray:
    """Return the p-norm of non-negative terms along the last axis, safe from under- and overflow."""
    if p == 1:
        return terms.sum(axis=-1)
    largest = terms.max(axis=-1)
    if np.isinf(p):
        return largest
    # (1/2147)^100 is no longer a normal float; relative to the largest term the powers stay in [0, 1].
    scale = np.where(largest > 0, largest, 1.0)
    return largest * ((terms / scale[..., None]) ** p).sum(axis=-1) ** (1 / p)


def rank_models(
    models: Population, weights: Sequence[float] | np.ndarray | None = None, *, p: float
) -> CopaRanking:
    """Order the feasible models by the weighted norm of their ranks (COPA eq. 10 and 11).

    Models whose norms agree within a relative 1e-12 are ordered by: on the front first, then the norm
    of p = 8, then of p = 1, then the name (method §7). The chosen model is therefore always on the
    front, whatever p and the weights are.

    Parameters
    ----------
    models : Population
    weights : sequence of K float, optional
        Non-negative, not all zero; scaled to sum to one. Uniform by default.
    p : float
        At least 1; may be infinite.

    Raises
    ------
    UsageError
        For p below 1, or weights that are negative, all zero or of the wrong number.
    """
    weights = checked_weights(weights, models.metrics)
    p = checked_p(p)
    norm = rank_norm(models.u, weights, p)
    feasible = np.flatnonzero(models.feasible)
    codes = tie_codes(norm[feasible])
    breakers = [tie_codes(rank_norm(models.u[feasible], weights, q)) for q in TIE_BREAKING_P]
    keys = [models.name_order[feasible], *reversed(breakers), ~models.front[feasible], codes]
    order = feasible[np.lexsort(keys)]
    rank = np.zeros(len(norm), dtype=np.int64)
    rank[order] = np.arange(1, order.size + 1)
    tie = np.full(len(norm), -1, dtype=np.int64)
    tie[feasible] = codes
    return CopaRanking(p=p, weights=weights, norm=norm, order=order, rank=rank, tie=tie)


def tie_codes(values: np.ndarray) -> np.ndarray:
    """Replace values by their places among the distinct ones, from 0; near-equal neighbours are one.

    Parameters
    ----------
    values : array of shape (N,)
        Finite.

    Returns
    -------
    array of int, shape (N,)
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    codes = np.zeros(values.size, dtype=np.int64)
    codes[order[1:]] = np.cumsum(np.diff(ordered) > TOLERANCE * np.abs(ordered[:-1]))
    return codes


def pick(norm: np.ndarray, keys: Sequence[Callable[[np.ndarray, np.ndarray], np.ndarray]]) -> np.ndarray:
    """Choose the smallest norm in each row, settling ties by further keys.

    Parameters
    ----------
    norm : array of shape (S, M)
        One row per choice to make, one column per candidate.
    keys : sequence of functions
        Each takes the rows and columns of tied entries and returns a value for each, small is better.
        Later keys settle what earlier ones leave tied; the last must be distinct within a row.

    Returns
    -------
    array of int, shape (S,)
        Column of the chosen candidate.
    """
    choice = norm.argmin(axis=1)
    tied = norm <= norm.min(axis=1, keepdims=True) * (1 + TOLERANCE)
    open_rows = np.flatnonzero(tied.sum(axis=1) > 1)
    if not open_rows.size:
        return choice
    rows, columns = np.nonzero(tied[open_rows])
    rows = open_rows[rows]
    for key in keys:
        values = key(rows, columns)
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        smallest = np.minimum.reduceat(values, starts)
        per_entry = np.repeat(smallest, np.diff(starts, append=rows.size))
        keep = values <= per_entry * (1 + TOLERANCE)
        rows, columns = rows[keep], columns[keep]
    choice[rows] = columns
    return choice


def share_weights(metrics: Sequence[str], given: Mapping[str, float]) -> np.ndarray:
    """Give the objectives without a weight of their own equal shares of what is left of one.

    Parameters
    ----------
    metrics : sequence of K str
    given : mapping of str to float
        Weights by name of the objective. If every objective has one, they are scaled to sum to one.

    Returns
    -------
    array of shape (K,)
        Weights that sum to one.

    Raises
    ------
    UsageError
        For an unknown name, a negative weight, all weights zero, or nothing left to share.
    """
    for name in given:
        if name not in metrics:
            guess = nearest(name, metrics)
            raise UsageError(
                f"weight for an unknown objective {name!r}",
                found=f"objectives {listing(metrics)}",
                hint=f"did you mean {guess!r}?" if guess else "use one of these names",
            )
    weights = np.array([given.get(name, np.nan) for name in metrics], dtype=np.float64)
    unset = np.isnan(weights)
    if not unset.any() or not given:
        return checked_weights(None if not given else weights, metrics)
    total = float(weights[~unset].sum())
    if total > 1 + TOLERANCE:
        raise UsageError(
            f"the weights given sum to {total:g}, nothing is left for {listing(np.array(metrics)[unset])}",
            found=", ".join(f"{name}={value:g}" for name, value in given.items()),
            hint="give weights that sum to at most 1, or a weight for every objective",
        )
    weights[unset] = max(0.0, 1 - total) / unset.sum()
    return checked_weights(weights, metrics)


def checked_weights(weights: Sequence[float] | np.ndarray | None, metrics: Sequence[str]) -> np.ndarray:
    """Validate weights and scale them to sum to one; uniform if there are none.

    Raises
    ------
    UsageError
        For weights that are negative, not finite, all zero or of the wrong number.
    """
    K = len(metrics)
    if weights is None:
        return np.full(K, 1 / K)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (K,):
        raise UsageError(
            "one weight per objective is needed",
            found=f"{weights.size} weights for {K} objectives",
            hint=f"the objectives are {listing(metrics)}",
        )
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        raise UsageError(
            f"the weight of {metrics[k]!r} must be a non-negative number",
            found=f"{weights[k]:g}",
            hint="give the importance of each objective, 0 to leave one out",
        )
    if not weights.sum() > 0:
        raise UsageError(
            "the weights are all zero",
            found=", ".join(f"{name}=0" for name in metrics[:8]),
            hint="give at least one objective a positive weight",
        )
    total = weights.sum()
    # Weights that sum to one but for rounding are kept as they were given.
    return weights if abs(total - 1) <= TOLERANCE else weights / total


def checked_p(p: float) -> float:
    """Validate the order of the norm.

    Raises
    ------
    UsageError
        For p below 1 or NaN.
    """
    p = float(p)
    if not p >= 1:
        raise UsageError(
            "p must be at least 1",
            found=f"p = {p:g}",
            hint="1 is the mean rank, 2 the Euclidean norm, inf the worst weighted rank",
        )
    return p


def constant_objectives(models: Population) -> np.ndarray:
    """List the objectives on which all models have the same value: they say nothing."""
    return np.flatnonzero((models.objectives == models.objectives[0]).all(axis=0))


def duplicated_models(models: Population) -> tuple[np.ndarray, ...]:
    """Group the models with the same values everywhere: copies shift the ranks of everyone else."""
    _, group, size = np.unique(models.objectives, axis=0, return_inverse=True, return_counts=True)
    members = np.argsort(group, kind="stable")
    groups = np.split(members, np.cumsum(size)[:-1])
    return tuple(sorted((g for g in groups if g.size > 1), key=lambda g: g[0]))


def ccdf_quantiles(
    u: np.ndarray, probabilities: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0)
) -> tuple[np.ndarray, np.ndarray]:
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


def _labels(
    objectives: np.ndarray, names: Sequence[str] | None, metrics: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    N, K = objectives.shape
    model_names = tuple(names) if names is not None else tuple(f"row {i + 1}" for i in range(N))
    metric_names = tuple(metrics) if metrics is not None else tuple(f"column {k + 1}" for k in range(K))
    return model_names, metric_names


def _validated(
    objectives: np.ndarray, names: Sequence[str] | None, metrics: Sequence[str] | None, missing: Missing
) -> np.ndarray:
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
    model_names, metric_names = _labels(objectives, names, metrics)
    wrong = np.isinf(objectives) | (np.isnan(objectives) if missing == "error" else False)
    if wrong.any():
        cells = [f"{model_names[i]}/{metric_names[k]}" for i, k in np.argwhere(wrong)[:9]]
        more = int(wrong.sum()) - 8
        shown = ", ".join(cells[:8]) + (f" … and {more} more" if more > 0 else "")
        kind = "infinite" if np.isinf(objectives).any() else "missing"
        raise InputError(
            f"{int(wrong.sum())} of {wrong.size} values are {kind if kind == 'missing' else 'not finite'}",
            found=f"model/objective {shown}",
            hint="drop these models, or count a missing value as the worst (--missing drop or worst)",
        )
    return objectives
