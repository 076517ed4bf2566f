"""Heat map of the violation ratios of all pairs in rank order, with dots for significant dominance."""

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
from riskrank.render.figures.rows import MOST_NAMED, draw_dot
from riskrank.render.figures.style import (
    FAINT,
    GREY,
    MARGIN,
    ON_DARK,
    ON_PALE,
    QUIET,
    SMALL,
    Plot,
    common_style,
    start_sheet,
)
from riskrank.render.figures.text import TEXT, fit_names, model_mark, spread_labels, text_width, write_text

# Number of models up to which every cell shows its ratio.
_NUMBERED = 14
# Number of models up to which every cell is drawn separately. For more models, all cells form one image.
_CELLS = 30
# Number of named rows if there are more than `MOST_NAMED` models.
_FIRST = 30
_LEAST_ROW = 12.0
_SIZE = 480.0
_COLORS = "Blues_r"  # brightness encodes the ratio, which suits grey and any color vision
_DARK = 0.45


@dataclass(frozen=True)
class HeatMap:
    """Data for a heat map of k models, ordered by one-versus-all violation ratio, best first.

    Attributes
    ----------
    order : ndarray of int, shape (k,)
        Model of each row and column.
    ratios : ndarray, shape (k, k)
        Violation ratio of "row dominates column"; NaN on the diagonal.
    dominates, identical : ndarray of bool, shape (k, k)
        True where the row's model dominates the column's, and where both have the same scores.
    """

    order: Integers
    ratios: Floats
    dominates: Booleans
    identical: Booleans


def arrange_heat_map(tests: DominanceTests) -> HeatMap:
    """Sort the results of the tests of one claim by the mean violation ratio of each model."""
    order = np.argsort(tests.one_versus_all, kind="stable")
    rows = np.ix_(order, order)
    ratios = tests.ratios[rows].astype(np.float64)
    np.fill_diagonal(ratios, np.nan)
    off_diagonal = ~np.eye(len(order), dtype=bool)
    return HeatMap(order, ratios, tests.dominates[rows] & off_diagonal, tests.identical[rows] & off_diagonal)


@common_style()
def draw_heat_map(heat_map: HeatMap, names: Sequence[str], title: str, method: str, *, tested: bool) -> Plot:
    """Draw a heat map with one cell per ordered pair of k models.

    Parameters
    ----------
    heat_map : HeatMap
        Data of the heat map.
    names : sequence of k str
        Names in the order of the study.
    title, method : str
        Title of the figure, and name of the test.
    tested : bool
        Whether the dots mark test results.
    """
    k = len(names)
    named = k if k <= MOST_NAMED else _FIRST
    labels = fit_names([names[model] for model in heat_map.order[:named]], 170.0)
    numbers = [str(place) for place in range(1, named + 1)]
    number_width = max(map(text_width, numbers)) + 6
    marks = [model_mark(int(model)) for model in heat_map.order]
    cell = max(_LEAST_ROW, min(34.0, _SIZE / k)) if k <= MOST_NAMED else _SIZE * 1.2 / k
    side, left = (
        cell * k,
        max(map(text_width, labels)) + number_width + MARGIN + 14 + (0 if named == k else 22),
    )
    mark_meaning = "the row is significantly ahead" if tested else "the row is ahead (not tested)"
    legend = f" A dot: {mark_meaning}." * (k <= MOST_NAMED) + " =: same distribution." * (k <= _CELLS)
    explanation = (
        "Cell: violation ratio ε of “row dominates column”: 0 better everywhere, 0.5 a draw, 1 worse "
        f"everywhere. Models are ordered by their mean ε.{legend}"
    )
    width = max(left + side + 84, 300.0)
    page = start_sheet(title, explanation, width=width, height=side + 38, method=method)
    axes = page.axes(left, 26, side, side)
    _draw_cells(axes, heat_map, cell)
    canvas = page.canvas()
    rows = 26 + side - cell * (np.arange(named) + 0.5)
    places = spread_labels(rows, _LEAST_ROW, 26 + 5, 26 + side - 5)
    right = left - (6 if named == k else 28)
    for label, number, y, place, mark in zip(labels, numbers, rows, places, marks, strict=False):
        # Two texts, because the rank would change sides next to a right-to-left name.
        write_text(canvas, right - number_width, place, label, mark, "right")
        write_text(canvas, right, place, number, mark, "right")
        if named < k:
            line = [left - 25, left - 18, left - 4, left - 1]
            canvas.plot(line, [place, place, y, y], color=GREY, linewidth=0.6, gid=mark)
    step = max(1, int(np.ceil(18.0 / cell)))
    for place in range(0, k, step):
        x = left + cell * (place + 0.5)
        write_text(canvas, x, 20, str(place + 1), marks[place], "center", size=SMALL, va="top", color=QUIET)
    scale_axes = page.axes(left + side + 18, 26 + side - min(side, 130), 9, min(side, 130))
    draw_color_scale(scale_axes, _COLORS, ticks=[0, 0.5, 1])
    scale_axes.set_title("ε", size=TEXT, loc="left", pad=4)
    scale_axes.invert_yaxis()
    return page.figure


