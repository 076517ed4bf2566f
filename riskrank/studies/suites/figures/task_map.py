"""Heat map of models by tasks, and forest plot of a model's lead over other models by task."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from riskrank.engine.types import Floats, Integers
from riskrank.render.figures.fonts import text_width
from riskrank.render.figures.heat_map import draw_cell, draw_color_scale
from riskrank.render.figures.legend import choose_looks
from riskrank.render.figures.marks import model_mark, write_text
from riskrank.render.figures.names import fit_names
from riskrank.render.figures.rows import Rows, draw_bar, draw_dot, ruled_sheet
from riskrank.render.figures.style import (
    INK,
    ON_DARK,
    ON_PALE,
    QUIET,
    SMALL,
    Plot,
    in_common_style,
    start_sheet,
)
from riskrank.render.figures.units import Unit
from riskrank.render.mean_tables import score_title
from riskrank.studies.suites.column import SuiteColumn
from riskrank.studies.suites.section import SuiteChapter
from riskrank.studies.wording import decimals_apart, percent, rounded

# Diverging colors that suit any color vision; the middle is pale.
_COLORS = "BrBG"  # green is better, brown worse, as on the page; no model has these colors
_WIDEST, _NARROWEST, _SIZE = 36.0, 10.0, 520.0
_NUMBERED = 24.0
"""Width from which a cell shows its mean, in points."""
_NAME = 120.0


@dataclass(frozen=True)
class TaskMap:
    """Data of a heat map of k models by T tasks; the reference model is first.

    Attributes
    ----------
    order : ndarray of int, shape (k,)
        Model of each row.
    mean : ndarray, shape (k, T)
        Means in the units of the file.
    ahead : ndarray, shape (k, T)
        Difference to the first model; larger is better.
    marks : ndarray of int, shape (k, T)
        Significance against the first model: 1 better, −1 worse, 0 undecided.
    by_task : bool
        True if each task has a color scale of its own, because it has a metric of its own.
    """

    order: Integers
    mean: Floats
    ahead: Floats
    marks: Integers
    by_task: bool

    @property
    def shade(self) -> Floats:
        """Difference to the first model as a fraction of the largest one, from −1 to 1."""
        size = np.abs(self.ahead)
        largest = size.max(axis=0) if self.by_task else np.full(size.shape[1], size.max())
        return np.divide(self.ahead, largest, out=np.zeros_like(self.ahead), where=largest > 0)


@in_common_style
def draw_task_map(task_map: TaskMap, chapter: SuiteChapter, column: SuiteColumn) -> Plot:
    """Draw one cell per model and task, colored by the difference to the reference model."""
    tasks, leader = chapter.names, chapter.models[column.reference]
    rows = Rows.build_for_models(chapter.models, task_map.order)
    cell = min(max(_SIZE / len(tasks), _NARROWEST), _WIDEST)
    heads = fit_names(tasks, _NAME, SMALL)
    side, foot = cell * len(tasks), max(text_width(head, SMALL) for head in heads) + 10
    scale = "of its task" if task_map.by_task else "of all"
    numbers = " Number: mean." if cell >= _NUMBERED else ""
    page = start_sheet(
        f"Tasks by model, {score_title(column.name)}, against {leader}",
        f"Colour: how far a model is from {leader} on a task, as a share of the largest distance {scale}; "
        f"green is better, brown worse.{numbers} ▲ ▼: significantly so.",
        width=rows.width + side + 70,
        height=foot + rows.height + 8,
        method=f"means of {column.name}",
    )
    axes = page.axes(rows.width, foot, side, rows.height)
    axes.set(xticks=[], yticks=[], xlim=(0, side), ylim=(0, rows.height))
    axes.spines[:].set_visible(False)
    _draw_cells(axes, task_map, rows, cell)
    canvas = page.canvas()
    for at, head in enumerate(heads):
        x = rows.width + cell * (at + 0.5)
        write_text(canvas, x, foot - 5, head, ha="center", size=SMALL, rotation=90, va="top")
    rows.draw(canvas, foot)
    scale_axes = page.axes(rows.width + side + 16, foot, 9, min(rows.height, 110))
    draw_color_scale(scale_axes, _COLORS, -1, ticks=[-1, 0, 1])
    scale_axes.set_yticks([-1, 0, 1], ["worse", "level", "better"], size=SMALL)
    return page.figure


def _draw_cells(axes: Axes, task_map: TaskMap, rows: Rows, cell: float) -> None:
    shade = task_map.shade
    colors = colormaps[_COLORS]((1 + shade) / 2)
    ink = np.where(np.abs(shade) > 0.75, ON_DARK, ON_PALE)
    tops = np.concatenate([[rows.height], (rows.y[1:] + rows.y[:-1]) / 2, [0.0]])
    named = len(rows.labels)
    for i, t in np.ndindex(*shade.shape):
        mark = rows.marks[i]
        low, high = float(tops[i + 1]), float(tops[i])
        draw_cell(axes, t * cell, low, cell, high - low, colors[i, t], mark)
        if i >= named:
            continue
        write_in_cell = partial(write_text, axes, y=float(rows.y[i]), mark=mark, ha="center", color=ink[i, t])
        middle, arrow = t * cell + cell / 2, {1: "▲", -1: "▼", 0: ""}[int(task_map.marks[i, t])]
        if cell >= _NUMBERED:
            digits = decimals_apart(task_map.mean[:, t].tolist())
            number = rounded(float(task_map.mean[i, t]), min(digits, 2)).replace("0.", ".")
            fits = text_width(number, SMALL - 1) <= cell - 9
            text = number if fits else f"{task_map.mean[i, t]:.2g}"
            write_in_cell(middle - (3 if arrow else 0), text=text, size=SMALL - 1)
            if arrow:
                write_in_cell(middle + cell / 2 - 5, text=arrow, size=5)
        elif arrow:
            write_in_cell(middle, text=arrow, size=6)


# Marker, size and fill of a task by its significance mark; the shape survives grey.
_SHAPES = {1: ("^", 6.5, True), -1: ("v", 6.5, True), 0: ("o", 3.6, False)}
_SINGLE_WIDTH, _COLUMN_WIDTH = 340.0, 140.0
"""Width of a single panel, and of each of several panels, in points."""


@dataclass(frozen=True)
class TaskForest:
    """Data of a forest plot of leads over r other models; tasks by their lead over the first of them.

    Attributes
    ----------
    rivals : tuple of int
        The other models.
    names : tuple of str
        Names of the rows: tasks, then overall rows.
    estimate, low, high : ndarray, shape (r, rows)
        Lead of the reference model with its interval.
    marks : ndarray of int, shape (r, rows)
        1 better, −1 worse, 0 undecided.
    overall_rows : int
        Number of rows at the end that combine all tasks.
    """

    rivals: tuple[int, ...]
    names: tuple[str, ...]
    estimate: Floats
    low: Floats
    high: Floats
    marks: Integers
    overall_rows: int


@in_common_style
def draw_task_forest(forest: TaskForest, chapter: SuiteChapter, column: SuiteColumn) -> Plot:
    """Draw the lead of a model as intervals, one row per task and one panel per other model."""
    models, leader, metric = chapter.models, column.reference, score_title(column.name)
    first, single, confidence = models[leader], len(forest.rivals) == 1, percent(chapter.family.confidence)
    rows = Rows.build(forest.names, [model_mark(leader)] * len(forest.names))
    width = _SINGLE_WIDTH if single else _COLUMN_WIDTH
    remaining = len(models) - 1 - len(forest.rivals)
    page, panels = ruled_sheet(
        rows,
        f"{first} against {models[forest.rivals[0]] if single else 'others'}, task by task",
        f"Right of the line {first} is better. Bar: {confidence} interval of the mean difference in "
        f"{metric}, each for itself; ▲ ▼, in the colour of who is better, where the difference is "
        "significant among all tasks and pairs. Diamonds: all tasks, weighed."
        + (f" {remaining} more models are in the map of tasks." if remaining else ""),
        width=width,
        columns=len(forest.rivals),
        gap=6.0 if single else 22.0,
    )
    unit = Unit.choose(forest.estimate, forest.low, forest.high)
    looks = choose_looks(len(models), [leader, *forest.rivals])
    limits = unit.apply(
        [forest.low[np.isfinite(forest.low)].min(), forest.high[np.isfinite(forest.high)].max()]
    )
    margin = 0.06 * max(float(limits[1] - limits[0]), 1e-12)
    for number, (axes, other) in enumerate(zip(panels, forest.rivals, strict=True)):
        colors = {1: looks[leader].color, -1: looks[other].color, 0: QUIET}
        _draw_column(axes, forest, number, rows, unit, colors, model_mark(leader, other))
        axes.set_xlim(float(limits[0]) - margin, float(limits[1]) + margin)
        label = f"worse ← difference in {metric} → better" if single else "worse ← → better"
        rows.prepare_axes(axes, unit.label(fit_names([label], width)[0]), 5 if single else 3)
        if not single:
            heading = fit_names([f"against {models[other]}"], width)[0]
            axes.set_title(heading, size=SMALL, loc="left", pad=5, gid=model_mark(other))
    return page.figure


def _draw_column(
    axes: Axes, forest: TaskForest, number: int, rows: Rows, unit: Unit, colors: dict[int, str], mark: str
) -> None:
    axes.axvline(0, color=QUIET, linewidth=0.8, zorder=1)
    first_overall = len(forest.names) - forest.overall_rows
    low, estimate, high = (unit.apply(part[number]) for part in (forest.low, forest.estimate, forest.high))
    for row, y in enumerate(rows.y.tolist()):
        answer = int(forest.marks[number, row])
        color, (marker, size, filled) = colors[answer], _SHAPES[answer]
        if row >= first_overall:
            color, marker, size, filled = INK, "D", 5.5, True
        draw_bar(axes, [low[row], high[row]], y, mark, color)
        draw_dot(axes, estimate[row], y, mark, color, marker=marker, size=size, filled=filled)
    if 0 < forest.overall_rows < len(forest.names):
        line = float(rows.y[first_overall - 1] + rows.y[first_overall]) / 2
        axes.axhline(line, color=INK, linewidth=0.6, zorder=1)
