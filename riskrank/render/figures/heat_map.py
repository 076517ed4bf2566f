"""Violation ratios of all pairs as a heat map, models by rank, with marks where a test separates them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.render.figures.fonts import TEXT, text_width
from riskrank.render.figures.labels import spread
from riskrank.render.figures.marks import model_mark, write
from riskrank.render.figures.names import fitted
from riskrank.render.figures.rows import dot
from riskrank.render.figures.style import (
    FAINT,
    GREY,
    MARGIN,
    ON_DARK,
    ON_PALE,
    QUIET,
    SMALL,
    Plot,
    drawn,
    sheet,
)

_NUMBERED = 14
"""Models up to which every cell shows its number."""
_CELLS = 30
"""Models up to which every cell is drawn on its own, and of these two models; beyond, all are one image."""
_NAMED = 80
"""Models up to which every row has its name; beyond, the first ones have."""
_FIRST = 30
_LEAST_ROW = 12.0
_SIZE = 480.0
_COLORS = "Blues_r"  # brightness alone tells the ratio, so that it survives grey and any colour vision
_DARK = 0.45


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
    """Arrange the tests of one claim by rank."""
    order = np.argsort(tests.one_versus_all, kind="stable")
    rows = np.ix_(order, order)
    ratios = tests.ratios[rows].astype(np.float64)
    np.fill_diagonal(ratios, np.nan)
    off_diagonal = ~np.eye(len(order), dtype=bool)
    return HeatMap(order, ratios, tests.dominates[rows] & off_diagonal, tests.identical[rows] & off_diagonal)


@drawn
def draw_heat_map(found: HeatMap, names: Sequence[str], title: str, method: str, *, tested: bool) -> Plot:
    """Draw one cell an ordered pair.

    Parameters
    ----------
    found : HeatMap
    names : sequence of k str
        In the order of the study.
    title, method : str
    tested : bool
        Whether marks come from a test.
    """
    k = len(names)
    named = k if k <= _NAMED else _FIRST
    shown = fitted([names[model] for model in found.order[:named]], 170.0)
    numbers = [str(place) for place in range(1, named + 1)]
    beside = max(map(text_width, numbers)) + 6
    marks = [model_mark(int(model)) for model in found.order]
    cell = max(_LEAST_ROW, min(34.0, _SIZE / k)) if k <= _NAMED else _SIZE * 1.2 / k
    side, left = cell * k, max(map(text_width, shown)) + beside + MARGIN + 14 + (0 if named == k else 22)
    ahead = "the row is significantly ahead" if tested else "the row is ahead (no test was asked for)"
    marked = f" A dot: {ahead}." * (k <= _NAMED) + " =: same distribution." * (k <= _CELLS)
    reading = (
        "Cell: violation ratio ε of “row dominates column”: 0 everywhere better, 0.5 a draw, 1 everywhere "
        f"worse. Models in order of their mean ε.{marked}"
    )
    width = max(left + side + 84, 300.0)
    page = sheet(title, reading, width=width, height=side + 38, method=method)
    axes = page.axes(left, 26, side, side)
    _cells(axes, found, cell)
    canvas = page.canvas()
    rows = 26 + side - cell * (np.arange(named) + 0.5)
    places = spread(rows, _LEAST_ROW, 26 + 5, 26 + side - 5)
    right = left - (6 if named == k else 28)
    for label, number, y, place, mark in zip(shown, numbers, rows, places, marks, strict=False):
        # Two texts: with a name written from right to left, its place would jump to the other side.
        write(canvas, right - beside, place, label, mark, "right")
        write(canvas, right, place, number, mark, "right")
        if named < k:
            tie = [left - 25, left - 18, left - 4, left - 1]
            canvas.plot(tie, [place, place, y, y], color=GREY, linewidth=0.6, gid=mark)
    every = max(1, int(np.ceil(18.0 / cell)))
    for place in range(0, k, every):
        x = left + cell * (place + 0.5)
        write(canvas, x, 20, str(place + 1), marks[place], "center", size=SMALL, va="top", color=QUIET)
    beside_map = page.axes(left + side + 18, 26 + side - min(side, 130), 9, min(side, 130))
    color_scale(beside_map, _COLORS, 0, ticks=[0, 0.5, 1])
    beside_map.set_title("ε", size=TEXT, loc="left", pad=4)
    beside_map.invert_yaxis()
    return page.figure


def _cells(axes: Axes, found: HeatMap, cell: float) -> None:
    k = len(found.order)
    axes.set_facecolor(FAINT)
    axes.set(xticks=[], yticks=[], xlim=(-0.5, k - 0.5), ylim=(k - 0.5, -0.5))
    axes.spines[:].set_visible(False)
    if k > _CELLS:
        _image(axes, found, cell)
        return
    colors = colormaps[_COLORS](found.ratios)
    ink = np.where(found.ratios < _DARK, ON_DARK, ON_PALE)
    for i, j in np.argwhere(~np.isnan(found.ratios)).tolist():
        mark = model_mark(int(found.order[i]), int(found.order[j]))
        cell_of(axes, j - 0.5, i - 0.5, 1, 1, colors[i, j], mark)
        numbered = k <= _NUMBERED
        if found.identical[i, j]:
            write(axes, j, i, "=", mark, "center", color=ink[i, j], size=min(TEXT, 0.8 * cell))
        elif numbered:
            said = short(found.ratios[i, j])
            write(axes, j, i - 0.08, said, mark, "center", color=ink[i, j], size=SMALL)
        if found.dominates[i, j]:
            dot(axes, j, i + (0.3 if numbered else 0), mark, ink[i, j], size=min(4.0, 0.35 * cell))


def cell_of(axes: Axes, left: float, low: float, width: float, height: float, color: Any, mark: str) -> None:
    """Draw a cell, without smoothed edges: no seams show between it and the next."""
    how: dict[str, Any] = {"facecolor": color, "linewidth": 0, "antialiased": False}
    axes.add_artist(Rectangle((left, low), width, height, gid=mark, **how))


def _image(axes: Axes, found: HeatMap, cell: float) -> None:
    """Cells of many models as one image, with dots while there is room for them."""
    k = len(found.order)
    axes.imshow(found.ratios, cmap=_COLORS, vmin=0, vmax=1, interpolation="nearest", aspect="auto")
    if k <= _NAMED:
        rows, columns = np.nonzero(found.dominates)
        ink = np.where(found.ratios < _DARK, ON_DARK, ON_PALE)[rows, columns]
        axes.scatter(columns, rows, c=ink, s=min(4.0, 0.35 * cell) ** 2, linewidths=0)
    axes.set(xlim=(-0.5, k - 0.5), ylim=(k - 0.5, -0.5))


def short(ratio: float) -> str:
    """Two digits, as a table rounds: a bare 0 or 1, < and > only where it is so."""
    if ratio in (0.0, 1.0):
        return f"{ratio:.0f}"
    if ratio < 0.005:
        return "<.01"
    return ">.99" if ratio >= 0.995 else f"{ratio:.2f}"[1:]


def color_scale(axes: Axes, colors: Any, low: float, **how: Any) -> None:
    """Fill axes with what the colours from a number to 1 say."""
    assert axes.figure is not None
    axes.figure.colorbar(ScalarMappable(Normalize(low, 1), colors), cax=axes, **how)
    axes.set_ylabel("")
