"""Critical-difference diagrams of the rank tests: mean ranks, joined where Nemenyi separates nobody."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from riskrank.engine.gsd.rank_tests import CriteriaTests
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.render.figures.fonts import text_width
from riskrank.render.figures.marks import model_mark, write
from riskrank.render.figures.names import fitted
from riskrank.render.figures.rows import bar, dot
from riskrank.render.figures.style import GREY, INK, MARGIN, QUIET, ROW, SMALL, Plot, drawn, sheet

_MOST = 60
"""Models that all have their name; of more, the first ones have."""
_FIRST = 30
_BAR = 5.0


@dataclass(frozen=True)
class CriticalDifference:
    """What is plotted of one criterion.

    Attributes
    ----------
    criterion : str
    order : ndarray of int, shape (k,)
        Models, the best mean rank first.
    mean_rank : ndarray, shape (k,)
        In that order.
    cliques : tuple of (int, int)
        First and last place, in that order, of the longest runs of models none of which is significantly
        different from another.
    """

    criterion: str
    order: Integers
    mean_rank: Floats
    cliques: tuple[tuple[int, int], ...]


def critical_difference(tests: CriteriaTests, criterion: int, name: str, level: float) -> CriticalDifference:
    """Order the models of a criterion and find who is not told apart."""
    order = np.argsort(tests.mean_rank[criterion], kind="stable")
    different = tests.nemenyi_p_value[criterion][np.ix_(order, order)] <= level
    return CriticalDifference(name, order, tests.mean_rank[criterion][order], cliques(different))


def cliques(different: Booleans) -> tuple[tuple[int, int], ...]:
    """Longest runs of places within which no pair differs; runs of one are left out, and runs within others.

    Parameters
    ----------
    different : ndarray of bool, shape (k, k)
        Symmetric, places in order.
    """
    found: list[tuple[int, int]] = []
    for first in range(len(different)):
        last = first
        while last + 1 < len(different) and not different[first : last + 1, last + 1].any():
            last += 1
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return tuple(found)


@drawn
def draw_critical_difference(
    tests: CriteriaTests, criteria: Sequence[str], names: Sequence[str], *, level: float, samples: int
) -> Plot:
    """Draw a diagram a criterion, one above the other.

    Parameters
    ----------
    tests : CriteriaTests
    criteria : sequence of n str
    names : sequence of k str
    level : float
        Level of the tests.
    samples : int
        Behind each of them.
    """
    found = [critical_difference(tests, j, name, level) for j, name in enumerate(criteria)]
    k = len(names)
    named = k if k <= _MOST else _FIRST
    shown = [fitted([names[model] for model in one.order[:named]], 150.0) for one in found]
    side = max(text_width(label) for labels in shown for label in labels) + 34
    across = 300.0
    heights = [64 + _BAR * len(one.cliques) + ROW * ((named + 1) // 2) for one in found]
    page = sheet(
        "Mean ranks of the models, criterion by criterion",
        f"Left: better. Bars join models whose mean ranks over {samples:,} samples do not differ "
        f"significantly (Nemenyi, level {level:g} for all pairs of a criterion).",
        width=2 * (MARGIN + side) + across,
        height=sum(heights) + MARGIN,
    )
    canvas = page.canvas()
    top = page.top
    for one, labels, height in zip(found, shown, heights, strict=True):
        write(canvas, MARGIN, top - 4, fitted([one.criterion], 400.0)[0], weight="bold", va="top")
        _draw(canvas, one, labels, MARGIN + side, across, top - 44)
        top -= height
    return page.figure


def _draw(
    canvas: Axes, found: CriticalDifference, labels: Sequence[str], left: float, across: float, axis: float
) -> None:
    k = len(found.order)
    x = left + across * (found.mean_rank - 1) / max(k - 1, 1)
    canvas.plot([left, left + across], [axis, axis], color=INK, linewidth=1.0)
    every = max(1, int(np.ceil((k - 1) / 12)))
    for rank in range(1, k + 1, every):
        at = left + across * (rank - 1) / max(k - 1, 1)
        canvas.plot([at, at], [axis, axis + 4], color=INK, linewidth=0.8)
        write(canvas, at, axis + 6, str(rank), ha="center", size=SMALL, va="bottom", color=QUIET)
    for number, (first, last) in enumerate(found.cliques):
        mark = model_mark(*found.order[first : last + 1].tolist())
        bar(canvas, [x[first] - 2, x[last] + 2], axis - 6 - _BAR * number, mark, INK, width=2.6)
    marks = [model_mark(int(model)) for model in found.order]
    for at, mark in zip(x[len(labels) :], marks[len(labels) :], strict=True):
        canvas.plot([at, at], [axis, axis - 4], color=GREY, linewidth=0.6, gid=mark)
    half = (len(labels) + 1) // 2
    rows = axis - 14 - _BAR * len(found.cliques)
    for place, label in enumerate(labels):
        on_left = place < half
        row = place if on_left else len(labels) - 1 - place
        y = rows - ROW * (row + 0.5)
        end = left - 6 if on_left else left + across + 6
        mark = marks[place]
        canvas.plot([x[place], x[place], end], [axis, y, y], color=GREY, linewidth=0.7, zorder=1, gid=mark)
        dot(canvas, x[place], axis, mark, INK, size=4)
        align, away = ("right", -1) if on_left else ("left", 1)
        mean = f"{found.mean_rank[place]:.1f}"
        write(canvas, end + away * 2, y, mean, mark, align, size=SMALL, color=QUIET)
        write(canvas, end + away * 27, y, label, mark, align)
