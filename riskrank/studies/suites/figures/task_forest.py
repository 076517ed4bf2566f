"""Forest plot of a suite: differences between the leader and other models, by task and overall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from riskrank.engine.types import Floats, Integers
from riskrank.shown.figures.key import looks
from riskrank.shown.figures.marks import model_mark
from riskrank.shown.figures.names import fitted
from riskrank.shown.figures.rows import Rows, bar, dot, ruled
from riskrank.shown.figures.style import INK, QUIET, SMALL, Plot, drawn
from riskrank.shown.figures.units import Unit
from riskrank.shown.means import score_of
from riskrank.studies.suites.chapter import SuiteChapter
from riskrank.studies.suites.column import SuiteColumn
from riskrank.studies.wording import percent

# Marker, size and fill of a task by its mark: told apart in grey by shape.
_SHAPES = {1: ("^", 6.5, True), -1: ("v", 6.5, True), 0: ("o", 3.6, False)}
_ALONE, _BESIDE = 340.0, 140.0
"""Width of the only column, and of each of several."""


@dataclass(frozen=True)
class TaskForest:
    """What is plotted of r others: the task with the largest lead over the first of them on top.

    Attributes
    ----------
    others : tuple of int
    names : tuple of str
        Of the rows; all tasks together last.
    estimate, low, high : ndarray, shape (r, rows)
        In favour of the model that leads.
    marks : ndarray of int, shape (r, rows)
        1 better, −1 worse, 0 open.
    whole : int
        How many rows at the end are of all tasks.
    """

    others: tuple[int, ...]
    names: tuple[str, ...]
    estimate: Floats
    low: Floats
    high: Floats
    marks: Integers
    whole: int


@drawn
def draw_task_forest(found: TaskForest, chapter: SuiteChapter, one: SuiteColumn) -> Plot:
    """Draw the lead of a model, an interval a row against no difference, a column another model."""
    models, leader, metric = chapter.models, one.against, score_of(one.name)
    first, alone, sure = models[leader], len(found.others) == 1, percent(chapter.family.confidence)
    rows = Rows.of(found.names, [model_mark(leader)] * len(found.names))
    width = _ALONE if alone else _BESIDE
    rest = len(models) - 1 - len(found.others)
    page, panels = ruled(
        rows,
        f"{first} against {models[found.others[0]] if alone else 'others'}, task by task",
        f"Right of the line {first} is better. Bar: {sure} interval of the mean difference in "
        f"{metric}, each for itself; ▲ ▼, in the colour of who is better, where the difference is "
        "significant among all tasks and pairs. Diamonds: all tasks, weighed."
        + (f" {rest} more models are not drawn." if rest else ""),
        width=width,
        columns=len(found.others),
        above=6.0 if alone else 22.0,
    )
    unit = Unit.of(found.estimate, found.low, found.high)
    given = looks(len(models), [leader, *found.others])
    ends = unit.apply([found.low[np.isfinite(found.low)].min(), found.high[np.isfinite(found.high)].max()])
    room = 0.06 * max(float(ends[1] - ends[0]), 1e-12)
    for at, (axes, other) in enumerate(zip(panels, found.others, strict=True)):
        colors = {1: given[leader].color, -1: given[other].color, 0: QUIET}
        _column(axes, found, at, rows, unit, colors, model_mark(leader, other))
        axes.set_xlim(float(ends[0]) - room, float(ends[1]) + room)
        label = f"worse ← difference in {metric} → better" if alone else "worse ← → better"
        rows.lay_out(axes, unit.label(fitted([label], width)[0]), 5 if alone else 3)
        if not alone:
            said = fitted([f"against {models[other]}"], width)[0]
            axes.set_title(said, size=SMALL, loc="left", pad=5, gid=model_mark(other))
    return page.figure


def _column(
    axes: Axes, found: TaskForest, at: int, rows: Rows, unit: Unit, colors: dict[int, str], mark: str
) -> None:
    axes.axvline(0, color=QUIET, linewidth=0.8, zorder=1)
    first_whole = len(found.names) - found.whole
    low, estimate, high = (unit.apply(part[at]) for part in (found.low, found.estimate, found.high))
    for row, y in enumerate(rows.y.tolist()):
        answer = int(found.marks[at, row])
        color, (marker, size, full) = colors[answer], _SHAPES[answer]
        if row >= first_whole:
            color, marker, size, full = INK, "D", 5.5, True
        bar(axes, [low[row], high[row]], y, mark, color)
        dot(axes, estimate[row], y, mark, color, marker=marker, size=size, full=full)
    if 0 < found.whole < len(found.names):
        line = float(rows.y[first_whole - 1] + rows.y[first_whole]) / 2
        axes.axhline(line, color=INK, linewidth=0.6, zorder=1)
