"""Figures of ``trend``: mean and interval of every run, with the interval of the baseline as a band."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from riskrank.render.figures.legend import Key, axes_with_key, choose_styles
from riskrank.render.figures.style import PALETTE, Plot, Unit, common_style
from riskrank.render.figures.text import curve_mark, fit_names
from riskrank.render.view import Picture
from riskrank.studies.trend.document import WORSE, TrendDocument, TrendLine

_READING = (
    "Height: mean of a run, with its interval. Band: interval of the baseline. Cross: run that is "
    "significantly worse than the baseline, corrected for all looks."
)
# Maximum number of run names below the axis.
_MOST_TICK_LABELS = 12


def pictures(document: TrendDocument) -> list[Picture]:
    """Return one picture per metric."""
    by_metric: dict[str, list[TrendLine]] = {}
    for line in document.lines:
        by_metric.setdefault(line.metric, []).append(line)
    return [
        Picture(
            f"trend@{metric}" if len(by_metric) > 1 else "trend",
            f"Mean {metric} of every run in order, with intervals. Band: interval of {document.baseline}.",
            partial(_draw, document, metric, lines),
        )
        for metric, lines in by_metric.items()
    ]


@common_style()
def _draw(document: TrendDocument, metric: str, lines: Sequence[TrendLine]) -> Plot:
    """Draw the means of all runs on one metric, with one line per model."""
    models = document.provenance.models
    numbers = [list(models).index(line.model) for line in lines]
    styles = choose_styles(len(models), numbers)
    key = Key.from_names(models, numbers, styles)
    title = f"{metric} over {len(document.runs)} runs"
    page, axes, legend = axes_with_key(key, title, _READING, width=420.0, bottom=78.0)
    axes.grid(visible=False, axis="x")
    positions = {run: index for index, run in enumerate(document.runs)}
    unit = Unit.choose(np.array([end for line in lines for row in line.rows for end in (row.low, row.high)]))
    for line, number in zip(lines, numbers, strict=True):
        style, mark = styles[number], curve_mark(number)
        x = [positions[row.run] for row in line.rows]
        low, mean, high = unit.apply([(row.low, row.mean, row.high) for row in line.rows]).T
        base = next((index for index, row in enumerate(line.rows) if row.run == document.baseline), None)
        if base is not None:
            axes.axhspan(low[base], high[base], color=style.color, alpha=0.12, lw=0, zorder=1, gid=mark)
        axes.vlines(x, low, high, color=style.color, linewidth=0.8, zorder=style.layer, gid=mark)
        axes.plot(x, mean, marker=style.marker, markersize=3, **style.line, gid=mark)
        bad = [index for index, row in enumerate(line.rows) if row.against_baseline_answer == WORSE]
        if bad:
            cross: dict[str, Any] = {"linestyle": "none", "marker": "X", "markersize": 7, "color": PALETTE[1]}
            axes.plot([x[index] for index in bad], mean[bad], zorder=30, gid=mark, **cross)
    labelled = document.runs[:: -(-len(document.runs) // _MOST_TICK_LABELS)]
    axes.set_xticks([positions[run] for run in labelled], fit_names(labelled, 64.0), rotation=45, ha="right")
    axes.set_ylabel(unit.label(metric))
    legend()
    return page.figure
