"""What a few labels moved: every model's mean by the judge alone, by the labels alone, and corrected."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from riskrank.render.figures.legend import hue
from riskrank.render.figures.picture import Picture
from riskrank.render.figures.rows import Rows, bar, dot, ruled
from riskrank.render.figures.style import INK, QUIET, Plot, drawn
from riskrank.render.figures.units import Unit, worse_to_better
from riskrank.studies.judge.section import JudgedChapter, JudgedEntry


def pictures(chapter: JudgedChapter) -> list[Picture]:
    """One of all models."""
    caption = (
        "Every model's mean by the judge alone, by the labels alone, and by the judge corrected by them."
    )
    return [Picture("judge", caption, partial(draw_judge, chapter.entry, chapter.models))]


def standing(entry: JudgedEntry) -> list[int]:
    """Models by their corrected means, the best first."""
    means = np.array([one.mean for one in entry.models])
    return np.argsort(means if entry.lower else -means, kind="stable").tolist()


@drawn
def draw_judge(entry: JudgedEntry, models: Sequence[str]) -> Plot:
    """Draw a row a model: an arrow from the judge's mean to the corrected one.

    Parameters
    ----------
    entry : JudgedEntry
    models : sequence of str
        In the order of the study.
    """
    order = standing(entry)
    rows = Rows.of_models(models, order)
    on_scale = ", on people's scale" if entry.mapped else ""
    page, (axes,) = ruled(
        rows,
        f"What {entry.labelled:,} labels moved",
        f"Hollow: mean {entry.human} by {entry.judge} alone, of {entry.samples:,} samples{on_scale}. "
        f"Tick: by the {entry.labelled:,} labels alone. Filled, with its 95 % interval by itself: the judge "
        "corrected by the labels.",
        width=190.0,
    )
    found = np.array(
        [[one.judge_mean, one.labelled_mean, one.mean, one.low, one.high] for one in entry.models]
    )
    unit = Unit.of(found)
    for model, y, mark in zip(order, rows.y.tolist(), rows.marks, strict=True):
        judge, labels, mean, low, high = unit.apply(found[model])
        bar(axes, [low, high], y, mark, hue(model))
        axes.plot([judge, mean], [y, y], color=QUIET, linewidth=0.8, linestyle=":", zorder=1, gid=mark)
        dot(axes, labels, y, mark, INK, marker="|", size=9, full=False)
        dot(axes, judge, y, mark, hue(model), full=False)
        dot(axes, mean, y, mark, hue(model))
    axes.margins(x=0.06)
    rows.lay_out(axes, worse_to_better(unit.label(f"mean {entry.human}"), lower=entry.lower), 4)
    return page.figure
