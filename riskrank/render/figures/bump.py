"""Ranks of the same models by several methods or groups, joined model by model ([COPA] Fig. 6 and 7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.types import Floats, Integers
from riskrank.render.figures.fonts import text_width
from riskrank.render.figures.labels import spread
from riskrank.render.figures.legend import OTHERS, in_focus, in_grey, joined, looks
from riskrank.render.figures.marks import model_mark, write
from riskrank.render.figures.names import fitted
from riskrank.render.figures.rows import MOST_NAMED
from riskrank.render.figures.style import FAINT, FOCUS, INK, MARGIN, QUIET, ROW, SMALL, Plot, drawn, sheet

_THIN = 3.0
_HEAD = 130.0


@dataclass(frozen=True)
class Bump:
    """What is plotted.

    Attributes
    ----------
    ranks : ndarray of int, shape (M, k)
        1 is best; ties share the smallest rank.
    places : ndarray, shape (M, k)
        Heights from the top, 0 for the first; ties stand in the middle of the places they share.
    focus : tuple of int
        Models in colour: the first of the first method, and those that move most.
    """

    ranks: Integers
    places: Floats
    focus: tuple[int, ...]


def bump(ranks: Integers, named: Sequence[int] = ()) -> Bump:
    """Arrange rankings for a bump chart.

    Parameters
    ----------
    ranks : ndarray of int, shape (M, k)
        One row a method, 1 is best.
    named : sequence of int
        Models of the verdict, which are in focus before all others.
    """
    ahead = np.array([(row[:, None] < row).sum(axis=0) for row in ranks])
    tied = np.array([(row[:, None] == row).sum(axis=0) - 1 for row in ranks])
    places = ahead + tied / 2
    first = np.argsort(places[0], kind="stable")
    # Places that no tie explains: between the last place one method allows and the first of another.
    movement = ahead.max(axis=0) - (ahead + tied).min(axis=0)
    movers = [int(j) for j in np.argsort(-movement, kind="stable") if movement[j] > 0]
    leaders = first[: FOCUS - min(3, len(movers))].tolist()
    focus = list(dict.fromkeys([*named, *leaders, *movers, *first.tolist()]))[:FOCUS]
    focus = sorted(focus, key=lambda j: (float(places[0][j]), j))
    return Bump(ranks, places, tuple(in_focus(named, focus)))


@drawn
def draw_bump(
    found: Bump,
    names: Sequence[str],
    methods: Sequence[str],
    title: str,
    *,
    what: str = "method",
    by: str = "",
) -> Plot:
    """Draw methods as columns, the first model at the top.

    Parameters
    ----------
    found : Bump
    names : sequence of k str
    methods : sequence of M str
    title : str
    what : str
        What a column is.
    by : str
        By what models are ranked, where the columns do not say it.
    """
    k, M = len(names), len(methods)
    step = ROW if k <= MOST_NAMED else _THIN
    heads = fitted(methods, _HEAD)
    widest = max(text_width(head, SMALL) for head in heads)
    upright = M * (widest + 10) <= 420
    across = max(70.0, widest + 10) if upright else 34.0
    named = set(range(k)) if k <= MOST_NAMED else set(found.focus)
    shown = dict(zip(sorted(named), fitted([names[j] for j in sorted(named)], 150.0), strict=True))
    side = max(text_width(label) for label in shown.values()) + 34
    height, above = step * k, (16.0 if upright else widest + 10)
    height = max(height, ROW * len(named)) if k > MOST_NAMED else height
    page = sheet(
        title,
        f"Columns: {what}s; top: rank 1{by}. A number beside a name is the rank; ties share the smallest, "
        f"and stand in the middle of their places.{in_grey(k)}",
        width=max(2 * (MARGIN + side) + across * (M - 1), 320.0),
        height=above + height + 2 * MARGIN,
    )
    canvas = page.canvas()
    top, left = MARGIN + height, MARGIN + side
    x = left + across * np.arange(M)
    y = top - height / k * (found.places + 0.5)
    for at, head in zip(x, heads, strict=True):
        canvas.plot([at, at], [MARGIN, top], color=FAINT, linewidth=0.8, zorder=1)
        how: dict[str, Any] = {"va": "bottom", "rotation": 0 if upright else 90}
        write(canvas, at, top + 6, head, ha="center", size=SMALL, **how)
    given = looks(k, found.focus)
    for j, look in enumerate(given):
        joined(canvas, x, y[:, j], look, j, 3.5 if step > 4 else 1.5)
    models = sorted(shown)
    # Names at both ends of the lines, with the rank next to the line.
    for end, align, away in ((0, "right", -1), (M - 1, "left", 1)):
        heights = y[end]
        most = max(heights.max(), MARGIN + ROW * len(models))
        for j, stands in zip(models, spread(heights[models], ROW, MARGIN + ROW / 2, most), strict=True):
            color, mark = QUIET if given[j] is OTHERS else INK, model_mark(j)
            rank = str(found.ranks[end, j])
            write(canvas, x[end] + away * 8, stands, rank, mark, align, size=SMALL, color=color)
            write(canvas, x[end] + away * 28, stands, shown[j], mark, align, color=color)
            if abs(stands - heights[j]) > 1:
                tie: dict[str, Any] = {"color": given[j].color, "linewidth": 0.6}
                canvas.plot([x[end], x[end] + away * 7], [heights[j], stands], gid=mark, **tie)
    return page.figure
