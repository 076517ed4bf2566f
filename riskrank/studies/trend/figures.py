"""Trends: the mean of every run with its interval, in order, beside the band of the baseline."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from riskrank.render.figures.legend import Key, beside_key, looks
from riskrank.render.figures.marks import curve_mark
from riskrank.render.figures.names import fitted
from riskrank.render.figures.picture import Picture
from riskrank.render.figures.style import PALETTE, Plot, drawn
from riskrank.render.figures.units import Unit
from riskrank.studies.trend.document import TrendDocument, TrendLine
from riskrank.studies.trend.states import WORSE

_READING = (
    "Height: mean of a run, with its interval. Band: the interval of the baseline. A cross is a run that is "
    "shown to be worse than the baseline, sure over all looks."
)
# Names of runs below the axis.
_NAMED = 12


def pictures(document: TrendDocument) -> list[Picture]:
    """A picture a metric."""
    by_metric: dict[str, list[TrendLine]] = {}
    for line in document.lines:
        by_metric.setdefault(line.metric, []).append(line)
    return [
        Picture(
            f"trend@{metric}" if len(by_metric) > 1 else "trend",
            f"Mean {metric} of every run in order, with intervals, beside the band of {document.baseline}.",
            partial(_draw, document, metric, lines),
        )
        for metric, lines in by_metric.items()
    ]


@drawn
def _draw(document: TrendDocument, metric: str, lines: Sequence[TrendLine]) -> Plot:
    models = document.provenance.models
    numbers = [list(models).index(line.model) for line in lines]
    given = looks(len(models), numbers)
    key = Key.of(models, numbers, given)
    title = f"{metric} over {len(document.runs)} runs"
    page, axes, legend = beside_key(key, title, _READING, width=420.0, below=78.0)
    axes.grid(visible=False, axis="x")
    place = {run: at for at, run in enumerate(document.runs)}
    unit = Unit.of(np.array([end for line in lines for row in line.rows for end in (row.low, row.high)]))
    for line, number in zip(lines, numbers, strict=True):
        look, mark = given[number], curve_mark(number)
        x = [place[row.run] for row in line.rows]
        low, mean, high = (
            unit.apply([getattr(row, name) for row in line.rows]) for name in ("low", "mean", "high")
        )
        base = next((at for at, row in enumerate(line.rows) if row.run == document.baseline), None)
        if base is not None:
            axes.axhspan(low[base], high[base], color=look.color, alpha=0.12, linewidth=0, zorder=1, gid=mark)
        axes.vlines(x, low, high, color=look.color, linewidth=0.8, zorder=look.layer, gid=mark)
        axes.plot(x, mean, marker=look.marker, markersize=3, **look.line, gid=mark)
        bad = [at for at, row in enumerate(line.rows) if row.against_baseline_answer == WORSE]
        if bad:
            cross: dict[str, Any] = {"linestyle": "none", "marker": "X", "markersize": 7, "color": PALETTE[1]}
            axes.plot([x[at] for at in bad], mean[bad], zorder=30, gid=mark, **cross)
    step = -(-len(place) // _NAMED)
    named = list(place)[::step]
    axes.set_xticks([place[run] for run in named], fitted(named, 64.0), rotation=45, ha="right")
    axes.set_ylabel(unit.label(metric))
    legend()
    return page.figure
