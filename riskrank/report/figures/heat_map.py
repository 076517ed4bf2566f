"""Violation ratios of all pairs as a heat map, models by rank, with marks where a test separates them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.report.figures.labels import spread
from riskrank.report.figures.names import fitted
from riskrank.report.figures.style import (
    FAINT,
    GREY,
    INK,
    MARGIN,
    ON_DARK,
    ON_PALE,
    QUIET,
    SMALL,
    TEXT,
    Plot,
    drawn,
    sheet,
    text_width,
)

_NUMBERED = 14
"""Models up to which every cell shows its number."""
_NAMED = 80
"""Models up to which every row has its name; beyond, the first ones have."""
_FIRST = 30
_LEAST_ROW = 12.0
_SIZE = 480.0
_COLORS = "Blues_r"  # brightness alone tells the ratio, so that it survives grey and any colour vision
_DARK, _PALE = 0.45, 0.35


@dataclass(frozen=True)
class HeatMap:
    """What is plotted, models by their one-versus-all ratio, the best first.

    Attributes
    ----------
    order : ndarray of int, shape (k,)
        Model in each row and column.
    ratios : ndarray, shape (k, k)
        Violation ratio of "row dominates column"; NaN on the diagonal.
    dominates, identical : ndarray of bool, shape (k, k)
    """

    order: Integers
    ratios: Floats
    dominates: Booleans
    identical: Booleans


def heat_map(tests: DominanceTests) -> HeatMap:
    """Arrange the verdicts of one claim by rank."""
    order = np.argsort(tests.one_versus_all, kind="stable")
    rows = np.ix_(order, order)
    ratios = tests.ratios[rows].astype(np.float64)
    np.fill_diagonal(ratios, np.nan)
    off_diagonal = ~np.eye(len(order), dtype=bool)
    return HeatMap(order, ratios, tests.dominates[rows] & off_diagonal, tests.identical[rows] & off_diagonal)


@drawn
def draw_heat_map(found: HeatMap, names: Sequence[str], title: str, *, tested: bool) -> Plot:
    """Draw one cell an ordered pair.

    Parameters
    ----------
    found : HeatMap
    names : sequence of k str
        In the order of the study.
    title : str
    tested : bool
        Whether marks come from a test.
    """
    k = len(names)
    named = k if k <= _NAMED else _FIRST
    shown = fitted([names[model] for model in found.order[:named]], 170.0)
    labels = [f"{text}  {place}" for place, text in enumerate(shown, start=1)]
    cell = max(_LEAST_ROW, min(34.0, _SIZE / k)) if k <= _NAMED else _SIZE * 1.2 / k
    side, left = cell * k, max(text_width(label) for label in labels) + MARGIN + 8 + (0 if named == k else 22)
    marked = "the row is significantly ahead" if tested else "the row is ahead (no test was asked for)"
    marked = f"A dot: {marked}; =: identical scores." if named == k else f"Pale: neither is {marked[11:]}."
    reading = (
        "Cell: violation ratio ε of “row dominates column”: 0 everywhere better, 0.5 a draw, 1 everywhere "
        f"worse. Models in order of their mean ε. {marked}"
    )
    width = max(left + side + 84, 300.0)
    page = sheet(title, reading, width=width, height=side + 38)
    axes = page.axes(left, 26, side, side)
    _cells(axes, found, cell)
    canvas = page.canvas()
    rows = 26 + side - cell * (np.arange(named) + 0.5)
    places = spread(rows, _LEAST_ROW, 26 + 5, 26 + side - 5)
    for label, y, place in zip(labels, rows, places, strict=True):
        canvas.text(
            left - (6 if named == k else 28), place, label, size=TEXT, va="center", ha="right", color=INK
        )
        if named < k:
            canvas.plot(
                [left - 25, left - 18, left - 4, left - 1], [place, place, y, y], color=GREY, linewidth=0.6
            )
    every = max(1, int(np.ceil(18.0 / cell)))
    for place in range(0, k, every):
        x = left + cell * (place + 0.5)
        canvas.text(x, 20, str(place + 1), size=SMALL, va="top", ha="center", color=QUIET)
    _scale(page.axes(left + side + 18, 26 + side - min(side, 130), 9, min(side, 130)))
    return page.figure


def _cells(axes: Axes, found: HeatMap, cell: float) -> None:
    k = len(found.order)
    axes.set_facecolor(FAINT)
    ratios = np.ma.masked_invalid(found.ratios)
    # Dots in more cells than can be named would be a grid of their own.
    pale = (k > _NAMED) & ~(found.dominates | found.dominates.T)
    axes.imshow(
        ratios,
        cmap=_COLORS,
        vmin=0,
        vmax=1,
        interpolation="nearest",
        aspect="auto",
        origin="upper",
        alpha=np.where(pale, _PALE, 1.0),
    )
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    ink = np.where(found.ratios < _DARK, ON_DARK, ON_PALE)
    for i, j in np.argwhere(found.identical).tolist() if k <= _NAMED else []:
        axes.text(j, i, "=", size=min(TEXT, 0.8 * cell), va="center", ha="center", color=ink[i, j])
    numbered = k <= _NUMBERED
    if numbered:
        for i, j in np.argwhere(~np.isnan(found.ratios) & ~found.identical).tolist():
            axes.text(
                j, i - 0.08, _short(found.ratios[i, j]), size=SMALL, va="center", ha="center", color=ink[i, j]
            )
    if k <= _NAMED:
        rows, columns = np.nonzero(found.dominates)
        size = min(4.0, 0.35 * cell) ** 2
        axes.scatter(columns, rows + (0.3 if numbered else 0), s=size, c=ink[rows, columns], linewidths=0)


def _short(ratio: float) -> str:
    """Two digits, and a bare 0 or 1 only for a ratio that is exactly that."""
    return f"{ratio:.0f}" if ratio in (0.0, 1.0) else f"{min(max(ratio, 0.01), 0.99):.2f}"[1:]


def _scale(axes: Axes) -> None:
    assert axes.figure is not None
    axes.figure.colorbar(ScalarMappable(Normalize(0, 1), _COLORS), cax=axes, ticks=[0, 0.5, 1])
    axes.set_ylabel("")
    axes.set_title("ε", size=TEXT, loc="left", pad=4)
    axes.invert_yaxis()
