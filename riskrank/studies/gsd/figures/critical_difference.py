"""Critical-difference diagrams: mean ranks, with bars joining models not separated by Nemenyi's test."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from riskrank.engine.gsd.rank_tests import CriteriaTests
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.render.figures.rows import draw_bar, draw_dot
from riskrank.render.figures.style import (
    GREY,
    INK,
    MARGIN,
    QUIET,
    ROW,
    SMALL,
    Plot,
    in_common_style,
    start_sheet,
)
from riskrank.render.figures.text import fit_names, model_mark, text_width, write_text

_MOST_NAMED = 60
"""Number of models up to which every model has a name. If there are more, only the first ones have one."""
_NAMED_OF_MANY = 30
_BAR_HEIGHT = 5.0


@dataclass(frozen=True)
class CriticalDifference:
    """Critical-difference diagram of k models on one criterion.

    Attributes
    ----------
    criterion : str
    order : ndarray of int, shape (k,)
        Models, the best mean rank first.
    mean_rank : ndarray, shape (k,)
        Mean ranks in the order of `order`.
    cliques : tuple of (int, int)
        First and last positions of the maximal runs of models without a significant difference.
    """

    criterion: str
    order: Integers
    mean_rank: Floats
    cliques: tuple[tuple[int, int], ...]


def critical_difference(tests: CriteriaTests, criterion: int, name: str, level: float) -> CriticalDifference:
    """Return the critical-difference diagram of one criterion."""
    order = np.argsort(tests.mean_rank[criterion], kind="stable")
    different = tests.nemenyi_p_value[criterion][np.ix_(order, order)] <= level
    return CriticalDifference(name, order, tests.mean_rank[criterion][order], find_cliques(different))


def find_cliques(different: Booleans) -> tuple[tuple[int, int], ...]:
    """Return the maximal runs of k positions within which no pair differs significantly.

    Runs of length one are excluded.

    Parameters
    ----------
    different : ndarray of bool, shape (k, k)
        Symmetric mask of significant differences, in the order of mean ranks.
    """
    runs: list[tuple[int, int]] = []
    for first in range(len(different)):
        last = first
        while last + 1 < len(different) and not different[first : last + 1, last + 1].any():
            last += 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return tuple(runs)


@in_common_style
def draw_critical_difference(
    tests: CriteriaTests, criteria: Sequence[str], names: Sequence[str], *, level: float, samples: int
) -> Plot:
    """Draw the critical-difference diagrams of all criteria, one above the other.

    Parameters
    ----------
    tests : CriteriaTests
    criteria : sequence of n str
    names : sequence of k str
    level : float
        Significance level of the tests.
    samples : int
        Number of samples behind each test.
    """
    diagrams = [critical_difference(tests, j, name, level) for j, name in enumerate(criteria)]
    k = len(names)
    n_named = k if k <= _MOST_NAMED else _NAMED_OF_MANY
    labels_by_criterion = [
        fit_names([names[model] for model in diagram.order[:n_named]], 150.0) for diagram in diagrams
    ]
    side = max(text_width(label) for labels in labels_by_criterion for label in labels) + 34
    across = 300.0
    heights = [64 + _BAR_HEIGHT * len(diagram.cliques) + ROW * ((n_named + 1) // 2) for diagram in diagrams]
    page = start_sheet(
        "Mean ranks of the models, by criterion",
        f"Left: better. Bars join models whose mean ranks over {samples:,} samples do not differ "
        f"significantly (Nemenyi, level {level:g} for all pairs of a criterion).",
        width=2 * (MARGIN + side) + across,
        height=sum(heights) + MARGIN,
    )
    canvas = page.canvas()
    top = page.top
    for diagram, labels, height in zip(diagrams, labels_by_criterion, heights, strict=True):
        write_text(canvas, MARGIN, top - 4, fit_names([diagram.criterion], 400.0)[0], weight="bold", va="top")
        _draw_diagram(canvas, diagram, labels, MARGIN + side, across, top - 44)
        top -= height
    return page.figure


def _draw_diagram(
    canvas: Axes, diagram: CriticalDifference, labels: Sequence[str], left: float, width: float, axis: float
) -> None:
    """Draw the diagram of one criterion.

    Parameters
    ----------
    canvas : Axes
    diagram : CriticalDifference
    labels : sequence of str
        Names of the models to label, those with the best mean ranks.
    left, width : float
        Left end and width of the rank axis, in points.
    axis : float
        Vertical position of the rank axis.
    """
    k = len(diagram.order)
    x = left + width * (diagram.mean_rank - 1) / max(k - 1, 1)
    canvas.plot([left, left + width], [axis, axis], color=INK, linewidth=1.0)
    tick_step = max(1, int(np.ceil((k - 1) / 12)))
    for rank in range(1, k + 1, tick_step):
        position = left + width * (rank - 1) / max(k - 1, 1)
        canvas.plot([position, position], [axis, axis + 4], color=INK, linewidth=0.8)
        write_text(canvas, position, axis + 6, str(rank), ha="center", size=SMALL, va="bottom", color=QUIET)
    for number, (first, last) in enumerate(diagram.cliques):
        mark = model_mark(*diagram.order[first : last + 1].tolist())
        draw_bar(canvas, [x[first] - 2, x[last] + 2], axis - 6 - _BAR_HEIGHT * number, mark, INK, width=2.6)
    marks = [model_mark(int(model)) for model in diagram.order]
    for position, mark in zip(x[len(labels) :], marks[len(labels) :], strict=True):
        canvas.plot([position, position], [axis, axis - 4], color=GREY, linewidth=0.6, gid=mark)
    half = (len(labels) + 1) // 2
    rows = axis - 14 - _BAR_HEIGHT * len(diagram.cliques)
    for place, label in enumerate(labels):
        on_left = place < half
        row = place if on_left else len(labels) - 1 - place
        y = rows - ROW * (row + 0.5)
        end = left - 6 if on_left else left + width + 6
        mark = marks[place]
        canvas.plot([x[place], x[place], end], [axis, y, y], color=GREY, linewidth=0.7, zorder=1, gid=mark)
        draw_dot(canvas, x[place], axis, mark, INK, size=4)
        align, outward = ("right", -1) if on_left else ("left", 1)
        mean = f"{diagram.mean_rank[place]:.1f}"
        write_text(canvas, end + outward * 2, y, mean, mark, align, size=SMALL, color=QUIET)
        write_text(canvas, end + outward * 27, y, label, mark, align)
