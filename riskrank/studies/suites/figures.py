"""Figures of a suite: leads by task, and performance profiles."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.axes import Axes

from riskrank.engine.types import Floats, Integers
from riskrank.options.inference import FIXED, RANDOM
from riskrank.render.figures.legend import PLAIN, Key, axes_with_key, choose_styles
from riskrank.render.figures.rows import Rows, draw_bar, draw_dot, ruled_sheet
from riskrank.render.figures.style import INK, QUIET, SMALL, Plot, Unit, common_style
from riskrank.render.figures.text import curve_mark, fit_names, model_mark
from riskrank.render.mean_tables import score_title
from riskrank.render.view import Picture
from riskrank.studies.suites.column import SuiteColumn
from riskrank.studies.suites.section import SuiteAnalysis, SuiteOutline
from riskrank.studies.wording import counted, format_percent

# Marker, size and fill of a task by its significance mark. The shape remains distinct in grey.
_SHAPES = {1: ("^", 6.5, True), -1: ("v", 6.5, True), 0: ("o", 3.6, False)}
# Width of a single panel, and of each of several panels, in points.
_SINGLE_WIDTH, _COLUMN_WIDTH = 340.0, 140.0


@dataclass(frozen=True)
class TaskForest:
    """Data of a forest plot: leads of one model over r others, by task.

    Tasks are sorted by the lead over the first of the others.

    Attributes
    ----------
    rivals : tuple of int
        The other models.
    names : tuple of str
        Row names: tasks, followed by overall rows.
    estimate, low, high : ndarray, shape (r, rows)
        Lead of the reference model, with interval limits.
    marks : ndarray of int, shape (r, rows)
        1 if significantly better, −1 if worse, 0 if undecided.
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


@common_style()
def draw_task_forest(forest: TaskForest, analysis: SuiteAnalysis, column: SuiteColumn) -> Plot:
    """Draw one model's leads over others as intervals: one row per task, one panel per other model."""
    models, leader, metric = analysis.models, column.reference, score_title(column.name)
    first = models[leader]
    single = len(forest.rivals) == 1
    confidence = format_percent(analysis.family.confidence)
    rows = Rows.from_names(forest.names, [model_mark(leader)] * len(forest.names))
    width = _SINGLE_WIDTH if single else _COLUMN_WIDTH
    remaining = len(models) - 1 - len(forest.rivals)
    page, panels = ruled_sheet(
        rows,
        f"{first} against {models[forest.rivals[0]] if single else 'others'}, by task",
        f"Right of the line, {first} is better. Bar: {confidence} interval of the mean difference in "
        f"{metric}, without correction. ▲ ▼, in the colour of the better model: significant difference "
        "after correction for all tasks and pairs. Diamonds: all tasks, weighted."
        + (f" Not drawn: {counted(remaining, 'other model')}." if remaining else ""),
        width=width,
        columns=len(forest.rivals),
        gap=6.0 if single else 22.0,
    )
    unit = Unit.choose(forest.estimate, forest.low, forest.high)
    styles = choose_styles(len(models), [leader, *forest.rivals])
    limits = unit.apply(
        [forest.low[np.isfinite(forest.low)].min(), forest.high[np.isfinite(forest.high)].max()]
    )
    margin = 0.06 * max(float(limits[1] - limits[0]), 1e-12)
    for panel, (axes, other) in enumerate(zip(panels, forest.rivals, strict=True)):
        colors = {1: styles[leader].color, -1: styles[other].color, 0: QUIET}
        _draw_panel(axes, forest, panel, rows, unit, colors, model_mark(leader, other))
        axes.set_xlim(float(limits[0]) - margin, float(limits[1]) + margin)
        label = f"worse ← difference in {metric} → better" if single else "worse ← → better"
        rows.prepare_axes(axes, unit.label(fit_names([label], width)[0]), 5 if single else 3)
        if not single:
            heading = fit_names([f"against {models[other]}"], width)[0]
            axes.set_title(heading, size=SMALL, loc="left", pad=5, gid=model_mark(other))
    return page.figure


def _draw_panel(
    axes: Axes, forest: TaskForest, panel: int, rows: Rows, unit: Unit, colors: dict[int, str], gid: str
) -> None:
    """Draw the leads over one of the other models.

    Parameters
    ----------
    axes : Axes
        Matplotlib axes to draw on.
    forest : TaskForest
        Data of the forest plot.
    panel : int
        Index of the other model in `forest`.
    rows : Rows
        Vertical positions of the models.
    unit : Unit
        Unit of the horizontal axis.
    colors : dict of int to str
        Color by significance mark: 1, −1 or 0.
    gid : str
        Identifier of the two models in the SVG file.
    """
    axes.axvline(0, color=QUIET, linewidth=0.8, zorder=1)
    first_overall = len(forest.names) - forest.overall_rows
    low, estimate, high = (unit.apply(part[panel]) for part in (forest.low, forest.estimate, forest.high))
    for row, y in enumerate(rows.y.tolist()):
        answer = int(forest.marks[panel, row])
        color, (marker, size, filled) = colors[answer], _SHAPES[answer]
        if row >= first_overall:
            color, marker, size, filled = INK, "D", 5.5, True
        draw_bar(axes, [low[row], high[row]], y, gid, color)
        draw_dot(axes, estimate[row], y, gid, color, marker=marker, size=size, filled=filled)
    if 0 < forest.overall_rows < len(forest.names):
        line = float(rows.y[first_overall - 1] + rows.y[first_overall]) / 2
        axes.axhline(line, color=INK, linewidth=0.6, zorder=1)


