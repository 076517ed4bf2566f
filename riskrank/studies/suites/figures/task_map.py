"""Models by tasks: how far each is from the first there, and the lead of one over others, task by task."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from riskrank.engine.types import Floats, Integers
from riskrank.render.figures.fonts import text_width
from riskrank.render.figures.heat_map import cell_of, color_scale
from riskrank.render.figures.legend import looks
from riskrank.render.figures.marks import model_mark, write
from riskrank.render.figures.names import fitted
from riskrank.render.figures.rows import Rows, bar, dot, ruled
from riskrank.render.figures.style import INK, ON_DARK, ON_PALE, QUIET, SMALL, Plot, drawn, sheet
from riskrank.render.figures.units import Unit
from riskrank.render.mean_tables import score_of
from riskrank.studies.suites.column import SuiteColumn
from riskrank.studies.suites.section import SuiteChapter
from riskrank.studies.wording import decimals_apart, percent, rounded

# From worse to better, told apart by any colour vision; the middle is pale.
_COLORS = "BrBG"  # as words on a page: green is better, brown worse, and no model has either
_WIDEST, _NARROWEST, _SIZE = 36.0, 10.0, 520.0
_NUMBERED = 24.0
"""Width from which a cell has room for its number."""
_NAME = 120.0


@dataclass(frozen=True)
class TaskMap:
    """What is plotted, models in the order of their rows.

    Attributes
    ----------
    order : ndarray of int, shape (k,)
    mean : ndarray, shape (k, T)
        As the file has them.
    ahead : ndarray, shape (k, T)
        Of the first model, larger is better.
    marks : ndarray of int, shape (k, T)
        Against the first model.
    by_task : bool
        Whether each task is coloured on a scale of its own, as it has a metric of its own.
    """

    order: Integers
    mean: Floats
    ahead: Floats
    marks: Integers
    by_task: bool

    @property
    def shade(self) -> Floats:
        """How far ahead of the first, from −1 to 1."""
        size = np.abs(self.ahead)
        largest = size.max(axis=0) if self.by_task else np.full(size.shape[1], size.max())
        return np.divide(self.ahead, largest, out=np.zeros_like(self.ahead), where=largest > 0)


@drawn
def draw_task_map(found: TaskMap, chapter: SuiteChapter, one: SuiteColumn) -> Plot:
    """Draw one cell a model and task, in colours against the model of the verdict."""
    tasks, leader = chapter.names, chapter.models[one.against]
    rows = Rows.of_models(chapter.models, found.order)
    cell = min(max(_SIZE / len(tasks), _NARROWEST), _WIDEST)
    heads = fitted(tasks, _NAME, SMALL)
    side, foot = cell * len(tasks), max(text_width(head, SMALL) for head in heads) + 10
    scale = "of its task" if found.by_task else "of all"
    numbers = " Number: mean." if cell >= _NUMBERED else ""
    page = sheet(
        f"Tasks by model, {score_of(one.name)}, against {leader}",
        f"Colour: how far a model is from {leader} on a task, as a share of the largest distance {scale}; "
        f"green is better, brown worse.{numbers} ▲ ▼: significantly so.",
        width=rows.width + side + 70,
        height=foot + rows.height + 8,
        method=f"means of {one.name}",
    )
    axes = page.axes(rows.width, foot, side, rows.height)
    axes.set(xticks=[], yticks=[], xlim=(0, side), ylim=(0, rows.height))
    axes.spines[:].set_visible(False)
    _cells(axes, found, rows, cell)
    canvas = page.canvas()
    for at, head in enumerate(heads):
        x = rows.width + cell * (at + 0.5)
        write(canvas, x, foot - 5, head, ha="center", size=SMALL, rotation=90, va="top")
    rows.draw(canvas, foot)
    beside = page.axes(rows.width + side + 16, foot, 9, min(rows.height, 110))
    color_scale(beside, _COLORS, -1, ticks=[-1, 0, 1])
    beside.set_yticks([-1, 0, 1], ["worse", "level", "better"], size=SMALL)
    return page.figure


def _cells(axes: Axes, found: TaskMap, rows: Rows, cell: float) -> None:
    shade = found.shade
    colors = colormaps[_COLORS]((1 + shade) / 2)
    ink = np.where(np.abs(shade) > 0.75, ON_DARK, ON_PALE)
    tops = np.concatenate([[rows.height], (rows.y[1:] + rows.y[:-1]) / 2, [0.0]])
    named = len(rows.labels)
    for i, t in np.ndindex(*shade.shape):
        mark = rows.marks[i]
        low, high = float(tops[i + 1]), float(tops[i])
        cell_of(axes, t * cell, low, cell, high - low, colors[i, t], mark)
        if i >= named:
            continue
        said = partial(write, axes, y=float(rows.y[i]), mark=mark, ha="center", color=ink[i, t])
        middle, arrow = t * cell + cell / 2, {1: "▲", -1: "▼", 0: ""}[int(found.marks[i, t])]
        if cell >= _NUMBERED:
            digits = decimals_apart(found.mean[:, t].tolist())
            number = rounded(float(found.mean[i, t]), min(digits, 2)).replace("0.", ".")
            fits = text_width(number, SMALL - 1) <= cell - 9
            text = number if fits else f"{found.mean[i, t]:.2g}"
            said(middle - (3 if arrow else 0), text=text, size=SMALL - 1)
            if arrow:
                said(middle + cell / 2 - 5, text=arrow, size=5)
        elif arrow:
            said(middle, text=arrow, size=6)


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
        + (f" {rest} more models are in the map of tasks." if rest else ""),
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
