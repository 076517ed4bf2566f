"""Models by objectives in both languages: the values as measured, and the share of models that do better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.copa import TOLERANCE, Population
from riskrank.report import numbers
from riskrank.report.view import Cell, Column, Table

# Rich puts blanks around every column and a line of them between two.
_GAP = 3
# Names wider than this fold when columns are short of room.
_NAME_WIDTH = 30
# Tables that go on for longer than so many are cut to so many rows, when nobody said how many.
_MOST_TABLES, _FEW_ROWS = 4, 5


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
    width : int or None
        Columns of the page; None for no limit.
    """

    population: Population
    values: np.ndarray
    larger_is_better: np.ndarray
    weights: np.ndarray
    constraints: Sequence[str]
    width: int | None

    def name(self, model: int) -> str:
        """Name of a model."""
        return self.population.names[model]

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


def weakest_objective(table: RankedTable, model: int) -> str:
    """Objective with the largest weighted rank, how many have it too, and the rank."""
    weighted = table.population.u[model] * table.weights
    largest = weighted.max()
    if largest == 0:
        return "none"
    k, *others = np.flatnonzero(weighted >= largest * (1 - TOLERANCE))
    also = f" +{len(others)}" if others else ""
    return f"{table.population.metrics[k]}{also} {numbers.top_share(table.population.u[model, k])}"


def spread(
    title: str,
    head: Sequence[Column],
    head_cells: Sequence[Sequence[Cell | str]],
    columns: Sequence[Column],
    cells: Sequence[Sequence[Cell]],
    *,
    width: int | None,
    few: bool,
) -> list[Table]:
    """Set further columns beside the head, as many as the page is wide, and go on in tables below.

    Parameters
    ----------
    title : str
    head, head_cells
        Columns that come first; the very first one, which names the row, is repeated in every table.
    columns, cells
        Columns that are spread.
    width : int or None
        Columns of the page.
    few : bool
        Whether the tables that go on may be cut to the first rows, if they are many.
    """
    needs = [_need(column, [row[k] for row in cells]) for k, column in enumerate(columns)]
    first = sum(_need(column, [row[k] for row in head_cells]) for k, column in enumerate(head[1:], 1))
    name = min(_NAME_WIDTH + _GAP, _need(head[0], [row[0] for row in head_cells]))
    chunks = _chunks(needs, (width or 10**9) - name, first)
    tables = []
    for number, (start, stop) in enumerate(chunks):
        leading = len(head) if number == 0 else 1
        rows = list(zip(head_cells, cells, strict=True))
        title_here = title if number == 0 else f"{title}, continued"
        if few and number > 0 and len(chunks) > _MOST_TABLES:
            rows = rows[:_FEW_ROWS]
            title_here += f": the best {_FEW_ROWS}"
        tables.append(
            Table(
                title_here,
                (*head[:leading], *columns[start:stop]),
                tuple((*own[:leading], *more[start:stop]) for own, more in rows),
            )
        )
    return tables


def _need(column: Column, cells: Sequence[Cell | str]) -> int:
    texts = [*column.head.split("\n"), *(cell if isinstance(cell, str) else cell.text for cell in cells)]
    return max(map(len, texts)) + _GAP


def _chunks(needs: Sequence[int], room: int, taken: int) -> list[tuple[int, int]]:
    """Cut columns into runs that fit, at least one a run but for the first, which may be empty."""
    chunks, start = [], 0
    for k, need in enumerate(needs):
        full = taken + need > room
        if full and (k > start or not chunks):
            chunks.append((start, k))
            start, taken = k, 0
        taken += need
    return [*chunks, (start, len(needs))]
