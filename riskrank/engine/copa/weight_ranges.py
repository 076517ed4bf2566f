"""Sensitivity of COPA's choice to each weight."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.population import Population
from riskrank.engine.copa.ranking import CopaRanking
from riskrank.engine.copa.sweep import Sweep, sweep_weight
from riskrank.engine.types import Floats


def sweep_all_weights(models: Population, ranking: CopaRanking, *, steps: int = 1000) -> tuple[Sweep, ...]:
    """Sweep the weight of every objective in turn, keeping the other weights in proportion.

    If one objective has all the weight, the remainder is divided equally among the others.

    Parameters
    ----------
    models : Population
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
    """Return, for every objective, the range of its weight on which the choice does not change.

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
    """Return the interval of the parameter, around a value, on which a model is chosen.

    Parameters
    ----------
    sweep : Sweep
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
