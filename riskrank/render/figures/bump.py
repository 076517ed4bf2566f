"""Bump chart: ranks of the same models by several methods or groups ([COPA] Fig. 6 and 7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.types import Floats, Integers
from riskrank.render.figures.legend import PLAIN, by_importance, choose_styles, draw_marked_line, grey_note
from riskrank.render.figures.rows import MOST_NAMED
from riskrank.render.figures.style import (
    FAINT,
    FOCUS,
    INK,
    MARGIN,
    QUIET,
    ROW,
    SMALL,
    Plot,
    common_style,
    start_sheet,
)
from riskrank.render.figures.text import fit_names, model_mark, spread_labels, text_width, write_text

_THIN = 3.0
_HEAD = 130.0


@dataclass(frozen=True)
class Bump:
    """Data for a bump chart of k models ranked by M methods.

    Attributes
    ----------
    ranks : ndarray of int, shape (M, k)
        Ranks, 1 for the best; ties share the smallest rank.
    positions : ndarray, shape (M, k)
        Vertical positions from the top, 0 for the first; ties share their mean position.
    focus : tuple of int
        Highlighted models: the leaders by the first method, and those whose rank changes most.
    """

    ranks: Integers
    positions: Floats
    focus: tuple[int, ...]


def arrange_bump(ranks: Integers, named: Sequence[int] = ()) -> Bump:
    """Compute the positions and the highlighted models of a bump chart of k models by M methods.

    Parameters
    ----------
    ranks : ndarray of int, shape (M, k)
        One row per method; 1 is best.
    named : sequence of int
        Models named in the verdict, which are highlighted first.
    """
    ahead = np.array([(row[:, None] < row).sum(axis=0) for row in ranks])
    tied = np.array([(row[:, None] == row).sum(axis=0) - 1 for row in ranks])
    positions = ahead + tied / 2
    first = np.argsort(positions[0], kind="stable")
    # Rank changes beyond ties: from the last place that one method allows to the first of another.
    movement = ahead.max(axis=0) - (ahead + tied).min(axis=0)
    movers = [int(j) for j in np.argsort(-movement, kind="stable") if movement[j] > 0]
    leaders = first[: FOCUS - min(3, len(movers))].tolist()
    focus = list(dict.fromkeys([*named, *leaders, *movers, *first.tolist()]))[:FOCUS]
    focus = sorted(focus, key=lambda j: (float(positions[0][j]), j))
    return Bump(ranks, positions, tuple(by_importance(named, focus)))


@common_style()
def draw_bump(
    chart: Bump,
    names: Sequence[str],
    methods: Sequence[str],
    title: str,
    *,
    column_kind: str = "method",
    ranked_by: str = "",
) -> Plot:
    """Draw a bump chart of k models, with one column per method and the best models at the top.

    Parameters
    ----------
    chart : Bump
        Data of the chart.
    names : sequence of k str
        Names of the models.
    methods : sequence of M str
        Names of the methods.
    title : str
        Title of the figure.
    column_kind : str
        Noun for the columns, such as ``method``.
    ranked_by : str
        Phrase that describes the ranking criterion, if the columns do not name it.
    """
    k, M = len(names), len(methods)
    step = ROW if k <= MOST_NAMED else _THIN
    heads = fit_names(methods, _HEAD)
    widest = max(text_width(head, SMALL) for head in heads)
    upright = M * (widest + 10) <= 420
    across, angle = (max(70.0, widest + 10), 0) if upright else (34.0, 90)
    named = set(range(k)) if k <= MOST_NAMED else set(chart.focus)
    labels = dict(zip(sorted(named), fit_names([names[j] for j in sorted(named)], 150.0), strict=True))
    margin = max(text_width(label) for label in labels.values()) + 34
    height, above = step * k, (16.0 if upright else widest + 10)
    height = max(height, ROW * len(named)) if k > MOST_NAMED else height
    page = start_sheet(
        title,
        f"Columns: {column_kind}s; rank 1{ranked_by} at the top. The number next to a name is the rank. Tied "
        f"models share the smallest rank and are drawn at their mean rank.{grey_note(k)}",
        width=max(2 * (MARGIN + margin) + across * (M - 1), 320.0),
        height=above + height + 2 * MARGIN,
    )
    canvas = page.canvas()
    top, left = MARGIN + height, MARGIN + margin
    x = left + across * np.arange(M)
    y = top - height / k * (chart.positions + 0.5)
    for x_column, head in zip(x, heads, strict=True):
        canvas.plot([x_column, x_column], [MARGIN, top], color=FAINT, linewidth=0.8, zorder=1)
        write_text(canvas, x_column, top + 6, head, ha="center", size=SMALL, va="bottom", rotation=angle)
    styles = choose_styles(k, chart.focus)
    for j, plot_style in enumerate(styles):
        draw_marked_line(canvas, x, y[:, j], plot_style, j, 3.5 if step > 4 else 1.5)
    models = sorted(labels)
    # Names at both ends of the lines, with the rank next to the line.
    for side_column, align, direction in ((0, "right", -1), (M - 1, "left", 1)):
        heights, edge = y[side_column], x[side_column]
        highest = max(heights.max(), MARGIN + ROW * len(models))
        label_heights = spread_labels(heights[models], ROW, MARGIN + ROW / 2, highest)
        for j, label_y in zip(models, label_heights, strict=True):
            color, mark = QUIET if styles[j] is PLAIN else INK, model_mark(j)
            rank = str(chart.ranks[side_column, j])
            write_text(canvas, edge + direction * 8, label_y, rank, mark, align, size=SMALL, color=color)
            write_text(canvas, edge + direction * 28, label_y, labels[j], mark, align, color=color)
            if abs(label_y - heights[j]) > 1:
                line: dict[str, Any] = {"color": styles[j].color, "linewidth": 0.6}
                canvas.plot([edge, edge + direction * 7], [heights[j], label_y], gid=mark, **line)
    return page.figure
