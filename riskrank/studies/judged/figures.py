"""What a few labels moved: every model's mean by the judge alone, by the labels alone, and corrected."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from riskrank.shown.figures.picture import Picture
from riskrank.shown.figures.rows import Rows
from riskrank.shown.figures.style import FAINT, INK, MARGIN, PALETTE, QUIET, Plot, drawn, sheet
from riskrank.shown.figures.units import Unit
from riskrank.studies.judged.chapter import JudgedChapter, JudgedEntry


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
    width, below = 340.0, 40.0
    on_scale = ", on people's scale" if entry.mapped else ""
    page = sheet(
        f"What {entry.labelled:,} labels moved",
        f"Hollow: mean {entry.human} by {entry.judge} alone, of {entry.samples:,} samples{on_scale}. "
        f"Tick: by the {entry.labelled:,} labels alone. Filled, with its 95 % interval by itself: the judge "
        "corrected by the labels.",
        width=rows.width + width + MARGIN + 10,
        height=below + rows.height + 6,
    )
    axes = page.axes(rows.width, below, width, rows.height)
    found = np.array(
        [[one.judge_mean, one.labelled_mean, one.mean, one.low, one.high] for one in entry.models]
    )
    unit = Unit.of(found)
    for model, y, mark in zip(order, rows.y, rows.marks, strict=True):
        judge, labels, mean, low, high = unit.apply(found[model])
        axes.axhline(y, color=FAINT, linewidth=0.6, zorder=0, gid=mark)
        axes.plot(
            [low, high], [y, y], color=PALETTE[0], linewidth=2.2, solid_capstyle="butt", zorder=2, gid=mark
        )
        axes.plot([judge, mean], [y, y], color=QUIET, linewidth=0.8, linestyle=":", zorder=1, gid=mark)
        axes.plot([labels], [y], marker="|", markersize=9, color=INK, zorder=3, gid=mark)
        axes.plot(
            [judge], [y], marker="o", markersize=4.5, color=QUIET, markerfacecolor="white", zorder=3, gid=mark
        )
        axes.plot([mean], [y], marker="o", markersize=4.5, color=PALETTE[0], zorder=4, gid=mark)
    axes.margins(x=0.06)
    rows.lay_out(axes, unit.label(f"mean {entry.human}"), 5)
    rows.draw(page.canvas(), below)
    return page.figure
