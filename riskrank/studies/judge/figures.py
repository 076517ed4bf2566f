"""Plot of each model's mean according to the judge, the labels and the calibrated judge."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from riskrank.render.figures.legend import model_color
from riskrank.render.figures.rows import Rows, draw_bar, draw_dot, ruled_sheet
from riskrank.render.figures.style import INK, QUIET, Plot, Unit, common_style, direction_label
from riskrank.render.view import Picture
from riskrank.studies.judge.section import JudgeAnalysis, JudgedEntry


def pictures(analysis: JudgeAnalysis) -> list[Picture]:
    """Return a list with a single picture that compares the means of all models."""
    caption = (
        "Mean of each model by the judge alone, by the labels alone, and by the judge calibrated on labels."
    )
    return [Picture("judge", caption, partial(draw_judge, analysis.entry, analysis.models))]


def models_by_mean(entry: JudgedEntry) -> list[int]:
    """Return the indices of the models sorted by calibrated mean, the best first."""
    means = np.array([model.mean for model in entry.models])
    return np.argsort(means if entry.lower else -means, kind="stable").tolist()


@common_style()
def draw_judge(entry: JudgedEntry, models: Sequence[str]) -> Plot:
    """Draw each model's mean by the judge, by the labels, and by the calibrated judge, one row per model.

    Parameters
    ----------
    entry : JudgedEntry
        Results as stored in the JSON output.
    models : sequence of str
        Names in the order of `entry`.
    """
    order = models_by_mean(entry)
    rows = Rows.for_models(models, order)
    on_scale = ", on the human scale" if entry.mapped else ""
    reading = (
        f"Hollow: mean {entry.human} by {entry.judge} alone, on {entry.samples:,} samples{on_scale}. "
        f"Tick: mean by the {entry.labelled:,} labels alone. Filled: mean by the judge calibrated on the "
        "labels, with its own 95 % interval."
    )
    page, (axes,) = ruled_sheet(rows, f"Effect of {entry.labelled:,} labels", reading, width=190.0)
    names = ("judge_mean", "labelled_mean", "mean", "low", "high")
    means = np.array([[getattr(model, name) for name in names] for model in entry.models])
    unit = Unit.choose(means)
    for model, y, mark in zip(order, rows.y.tolist(), rows.marks, strict=True):
        judge, labels, mean, low, high = unit.apply(means[model])
        draw_bar(axes, [low, high], y, mark, model_color(model))
        axes.plot([judge, mean], [y, y], color=QUIET, linewidth=0.8, linestyle=":", zorder=1, gid=mark)
        draw_dot(axes, labels, y, mark, INK, marker="|", size=9, filled=False)
        draw_dot(axes, judge, y, mark, model_color(model), filled=False)
        draw_dot(axes, mean, y, mark, model_color(model))
    axes.margins(x=0.06)
    rows.prepare_axes(axes, direction_label(unit.label(f"mean {entry.human}"), lower=entry.lower), 4)
    return page.figure
