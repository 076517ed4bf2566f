"""A row a model: names on the left while there is room for them, thin grey rows below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from riskrank.engine.types import Floats
from riskrank.render.figures.fonts import text_width
from riskrank.render.figures.marks import PANEL_NAMES, model_mark, panel_mark, write
from riskrank.render.figures.names import fitted
from riskrank.render.figures.style import FAINT, MARGIN, QUIET, ROW, SMALL, Sheet, sheet

MOST_NAMED = 80
"""Rows that all have a name; where there are more, the first ones have."""
FIRST = 40
_THIN = 2.5
BELOW, _BETWEEN = 44.0, 26.0
"""Room below rows for the numbers of an axis, and between axes, in points."""
_STEP = ROW + 2.0


@dataclass(frozen=True)
class Rows:
    """Where rows lie, in points above the lower edge of the drawing.

    Attributes
    ----------
    labels : tuple of str
        Names of the first rows, fit to be drawn.
    y : ndarray, shape (k,)
        Middle of each row, from the top down.
    height : float
        Of all rows.
    rest : int
        Rows without a name.
    marks : tuple of str
        Of whom each row is, named or not.
    """

    labels: tuple[str, ...]
    y: Floats
    height: float
    rest: int
    marks: tuple[str, ...]

    @classmethod
    def of(cls, names: Sequence[str], marks: Sequence[str], width: float = 170.0) -> Rows:
        """Lay out rows of models in their order.

        Parameters
        ----------
        names : sequence of k str
        marks : sequence of k str
            Of whom each row is.
        width : float
            Room for a name, in points.
        """
        k = len(names)
        named = k if k <= MOST_NAMED else FIRST
        heights = np.array([_STEP] * named + [_THIN] * (k - named))
        # A line that counts the others needs the height of a name.
        height = max(float(heights.sum()), named * _STEP + (_STEP if k > named else 0))
        return cls(
            tuple(fitted(names[:named], width)),
            height - np.cumsum(heights) + heights / 2,
            height,
            k - named,
            tuple(marks),
        )

    @classmethod
    def of_models(cls, names: Sequence[str], order: Iterable[int]) -> Rows:
        """Lay out a row a model.

        Parameters
        ----------
        names : sequence of k str
            In the order of the study.
        order : iterable of int
            Models from the top down.
        """
        models = list(order)
        return cls.of([names[model] for model in models], [model_mark(model) for model in models])

    @property
    def width(self) -> float:
        """Of the column of names, with its margin."""
        return max(text_width(label) for label in (*self.labels, self._others)) + MARGIN + 14

    @property
    def _others(self) -> str:
        return f"{self.rest} others" if self.rest else ""

    def lay_out(self, axes: Axes, label: str, steps: int) -> None:
        """Make room for the rows on axes whose numbers run along below, about so many of them."""
        axes.set(ylim=(0, self.height), yticks=[])
        axes.set_xlabel(label, size=SMALL)
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_locator(MaxNLocator(steps))

    def draw(self, canvas: Axes, below: float, left: float | None = None) -> None:
        """Write the names on a sheet's canvas, right-aligned.

        Parameters
        ----------
        canvas : Axes
        below : float
            Where the rows begin.
        left : float, optional
            Where the drawing begins that the names stand beside; the width of the names by default.
        """
        left = self.width if left is None else left
        for label, y, mark in zip(self.labels, self.y, self.marks, strict=False):
            write(canvas, left - 6, below + y, label, mark, "right")
        canvas.set_gid(PANEL_NAMES)
        if self.rest:
            y = below + float(self.y[len(self.labels) :].mean())
            write(canvas, left - 6, y, self._others, ha="right", size=SMALL, color=QUIET)


def ruled(
    rows: Rows,
    title: str,
    reading: str,
    *,
    width: float,
    columns: int = 1,
    above: float = 6.0,
    method: str = "",
) -> tuple[Sheet, list[Axes]]:
    """Start a sheet with the names of rows on the left and axes over them, a faint rule a named row.

    Parameters
    ----------
    rows : Rows
    title, reading : str
    width : float
        Of each of the axes, in points.
    columns : int
        How many axes stand beside each other.
    above : float
        Room between the axes and the heading, in points.
    method : str
        As of :func:`sheet`.
    """
    step = width + _BETWEEN
    whole = rows.width + columns * step - _BETWEEN + MARGIN + 10
    page = sheet(title, reading, width=whole, height=BELOW + rows.height + above, method=method)
    found = [page.axes(rows.width + at * step, BELOW, width, rows.height) for at in range(columns)]
    for at, axes in enumerate(found):
        for y, mark in zip(rows.y[: len(rows.labels)], rows.marks, strict=False):
            axes.axhline(y, color=FAINT, linewidth=0.6, zorder=0, gid=mark)
        axes.set_gid(panel_mark(at))
    rows.draw(page.canvas(), BELOW)
    edges = [rows.width + at * step - _BETWEEN / 2 for at in range(1, columns)]
    page.figure.panels = (rows.width - 6, *edges, whole)
    return page, found


def bar(axes: Axes, ends: ArrayLike, y: float, mark: str, color: str, *, width: float = 2.2) -> None:
    """Draw an interval in a row."""
    axes.plot(ends, [y, y], color=color, linewidth=width, solid_capstyle="butt", zorder=2, gid=mark)


def dot(
    axes: Axes,
    x: float,
    y: float,
    mark: str,
    color: str,
    *,
    marker: str = "o",
    size: float = 4.5,
    full: bool = True,
    inside: Any = None,
) -> None:
    """Draw a number in a row; one that is not full is hollow, one with a colour inside has a rim."""
    rim = 0.0 if full and inside is None else 0.9
    how: dict[str, Any] = {"markeredgewidth": rim, "zorder": 4 if rim else 3, "markersize": size}
    inside = inside or (color if full else "white")
    axes.plot([x], [y], marker=marker, color=color, markerfacecolor=inside, gid=mark, **how)
