"""Points with their names in a column beside the axes, a thin line to each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from riskrank.engine.types import Floats
from riskrank.render.figures.labels import spread
from riskrank.render.figures.marks import model_mark, write
from riskrank.render.figures.names import fitted
from riskrank.render.figures.style import GREY, ROW

COLUMN = 150.0
"""Room to the right of the axes for names, in points."""


def name_points(
    canvas: Axes, axes: Axes, x: ArrayLike, y: ArrayLike, names: Sequence[str], named: Sequence[int]
) -> None:
    """Write names of models in a column right of axes, at the height of their points as far as may be.

    Parameters
    ----------
    canvas : Axes
        The sheet's, in points.
    axes : Axes
        Where the points are; all of them must be there.
    x, y : array_like, shape (n,)
        Of all models, named or not.
    names : sequence of n str
    named : sequence of int
        Points to name.
    """
    limits = np.array([axes.get_xlim(), axes.get_ylim()])
    axes.set(xlim=limits[0], ylim=limits[1])  # names are placed for these limits
    places = sheet_points(canvas, axes, x, y)[list(named)]
    (_, low), (right, high) = sheet_points(canvas, axes, *limits).tolist()
    heights = spread(places[:, 1], ROW, low, high)
    shown = fitted([names[point] for point in named], COLUMN - 30)
    for point, (x_at, y_at), height, text in zip(named, places.tolist(), heights, shown, strict=True):
        tie: dict[str, Any] = {"color": GREY, "linewidth": 0.6, "zorder": 1, "gid": model_mark(point)}
        canvas.plot([x_at + 4, right + 2, right + 14], [y_at, height, height], **tie)
        write(canvas, right + 17, height, text, model_mark(point))


def sheet_points(canvas: Axes, axes: Axes, x: ArrayLike, y: ArrayLike) -> Floats:
    """Where data points of axes lie on the sheet, in points; shape (n, 2)."""
    pixels = axes.transData.transform(np.column_stack([x, y]))
    return np.asarray(canvas.transData.inverted().transform(pixels), dtype=np.float64)
