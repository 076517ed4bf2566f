"""Models over all objectives: boxes of 1 - u ([COPA] Fig. 8), and ranks as parallel coordinates."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from riskrank.engine.copa.population import Population
from riskrank.engine.types import Floats, Integers
from riskrank.render.figures.fonts import text_width
from riskrank.render.figures.legend import OTHERS, Key, Look, hue, in_grey, joined, looks
from riskrank.render.figures.marks import curve_mark, write
from riskrank.render.figures.names import fitted
from riskrank.render.figures.rows import Rows, bar, dot, ruled
from riskrank.render.figures.style import FAINT, GREY, INK, MARGIN, SMALL, Plot, drawn, sheet

_FEWEST_FOR_BOX = 4
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
    middle = "box: the middle half; bar: median; " if objectives >= _FEWEST_FOR_BOX else ""
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
        _draw_box(axes, ends, y, mark, color, objectives=objectives)
    return page.figure


def _draw_box(
    axes: Axes, ends: tuple[float, ...], y: float, mark: str, color: str, *, objectives: int
) -> None:
    """One model: whiskers, the middle half where there is one, the median where it is a value, the mean."""
    least, lower, median, upper, largest, mean = ends
    named = color != GREY
    high = 8.0 if named else 1.6
    upright = [y - high / 2, y + high / 2]
    bar(axes, [least, largest], y, mark, GREY, width=1.0)
    if objectives >= _FEWEST_FOR_BOX:
        how: dict[str, Any] = {"facecolor": (color, 0.3), "edgecolor": color, "linewidth": 0.6, "zorder": 3}
        axes.add_patch(Rectangle((lower, upright[0]), upper - lower, high, gid=mark, **how))
        axes.plot([median, median], upright, color=INK, linewidth=1.6, zorder=4, gid=mark)
    elif named:
        for end in (least, largest):
            axes.plot([end, end], upright, color=color, linewidth=1.4, zorder=3, gid=mark)
    if named:
        dot(axes, mean, y, mark, INK, marker="D", size=4, full=False)


@drawn
def draw_parallel(models: Population, order: Integers) -> Plot:
    """Draw an upright axis an objective, the best at the top.

    Parameters
    ----------
    models : Population
    order : ndarray of int
        Models that may be chosen, the best first.
    """
    names = models.names
    given = looks(len(names), order)
    key = Key.of(names, order, given)
    K = len(models.metrics)
    heads = fitted(models.metrics, 120.0)
    widest = max(text_width(head, SMALL) for head in heads)
    upright = widest + 12 <= max(56.0, 460.0 / max(K - 1, 1))
    step = max(widest + 12, 56.0, 300.0 / max(K - 1, 1)) if upright else max(30.0, 300.0 / max(K - 1, 1))
    above = 18.0 if upright else widest + 12
    height, below, left = 250.0, 18.0, 46.0 + widest / 2 * upright
    page = sheet(
        "Ranks on every objective",
        "Height: share of the models that do better on an objective, the best at the top."
        + in_grey(len(names)),
        width=left + step * (K - 1) + max(20.0, widest / 2 + 8) + key.width + MARGIN,
        height=above + max(height, key.height) + below,
    )
    axes = page.axes(left, below, step * (K - 1), height)
    axes.set(xlim=(0, K - 1), ylim=(1.03, -0.03), xticks=[], yticks=[0, 0.25, 0.5, 0.75, 1])
    axes.set_ylabel("share of models that do better", size=SMALL)
    axes.spines[:].set_visible(False)
    for at in range(K):
        axes.axvline(at, color=FAINT, linewidth=1.0, zorder=1)
    _draw_lines(axes, models.u, given)
    canvas = page.canvas()
    for at, head in enumerate(heads):
        how: dict[str, Any] = {"va": "bottom", "rotation": 0 if upright else 90}
        write(canvas, left + step * at, below + height + 5, head, ha="center", size=SMALL, **how)
    key.draw(canvas, left + step * (K - 1) + max(20.0, widest / 2 + 8), below + height)
    return page.figure


def _draw_lines(axes: Axes, u: Floats, given: Sequence[Look]) -> None:
    x = np.arange(u.shape[1])
    for model, look in enumerate(given):
        if look is OTHERS:
            faint = look.line | {"linewidth": 0.5, "alpha": 0.6}
            axes.plot(x, u[model], **faint, clip_on=False, gid=curve_mark(model))
        else:
            joined(axes, x, u[model], look, model, 4, clip_on=False)
