"""Points with their names beside them: labels stand where there is room, the rest in a column."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from riskrank.engine.types import Floats
from riskrank.report.figures.labels import around, spread
from riskrank.report.figures.names import fitted
from riskrank.report.figures.style import GREY, INK, TEXT, text_width

COLUMN = 150.0
"""Room to the right of the axes for names that find none beside their point, in points."""

_LINE = 11.0
_HALO = {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.5}
_CLEAR = 4.0


def name_points(
    canvas: Axes,
    axes: Axes,
    x: ArrayLike,
    y: ArrayLike,
    names: Sequence[str],
    named: Sequence[int],
    *,
    marks: Sequence[str],
    line: tuple[ArrayLike, ArrayLike] = ((), ()),
) -> None:
    """Write names next to points of axes.

    Parameters
    ----------
    canvas : Axes
        The sheet's, in points.
    axes : Axes
        Where the points are; all of them must be there.
    x, y : array_like, shape (n,)
        Of all points, named or not.
    names : sequence of n str
    named : sequence of int
        Points to name, the most important first.
    marks : sequence of n str
        Of whom each point is.
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
    corners = around(places[list(named)], sizes, obstacles, frame)
    homeless = [at for at, corner in enumerate(corners) if corner is None]
    heights = spread(places[[named[at] for at in homeless], 1], _LINE, frame[1] + 5, frame[3] - 5)
    for at, (text, size, corner) in enumerate(zip(shown, sizes, corners, strict=True)):
        point, mark = places[named[at]], marks[named[at]]
        if corner is None:
            left, middle = frame[2] + 18, float(heights[homeless.index(at)])
            _tie(canvas, point, (left - 3, middle), mark)
        else:
            left, middle = corner[0] + 1, corner[1] + _LINE / 2
            near = (
                np.clip(point[0], corner[0], corner[0] + size[0]),
                np.clip(point[1], corner[1], corner[1] + _LINE),
            )
            if np.hypot(near[0] - point[0], near[1] - point[1]) > 10:
                _tie(canvas, point, near, mark)
        canvas.text(
            left, middle, text, size=TEXT, va="center_baseline", ha="left", color=INK, bbox=_HALO, gid=mark
        )


def sheet_points(canvas: Axes, axes: Axes, x: ArrayLike, y: ArrayLike) -> Floats:
    """Where data points of axes lie on the sheet, in points; shape (n, 2)."""
    pixels = axes.transData.transform(np.column_stack([x, y]))
    return np.asarray(canvas.transData.inverted().transform(pixels), dtype=np.float64)


def _along(corners: Floats) -> Floats:
    """Points on a line, close to each other."""
    steps = np.linspace(0, 1, 40)[:, None]
    parts = [start + steps * (end - start) for start, end in itertools.pairwise(corners)]
    return np.vstack(parts) if parts else corners


def _tie(canvas: Axes, point: Sequence[float] | Floats, end: tuple[float, float], mark: str) -> None:
    canvas.plot([point[0], end[0]], [point[1], end[1]], color=GREY, linewidth=0.6, zorder=1, gid=mark)
