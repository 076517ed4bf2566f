"""How good each model is over all objectives: boxes of 1 - u ([COPA] Fig. 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from riskrank.engine.types import Floats, Integers
from riskrank.shown.figures.key import hue
from riskrank.shown.figures.rows import Rows, bar, dot, ruled
from riskrank.shown.figures.style import FAINT, GREY, INK, Plot, drawn

_BOXED = 4
"""Objectives whose middle half is less than all of them."""


@drawn
def draw_boxes(
    order: Integers, quantiles: Floats, mean: Floats, names: Sequence[str], objectives: int
) -> Plot:
    """Draw a row a model.

    Parameters
    ----------
    order : ndarray of int, shape (N,)
        Models, the best first.
    quantiles : ndarray, shape (N, 5)
        Of the share of models beaten over the objectives, at 0, 0.25, 0.5, 0.75 and 1.
    mean : ndarray, shape (N,)
    names : sequence of N str
    objectives : int
        How many each box sums up.
    """
    rows = Rows.of_models(names, order)
    middle = "box: the middle half; bar: median; " if objectives >= _BOXED else ""
    page, (axes,) = ruled(
        rows,
        "Share of models beaten, over the objectives",
        f"Line: from the worst to the best of {objectives} objectives; {middle}"
        "diamond: mean. 1 is the best model. Models in the order chosen; a long line "
        "says that the choice pays somewhere.",
        width=320.0,
    )
    rows.lay_out(axes, "share of models beaten → better", 5)
    axes.set_xlim(-0.02, 1.02)
    axes.grid(visible=True, axis="x", color=FAINT)
    for at, (model, y, mark) in enumerate(zip(order.tolist(), rows.y, rows.marks, strict=True)):
        ends = (*quantiles[model].tolist(), float(mean[model]))
        color = hue(model) if at < len(rows.labels) else GREY
        _box(axes, ends, y, mark, color, objectives=objectives)
    return page.figure


def _box(axes: Axes, ends: tuple[float, ...], y: float, mark: str, color: str, *, objectives: int) -> None:
    """One model: whiskers, the middle half where there is one, the median where it is a value, the mean."""
    least, lower, median, upper, largest, mean = ends
    named = color != GREY
    high = 8.0 if named else 1.6
    upright = [y - high / 2, y + high / 2]
    bar(axes, [least, largest], y, mark, GREY, width=1.0)
    if objectives >= _BOXED:
        how: dict[str, Any] = {"facecolor": (color, 0.3), "edgecolor": color, "linewidth": 0.6, "zorder": 3}
        axes.add_patch(Rectangle((lower, upright[0]), upper - lower, high, gid=mark, **how))
        axes.plot([median, median], upright, color=INK, linewidth=1.6, zorder=4, gid=mark)
    elif named:
        for end in (least, largest):
            axes.plot([end, end], upright, color=color, linewidth=1.4, zorder=3, gid=mark)
    if named:
        dot(axes, mean, y, mark, INK, marker="D", size=4, full=False)
