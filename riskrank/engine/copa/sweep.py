"""Sweeps of COPA's choice over the weight of one objective or the order p of the norm.

A sweep chooses a model at each point of a grid, and locates the intervals on which the choice stays the same.
Sweeps of all weights show how sensitive the choice is to each of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.copa.population import Population
from riskrank.engine.copa.ranking import (
    TIE_BREAKING_P,
    CopaRanking,
    lexicographic_argmin,
    power_norm,
    rank_norm,
    tie_breaking_norms,
)
from riskrank.engine.numeric import normalised_weights
from riskrank.engine.types import Floats, Integers
from riskrank.errors import UsageError

# Returns the keys of `lexicographic_argmin` for grid positions, shape (S, 1), and candidates, shape (S, M).
SortKeys = Callable[[Floats, Integers], Iterator[Floats]]

# Grid points processed together: close enough for common bounds to exclude nearly every model.
_BLOCK = 64
# Bisections of a grid step to locate a change of the choice; 45 reach the last bits of α.
_HALVINGS = 45


# Keeps rounding from excluding a model whose norm equals the best.
_SLACK = 1e-9
# More steps would be useless: shares are reported to a thousandth of a percent.
_MOST_STEPS = 100_000


@dataclass(frozen=True)
class Sweep:
    """COPA's choice over the whole range of one parameter.

    Attributes
    ----------
    objective : int or None
        The objective whose weight is α; None for a sweep over p.
    grid : array of shape (S,)
        Values of the parameter, increasing.
    choice : array of int, shape (S,)
        Model chosen at each grid value.
    low, high : arrays of shape (I,)
        Limits of adjacent intervals of the parameter with a constant choice. A choice that occurs only
        between two neighbouring grid points is missed.
    model : array of int, shape (I,)
        Model chosen on each interval.
    share : array of shape (N,)
        Proportion of the range of α, or of 1/p, on which each model is chosen.
    front_size : int
        Number of models on the front.
    """

    objective: int | None
    grid: Floats
    choice: Integers
    low: Floats
    high: Floats
    model: Integers
    share: Floats
    front_size: int

    @property
    def models_chosen(self) -> int:
        """Number of different models chosen over the range of the parameter."""
        return int(np.unique(self.model).size)

    def intervals_of(self, model: int) -> list[tuple[float, float]]:
        """Return the intervals (low, high) of the parameter on which `model` (an index) is chosen."""
        mask = self.model == model
        return list(zip(self.low[mask].tolist(), self.high[mask].tolist(), strict=True))

    @property
    def mean_parameter(self) -> Floats:
        """Mean value of the parameter over the intervals of each model, shape (N,).

        It is NaN for models that are never chosen.
        """
        means = np.full(len(self.share), np.nan)
        for model in np.unique(self.model).tolist():
            low, high = self.low[self.model == model], self.high[self.model == model]
            length = (high - low).sum()  # 0 if the model is chosen only at isolated values
            means[model] = ((high - low) * (low + high) / 2).sum() / length if length > 0 else low[0]
        return means

    @property
    def widths(self) -> Floats:
        """Width of each interval, in α or in 1 − 1/p, shape (I,); the grid is uniform on these scales."""
        edges = np.append(self.low, self.high[-1])
        return np.diff(1 - 1 / edges if self.objective is None else edges)

    @property
    def coverage(self) -> float:
        """Proportion of the models on the front that are chosen for some value of the parameter."""
        return self.models_chosen / self.front_size

    @property
    def evenness(self) -> float:
        """Evenness with which the swept range is divided among the models on the front.

        It is exp(entropy of `share`) / front size: 1 if all models on the front are chosen on intervals of
        the same length, and 1 / front size if a single model is always chosen.
        """
        share = self.share[self.share > 0]
        return float(np.exp(-(share * np.log(share)).sum()) / self.front_size)


def sweep_weight(
    models: Population,
    objective: int,
    *,
    p: float = np.inf,
    other_weights: ArrayLike | None = None,
    steps: int = 10_000,
) -> Sweep:
    """Sweep the weight α of one objective from 0 to 1; the other weights sum to 1 - α (COPA §5.2).

    Parameters
    ----------
    models : Population
        Models with their relative ranks and Pareto front.
    objective : int
        Column whose weight is swept.
    p : float
        Order of the norm, at least 1; may be infinite.
    other_weights : sequence of K float, optional
        Proportions by which 1 - α is divided among the other objectives; the entry of `objective` is ignored.
        Equal by default.
    steps : int
        The grid has steps + 1 points, including 0 and 1.

    Returns
    -------
    Sweep

    Raises
    ------
    UsageError
        If all proportions are zero, or there are too few or too many steps.
    """
    K = models.u.shape[1]
    other_objectives = np.delete(np.arange(K), objective)
    names = [models.metrics[k] for k in other_objectives]
    parts = None if other_weights is None else np.asarray(other_weights, dtype=np.float64)[other_objectives]
    proportions = normalised_weights(parts, names, kind="objective")
    candidates = np.flatnonzero(models.front)
    ranks = models.u[candidates, objective]

    # ‖u‖ = ‖(α u_k, (1 - α) ‖the others‖)‖, so two numbers per model and norm suffice.
    other_ranks = models.u[candidates][:, other_objectives]
    other_norms = {q: rank_norm(other_ranks, proportions, q) for q in {p, *TIE_BREAKING_P}}

    def norm(low: Floats, high: Floats, columns: Integers, q: float) -> Floats:
        """Return the norm of each candidate's ranks, with separate values of α for the two parts of the sum.

        The weight of the swept objective is `low`, and the other objectives share 1 − `high`. With low = high
        = α, this is the norm at α. Over a block of α, it is a lower bound if low is the smallest α and high
        the largest, and an upper bound in the opposite case. `columns` holds the candidates and `q` the order
        of the norm.
        """
        terms = np.broadcast_arrays(low * ranks[columns], (1 - high) * other_norms[q][columns])
        return power_norm(np.stack(terms, axis=-1), q)

    def keys(alpha: Floats, columns: Integers) -> Iterator[Floats]:
        """Yield the sort keys for choosing a candidate: the norm at each α, then the norms that break ties.

        `alpha` has shape (S, 1), `columns` holds the candidates, shape (S, M), and each key has shape (S, M).
        """
        return (norm(alpha, alpha, columns, q) for q in (p, *TIE_BREAKING_P))

    def contenders(alpha: Floats) -> Integers:
        """Return the indices of candidates that may be chosen for some α in a block of grid points.

        `alpha` has shape (S, 1) and is increasing.
        """
        # α u_k grows with α and the remainder shrinks. Over the block, `below` is a lower bound of each norm,
        # and the minimum on the right is an upper bound of the smallest norm.
        all_columns = np.arange(candidates.size)
        below = norm(alpha[0], alpha[-1], all_columns, p)
        return np.flatnonzero(below <= norm(alpha[-1], alpha[0], all_columns, p).min() * (1 + _SLACK))

    return _sweep_parameter(models, steps, contenders, keys, objective)


def sweep_p(models: Population, weights: ArrayLike | None = None, *, steps: int = 10_000) -> Sweep:
    """Sweep the order of the norm from p = 1, the mean rank, to p = ∞, the worst rank, in equal steps of 1/p.

    Parameters
    ----------
    models : Population
        Models with their relative ranks and Pareto front.
    weights : sequence of K float, optional
        As in `rank_models`.
    steps : int
        The grid has steps + 1 points, including 1 and ∞.

    Returns
    -------
    Sweep

    Raises
    ------
    UsageError
        If there are too few or too many steps.
    """
    weights = normalised_weights(weights, models.metrics, kind="objective")
    candidates = np.flatnonzero(models.front)
    terms = models.u[candidates] * weights
    tie_norms = [*tie_breaking_norms(terms)]

    def keys(positions: Floats, columns: Integers) -> Iterator[Floats]:
        """Yield the sort keys for choosing a candidate: the norm at each position, then tie-breaking norms.

        `positions` has shape (S, 1), `columns` holds the candidates, shape (S, M), and each key has shape (S,
        M).
        """
        pairs = zip(_positions_to_p(positions[:, 0]), columns, strict=True)
        yield np.array([power_norm(terms[subset], q) for q, subset in pairs])
        yield from (key[columns] for key in tie_norms)

    def contenders(positions: Floats) -> Integers:
        """Return the indices of candidates that may be chosen at some position in a block of grid positions.

        `positions` has shape (S, 1) and is increasing.
        """
        # A p-norm never grows with p, which bounds all norms of the block.
        first, last = _positions_to_p(positions[[0, -1], 0])
        return np.flatnonzero(power_norm(terms, last) <= power_norm(terms, first).min() * (1 + _SLACK))

    return _sweep_parameter(models, steps, contenders, keys)


def _sweep_parameter(
    models: Population,
    steps: int,
    contenders: Callable[[Floats], Integers],
    keys: SortKeys,
    objective: int | None = None,
) -> Sweep:
    """Sweep the weight of an objective, or 1 - 1/p, from 0 to 1, and locate the changes of the choice.

    Parameters
    ----------
    models : Population
        Models with their relative ranks and Pareto front.
    steps : int
        Number of steps of the grid.
    contenders : callable
        Maps a block of grid points, shape (S, 1), to the candidates that may be chosen there.
    keys : callable
        Maps grid points, shape (S, 1), and candidates, shape (S, M), to sort keys.
    objective : int, optional
        The objective whose weight is swept; None for a sweep over p.
    """
    if not 1 <= steps <= _MOST_STEPS:
        problem = f"a sweep needs 1 to {_MOST_STEPS} steps"
        hint = "choose a number in this range, or omit it for the default of 10000"
        raise UsageError(problem, found=f"{steps} steps", hint=hint)
    candidates, positions = np.flatnonzero(models.front), np.arange(steps + 1) / steps
    name_order = models.name_order[candidates]

    def decide(points: Floats, columns: Integers) -> Integers:
        """Return the candidate that is chosen at each grid point, shape (S,).

        `columns` holds the candidates to choose from, shape (S, M) or (M,).
        """
        columns = np.broadcast_to(columns, (len(points), columns.shape[-1]))
        choice = lexicographic_argmin(chain(keys(points, columns), [name_order[columns]]))
        return columns[np.arange(len(points)), choice]

    starts = range(0, positions.size, _BLOCK)
    blocks = [positions[start : start + _BLOCK, None] for start in starts]
    winner = np.concatenate([decide(block, contenders(block)) for block in blocks])
    changes = np.flatnonzero(winner[1:] != winner[:-1])
    low, high = positions[changes], positions[changes + 1]
    pairs = np.stack([winner[changes], winner[changes + 1]], axis=1)
    for _ in range(_HALVINGS if changes.size else 0):
        middle = (low + high) / 2
        stays = decide(middle[:, None], pairs) == pairs[:, 0]
        low, high = np.where(stays, middle, low), np.where(stays, high, middle)
    edges = np.concatenate([positions[:1], high, positions[-1:]])
    chosen = candidates[winner[np.append(changes, steps)]]
    lengths = np.bincount(chosen, weights=np.diff(edges), minlength=len(models.u)).astype(np.float64)
    if objective is None:
        positions, edges = _positions_to_p(positions), _positions_to_p(edges)
    return Sweep(
        objective=objective,
        grid=positions,
        choice=candidates[winner],
        low=edges[:-1],
        high=edges[1:],
        model=chosen,
        share=lengths,
        front_size=candidates.size,
    )


def _positions_to_p(positions: Floats) -> Floats:
    """Convert grid positions 1 - 1/p to orders p; position 1 gives infinity."""
    inverse = 1 - positions
    return np.where(inverse > 0, 1 / np.where(inverse > 0, inverse, 1.0), np.inf)


def sweep_all_weights(models: Population, ranking: CopaRanking, *, steps: int = 1000) -> tuple[Sweep, ...]:
    """Sweep the weight of every objective in turn, keeping the other weights in proportion.

    If one objective has all the weight, the remainder is divided equally among the others.

    Parameters
    ----------
    models : Population
        Models with their relative ranks and Pareto front.
    ranking : CopaRanking
        Provides the weights and p.
    steps : int
        As in `sweep_weight`.

    Returns
    -------
    tuple of K Sweep
        One sweep per objective; empty if there is only one.

    Raises
    ------
    UsageError
        As in `sweep_weight`.
    """
    weights, sweeps = ranking.weights, []
    for objective in range(weights.size if weights.size > 1 else 0):
        other_weights = weights if np.delete(weights, objective).any() else None
        sweeps.append(sweep_weight(models, objective, p=ranking.p, other_weights=other_weights, steps=steps))
    return tuple(sweeps)


@dataclass(frozen=True)
class WeightRange:
    """Sensitivity of the choice to the weight of one objective.

    Attributes
    ----------
    low, high : float
        Limits of the weight between which the choice does not change.
    models_chosen : int
        Number of models chosen for some weight from 0 to 1.
    """

    low: float
    high: float
    models_chosen: int


def weight_ranges(sweeps: Sequence[Sweep], chosen: int, weights: Floats) -> tuple[WeightRange, ...]:
    """Return the range of each objective's weight, around its current value, on which the choice is the same.

    Parameters
    ----------
    sweeps : sequence of Sweep
        One per objective, from :func:`sweep_all_weights`; may be empty.
    chosen : int
        The choice at the current weights.
    weights : ndarray, shape (K,)
        The current weights.
    """
    return tuple(
        WeightRange(*interval_of_choice(sweep, chosen, float(weight)), sweep.models_chosen)
        for sweep, weight in zip(sweeps, weights, strict=bool(sweeps))
    )


def interval_of_choice(sweep: Sweep, model: int, value: float) -> tuple[float, float]:
    """Return the interval of the swept parameter, around `value`, on which a model is chosen.

    Parameters
    ----------
    sweep : Sweep
        Choices over the range of the parameter.
    model : int
        The choice at `value`.
    value : float
        A value of the parameter.

    Returns
    -------
    low, high : float
        Both equal `value` if the interval lies between two neighbouring grid points and was missed.
    """
    holds = (sweep.low <= value) & (value <= sweep.high) & (sweep.model == model)
    if not holds.any():
        return value, value
    index = int(np.flatnonzero(holds)[0])
    return float(sweep.low[index]), float(sweep.high[index])