def _draw_cells(axes: Axes, heat_map: HeatMap, cell: float) -> None:
    """Draw the cells of a heat map, as a single image if there are many models.

    Parameters
    ----------
    axes : Axes
        Matplotlib axes to draw on.
    heat_map : HeatMap
        Data of the heat map.
    cell : float
        Side length of a cell, in points.
    """
    k = len(heat_map.order)
    axes.set_facecolor(FAINT)
    axes.spines[:].set_visible(False)
    ink = np.where(heat_map.ratios < _DARK, ON_DARK, ON_PALE)
    if k > _CELLS:
        axes.imshow(heat_map.ratios, cmap=_COLORS, vmin=0, vmax=1, interpolation="nearest", aspect="auto")
        if k <= MOST_NAMED:
            rows, columns = np.nonzero(heat_map.dominates)
            size = min(4.0, 0.35 * cell) ** 2
            axes.scatter(columns, rows, c=ink[rows, columns], s=size, linewidths=0)
    axes.set(xticks=[], yticks=[], xlim=(-0.5, k - 0.5), ylim=(k - 0.5, -0.5))
    colors = colormaps[_COLORS](heat_map.ratios)
    for i, j in np.argwhere(~np.isnan(heat_map.ratios)).tolist() if k <= _CELLS else ():
        mark = model_mark(int(heat_map.order[i]), int(heat_map.order[j]))
        # Without antialiasing, there are no seams between adjacent cells.
        style: dict[str, Any] = {"facecolor": colors[i, j], "linewidth": 0, "antialiased": False}
        axes.add_artist(Rectangle((j - 0.5, i - 0.5), 1, 1, gid=mark, **style))
        numbered = k <= _NUMBERED
        if heat_map.identical[i, j]:
            write_text(axes, j, i, "=", mark, "center", color=ink[i, j], size=min(TEXT, 0.8 * cell))
        elif numbered:
            text = format_short_ratio(heat_map.ratios[i, j])
            write_text(axes, j, i - 0.08, text, mark, "center", color=ink[i, j], size=SMALL)
        if heat_map.dominates[i, j]:
            draw_dot(axes, j, i + (0.3 if numbered else 0), mark, ink[i, j], size=min(4.0, 0.35 * cell))


def format_short_ratio(ratio: float) -> str:
    """Format a violation ratio with two decimals, such as ".25", never rounded to 0 or 1."""
    if ratio in (0.0, 1.0):
        return f"{ratio:.0f}"
    if ratio < 0.005:
        return "<.01"
    return ">.99" if ratio >= 0.995 else f"{ratio:.2f}"[1:]


def draw_color_scale(axes: Axes, colors: Any, **options: Any) -> None:
    """Draw a color bar from 0 to 1 on the given axes; options are passed to :meth:`Figure.colorbar`."""
    assert axes.figure is not None
    axes.figure.colorbar(ScalarMappable(Normalize(0, 1), colors), cax=axes, **options)
    axes.set_ylabel("")
