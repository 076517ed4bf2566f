"""Models by objectives in both languages: the values as measured, and the share of models that do better."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from riskrank.shown import numbers
from riskrank.shown.view import Cell, Column, OfModel
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.costs import PER_SUCCESS

# What a person reads at a glance, where nobody says how many models to show.
_MOST_CELLS = 160
_FEWEST_ROWS, _MOST_ROWS = 5, 20
# What follows the name of a metric whose mean the objective is not.
_STATISTIC = re.compile(r":(total|tvar@[0-9.]+)$")


def usual_rows(table: Objectives) -> int:
    """Rows of a table for people: fewer where there are many objectives."""
    return min(_MOST_ROWS, max(_FEWEST_ROWS, _MOST_CELLS // len(table.weights)))


def objective_columns(table: Objectives) -> list[Column]:
    """Heads of the objectives, with an arrow towards the better values; what they are beside means below."""
    arrows = ("↑" if larger else "↓" for larger in table.larger_is_better)
    names = [
        _STATISTIC.sub(r"\n\1", name).replace(f"{PER_SUCCESS}:", f"{PER_SUCCESS}\n")
        for name in table.population.metrics
    ]
    return [Column(f"{name} {arrow}") for name, arrow in zip(names, arrows, strict=True)]


def objective_cells(table: Objectives, models: Sequence[int]) -> list[OfModel]:
    """A column an objective, of some models: the value and the top-%; best and weakest stand out."""
    return [(head, _cells(table, k, models)) for k, head in enumerate(objective_columns(table))]


def _cells(table: Objectives, k: int, models: Sequence[int]) -> Callable[[int], Cell]:
    values, u = table.values[:, k], table.population.u[:, k]
    room = max((len(numbers.top_share(u[i])) for i in models), default=0)

    def cell(i: int) -> Cell:
        text = "missing" if np.isnan(values[i]) else numbers.score(values[i])
        style = "green" if u[i] == 0 else "yellow" if table.weakest[i, k] else ""
        return Cell(f"{text}  {numbers.top_share(u[i]):>{room}}", style)

    return cell


def weakest_objective(table: Objectives, model: int) -> str:
    """First of the weakest objectives, how many share its place, and the rank there."""
    found = np.flatnonzero(table.weakest[model])
    if not found.size:
        return "none"
    also = f" +{len(found) - 1}" if len(found) > 1 else ""
    share = numbers.top_share(table.population.u[model, found[0]])
    return f"{table.population.metrics[found[0]]}{also} {share}"
