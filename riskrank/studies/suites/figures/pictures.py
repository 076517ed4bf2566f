"""Selection of figures for a suite of tasks, for any document with a suite."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from riskrank.options.inference import FIXED, RANDOM
from riskrank.render.figures.legend import PLAIN, Key, axes_with_key, choose_looks
from riskrank.render.figures.picture import Picture
from riskrank.render.figures.style import Plot, Unit, in_common_style
from riskrank.render.figures.text import curve_mark, model_mark
from riskrank.render.mean_tables import score_title
from riskrank.studies.suites.column import SuiteColumn
from riskrank.studies.suites.figures.task_forest import TaskForest, draw_task_forest
from riskrank.studies.suites.section import SuiteAnalysis, SuiteOutline
from riskrank.studies.wording import format_percent


@in_common_style
def draw_profiles(chapter: SuiteAnalysis, column: SuiteColumn) -> Plot:
    """Draw performance profiles, with one curve and confidence band per model.

    The thresholds are in the units of the file.
    """
    profile, units, order = (
        column.profile(chapter.family.interval_level(1)),
        column.units,
        models_by_mean(column),
    )
    looks = choose_looks(len(chapter.models), order)
    key = Key.from_names(chapter.models, order, looks)
    better, confidence = "above" if units.sign > 0 else "below", format_percent(chapter.family.confidence)
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
    for model, look in enumerate(looks):
        share, low, high = (
            np.concatenate([[1.0], part[model]]) for part in (profile.share, profile.low, profile.high)
        )
        if look is not PLAIN:
            axes.fill_between(
                x, low, high, step="post", color=look.color, alpha=0.14, linewidth=0, gid=model_mark(model)
            )
        axes.plot(x, share, drawstyle=step, **look.line, gid=curve_mark(model))
    axes.set_xlabel(unit.label(f"τ, {column.name}"))
    axes.set_ylabel(f"share of scores {better} τ")
    axes.set_ylim(0, 1)
    if units.sign < 0:
        axes.invert_xaxis()
    legend()
    return page.figure


_MOST_RIVALS = 4
"""Maximum number of panels of a task forest."""


def pictures(chapter: SuiteOutline) -> list[Picture]:
    """Return two pictures per score column.

    The result is empty if the document has only an outline of its tasks.
    """
    if not isinstance(chapter, SuiteAnalysis):
        return []
    return [picture for column in chapter.columns.values() for picture in _column_pictures(chapter, column)]


def _column_pictures(chapter: SuiteAnalysis, column: SuiteColumn) -> Iterator[Picture]:
    """Yield the forest plot and the performance profile of one score column."""
    name = column.name
    caption = f"Lead of the first model on {name}, by task and over all tasks."
    drawing = partial(draw_task_forest, arrange_task_forest(chapter, column), chapter, column)
    yield Picture(f"taskforest@{name}", caption, drawing)
    caption = f"Performance profile: weighted share of {name} scores better than τ."
    yield Picture(f"profile@{name}", caption, partial(draw_profiles, chapter, column))


def models_by_mean(column: SuiteColumn) -> list[int]:
    """Return the reference model, then all others by macro mean."""
    return [column.reference, *(i for i in column.by_mean if i != column.reference)]


def arrange_task_forest(chapter: SuiteAnalysis, column: SuiteColumn) -> TaskForest:
    """Return the forest-plot data: the reference model's leads over the next models, by task and overall."""
    first, level = column.reference, chapter.family.interval_level(1)
    rivals = list(dict.fromkeys([column.first.pair[1], *models_by_mean(column)[1:]]))[:_MOST_RIVALS]
    leads = np.array([column.lead_by_task(first, other, level) for other in rivals])
    order = np.argsort(-leads[0, 0], kind="stable")
    labels = {FIXED: "all, these tasks", RANDOM: "all, tasks like these"}
    scopes = [scope for scope in labels if scope in column.scopes]
    overall = [column.scopes[scope].differences for scope in scopes]
    overall_intervals = np.array(
        [
            [part[first, rivals] for part in (difference.value, *difference.interval(level))]
            for difference in overall
        ]
    )
    estimate, low, high = np.concatenate([leads[:, :, order], overall_intervals.T], axis=2).swapaxes(0, 1)
    overall_marks = (overall_intervals[:, 1] > 0).astype(int) - (overall_intervals[:, 2] < 0)
    return TaskForest(
        rivals=tuple(rivals),
        names=(*(chapter.names[task] for task in order), *(labels[scope] for scope in scopes)),
        estimate=estimate,
        low=low,
        high=high,
        marks=np.hstack([column.marks[first, rivals][:, order], overall_marks.T]),
        overall_rows=len(scopes),
    )
