"""Models on two objectives: the front by the weight that chooses each ([COPA] Fig. 1 and 4), or its doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from riskrank.engine.copa.sweep import Sweep
from riskrank.engine.family import Side
from riskrank.engine.types import Booleans, Floats
from riskrank.render.figures.fonts import TEXT
from riskrank.render.figures.heat_map import color_scale
from riskrank.render.figures.legend import tone
from riskrank.render.figures.marks import model_mark
from riskrank.render.figures.names import fitted
from riskrank.render.figures.rows import dot
from riskrank.render.figures.scatter import COLUMN, name_points
from riskrank.render.figures.style import FAINT, GREY, INK, MARGIN, SMALL, Plot, drawn, sheet
from riskrank.render.figures.units import Unit
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.uncertainty import FrontUncertainty


@dataclass(frozen=True, eq=False)
class Plane:
    """Two objectives.

    Attributes
    ----------
    labels : (str, str)
        Their names, as long as there is room.
    at : (ndarray, ndarray), shapes (N,)
        Where the models lie, in the units of the axes; NaN where nothing is known.
    heads : (str, str)
        Of the axes.
    spans : tuple of ndarray, shapes (N, 2)
        Intervals along either axis, where there are some.
    """

    labels: Sequence[str]
    positions: tuple[Floats, ...]
    axis_labels: Sequence[str]
    intervals: tuple[Floats, ...] = ()

    @classmethod
    def of(cls, table: Objectives, pair: tuple[int, int], *ends: Floats) -> Plane:
        """Two objectives as measured, and the ends of intervals of all of them."""
        labels = fitted([table.population.metrics[k] for k in pair], 150.0)
        parts = [[of[:, k] for of in (table.values, *ends)] for k in pair]
        units = [Unit.of(*own, percent=bool(table.percent[k])) for own, k in zip(parts, pair, strict=True)]
        arrows = ["→ better" if table.larger_is_better[k] else "← better" for k in pair]
        heads = [
            f"{one.label(label)}  {arrow}" for one, label, arrow in zip(units, labels, arrows, strict=True)
        ]
        both = [*zip(units, parts, strict=True)]
        spans = tuple(one.apply(np.stack(own[1:], axis=-1)) for one, own in both if ends)
        return cls(labels, tuple(one.apply(own[0]) for one, own in both), heads, spans)

    @property
    def located(self) -> Booleans:
        """Which models lie somewhere, shape (N,)."""
        return np.asarray(~np.isnan(self.positions).any(axis=0))

    def finish(self, page: Any, axes: Axes, names: Sequence[str], named: Sequence[int]) -> None:
        """Label the axes, and name some models beside them."""
        axes.margins(0.07)
        axes.grid(visible=True, color=FAINT)
        axes.set_xlabel(self.axis_labels[0], size=SMALL)
        axes.set_ylabel(self.axis_labels[1], size=SMALL)
        name_points(page.canvas(), axes, self.positions[0], self.positions[1], names, named)


_NAMED_BY_WEIGHT = 8
# From dark to light in even steps, without the ends that paper swallows.
_COLORS = ListedColormap(colormaps["cividis"](np.linspace(0.0, 0.92, 256)))


@drawn
def draw_front(table: Objectives, sweep: Sweep, other: int) -> Plot:
    """Draw the objective whose weight is swept against another, as measured, and as ranks.

    Parameters
    ----------
    table : Objectives
    sweep : Sweep
        Of a weight.
    other : int
        The other objective.
    """
    assert sweep.objective is not None
    width, height, left, gap = 330.0, 230.0, 66.0, 74.0
    models, weight = table.population, sweep.mean_parameter
    plane = Plane.of(table, (sweep.objective, other))
    first, second = plane.labels
    page = sheet(
        f"Which model COPA chooses as {first} gains weight",
        f"Colour: the weight α of {first} that chooses a model, the others sharing the rest; open: on the "
        "Pareto front of all objectives, never chosen; grey: dominated or not feasible. Below, the same as "
        "shares of the models that do better.",
        width=left + width + COLUMN + MARGIN,
        height=2 * height + gap + 100,
    )
    better = "share better  ← better"
    x, y = models.u[:, sweep.objective], models.u[:, other]
    ranks = Plane(plane.labels, (x, y), (f"{first}: {better}", f"{second}: {better}"))
    chosen = [at for at in np.argsort(-sweep.share, kind="stable").tolist() if not np.isnan(weight[at])]
    for number, (title, panel) in enumerate((("As measured", plane), ("As ranks", ranks))):
        axes = page.axes(left, 86 + (1 - number) * (height + gap), width, height)
        axes.set_title(title, size=TEXT, weight="bold", loc="left", pad=5)
        _draw_points(axes, models.front, weight, panel)
        panel.finish(page, axes, models.names, [at for at in chosen if panel.located[at]][:_NAMED_BY_WEIGHT])
    bar = page.axes(left, 34, width, 8)
    color_scale(bar, _COLORS, 0, orientation="horizontal")
    bar.set_xlabel(f"weight α of {first}", size=SMALL)
    return page.figure


def _draw_points(axes: Axes, front: Booleans, weight: Floats, panel: Plane) -> None:
    for model in np.flatnonzero(panel.located).tolist():
        (x, y), mark = (along[model] for along in panel.positions), model_mark(model)
        if not np.isnan(weight[model]):
            dot(axes, x, y, mark, INK, marker="D", size=6.3, inside=_COLORS(float(weight[model])))
        elif front[model]:
            dot(axes, x, y, mark, INK, size=4.2, full=False)
        else:
            dot(axes, x, y, mark, GREY, size=3)


_NAMED = 12
# Size, colour and fill of a point by what is shown of it.
_STYLES = {Side.SHOWN: (6.0, INK, True), Side.REFUTED: (3.5, GREY, True)}
_OPEN = (5.5, INK, False)


@drawn
def draw_front_uncertainty(table: Objectives, doubt: FrontUncertainty, first: int, second: int) -> Plot:
    """Draw two objectives against each other, a cross of intervals a model.

    Parameters
    ----------
    table : Objectives
    doubt : FrontDoubt
    first, second : int
        Objectives of the axes.
    """
    width, height, left = 330.0, 260.0, 66.0
    models, state, pair = table.population, doubt.membership.state, (first, second)
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
    for model in (known := np.flatnonzero(plane.located)).tolist():
        size, color, full = _STYLES.get(state[model], _OPEN)
        color, mark = tone(model, color), model_mark(model)
        (x, y), ends = (along[model] for along in plane.positions), [span[model] for span in plane.intervals]
        for across, along in ((ends[0], [y] * 2), ([x] * 2, ends[1])):
            axes.plot(across, along, color=color, linewidth=0.9, zorder=2, gid=mark)
        dot(axes, x, y, mark, color, size=size, full=full)
    states = np.array([-state[model] for model in known.tolist()])
    named = np.lexsort((-doubt.shares.front[known], states))[:_NAMED].tolist()
    plane.finish(page, axes, models.names, known[named].tolist())
    return page.figure
