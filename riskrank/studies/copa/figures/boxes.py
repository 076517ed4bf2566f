"""Figures over all objectives: box plots of 1 − u ([COPA] Fig. 8) and parallel coordinates."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from riskrank.engine.copa.population import Population
from riskrank.engine.types import Floats, Integers
from riskrank.render.figures.legend import (
    PLAIN,
    Key,
    Look,
    choose_looks,
    draw_marked_line,
    grey_note,
    model_color,
)
from riskrank.render.figures.rows import Rows, draw_bar, draw_dot, ruled_sheet
from riskrank.render.figures.style import FAINT, GREY, INK, MARGIN, SMALL, Plot, in_common_style, start_sheet
from riskrank.render.figures.text import curve_mark, fit_names, text_width, write_text

_FEWEST_FOR_BOX = 4
"""Smallest number of objectives for which a box, their middle half, excludes some of them."""


@in_common_style
def draw_boxes(
    order: Integers, quantiles: Floats, mean: Floats, names: Sequence[str], objectives: int
) -> Plot:
    """Draw a horizontal box plot for each of N models: the proportion of models beaten, over the objectives.

    Parameters
    ----------
    order : ndarray of int, shape (N,)
        Models, best first.
    quantiles : ndarray, shape (N, 5)
        Minimum, quartiles and maximum over the objectives of the proportion of models beaten.
    mean : ndarray, shape (N,)
        Mean proportion of models beaten, over the objectives.
    names : sequence of N str
    objectives : int
        Number of objectives that each box summarises.
    """
    rows = Rows.for_models(names, order)
    middle = "box: middle half; bar: median; " if objectives >= _FEWEST_FOR_BOX else ""
    page, (axes,) = ruled_sheet(
        rows,
        "Share of models beaten, over the objectives",
        f"Line: from the worst to the best of {objectives} objectives; {middle}"
        "diamond: mean. 1 is the best model. Models are in rank order; a long line "
        "means that a model is weak on some objective.",
        width=320.0,
    )
    rows.prepare_axes(axes, "share of models beaten → better", 5)
    axes.set_xlim(-0.02, 1.02)
    axes.grid(visible=True, axis="x", color=FAINT)
    for place, (model, y, mark) in enumerate(zip(order.tolist(), rows.y, rows.marks, strict=True)):
        summary = (*quantiles[model].tolist(), float(mean[model]))
        color = model_color(model) if place < len(rows.labels) else GREY
        _draw_box(axes, summary, y, mark, color, objectives=objectives)
    return page.figure


def _draw_box(
    axes: Axes, summary: tuple[float, ...], y: float, mark: str, color: str, *, objectives: int
) -> None:
    """Draw the box plot of one model.

    Parameters
    ----------
    axes : Axes
    summary : tuple of 6 float
        Minimum, quartiles, maximum and mean.
    y : float
    mark, color : str
    objectives : int
        Number of objectives; with few of them, no box is drawn.
    """
    least, lower, median, upper, largest, mean = summary
    named = color != GREY
    high = 8.0 if named else 1.6
    upright = [y - high / 2, y + high / 2]
    draw_bar(axes, [least, largest], y, mark, GREY, width=1.0)
    if objectives >= _FEWEST_FOR_BOX:
        style: dict[str, Any] = {"facecolor": (color, 0.3), "edgecolor": color, "linewidth": 0.6, "zorder": 3}
        axes.add_patch(Rectangle((lower, upright[0]), upper - lower, high, gid=mark, **style))
        axes.plot([median, median], upright, color=INK, linewidth=1.6, zorder=4, gid=mark)
    elif named:
        for end in (least, largest):
            axes.plot([end, end], upright, color=color, linewidth=1.4, zorder=3, gid=mark)
    if named:
        draw_dot(axes, mean, y, mark, INK, marker="D", size=4, filled=False)


@in_common_style
def draw_parallel(models: Population, order: Integers) -> Plot:
    """Draw the ranks as parallel coordinates: one vertical axis per objective, the best rank at the top.

    Parameters
    ----------
    models : Population
    order : ndarray of int
        Feasible models, best first.
    """
    names = models.names
    model_looks = choose_looks(len(names), order)
    key = Key.from_names(names, order, model_looks)
    K = len(models.metrics)
    labels = fit_names(models.metrics, 120.0)
    widest = max(text_width(label, SMALL) for label in labels)
    upright = widest + 12 <= max(56.0, 460.0 / max(K - 1, 1))
    step = max(widest + 12, 56.0, 300.0 / max(K - 1, 1)) if upright else max(30.0, 300.0 / max(K - 1, 1))
    above = 18.0 if upright else widest + 12
    height, below, left = 250.0, 18.0, 46.0 + widest / 2 * upright
    page = start_sheet(
        "Ranks on every objective",
        "Height: share of the models that do better on an objective, the best at the top."
        + grey_note(len(names)),
        width=left + step * (K - 1) + max(20.0, widest / 2 + 8) + key.width + MARGIN,
        height=above + max(height, key.height) + below,
    )
    axes = page.axes(left, below, step * (K - 1), height)
    axes.set(xlim=(0, K - 1), ylim=(1.03, -0.03), xticks=[], yticks=[0, 0.25, 0.5, 0.75, 1])
    axes.set_ylabel("share of models that do better", size=SMALL)
    axes.spines[:].set_visible(False)
    for k in range(K):
        axes.axvline(k, color=FAINT, linewidth=1.0, zorder=1)
    _draw_lines(axes, models.u, model_looks)
    canvas = page.canvas()
    for k, label in enumerate(labels):
        style: dict[str, Any] = {"va": "bottom", "rotation": 0 if upright else 90}
        write_text(canvas, left + step * k, below + height + 5, label, ha="center", size=SMALL, **style)
    key.draw(canvas, left + step * (K - 1) + max(20.0, widest / 2 + 8), below + height)
    return page.figure


def _draw_lines(axes: Axes, u: Floats, model_looks: Sequence[Look]) -> None:
    """Draw one line per model across the axes."""
    x = np.arange(u.shape[1])
    for model, look in enumerate(model_looks):
        if look is PLAIN:
            faint = look.line | {"linewidth": 0.5, "alpha": 0.6}
            axes.plot(x, u[model], **faint, clip_on=False, gid=curve_mark(model))
        else:
            draw_marked_line(axes, x, u[model], look, model, 4, clip_on=False)
