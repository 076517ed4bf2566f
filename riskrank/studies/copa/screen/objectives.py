"""Models by objectives in both languages: the values as measured, and the share of models that do better."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from riskrank.shown import numbers
from riskrank.shown.view import Cell, Column
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


def objective_cells(table: Objectives, models: Sequence[int]) -> list[list[Cell]]:
    """Per model and objective, the value and the top-%; best values and weakest objectives stand out."""
    shown = list(models)
    u, values = table.population.u[shown], table.values[shown]
    stands_out = table.weakest[shown]
    cells: list[list[Cell]] = [[] for _ in shown]
    for k in range(u.shape[1]):
        shares = [numbers.top_share(share) for share in u[:, k]]
        room = max(map(len, shares), default=0)
        for row, (value, share) in enumerate(zip(values[:, k], shares, strict=True)):
            text = "missing" if np.isnan(value) else numbers.score(value)
            style = "green" if u[row, k] == 0 else "yellow" if stands_out[row, k] else ""
            cells[row].append(Cell(f"{text}  {share:>{room}}", style))
    return cells


def weakest_objective(table: Objectives, model: int) -> str:
    """First of the weakest objectives, how many share its place, and the rank there."""
    found = np.flatnonzero(table.weakest[model])
    if not found.size:
        return "none"
    also = f" +{len(found) - 1}" if len(found) > 1 else ""
    share = numbers.top_share(table.population.u[model, found[0]])
    return f"{table.population.metrics[found[0]]}{also} {share}"