@common_style()
def draw_profiles(analysis: SuiteAnalysis, column: SuiteColumn) -> Plot:
    """Draw performance profiles, with one curve and confidence band per model.

    The thresholds are in the units of the file.
    """
    profile = column.profile(analysis.family.interval_level(1))
    units = column.units
    order = models_by_mean(column)
    styles = choose_styles(len(analysis.models), order)
    key = Key.from_names(analysis.models, order, styles)
    better, confidence = "above" if units.sign > 0 else "below", format_percent(analysis.family.confidence)
    page, axes, legend = axes_with_key(
        key,
        f"Share of scores {better} each threshold τ, {score_title(column.name)}",
        f"Height at τ: weighted share of scores {better} τ. A curve above another everywhere dominates it in "
        f"first order. Band: {confidence} interval at a single τ, on these tasks.",
        method=f"performance profiles of {column.name}",
    )
    tau = units.to_file_units(profile.tau)
    unit = Unit.choose(tau)
    # All scores are better than thresholds before the first.
    x = unit.apply(np.concatenate([tau[:1], tau]))
    step = "steps-post" if units.sign > 0 else "steps-pre"
    curves = [np.insert(part, 0, 1.0, axis=1) for part in (profile.share, profile.low, profile.high)]
    for model, (style, share, low, high) in enumerate(zip(styles, *curves, strict=True)):
        if style is not PLAIN:
            axes.fill_between(
                x, low, high, step="post", color=style.color, alpha=0.14, linewidth=0, gid=model_mark(model)
            )
        axes.plot(x, share, drawstyle=step, **style.line, gid=curve_mark(model))
    axes.set_xlabel(unit.label(f"τ, {column.name}"))
    axes.set_ylabel(f"share of scores {better} τ")
    axes.set_ylim(0, 1)
    if units.sign < 0:
        axes.invert_xaxis()
    legend()
    return page.figure


# Maximum number of panels of a task forest.
_MOST_RIVALS = 4


def pictures(analysis: SuiteOutline) -> Iterator[Picture]:
    """Yield a forest plot and a performance profile for each metric or combined score.

    Nothing is yielded if the tasks were not analysed.
    """
    if not isinstance(analysis, SuiteAnalysis):
        return
    for name, column in analysis.columns.items():
        caption = f"Lead of the first model on {name}, by task and over all tasks."
        drawing = partial(draw_task_forest, arrange_task_forest(analysis, column), analysis, column)
        yield Picture(f"taskforest@{name}", caption, drawing)
        caption = f"Performance profile: weighted share of {name} scores better than τ."
        yield Picture(f"profile@{name}", caption, partial(draw_profiles, analysis, column))


def models_by_mean(column: SuiteColumn) -> list[int]:
    """Return the indices of all models: first the one that others are compared with, then by macro mean."""
    return [column.reference, *(i for i in column.by_mean if i != column.reference)]


def arrange_task_forest(analysis: SuiteAnalysis, column: SuiteColumn) -> TaskForest:
    """Return the data of a forest plot: the reference model's leads by task and over all tasks."""
    first, level = column.reference, analysis.family.interval_level(1)
    rivals = list(dict.fromkeys([column.first.pair[1], *models_by_mean(column)[1:]]))[:_MOST_RIVALS]
    leads = np.array([column.lead_by_task(first, other, level) for other in rivals])
    order = np.argsort(-leads[0, 0], kind="stable")
    labels = {FIXED: "all, these tasks", RANDOM: "all, tasks like these"}
    scopes = [scope for scope in labels if scope in column.scopes]
    differences = [column.scopes[scope].differences for scope in scopes]
    overall = [(difference.value, *difference.interval(level)) for difference in differences]
    overall_intervals = np.array([[part[first, rivals] for part in parts] for parts in overall])
    estimate, low, high = np.concatenate([leads[:, :, order], overall_intervals.T], axis=2).swapaxes(0, 1)
    overall_marks = (overall_intervals[:, 1] > 0).astype(int) - (overall_intervals[:, 2] < 0)
    return TaskForest(
        rivals=tuple(rivals),
        names=(*(analysis.names[task] for task in order), *(labels[scope] for scope in scopes)),
        estimate=estimate,
        low=low,
        high=high,
        marks=np.hstack([column.marks[first, rivals][:, order], overall_marks.T]),
        overall_rows=len(scopes),
    )
