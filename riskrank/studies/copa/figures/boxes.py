"""How good each model is over all objectives: boxes of 1 - u ([COPA] Fig. 8)."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from riskrank.engine.types import Floats, Integers
from riskrank.shown.figures.rows import Rows
from riskrank.shown.figures.style import FAINT, GREY, INK, MARGIN, PALETTE, Plot, drawn, sheet

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
    width, below = 320.0, 40.0
    middle = "box: the middle half; bar: median; " if objectives >= _BOXED else ""
    page = sheet(
        "Share of models beaten, over the objectives",
        f"Line: from the worst to the best of {objectives} objectives; {middle}"
        "diamond: mean. 1 is the best model. Models in the order chosen; a long line "
        "says that the choice pays somewhere.",
        width=rows.width + width + MARGIN + 8,
        height=below + rows.height + 6,
    )
    axes = page.axes(rows.width, below, width, rows.height)
    axes.set(xlim=(-0.02, 1.02), ylim=(0, rows.height), yticks=[], xlabel="share of models beaten")
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="x", color=FAINT)
    for at, (model, y, mark) in enumerate(zip(order.tolist(), rows.y, rows.marks, strict=True)):
        ends = (*quantiles[model].tolist(), float(mean[model]))
        _box(axes, ends, y, mark, named=at < len(rows.labels), objectives=objectives)
    rows.draw(page.canvas(), below)
    return page.figure


def _box(axes: Axes, ends: tuple[float, ...], y: float, mark: str, *, named: bool, objectives: int) -> None:
    """One model: whiskers, the middle half where there is one, the median where it is a value, the mean."""
    least, lower, median, upper, largest, mean = ends
    high = 8.0 if named else 1.6

    def line(ends: list[float], heights: list[float], color: str, width: float, layer: int) -> None:
        axes.plot(ends, heights, color=color, linewidth=width, zorder=layer, gid=mark)

    upright = [y - high / 2, y + high / 2]
    line([least, largest], [y, y], GREY, 1.0, 2)
    if objectives >= _BOXED:
        axes.add_patch(
            Rectangle(
                (lower, upright[0]),
                upper - lower,
                high,
                facecolor="#9ecae1" if named else GREY,
                edgecolor=PALETTE[0] if named else GREY,
                linewidth=0.6,
                zorder=3,
                gid=mark,
            )
        )
        line([median, median], upright, INK, 1.6, 4)
    elif named:
        line([least, least], upright, PALETTE[0], 1.4, 3)
        line([largest, largest], upright, PALETTE[0], 1.4, 3)
    if named:
        axes.plot(
            [mean],
            [y],
            marker="D",
            markersize=4,
            color="white",
            markeredgecolor=INK,
            markeredgewidth=0.7,
            zorder=5,
            gid=mark,
        )
