"""How good each model is over all objectives: boxes of 1 - u ([COPA] Fig. 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.patches import Rectangle

from riskrank.engine.types import Floats, Integers
from riskrank.report.figures.rows import Rows
from riskrank.report.figures.style import FAINT, GREY, INK, MARGIN, PALETTE, Plot, drawn, sheet


@dataclass(frozen=True)
class Boxes:
    """What is plotted, models by rank.

    Attributes
    ----------
    order : ndarray of int, shape (N,)
    quantiles : ndarray, shape (N, 5)
        Least, lower quartile, median, upper quartile and largest share of models beaten.
    mean : ndarray, shape (N,)
    """

    order: Integers
    quantiles: Floats
    mean: Floats


def boxes(order: Integers, quantiles: Floats, mean: Floats) -> Boxes:
    """Put the models' summaries into the order of a ranking.

    Parameters
    ----------
    order : ndarray of int, shape (N,)
        Models, the best first.
    quantiles : ndarray, shape (N, 5)
        Of 1 - u over the objectives, at 0, 0.25, 0.5, 0.75 and 1.
    mean : ndarray, shape (N,)
    """
    return Boxes(order, quantiles[order], mean[order])


@drawn
def draw_boxes(found: Boxes, names: Sequence[str], objectives: int) -> Plot:
    """Draw a row a model.

    Parameters
    ----------
    found : Boxes
    names : sequence of N str
    objectives : int
        How many each box sums up.
    """
    rows = Rows.of([names[model] for model in found.order])
    width, below = 320.0, 40.0
    page = sheet(
        "Share of models beaten, over the objectives",
        f"Line: from the worst to the best of {objectives} objectives; box: the middle half; bar: median; "
        "diamond: mean. 1 is the best model. Models in the order chosen; a long line "
        "says that the choice pays somewhere.",
        width=rows.width + width + MARGIN + 8,
        height=below + rows.height + 6,
    )
    axes = page.axes(rows.width, below, width, rows.height)
    axes.set(xlim=(-0.02, 1.02), ylim=(0, rows.height), yticks=[], xlabel="share of models beaten")
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="x", color=FAINT)
    thick = len(rows.labels)
    heights = np.array([8.0] * thick + [1.6] * (len(rows.y) - thick))
    least, lower, median, upper, largest = found.quantiles.T
    whiskers = [((a, y), (b, y)) for a, b, y in zip(least, largest, rows.y, strict=True)]
    axes.add_collection(LineCollection(whiskers, colors=GREY, linewidths=1.0, zorder=2))
    shapes = [
        Rectangle((a, y - h / 2), b - a, h) for a, b, y, h in zip(lower, upper, rows.y, heights, strict=True)
    ]
    rest = len(shapes) - thick
    axes.add_collection(
        PatchCollection(
            shapes,
            facecolor=["#9ecae1"] * thick + [GREY] * rest,
            edgecolor=[PALETTE[0]] * thick + [GREY] * rest,
            linewidths=0.6,
            zorder=3,
        )
    )
    medians = [((m, y - h / 2), (m, y + h / 2)) for m, y, h in zip(median, rows.y, heights, strict=True)]
    axes.add_collection(LineCollection(medians, colors=INK, linewidths=1.6, zorder=4))
    axes.scatter(
        found.mean[:thick],
        rows.y[:thick],
        s=16,
        marker="D",
        color="white",
        edgecolor=INK,
        linewidths=0.7,
        zorder=5,
    )
    rows.draw(page.canvas(), below)
    return page.figure
