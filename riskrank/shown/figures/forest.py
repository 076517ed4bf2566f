"""A ranking and how sure it is: rank sets, ratios and differences to the leader, a row a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator

from riskrank.engine.types import Floats, Integers
from riskrank.shown.figures.rows import Rows
from riskrank.shown.figures.style import FAINT, GREY, MARGIN, PALETTE, QUIET, Plot, drawn, sheet
from riskrank.shown.figures.units import Unit


@dataclass(frozen=True)
class Interval:
    """A number a model, with an interval where there is one; models by rank.

    Attributes
    ----------
    estimate : ndarray, shape (k,)
    low, high : ndarray, shape (k,), or None
    """

    estimate: Floats
    low: Floats | None
    high: Floats | None


@dataclass(frozen=True)
class Forest:
    """What is plotted, models by rank.

    Attributes
    ----------
    order : ndarray of int, shape (k,)
    rank : Interval
        Place, and the rank set of the tests.
    score : Interval
        One-versus-all ratio or win rate.
    difference : Interval or None
        Of the mean to that of the leader.
    named : tuple of int
        Models of the verdict, in colour.
    """

    order: Integers
    rank: Interval
    score: Interval
    difference: Interval | None
    named: tuple[int, ...] = ()


@drawn
def draw_forest(
    found: Forest, names: Sequence[str], title: str, reading: str, *, score: str, unit: str = "mean"
) -> Plot:
    """Draw three columns of intervals over the same rows.

    Parameters
    ----------
    found : Forest
    names : sequence of k str
        In the order of the study.
    title, reading : str
    score : str
        Head of the column of scores: ``ε`` or ``win rate``.
    unit : str
        What the differences are of.
    """
    rows = Rows.of_models(names, found.order)
    width, gap, below = 150.0, 26.0, 44.0
    columns = 2 if found.difference is None else 3
    page = sheet(
        title,
        reading,
        width=rows.width + columns * width + (columns - 1) * gap + MARGIN + 10,
        height=below + rows.height + 6,
    )
    left = rows.width
    k = len(names)
    colors = [PALETTE[0] if model in found.named else QUIET for model in found.order.tolist()]
    panels: list[tuple[Interval, str]] = [(found.rank, "rank"), (found.score, score)]
    if found.difference is not None:
        panels.append((found.difference, f"{unit}, to the first"))
    for number, (interval, label) in enumerate(panels):
        axes = page.axes(left, below, width, rows.height)
        _column(axes, interval, rows, label, colors)
        if number == 0:
            _places(axes, k)
        if number == 2:
            axes.axvline(0, color=QUIET, linewidth=0.8, zorder=1)
        left += width + gap
    rows.draw(page.canvas(), below)
    return page.figure


def _places(axes: Axes, k: int) -> None:
    axes.set_xlim(0.4, k + 0.6)
    steps = np.unique(np.round(np.linspace(1, k, min(k, 5))).astype(int))
    axes.xaxis.set_major_locator(FixedLocator(steps.tolist()))


def _column(axes: Axes, interval: Interval, rows: Rows, label: str, colors: Sequence[str]) -> None:
    unit = Unit.of(*(part for part in (interval.estimate, interval.low, interval.high) if part is not None))
    x = unit.apply(interval.estimate)
    named = len(rows.labels)
    for y, mark in zip(rows.y[:named], rows.marks, strict=False):
        axes.axhline(y, color=FAINT, linewidth=0.6, zorder=0, gid=mark)
    if interval.low is not None and interval.high is not None:
        ends = zip(unit.apply(interval.low), unit.apply(interval.high), rows.y, rows.marks, strict=True)
        for at, (low, high, y, mark) in enumerate(ends):
            color, wide = (colors[at], 2.2) if at < named else (GREY, 1.2)
            axes.plot(
                [low, high],
                [y, y],
                color=color,
                linewidth=wide,
                solid_capstyle="butt",
                zorder=2,
                gid=mark,
            )
    for at, (place, y, mark) in enumerate(zip(x, rows.y, rows.marks, strict=True)):
        color, size = (colors[at], 4.5) if at < named else (QUIET, 1.7)
        axes.plot(
            [place], [y], marker="o", markersize=size, markeredgewidth=0, color=color, zorder=3, gid=mark
        )
    axes.margins(x=0.06)
    rows.lay_out(axes, unit.label(label), 4)
