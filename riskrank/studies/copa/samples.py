"""Objectives of a table with samples as the engine takes them, with the scores behind each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.copa.replicates import ObjectiveScores
from riskrank.engine.types import Integers
from riskrank.studies.copa.objective_columns import ObjectiveColumn
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.gate.margins import bounded, limits
from riskrank.studies.targets import check_range


def drawn_together(columns: Sequence[ObjectiveColumn]) -> bool:
    """Whether a resample draws the same units for every model: their samples, or the tasks of a suite."""
    return columns[0].paired or any(one.tasks is not None and one.tasks.random for one in columns)


def objective_scores(found: Objectives, margins: dict[str, float]) -> tuple[list[ObjectiveScores], list[int]]:
    """Objectives as the engine takes them, and how many units of resampling each model has.

    Parameters
    ----------
    found : Objectives
        Of a table with samples.
    margins : dict of str to float
        By objective; 0 where there is none.
    """
    columns, population = found.columns, found.population
    keys: list[Integers] = [
        np.unique(np.concatenate([column.keys[model] for column in columns]))
        for model in range(len(population.names))
    ]
    if drawn_together(columns):
        keys = [np.unique(np.concatenate(keys))] * len(keys)
    objectives = []
    for k, column in enumerate(columns):
        values = population.objectives[:, k]
        margin = margins.get(column.name.name, 0.0)
        there = found.drawn(k)
        if not there.size:
            objectives.append(ObjectiveScores(values=values, margin=margin))
            continue
        own = column.of(there.tolist())
        scores = own.scores()
        check_range(column.name.name, scores, [population.names[model] for model in there])
        objectives.append(
            ObjectiveScores(
                values=values,
                scores=scores,
                models=there,
                units=tuple(
                    np.searchsorted(keys[model], np.unique(column.keys[model])) for model in there.tolist()
                ),
                level=column.name.level,
                limits=_limits(own, margin) if own.successes is None else None,
                margin=margin,
                successes=own.succeeded(),
            )
        )
    return objectives, [own.size for own in keys]


def _limits(column: ObjectiveColumn, margin: float) -> tuple[float, float] | None:
    """The worst and the best score there can be; None where nobody knows."""
    spec, scores = column.spec, [values / column.times for values in column.values]
    worst, best = limits(spec, scores, margin / column.times)
    return (worst * column.times, best * column.times) if bounded(spec, scores) else None
