"""A population of models, ranked on objectives that have no common unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.pareto import pareto_front
from riskrank.engine.copa.ranks import labels, rank_transform
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError


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
