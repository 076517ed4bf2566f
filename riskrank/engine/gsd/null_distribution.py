"""The whole null distribution of a relabelling test, for a picture: the tests need only part of it."""

from __future__ import annotations

import numpy as np

from riskrank.engine.gsd.labellings import relabellings
from riskrank.engine.gsd.null_optima import NullOptima
from riskrank.engine.gsd.quality import QualityTable
from riskrank.engine.gsd.relation import pair_polytope, sample_masses, shared_system
from riskrank.engine.gsd.threshold import Threshold
from riskrank.engine.types import Floats


def null_optima(
    table: QualityTable,
    winner: int,
    loser: int,
    *,
    threshold: Threshold | None = None,
    system: str = "pair",
    resampling: str = "swap",
    resamples: int = 1000,
    seed: int = 0,
) -> Floats:
    """Optimum of every relabelling that the test of a pair looks at, each solved for.

    Parameters
    ----------
    table : QualityTable
    winner, loser : int
        The models: optima are those of the winner over the loser.
    threshold, system, resampling, resamples, seed
        As in :func:`riskrank.engine.gsd.relabelling.relabelling_tests`: the same relabellings.

    Returns
    -------
    ndarray, shape (N,)

    Raises
    ------
    InputError
        If δ exceeds δ_max.
    NumericalError
        If a program cannot be solved for certain.
    """
    threshold = threshold or Threshold()
    shared = shared_system(table, system, threshold)
    polytope, _, _ = pair_polytope(table, shared, (min(winner, loser), max(winner, loser)), threshold)
    first, second = (sample_masses(table, polytope.system, model) for model in (winner, loser))
    units = first - second if resampling == "swap" else np.vstack([first, second])
    labels = relabellings(table.samples, resampling=resampling, resamples=resamples, seed=seed)
    return NullOptima(polytope, labels.signs, units / table.samples).all()
