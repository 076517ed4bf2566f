"""Point labels in a column next to the axes, each connected to its point by a thin line."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from riskrank.engine.types import Floats
from riskrank.render.figures.labels import spread_labels
from riskrank.render.figures.marks import model_mark, write_text
from riskrank.render.figures.names import fit_names
from riskrank.render.figures.style import GREY, ROW

COLUMN = 150.0
"""Space to the right of the axes for names, in points."""


def label_points(
    canvas: Axes, axes: Axes, x: ArrayLike, y: ArrayLike, names: Sequence[str], named: Sequence[int]
) -> None:
    """Label some of n points in a column to the right of the axes, as close to their heights as possible.

    Parameters
    ----------
    canvas : Axes
        Canvas of the sheet, in points.
    axes : Axes
        Axes that already contain all points.
    x, y : array_like, shape (n,)
        Coordinates of all models.
    names : sequence of n str
    named : sequence of int
        Indices of the points to label.
    """
    limits = np.array([axes.get_xlim(), axes.get_ylim()])
    axes.set(xlim=limits[0], ylim=limits[1])  # names are placed for these limits
    places = sheet_points(canvas, axes, x, y)[list(named)]
    (_, low), (right, high) = sheet_points(canvas, axes, *limits).tolist()
    heights = spread_labels(places[:, 1], ROW, low, high)
    labels = fit_names([names[point] for point in named], COLUMN - 30)
    for point, (x_at, y_at), height, text in zip(named, places.tolist(), heights, labels, strict=True):
        line: dict[str, Any] = {"color": GREY, "linewidth": 0.6, "zorder": 1, "gid": model_mark(point)}
        canvas.plot([x_at + 4, right + 2, right + 14], [y_at, height, height], **line)
        write_text(canvas, right + 17, height, text, model_mark(point))


def sheet_points(canvas: Axes, axes: Axes, x: ArrayLike, y: ArrayLike) -> Floats:
    """Convert n positions in data coordinates to points on the sheet, shape (n, 2)."""
    pixels = axes.transData.transform(np.column_stack([x, y]))
    return np.asarray(canvas.transData.inverted().transform(pixels), dtype=np.float64)
