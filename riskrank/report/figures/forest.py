"""A ranking and how sure it is: rank sets, ratios and differences to the leader, a row a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import FixedLocator, MaxNLocator

from riskrank.engine.types import Floats, Integers
from riskrank.report.figures.rows import Rows
from riskrank.report.figures.style import FAINT, GREY, MARGIN, PALETTE, QUIET, SMALL, Plot, drawn, sheet
from riskrank.report.figures.units import Unit


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
    """

    order: Integers
    rank: Interval
    score: Interval
    difference: Interval | None


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
    rows = Rows.of([names[model] for model in found.order])
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
    panels: list[tuple[Interval, str]] = [(found.rank, "rank"), (found.score, score)]
    if found.difference is not None:
        panels.append((found.difference, f"{unit}, to the first"))
    for number, (interval, label) in enumerate(panels):
        axes = page.axes(left, below, width, rows.height)
        _column(axes, interval, rows, label)
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


def _column(axes: Axes, interval: Interval, rows: Rows, label: str) -> None:
    unit = Unit.of(*(part for part in (interval.estimate, interval.low, interval.high) if part is not None))
    x = unit.apply(interval.estimate)
    named = len(rows.labels)
    for y in rows.y[:named]:
        axes.axhline(y, color=FAINT, linewidth=0.6, zorder=0)
    if interval.low is not None and interval.high is not None:
        ends = zip(unit.apply(interval.low), unit.apply(interval.high), rows.y, strict=True)
        bars = [((a, y), (b, y)) for a, b, y in ends]
        axes.add_collection(LineCollection(bars[:named], colors=PALETTE[0], linewidths=2.2, zorder=2))
        axes.add_collection(LineCollection(bars[named:], colors=GREY, linewidths=1.2, zorder=2))
    axes.scatter(x[:named], rows.y[:named], s=20, color=PALETTE[0], zorder=3, linewidths=0)
    axes.scatter(x[named:], rows.y[named:], s=3, color=QUIET, zorder=3, linewidths=0)
    axes.margins(x=0.06)
    axes.set(ylim=(0, rows.height), yticks=[])
    axes.set_xlabel(unit.label(label), size=SMALL)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(4))
