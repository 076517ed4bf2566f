"""The Pareto front with its doubt: models on two objectives, with intervals, by what is shown of each."""

from __future__ import annotations

import numpy as np

from riskrank.engine.family import Side
from riskrank.shown.figures.key import tone
from riskrank.shown.figures.marks import model_mark
from riskrank.shown.figures.rows import dot
from riskrank.shown.figures.scatter import COLUMN
from riskrank.shown.figures.style import GREY, INK, MARGIN, Plot, drawn, sheet
from riskrank.studies.copa.doubt import FrontDoubt
from riskrank.studies.copa.figures.plane import Plane
from riskrank.studies.copa.objectives import Objectives

_NAMED = 12
# Size, colour and fill of a point by what is shown of it.
_STYLES = {Side.SHOWN: (6.0, INK, True), Side.REFUTED: (3.5, GREY, True)}
_OPEN = (5.5, INK, False)


@drawn
def draw_doubt(table: Objectives, doubt: FrontDoubt, first: int, second: int) -> Plot:
    """Draw two objectives against each other, a cross of intervals a model.

    Parameters
    ----------
    table : Objectives
    doubt : FrontDoubt
    first, second : int
        Objectives of the axes.
    """
    width, height, left = 330.0, 260.0, 66.0
    models, state, pair = table.population, doubt.states.state, (first, second)
    plane = Plane.of(table, pair, doubt.low, doubt.high)
    labels = plane.labels
    page = sheet(
        f"Who is on the front of {labels[0]} and {labels[1]}"
        if len(models.metrics) == 2
        else f"Who is on the front, by {labels[0]} and {labels[1]}",
        "Filled: shown to be on the Pareto front of all objectives; open: neither shown nor refuted; grey: "
        f"off it. Crosses: intervals of the values, {100 * doubt.family.confidence:g} % each.",
        width=left + width + COLUMN + MARGIN,
        height=height + 70,
    )
    axes = page.axes(left, 46, width, height)
    bars: list[list[float]] = []
    for model in (known := np.flatnonzero(plane.known)).tolist():
        size, color, full = _STYLES.get(state[model], _OPEN)
        color, mark = tone(model, color), model_mark(model)
        (x, y), ends = (along[model] for along in plane.at), [span[model] for span in plane.spans]
        for across, along in ((ends[0], [y] * 2), ([x] * 2, ends[1])):
            axes.plot(across, along, color=color, linewidth=0.9, zorder=2, gid=mark)
            bars += [*map(list, zip(across, along, strict=True)), [np.nan, np.nan]]
        dot(axes, x, y, mark, color, size=size, full=full)
    states = np.array([-state[model] for model in known.tolist()])
    named = np.lexsort((-doubt.shares.front[known], states))[:_NAMED].tolist()
    plane.finish(page, axes, models.names, known[named].tolist(), tuple(np.array(bars).T))
    return page.figure
