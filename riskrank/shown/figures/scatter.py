"""Points with their names beside them: where there is room, else in a column, else nowhere."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from riskrank.engine.types import Floats
from riskrank.shown.figures.fonts import text_width
from riskrank.shown.figures.labels import around, nearest
from riskrank.shown.figures.marks import model_mark, write
from riskrank.shown.figures.names import fitted
from riskrank.shown.figures.style import GREY

COLUMN = 150.0
"""Room to the right of the axes for names that find none beside their point, in points."""

_LINE = 11.0
_HALO = {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.5}
_CLEAR, _DOT = 4.0, 2.0


def name_points(
    canvas: Axes,
    axes: Axes,
    x: ArrayLike,
    y: ArrayLike,
    names: Sequence[str],
    named: Sequence[int],
    *,
    line: tuple[ArrayLike, ArrayLike] = ((), ()),
) -> None:
    """Write names of models next to their points on axes, of as many as there is room for.

    Parameters
    ----------
    canvas : Axes
        The sheet's, in points.
    axes : Axes
        Where the points are; all of them must be there.
    x, y : array_like, shape (n,)
        Of all models, named or not; NaN where there is no point.
    names : sequence of n str
    named : sequence of int
        Points to name, the most important first.
    line : (array_like, array_like)
        Corners of a line that names should not cross either.
    """
    limits = np.array([axes.get_xlim(), axes.get_ylim()])
    axes.set(xlim=limits[0], ylim=limits[1])  # names are placed for these limits
    places = sheet_points(canvas, axes, x, y)
    frame = sheet_points(canvas, axes, *limits).ravel()
    blocked = np.vstack([places, _along(sheet_points(canvas, axes, *line))])
    obstacles = np.hstack([blocked - _CLEAR, blocked + _CLEAR])
    shown = fitted([names[point] for point in named], COLUMN - 30)
    sizes = [(text_width(text) + 2, _LINE) for text in shown]
    dots = np.hstack([places - _DOT, places + _DOT])
    corners = around(places[list(named)], sizes, obstacles, frame, dots=dots, column=frame[2] + 16)
    for at, (text, size, corner) in enumerate(zip(shown, sizes, corners, strict=True)):
        if corner is None:
            continue
        (x_at, y_at), mark = places[named[at]].tolist(), model_mark(named[at])
        end = nearest((x_at, y_at), (*corner, corner[0] + size[0], corner[1] + _LINE))
        if np.hypot(end[0] - x_at, end[1] - y_at) > 10:
            canvas.plot([x_at, end[0]], [y_at, end[1]], color=GREY, linewidth=0.6, zorder=1, gid=mark)
        how: dict[str, Any] = {"va": "center_baseline", "bbox": _HALO}
        write(canvas, corner[0] + 1, corner[1] + _LINE / 2, text, mark, **how)


def sheet_points(canvas: Axes, axes: Axes, x: ArrayLike, y: ArrayLike) -> Floats:
    """Where data points of axes lie on the sheet, in points; shape (n, 2)."""
    pixels = axes.transData.transform(np.column_stack([x, y]))
    return np.asarray(canvas.transData.inverted().transform(pixels), dtype=np.float64)


def _along(corners: Floats) -> Floats:
    """Points on a line, close to each other."""
    steps = np.linspace(0, 1, 40)[:, None]
    parts = [start + steps * (end - start) for start, end in itertools.pairwise(corners)]
    return np.vstack(parts) if parts else corners
