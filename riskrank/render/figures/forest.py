"""Forest plots: estimates with intervals, one row per model and one panel per quantity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator
from numpy.typing import ArrayLike

from riskrank.engine.types import Floats, Integers
from riskrank.render.figures.legend import model_color
from riskrank.render.figures.rows import Rows, draw_bar, draw_dot, ruled_sheet
from riskrank.render.figures.style import GREY, QUIET, Plot, in_common_style
from riskrank.render.figures.units import Unit

PLACES, DIFFERENCES = "places", "differences"
"""Kinds of quantities: ranks, and differences with a line at 0."""


@dataclass(frozen=True)
class Interval:
    """Estimates of one quantity for k models in rank order, with optional intervals.

    Attributes
    ----------
    label : str
    estimate : ndarray, shape (k,)
    low, high : ndarray, shape (k,), or None
    kind : {"", "places", "differences"}
        Kind of quantity, which determines the axis.
    """

    label: str
    estimate: Floats
    low: Floats | None = None
    high: Floats | None = None
    kind: str = ""

    @classmethod
    def from_arrays(cls, order: Integers, label: str, kind: str, *parts: ArrayLike | None) -> Interval:
        """Create the intervals of one quantity for k models, reordered by `order`.

        Parameters
        ----------
        order : ndarray of int, shape (k,)
        label, kind : str
        *parts : array_like, shape (k,), or None
            Estimates of all models and, optionally, the lower and upper limits of their intervals.
        """
        arrays = [np.asarray(part, dtype=np.float64)[order] for part in parts if part is not None]
        low, high = arrays[1:] or (None, None)
        return cls(label, arrays[0], low, high, kind)


@dataclass(frozen=True)
class Forest:
    """Data for a forest plot of k models in rank order.

    Attributes
    ----------
    order : ndarray of int, shape (k,)
    columns : tuple of Interval
        Rank with its rank set, violation ratio or win rate, and difference in means to the leader (if there
        is one).
    """

    order: Integers
    columns: tuple[Interval, ...]


@in_common_style
def draw_forest(forest: Forest, names: Sequence[str], title: str, reading: str, method: str) -> Plot:
    """Draw a forest plot: panels of intervals that share one row for each of k models.

    Parameters
    ----------
    forest : Forest
    names : sequence of k str
        Names in the order of the study.
    title, reading, method : str
        See :func:`start_sheet`.
    """
    rows = Rows.for_models(names, forest.order)
    page, panels = ruled_sheet(rows, title, reading, width=150.0, columns=len(forest.columns), method=method)
    colors = [model_color(model) for model in forest.order.tolist()]
    for axes, column in zip(panels, forest.columns, strict=True):
        _draw_column(axes, column, rows, colors)
    return page.figure


def _draw_column(axes: Axes, column: Interval, rows: Rows, colors: Sequence[str]) -> None:
    """Draw one panel of a forest plot."""
    parts = [part for part in (column.estimate, column.low, column.high) if part is not None]
    unit, named = Unit.choose(*parts), len(rows.labels)
    estimate, *limits = map(unit.apply, parts)
    for row, (y, mark) in enumerate(zip(rows.y.tolist(), rows.marks, strict=True)):
        line, color, thickness, size = (
            (colors[row], colors[row], 2.2, 4.5) if row < named else (GREY, QUIET, 1.2, 1.7)
        )
        if limits:
            draw_bar(axes, [limit[row] for limit in limits], y, mark, line, width=thickness)
        draw_dot(axes, estimate[row], y, mark, color, size=size)
    axes.margins(x=0.06)
    rows.prepare_axes(axes, unit.label(column.label), 4)
    if column.kind == PLACES:
        k = len(rows.y)
        axes.set_xlim(0.4, k + 0.6)
        steps = np.unique(np.round(np.linspace(1, k, min(k, 5))).astype(int))
        axes.xaxis.set_major_locator(FixedLocator(steps.tolist()))
    elif column.kind == DIFFERENCES:
        axes.axvline(0, color=QUIET, linewidth=0.8, zorder=1)
