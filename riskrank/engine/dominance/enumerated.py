"""Replicates of a column from all resamples of its tasks, where tasks like these are few (method §8)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from riskrank.engine.common_scale import CommonScale
from riskrank.engine.dominance.bootstrap import BootstrapColumn
from riskrank.engine.dominance.estimates import tail_level
from riskrank.engine.dominance.replicates import Replicates
from riskrank.engine.dominance.violation import ViolationKernel
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.multisets import MOST_UNITS, Multisets
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.types import Floats

# Resamples weighed at once.
_BATCH = 64


def enumerable(column: BootstrapColumn, work_limit: float) -> Multisets | None:
    """All resamples of a column whose tasks are drawn; None of many tasks, or where they would take long."""
    tasks = drawn_tasks(column.scores)
    if not 0 < tasks <= MOST_UNITS:
        return None
    found = Multisets.of(tasks)
    return found if len(found.masses) * column.comparisons <= work_limit else None


def drawn_tasks(scores: ClusteredScores) -> int:
    """How many tasks are drawn whole; 0 where samples are."""
    return scores.strata.tasks if scores.strata.random else 0


def enumerated(column: BootstrapColumn, multisets: Multisets) -> Replicates:
    """Replicates of all resamples, with their probabilities.

    Parameters
    ----------
    column : BootstrapColumn
        Whose tasks are drawn.
    multisets : Multisets
        Of the tasks.

    Returns
    -------
    Replicates
    """
    scores, k = column.scores, column.scores.models
    scale, level = CommonScale.of(scores.values), tail_level(scores)
    design = WeightedDesign(replace(scores, values=scale.of_all(scores.values)))
    kernel = ViolationKernel.of(k, orders=column.orders, pairs=column.pairs)
    masses, o = multisets.masses, len(column.orders)
    crossings = np.zeros((len(column.thresholds), o, k, k))
    sums, squares = np.zeros((2, o, k, k))
    overall, means, tails = [], [], []
    for start in range(0, len(masses), _BATCH):
        rows = slice(start, start + _BATCH)
        cumulated = design.of_counts([multisets.counts[rows]] * k)
        ratios = kernel.ratios_of_steps(design.values, cumulated, max(scores.sizes))
        mass = masses[rows]
        if column.pairs is None:
            overall.append(((ratios.sum(axis=2) - 0.5) / (k - 1)).transpose(2, 0, 1))
        for t, threshold in enumerate(column.thresholds):
            crossings[t] += _weighed(ratios >= threshold, mass)
        sums += _weighed(ratios, mass)
        squares += _weighed(ratios**2, mass)
        steps = [Steps(*one) for one in zip(design.values, cumulated, strict=True)]
        means.append(np.stack([one.means for one in steps], axis=1))
        tails.append(np.stack([one.tail_means(level) for one in steps], axis=1))
    alike = multisets.rows()
    return Replicates(
        column.orders,
        column.thresholds,
        np.concatenate(overall) if column.pairs is None else None,
        crossings,
        np.sqrt(np.maximum(squares - sums**2, 0.0)),
        scale.undo(np.concatenate(means)[alike]),
        scale.undo(np.concatenate(tails)[alike]),
        level,
        masses,
    )


def _weighed(values: np.ndarray, mass: Floats) -> Floats:
    found: Floats = np.einsum("...b,b->...", values.astype(np.float64), mass)
    return found
