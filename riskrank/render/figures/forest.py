"""Numbers with their intervals, a row a model and a column a question: a ranking and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator
from numpy.typing import ArrayLike

from riskrank.engine.types import Floats, Integers
from riskrank.render.figures.legend import hue
from riskrank.render.figures.rows import Rows, bar, dot, ruled
from riskrank.render.figures.style import GREY, QUIET, Plot, drawn
from riskrank.render.figures.units import Unit

PLACES, DIFFERENCES = "places", "differences"
"""Kinds of columns: whole numbers from 1 on, and those with a line where nothing differs."""


@dataclass(frozen=True)
class Interval:
    """A number a model, with an interval where there is one; models by rank.

    Attributes
    ----------
    label : str
    estimate : ndarray, shape (k,)
    low, high : ndarray, shape (k,), or None
    kind : str
        Of the column.
    """

    label: str
    estimate: Floats
    low: Floats | None = None
    high: Floats | None = None
    kind: str = ""

    @classmethod
    def of(cls, order: Integers, label: str, kind: str, *parts: ArrayLike | None) -> Interval:
        """Numbers of all models, with their ends where there are any, in an order."""
        taken = [np.asarray(part, dtype=np.float64)[order] for part in parts if part is not None]
        low, high = taken[1:] or (None, None)
        return cls(label, taken[0], low, high, kind)


@dataclass(frozen=True)
class Forest:
    """What is plotted, models by rank.

    Attributes
    ----------
    order : ndarray of int, shape (k,)
    columns : tuple of Interval
        Place with the rank set of the tests; ratio or win rate; difference of the mean to that of the leader,
        where there is one.
    """

    order: Integers
    columns: tuple[Interval, ...]


@drawn
def draw_forest(found: Forest, names: Sequence[str], title: str, reading: str, method: str) -> Plot:
    """Draw columns of intervals over the same rows.

    Parameters
    ----------
    found : Forest
    names : sequence of k str
        In the order of the study.
    title, reading, method : str
    """
    rows = Rows.of_models(names, found.order)
    page, panels = ruled(rows, title, reading, width=150.0, columns=len(found.columns), method=method)
    colors = [hue(model) for model in found.order.tolist()]
    for axes, column in zip(panels, found.columns, strict=True):
        _column(axes, column, rows, colors)
    return page.figure


def _column(axes: Axes, column: Interval, rows: Rows, colors: Sequence[str]) -> None:
    parts = [part for part in (column.estimate, column.low, column.high) if part is not None]
    unit, named = Unit.of(*parts), len(rows.labels)
    estimate, *ends = map(unit.apply, parts)
    for at, (y, mark) in enumerate(zip(rows.y.tolist(), rows.marks, strict=True)):
        line, color, wide, size = (
            (colors[at], colors[at], 2.2, 4.5) if at < named else (GREY, QUIET, 1.2, 1.7)
        )
        if ends:
            bar(axes, [end[at] for end in ends], y, mark, line, width=wide)
        dot(axes, estimate[at], y, mark, color, size=size)
    axes.margins(x=0.06)
    rows.lay_out(axes, unit.label(column.label), 4)
    if column.kind == PLACES:
        k = len(rows.y)
        axes.set_xlim(0.4, k + 0.6)
        steps = np.unique(np.round(np.linspace(1, k, min(k, 5))).astype(int))
        axes.xaxis.set_major_locator(FixedLocator(steps.tolist()))
    elif column.kind == DIFFERENCES:
        axes.axvline(0, color=QUIET, linewidth=0.8, zorder=1)
