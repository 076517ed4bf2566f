"""What each weight does: which models it chooses, and between which values the choice stays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.population import Population
from riskrank.engine.copa.ranking import CopaRanking
from riskrank.engine.copa.sweep import Sweep, sweep_weight
from riskrank.engine.types import Floats


def sweep_all_weights(models: Population, ranking: CopaRanking, *, steps: int = 1000) -> tuple[Sweep, ...]:
    """Move the weight of every objective in turn, the others keeping their proportions.

    Objectives beside one that has all the weight share the rest equally.

    Parameters
    ----------
    models : Population
    ranking : CopaRanking
        Its weights and its p.
    steps : int
        As in `sweep_weight`.

    Returns
    -------
    tuple of K Sweep
        Empty for a single objective.

    Raises
    ------
    UsageError
        As `sweep_weight`.
    """
    weights, sweeps = ranking.weights, []
    for objective in range(weights.size if weights.size > 1 else 0):
        other_weights = weights if np.delete(weights, objective).any() else None
        sweeps.append(sweep_weight(models, objective, p=ranking.p, other_weights=other_weights, steps=steps))
    return tuple(sweeps)


@dataclass(frozen=True)
class WeightRange:
    """What moving the weight of one objective does.

    Attributes
    ----------
    low, high : float
        Between these weights the choice stays what it is.
    models_chosen : int
        Number of models chosen for some weight from 0 to 1.
    """

    low: float
    high: float
    models_chosen: int


def weight_ranges(sweeps: Sequence[Sweep], chosen: int, weights: Floats) -> tuple[WeightRange, ...]:
    """Range of every weight on which a model stays the choice, the others in proportion.

    Parameters
    ----------
    sweeps : sequence of Sweep
        One an objective, from :func:`sweep_each_weight`; or none.
    chosen : int
        The choice with the weights as they are.
    weights : ndarray, shape (K,)
    """
    return tuple(
        WeightRange(*interval_of_choice(sweep, chosen, float(weight)), sweep.models_chosen)
        for sweep, weight in zip(sweeps, weights, strict=bool(sweeps))
    )


def interval_of_choice(sweep: Sweep, model: int, value: float) -> tuple[float, float]:
    """The interval around a value of the parameter on which a model stays the choice.

    Parameters
    ----------
    sweep : Sweep
    model : int
        The choice at `at`.
    at : float

    Returns
    -------
    low, high : float
        Both are `at` if the model is the choice only between two points of the grid.
    """
    holds = (sweep.low <= value) & (value <= sweep.high) & (sweep.model == model)
    if not holds.any():
        return value, value
    index = int(np.flatnonzero(holds)[0])
    return float(sweep.low[index]), float(sweep.high[index])
