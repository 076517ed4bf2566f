"""The Pareto front with its doubt: models on two objectives, with intervals, by what is shown of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.population import Population
from riskrank.engine.family import Side
from riskrank.engine.types import Booleans, Floats
from riskrank.shown.figures.key import tone
from riskrank.shown.figures.marks import model_mark
from riskrank.shown.figures.names import fitted
from riskrank.shown.figures.rows import dot
from riskrank.shown.figures.scatter import COLUMN, name_points
from riskrank.shown.figures.style import FAINT, GREY, INK, MARGIN, SMALL, Plot, drawn, sheet
from riskrank.shown.figures.units import Unit

_NAMED = 12
# Size, colour and fill of a point by what is shown of it.
_STYLES = {Side.SHOWN: (6.0, INK, True), Side.REFUTED: (3.5, GREY, True)}
_OPEN = (5.5, INK, False)


@dataclass(frozen=True, eq=False)
class DoubtfulPoints:
    """Models on all objectives, in the units of the file.

    Attributes
    ----------
    values, low, high : ndarray, shape (N, K)
        NaN where nothing is known.
    larger_is_better : ndarray of bool, shape (K,)
    state : tuple of N Side
        ``on``, ``off`` or ``open``.
    level : float
        Coverage of the intervals.
    on_front : ndarray, shape (N,)
        Shares of resamples: of models of one state, whom to name first.
    percent : ndarray of bool, shape (K,)
        Which objectives are shares.
    """

    values: Floats
    low: Floats
    high: Floats
    larger_is_better: Booleans
    state: tuple[Side, ...]
    level: float
    on_front: Floats
    percent: Booleans


@drawn
def draw_doubt(models: Population, points: DoubtfulPoints, first: int, second: int) -> Plot:
    """Draw two objectives against each other, a cross of intervals a model.

    Parameters
    ----------
    models : Population
    points : DoubtfulPoints
    first, second : int
        Objectives of the axes.
    """
    width, height, left = 330.0, 260.0, 66.0
    pair = [first, second]
    labels = fitted([models.metrics[at] for at in pair], 150.0)
    page = sheet(
        f"Who is on the front of {labels[0]} and {labels[1]}"
        if len(models.metrics) == 2
        else f"Who is on the front, by {labels[0]} and {labels[1]}",
        "Filled: shown to be on the Pareto front of all objectives; open: neither shown nor refuted; grey: "
        f"off it. Crosses: intervals of the values, {100 * points.level:g} % each.",
        width=left + width + COLUMN + MARGIN,
        height=height + 70,
    )
    axes = page.axes(left, 46, width, height)
    units = [
        Unit.of(points.values[:, at], points.low[:, at], points.high[:, at], percent=bool(points.percent[at]))
        for at in pair
    ]
    x, y = (unit.apply(points.values[:, at]) for unit, at in zip(units, pair, strict=True))
    known = np.flatnonzero(~(np.isnan(x) | np.isnan(y)))
    bars: list[list[float]] = []
    for model in known.tolist():
        size, color, full = _STYLES.get(points.state[model], _OPEN)
        color, mark = tone(model, color), model_mark(model)
        ends = [
            unit.apply([points.low[model, at], points.high[model, at]])
            for unit, at in zip(units, pair, strict=True)
        ]
        for across, along in ((ends[0], [y[model]] * 2), ([x[model]] * 2, ends[1])):
            axes.plot(across, along, color=color, linewidth=0.9, zorder=2, gid=mark)
            bars += [*map(list, zip(across, along, strict=True)), [np.nan, np.nan]]
        dot(axes, x[model], y[model], mark, color, size=size, full=full)
    axes.margins(0.07)
    axes.grid(visible=True, color=FAINT)
    arrows = ["→ better" if points.larger_is_better[at] else "← better" for at in pair]
    axes.set_xlabel(f"{units[0].label(labels[0])}  {arrows[0]}", size=SMALL)
    axes.set_ylabel(f"{units[1].label(labels[1])}  {arrows[1]}", size=SMALL)
    states = np.array([-points.state[model] for model in known.tolist()])
    named = np.lexsort((-points.on_front[known], states))[:_NAMED].tolist()
    name_points(
        page.canvas(),
        axes,
        x[known],
        y[known],
        [models.names[model] for model in known],
        named,
        marks=[model_mark(int(model)) for model in known],
        line=tuple(np.array(bars).T),
    )
    return page.figure
