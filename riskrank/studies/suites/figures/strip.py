"""Means of all tasks on one axis, a row a model: where its strong and its weak tasks lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from riskrank.engine.types import Floats, Integers
from riskrank.shown.figures.rows import Rows
from riskrank.shown.figures.style import FAINT, INK, MARGIN, PALETTE, QUIET, Plot, drawn, sheet
from riskrank.shown.figures.units import Unit

# Colour, marker, size and fill of a task by its mark: told apart in grey by shape.
LOOKS = {
    1: (PALETTE[2], "^", 5.0, True),
    -1: (PALETTE[1], "v", 5.0, True),
    0: (QUIET, "o", 3.6, False),
}


@dataclass(frozen=True)
class TaskStrip:
    """What is plotted, models in the order of their rows.

    Attributes
    ----------
    order : ndarray of int, shape (k,)
    mean : ndarray, shape (k, T)
        As the file has them.
    marks : ndarray of int, shape (k, T)
        Against the first model.
    macro, low, high : ndarray, shape (k,)
    """

    order: Integers
    mean: Floats
    marks: Integers
    macro: Floats
    low: Floats
    high: Floats


@drawn
def draw_strip(found: TaskStrip, names: Sequence[str], metric: str, leader: str, *, tested: bool) -> Plot:
    """Draw a mark a task and a stroke at the macro mean, a row a model.

    Parameters
    ----------
    found : TaskStrip
    names : sequence of k str
        In the order of the study.
    metric : str
    leader : str
        The model the marks are against.
    tested : bool
    """
    rows = Rows.of_models(names, found.order)
    width, below = 400.0, 40.0
    against = f" ▲ significantly better than {leader} on the task, ▼ worse." if tested else ""
    page = sheet(
        f"Tasks by model, {metric}",
        f"A mark a task, at the model's mean there.{against} Stroke and bar: macro mean with its interval on "
        "these tasks.",
        width=rows.width + width + MARGIN + 10,
        height=below + rows.height + 6,
    )
    axes = page.axes(rows.width, below, width, rows.height)
    unit = Unit.of(found.mean, found.low, found.high)
    for at, (y, mark) in enumerate(zip(rows.y, rows.marks, strict=True)):
        axes.axhline(y, color=FAINT, linewidth=0.6, zorder=0, gid=mark)
        axes.plot(
            unit.apply([found.low[at], found.high[at]]),
            [y, y],
            color=PALETTE[0],
            linewidth=3.0,
            alpha=0.45,
            solid_capstyle="butt",
            zorder=1,
            gid=mark,
        )
        macro = float(unit.apply(found.macro[at]))
        axes.plot([macro, macro], [y - 6, y + 6], color=INK, linewidth=1.6, zorder=4, gid=mark)
        for answer, (color, marker, size, full) in LOOKS.items():
            means = unit.apply(found.mean[at][found.marks[at] == answer])
            axes.plot(
                means,
                [y] * len(means),
                linestyle="none",
                marker=marker,
                markersize=size,
                color=color,
                markerfacecolor=color if full else "none",
                markeredgewidth=0.9,
                zorder=3,
                gid=mark,
            )
    axes.margins(x=0.04)
    rows.lay_out(axes, unit.label(f"mean {metric}"), 6)
    rows.draw(page.canvas(), below)
    return page.figure
