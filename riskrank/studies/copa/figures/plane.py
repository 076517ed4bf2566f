"""Scatter plots of two objectives.

They show the weight for which each model is chosen ([COPA] Fig. 1 and 4), or the uncertainty of the front.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from riskrank.engine.copa.sweep import Sweep
from riskrank.engine.family import Answer
from riskrank.engine.types import Booleans, Floats
from riskrank.render.figures.heat_map import draw_color_scale
from riskrank.render.figures.legend import COLUMN, label_points, row_color
from riskrank.render.figures.rows import draw_dot
from riskrank.render.figures.style import (
    FAINT,
    GREY,
    INK,
    MARGIN,
    SMALL,
    Plot,
    Unit,
    in_common_style,
    start_sheet,
)
from riskrank.render.figures.text import TEXT, fit_names, model_mark
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.uncertainty import FrontUncertainty


@dataclass(frozen=True, eq=False)
class Plane:
    """Positions of N models on two objectives.

    Attributes
    ----------
    labels : (str, str)
        Names of the objectives, shortened to fit.
    positions : (ndarray, ndarray), shapes (N,)
        Coordinates of the models in axis units, or NaN where unknown.
    axis_labels : (str, str)
    intervals : tuple of ndarray, shapes (N, 2)
        Intervals along each axis, or empty if there are none.
    """

    labels: Sequence[str]
    positions: tuple[Floats, ...]
    axis_labels: Sequence[str]
    intervals: tuple[Floats, ...] = ()

    @classmethod
    def from_objectives(cls, table: Objectives, pair: tuple[int, int], *limits: Floats) -> Plane:
        """Return the plane of two objectives, with optional lower and upper limits for all objectives."""
        labels = fit_names([table.population.metrics[k] for k in pair], 150.0)
        parts = [[values[:, k] for values in (table.values, *limits)] for k in pair]
        units = [
            Unit.choose(*pair_values, percent=bool(table.are_proportions[k]))
            for pair_values, k in zip(parts, pair, strict=True)
        ]
        arrows = ["→ better" if table.larger_is_better[k] else "← better" for k in pair]
        axis_labels = [
            f"{unit.label(label)}  {arrow}" for unit, label, arrow in zip(units, labels, arrows, strict=True)
        ]
        pairs = [*zip(units, parts, strict=True)]
        spans = tuple(unit.apply(np.stack(pair_values[1:], axis=-1)) for unit, pair_values in pairs if limits)
        return cls(
            labels, tuple(unit.apply(pair_values[0]) for unit, pair_values in pairs), axis_labels, spans
        )

    @property
    def located(self) -> Booleans:
        """Mask of the models whose coordinates are known, shape (N,)."""
        return np.asarray(~np.isnan(self.positions).any(axis=0))

    def label_axes(self, page: Any, axes: Axes, names: Sequence[str], named: Sequence[int]) -> None:
        """Label the axes, and write the names of selected models next to their points."""
        axes.margins(0.07)
        axes.grid(visible=True, color=FAINT)
        axes.set_xlabel(self.axis_labels[0], size=SMALL)
        axes.set_ylabel(self.axis_labels[1], size=SMALL)
        label_points(page.canvas(), axes, self.positions[0], self.positions[1], names, named)


_NAMED_BY_WEIGHT = 8
# From dark to light in even steps, without the lightest colours, which are invisible on paper.
_COLORS = ListedColormap(colormaps["cividis"](np.linspace(0.0, 0.92, 256)))


@in_common_style
def draw_front(table: Objectives, sweep: Sweep, other: int) -> Plot:
    """Draw two objectives as values and as ranks, coloured by the weight for which each model is chosen.

    Parameters
    ----------
    table : Objectives
    sweep : Sweep
        Sweep of the weight of the first objective.
    other : int
        Index of the second objective.
    """
    assert sweep.objective is not None
    width, height, left, gap = 330.0, 230.0, 66.0, 74.0
    models, weight = table.population, sweep.mean_parameter
    plane = Plane.from_objectives(table, (sweep.objective, other))
    first, second = plane.labels
    page = start_sheet(
        f"COPA's choice by the weight of {first}",
        f"Colour: weight α of {first} at which a model is chosen (the others share 1 − α). Open: on the "
        "Pareto front of all objectives, but never chosen. Grey: dominated or infeasible. Lower panel: "
        "shares of models that do better.",
        width=left + width + COLUMN + MARGIN,
        height=2 * height + gap + 100,
    )
    better = "share better  ← better"
    x, y = models.u[:, sweep.objective], models.u[:, other]
    ranks = Plane(plane.labels, (x, y), (f"{first}: {better}", f"{second}: {better}"))
    chosen = [
        model for model in np.argsort(-sweep.share, kind="stable").tolist() if not np.isnan(weight[model])
    ]
    for number, (title, panel) in enumerate((("As measured", plane), ("As ranks", ranks))):
        axes = page.axes(left, 86 + (1 - number) * (height + gap), width, height)
        axes.set_title(title, size=TEXT, weight="bold", loc="left", pad=5)
        _draw_points(axes, models.front, weight, panel)
        panel.label_axes(
            page, axes, models.names, [model for model in chosen if panel.located[model]][:_NAMED_BY_WEIGHT]
        )
    bar = page.axes(left, 34, width, 8)
    draw_color_scale(bar, _COLORS, 0, orientation="horizontal")
    bar.set_xlabel(f"weight α of {first}", size=SMALL)
    return page.figure


def _draw_points(axes: Axes, front: Booleans, weight: Floats, panel: Plane) -> None:
    """Draw one point per model, coloured by the weight for which it is chosen."""
    for model in np.flatnonzero(panel.located).tolist():
        (x, y), mark = (coordinates[model] for coordinates in panel.positions), model_mark(model)
        if not np.isnan(weight[model]):
            draw_dot(axes, x, y, mark, INK, marker="D", size=6.3, fill=_COLORS(float(weight[model])))
        elif front[model]:
            draw_dot(axes, x, y, mark, INK, size=4.2, filled=False)
        else:
            draw_dot(axes, x, y, mark, GREY, size=3)


_NAMED = 12
# Size, colour and fill of a point by the state of its model.
_STYLES = {Answer.SIGNIFICANT: (6.0, INK, True), Answer.CONTRADICTED: (3.5, GREY, True)}
_OPEN = (5.5, INK, False)


@in_common_style
def draw_front_uncertainty(table: Objectives, uncertainty: FrontUncertainty, first: int, second: int) -> Plot:
    """Draw two objectives as a scatter plot with horizontal and vertical intervals.

    Parameters
    ----------
    table : Objectives
    uncertainty : FrontUncertainty
    first, second : int
        Indices of the objectives on the two axes.
    """
    width, height, left = 330.0, 260.0, 66.0
    models, state, pair = table.population, uncertainty.membership.state, (first, second)
    plane = Plane.from_objectives(table, pair, uncertainty.low, uncertainty.high)
    labels = plane.labels
    page = start_sheet(
        f"Models on the front of {labels[0]} and {labels[1]}"
        if len(models.metrics) == 2
        else f"Models on the front, by {labels[0]} and {labels[1]}",
        "Filled: significantly on the Pareto front of all objectives; open: undecided; grey: significantly "
        f"off it. Crosses: intervals of the values, {100 * uncertainty.family.confidence:g} % each.",
        width=left + width + COLUMN + MARGIN,
        height=height + 70,
    )
    axes = page.axes(left, 46, width, height)
    for model in (located := np.flatnonzero(plane.located)).tolist():
        size, color, full = _STYLES.get(state[model], _OPEN)
        color, mark = row_color(model, color), model_mark(model)
        (x, y), spans = (
            (coordinates[model] for coordinates in plane.positions),
            [span[model] for span in plane.intervals],
        )
        for x_values, y_values in ((spans[0], [y] * 2), ([x] * 2, spans[1])):
            axes.plot(x_values, y_values, color=color, linewidth=0.9, zorder=2, gid=mark)
        draw_dot(axes, x, y, mark, color, size=size, filled=full)
    states = np.array([-state[model] for model in located.tolist()])
    named = np.lexsort((-uncertainty.shares.front[located], states))[:_NAMED].tolist()
    plane.label_axes(page, axes, models.names, located[named].tolist())
    return page.figure
