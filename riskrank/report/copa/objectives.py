"""Models by objectives in both languages: the values as measured, and the share of models that do better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.copa.population import TOLERANCE, Population
from riskrank.report import numbers
from riskrank.report.view import Cell, Column

# What a person reads at a glance, where nobody says how many models to show.
_MOST_CELLS = 160
_FEWEST_ROWS, _MOST_ROWS = 5, 20


@dataclass(frozen=True)
class RankedTable:
    """What the reports of ``copa`` show models with.

    Attributes
    ----------
    population : Population
    values : array of shape (N, K)
        In original units; NaN where missing.
    larger_is_better : array of bool, shape (K,)
        In original units.
    weights : array of shape (K,)
    constraints : sequence of str
    """

    population: Population
    values: np.ndarray
    larger_is_better: np.ndarray
    weights: np.ndarray
    constraints: Sequence[str]

    def name(self, model: int) -> str:
        """Name of a model."""
        return self.population.names[model]

    def usual_rows(self) -> int:
        """Rows of a table for people: fewer where there are many objectives."""
        return min(_MOST_ROWS, max(_FEWEST_ROWS, _MOST_CELLS // len(self.weights)))

    def by_metric(self, entries: np.ndarray) -> dict[str, Any]:
        """Name the K entries of an array by their objectives."""
        return dict(zip(self.population.metrics, np.asarray(entries).tolist(), strict=True))


def objective_columns(table: RankedTable) -> list[Column]:
    """Heads of the objectives, with an arrow towards the better values."""
    arrows = ("↑" if larger else "↓" for larger in table.larger_is_better)
    return [Column(f"{name} {arrow}") for name, arrow in zip(table.population.metrics, arrows, strict=True)]


def objective_cells(table: RankedTable, models: Sequence[int]) -> list[list[Cell]]:
    """Per model and objective, the value and the top-%; best values and weakest objectives stand out."""
    shown = list(models)
    u, values = table.population.u[shown], table.values[shown]
    weighted = u * table.weights
    weakest = (weighted >= weighted.max(axis=1, keepdims=True) * (1 - TOLERANCE)) & (weighted > 0)
    cells: list[list[Cell]] = [[] for _ in shown]
    for k in range(u.shape[1]):
        shares = [numbers.top_share(share) for share in u[:, k]]
        room = max(map(len, shares), default=0)
        for row, (value, share) in enumerate(zip(values[:, k], shares, strict=True)):
            text = "missing" if np.isnan(value) else numbers.score(value)
            style = "green" if u[row, k] == 0 else "yellow" if weakest[row, k] else ""
            cells[row].append(Cell(f"{text}  {share:>{room}}", style))
    return cells


def weakest_objectives(table: RankedTable, model: int) -> list[int]:
    """Objectives with the largest weighted rank; none for a model that is the best wherever it counts."""
    weighted = table.population.u[model] * table.weights
    return np.flatnonzero((weighted >= weighted.max() * (1 - TOLERANCE)) & (weighted > 0)).tolist()


def weakest_objective(table: RankedTable, model: int) -> str:
    """First of the weakest objectives, how many share its place, and the rank there."""
    weakest = weakest_objectives(table, model)
    if not weakest:
        return "none"
    also = f" +{len(weakest) - 1}" if len(weakest) > 1 else ""
    share = numbers.top_share(table.population.u[model, weakest[0]])
    return f"{table.population.metrics[weakest[0]]}{also} {share}"
