"""Models by tasks as a heat map: how far each is from the first there, and where that is significant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from riskrank.engine.types import Floats, Integers
from riskrank.shown.figures.fonts import text_width
from riskrank.shown.figures.heat_map import cell_of, color_scale
from riskrank.shown.figures.marks import write
from riskrank.shown.figures.names import fitted
from riskrank.shown.figures.rows import Rows
from riskrank.shown.figures.style import ON_DARK, ON_PALE, SMALL, Plot, drawn, sheet
from riskrank.shown.means import score_of
from riskrank.studies.rounding import decimals_apart, rounded

# From worse to better, told apart by any colour vision; the middle is pale.
_COLORS = "BrBG"  # as words on a page: green is better, brown worse, and no model has either
_WIDEST, _NARROWEST, _SIZE = 36.0, 10.0, 520.0
_NUMBERED = 24.0
"""Width from which a cell has room for its number."""
_NAME = 120.0


@dataclass(frozen=True)
class TaskMap:
    """What is plotted, models in the order of their rows.

    Attributes
    ----------
    order : ndarray of int, shape (k,)
    mean : ndarray, shape (k, T)
        As the file has them.
    ahead : ndarray, shape (k, T)
        Of the first model, larger is better.
    marks : ndarray of int, shape (k, T)
        Against the first model.
    by_task : bool
        Whether each task is coloured on a scale of its own, as it has a metric of its own.
    """

    order: Integers
    mean: Floats
    ahead: Floats
    marks: Integers
    by_task: bool

    @property
    def shade(self) -> Floats:
        """How far ahead of the first, from −1 to 1."""
        size = np.abs(self.ahead)
        largest = size.max(axis=0) if self.by_task else np.full(size.shape[1], size.max())
        return np.divide(self.ahead, largest, out=np.zeros_like(self.ahead), where=largest > 0)


@drawn
def draw_task_map(
    found: TaskMap, models: Sequence[str], tasks: Sequence[str], metric: str, leader: str
) -> Plot:
    """Draw one cell a model and task.

    Parameters
    ----------
    found : TaskMap
    models : sequence of k str
        In the order of the study.
    tasks : sequence of T str
    metric : str
    leader : str
        The model that colours and marks are against.
    """
    rows = Rows.of_models(models, found.order)
    cell = min(max(_SIZE / len(tasks), _NARROWEST), _WIDEST)
    heads = fitted(tasks, _NAME, SMALL)
    side, foot = cell * len(tasks), max(text_width(head, SMALL) for head in heads) + 10
    scale = "of its task" if found.by_task else "of all"
    numbers = " Number: mean." if cell >= _NUMBERED else ""
    page = sheet(
        f"Tasks by model, {score_of(metric)}, against {leader}",
        f"Colour: how far a model is from {leader} on a task, as a share of the largest distance {scale}; "
        f"green is better, brown worse.{numbers} ▲ ▼: significantly so.",
        width=rows.width + side + 70,
        height=foot + rows.height + 8,
        method=f"means of {metric}",
    )
    axes = page.axes(rows.width, foot, side, rows.height)
    axes.set(xticks=[], yticks=[], xlim=(0, side), ylim=(0, rows.height))
    axes.spines[:].set_visible(False)
    _cells(axes, found, rows, cell)
    canvas = page.canvas()
    for at, head in enumerate(heads):
        x = rows.width + cell * (at + 0.5)
        write(canvas, x, foot - 5, head, ha="center", size=SMALL, rotation=90, va="top")
    rows.draw(canvas, foot)
    beside = page.axes(rows.width + side + 16, foot, 9, min(rows.height, 110))
    color_scale(beside, _COLORS, -1, 1, ticks=[-1, 0, 1])
    beside.set_yticks([-1, 0, 1], ["worse", "level", "better"], size=SMALL)
    return page.figure


def _cells(axes: Axes, found: TaskMap, rows: Rows, cell: float) -> None:
    shade = found.shade
    colors = colormaps[_COLORS]((1 + shade) / 2)
    ink = np.where(np.abs(shade) > 0.75, ON_DARK, ON_PALE)
    tops = np.concatenate([[rows.height], (rows.y[1:] + rows.y[:-1]) / 2, [0.0]])
    named = len(rows.labels)
    for i, t in np.ndindex(*shade.shape):
        mark = rows.marks[i]
        low, high = float(tops[i + 1]), float(tops[i])
        cell_of(axes, t * cell, low, cell, high - low, colors[i, t], mark)
        if i >= named:
            continue
        said = partial(write, axes, y=float(rows.y[i]), mark=mark, ha="center", color=ink[i, t])
        middle, arrow = t * cell + cell / 2, {1: "▲", -1: "▼", 0: ""}[int(found.marks[i, t])]
        if cell >= _NUMBERED:
            digits = decimals_apart(found.mean[:, t].tolist())
            number = rounded(float(found.mean[i, t]), min(digits, 2)).replace("0.", ".")
            fits = text_width(number, SMALL - 1) <= cell - 9
            text = number if fits else f"{found.mean[i, t]:.2g}"
            said(middle - (3 if arrow else 0), text=text, size=SMALL - 1)
            if arrow:
                said(middle + cell / 2 - 5, text=arrow, size=5)
        elif arrow:
            said(middle, text=arrow, size=6)
