"""Figures of ``copa`` documents.

Scatter plots of two objectives show the weight for which each model is chosen ([COPA] Fig. 1 and 4), or the
uncertainty of the front. Over all objectives there are box plots of 1 − u ([COPA] Fig. 8) and parallel
coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle

from riskrank.engine.copa.population import Population
from riskrank.engine.copa.sweep import Sweep
from riskrank.engine.family import Answer
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.render.figures import legend, style, text
from riskrank.render.figures.bump import arrange_bump, draw_bump
from riskrank.render.figures.heat_map import draw_color_scale
from riskrank.render.figures.rows import Rows, draw_bar, draw_dot, ruled_sheet
from riskrank.render.view import Picture, renumber_pictures
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.ranking import CopaDocument
from riskrank.studies.copa.study import ComparisonDocument, OrderSweepDocument, WeightSweepDocument
from riskrank.studies.copa.uncertainty import FrontUncertainty

# Smallest number of objectives for which a box, their middle half, excludes some of them.
_FEWEST_FOR_BOX = 4


@style.common_style()
def draw_boxes(
    order: Integers, quantiles: Floats, mean: Floats, names: Sequence[str], objectives: int
) -> style.Plot:
    """Draw a horizontal box plot for each of N models: the shares of models that it beats on each objective.

    Parameters
    ----------
    order : ndarray of int, shape (N,)
        Models, best first.
    quantiles : ndarray, shape (N, 5)
        Minimum, quartiles and maximum of the shares over the objectives.
    mean : ndarray, shape (N,)
        Mean share over the objectives.
    names : sequence of N str
        Names of the models.
    objectives : int
        Number of objectives that each box summarises.
    """
    rows = Rows.for_models(names, order)
    middle = "box: middle half; bar: median; " if objectives >= _FEWEST_FOR_BOX else ""
    reading = (
        f"Line: from the worst to the best of {objectives} objectives; {middle}"
        "diamond: mean. 1 is the best model. Models are in rank order; a long line "
        "means that a model is weak on some objective."
    )
    page, (axes,) = ruled_sheet(rows, "Share of models beaten, over the objectives", reading, width=320.0)
    rows.prepare_axes(axes, "share of models beaten → better", 5)
    axes.set_xlim(-0.02, 1.02)
    axes.grid(visible=True, axis="x", color=style.FAINT)
    for place, (model, y, mark) in enumerate(zip(order.tolist(), rows.y, rows.marks, strict=True)):
        summary = (*quantiles[model].tolist(), float(mean[model]))
        color = legend.model_color(model) if place < len(rows.labels) else style.GREY
        _draw_box(axes, summary, y, mark, color, objectives=objectives)
    return page.figure


def _draw_box(
    axes: Axes, summary: tuple[float, ...], y: float, mark: str, color: str, *, objectives: int
) -> None:
    """Draw the box plot of one model.

    Parameters
    ----------
    axes : Axes
        Matplotlib axes to draw on.
    summary : tuple of 6 float
        Minimum, quartiles, maximum and mean.
    y : float
        Vertical position.
    mark, color : str
        Identifier of the model in the SVG file, and its colour.
    objectives : int
        Number of objectives; with few of them, no box is drawn.
    """
    least, lower, median, upper, largest, mean = summary
    named = color != style.GREY
    high = 8.0 if named else 1.6
    upright = [y - high / 2, y + high / 2]
    draw_bar(axes, [least, largest], y, mark, style.GREY, width=1.0)
    if objectives >= _FEWEST_FOR_BOX:
        patch: dict[str, Any] = {"facecolor": (color, 0.3), "edgecolor": color, "linewidth": 0.6, "zorder": 3}
        axes.add_patch(Rectangle((lower, upright[0]), upper - lower, high, gid=mark, **patch))
        axes.plot([median, median], upright, color=style.INK, linewidth=1.6, zorder=4, gid=mark)
    elif named:
        for end in (least, largest):
            axes.plot([end, end], upright, color=color, linewidth=1.4, zorder=3, gid=mark)
    if named:
        draw_dot(axes, mean, y, mark, style.INK, marker="D", size=4, filled=False)


@style.common_style()
def draw_parallel(models: Population, order: Integers) -> style.Plot:
    """Draw the ranks as parallel coordinates: one vertical axis per objective, the best rank at the top.

    Parameters
    ----------
    models : Population
        Models with their relative ranks.
    order : ndarray of int
        Feasible models, best first.
    """
    names = models.names
    model_styles = legend.choose_styles(len(names), order)
    key = legend.Key.from_names(names, order, model_styles)
    K = len(models.metrics)
    labels = text.fit_names(models.metrics, 120.0)
    widest = max(text.text_width(label, style.SMALL) for label in labels)
    upright = widest + 12 <= max(56.0, 460.0 / max(K - 1, 1))
    step = max(widest + 12, 56.0, 300.0 / max(K - 1, 1)) if upright else max(30.0, 300.0 / max(K - 1, 1))
    above = 18.0 if upright else widest + 12
    height, below, left = 250.0, 18.0, 46.0 + widest / 2 * upright
    page = style.start_sheet(
        "Ranks on every objective",
        "Height: share of the models that do better on an objective, the best at the top."
        + legend.grey_note(len(names)),
        width=left + step * (K - 1) + max(20.0, widest / 2 + 8) + key.width + style.MARGIN,
        height=above + max(height, key.height) + below,
    )
    axes = page.axes(left, below, step * (K - 1), height)
    axes.set(xlim=(0, K - 1), ylim=(1.03, -0.03), xticks=[], yticks=[0, 0.25, 0.5, 0.75, 1])
    axes.set_ylabel("share of models that do better", size=style.SMALL)
    axes.spines[:].set_visible(False)
    for k in range(K):
        axes.axvline(k, color=style.FAINT, linewidth=1.0, zorder=1)
    _draw_lines(axes, models.u, model_styles)
    canvas = page.canvas()
    layout: dict[str, Any] = {"va": "bottom", "rotation": 0 if upright else 90, "size": style.SMALL}
    for k, label in enumerate(labels):
        text.write_text(canvas, left + step * k, below + height + 5, label, ha="center", **layout)
    key.draw(canvas, left + step * (K - 1) + max(20.0, widest / 2 + 8), below + height)
    return page.figure


def _draw_lines(axes: Axes, u: Floats, model_styles: Sequence[legend.PlotStyle]) -> None:
    """Draw one line per model across the vertical axes; `u` has the ranks, shape (models, objectives)."""
    x = np.arange(u.shape[1])
    for model, plot_style in enumerate(model_styles):
        if plot_style is legend.PLAIN:
            faint = plot_style.line | {"linewidth": 0.5, "alpha": 0.6}
            axes.plot(x, u[model], **faint, clip_on=False, gid=text.curve_mark(model))
        else:
            legend.draw_marked_line(axes, x, u[model], plot_style, model, 4, clip_on=False)


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
        Label of each axis.
    intervals : tuple of ndarray, shapes (N, 2)
        Intervals along each axis, or empty if there are none.
    """

    labels: Sequence[str]
    positions: tuple[Floats, ...]
    axis_labels: Sequence[str]
    intervals: tuple[Floats, ...] = ()

    @classmethod
    def from_objectives(cls, table: Objectives, pair: tuple[int, int], *limits: Floats) -> Plane:
        """Create the plane of the two objectives with the indices `pair`.

        `limits` may contain the lower and the upper interval limits of all values, shape (N, K).
        """
        labels = text.fit_names([table.population.metrics[k] for k in pair], 150.0)
        positions, axis_labels, spans = [], [], []
        for k, label in zip(pair, labels, strict=True):
            column, *ends = (values[:, k] for values in (table.values, *limits))
            unit = style.Unit.choose(column, *ends, percent=bool(table.are_proportions[k]))
            arrow = "→ better" if table.larger_is_better[k] else "← better"
            positions.append(unit.apply(column))
            axis_labels.append(f"{unit.label(label)}  {arrow}")
            spans += [unit.apply(np.stack(ends, axis=-1))] if ends else []
        return cls(labels, tuple(positions), axis_labels, tuple(spans))

    @property
    def located(self) -> Booleans:
        """Mask of the models whose coordinates are known, shape (N,)."""
        return np.asarray(~np.isnan(self.positions).any(axis=0))

    def label_axes(self, page: Any, axes: Axes, names: Sequence[str], named: Sequence[int]) -> None:
        """Label the axes, and write the names of the models in `named` next to their points.

        `page` is the sheet that contains the axes, and `names` the names of all models.
        """
        axes.margins(0.07)
        axes.grid(visible=True, color=style.FAINT)
        axes.set_xlabel(self.axis_labels[0], size=style.SMALL)
        axes.set_ylabel(self.axis_labels[1], size=style.SMALL)
        legend.label_points(page.canvas(), axes, self.positions[0], self.positions[1], names, named)


_NAMED_BY_WEIGHT = 8
# From dark to light in even steps, without the lightest colours, which are invisible on paper.
_COLORS = ListedColormap(colormaps["cividis"](np.linspace(0.0, 0.92, 256)))


@style.common_style()
def draw_front(table: Objectives, sweep: Sweep, other: int) -> style.Plot:
    """Draw two objectives as values and as ranks, coloured by the weight for which each model is chosen.

    Parameters
    ----------
    table : Objectives
        Values, ranks, constraints and weights of all models.
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
    page = style.start_sheet(
        f"COPA's choice by the weight of {first}",
        f"Colour: weight α of {first} at which a model is chosen (the others share 1 − α). Open: on the "
        "Pareto front of all objectives, but never chosen. Grey: dominated or infeasible. Lower panel: "
        "shares of models that do better.",
        width=left + width + legend.COLUMN + style.MARGIN,
        height=2 * height + gap + 100,
    )
    better = "share better  ← better"
    x, y = models.u[:, sweep.objective], models.u[:, other]
    ranks = Plane(plane.labels, (x, y), (f"{first}: {better}", f"{second}: {better}"))
    order = np.argsort(-sweep.share, kind="stable")
    chosen = order[~np.isnan(weight[order])]
    for number, (title, panel) in enumerate((("As measured", plane), ("As ranks", ranks))):
        axes = page.axes(left, 86 + (1 - number) * (height + gap), width, height)
        axes.set_title(title, size=text.TEXT, weight="bold", loc="left", pad=5)
        _draw_points(axes, models.front, weight, panel)
        named = chosen[panel.located[chosen]][:_NAMED_BY_WEIGHT]
        panel.label_axes(page, axes, models.names, named.tolist())
    bar = page.axes(left, 34, width, 8)
    draw_color_scale(bar, _COLORS, orientation="horizontal")
    bar.set_xlabel(f"weight α of {first}", size=style.SMALL)
    return page.figure


def _draw_points(axes: Axes, front: Booleans, weight: Floats, panel: Plane) -> None:
    """Draw one point per model, coloured by the weight for which it is chosen.

    Parameters
    ----------
    axes : Axes
        Matplotlib axes to draw on.
    front : ndarray of bool
        True for models on the Pareto front.
    weight : ndarray
        Mean weight for which a model is chosen, or NaN if it never is.
    panel : Plane
        Positions of the models.
    """
    for model in np.flatnonzero(panel.located).tolist():
        (x, y), mark = (coordinates[model] for coordinates in panel.positions), text.model_mark(model)
        if not np.isnan(weight[model]):
            draw_dot(axes, x, y, mark, style.INK, marker="D", size=6.3, fill=_COLORS(float(weight[model])))
        elif front[model]:
            draw_dot(axes, x, y, mark, style.INK, size=4.2, filled=False)
        else:
            draw_dot(axes, x, y, mark, style.GREY, size=3)


_NAMED = 12
# Size, colour and fill of a point by the state of its model.
_STYLES = {Answer.SIGNIFICANT: (6.0, style.INK, True), Answer.CONTRADICTED: (3.5, style.GREY, True)}
_OPEN = (5.5, style.INK, False)


@style.common_style()
def draw_front_uncertainty(
    table: Objectives, uncertainty: FrontUncertainty, first: int, second: int
) -> style.Plot:
    """Draw two objectives as a scatter plot with horizontal and vertical intervals.

    Parameters
    ----------
    table : Objectives
        Values, ranks, constraints and weights of all models.
    uncertainty : FrontUncertainty
        Results of the front tests, with intervals.
    first, second : int
        Indices of the objectives on the two axes.
    """
    width, height, left = 330.0, 260.0, 66.0
    models, state, pair = table.population, uncertainty.membership.state, (first, second)
    plane = Plane.from_objectives(table, pair, uncertainty.low, uncertainty.high)
    labels = plane.labels
    page = style.start_sheet(
        f"Models on the Pareto front of {labels[0]} and {labels[1]}"
        if len(models.metrics) == 2
        else f"Models on the Pareto front, by {labels[0]} and {labels[1]}",
        "Filled: significantly on the Pareto front of all objectives; open: undecided; grey: significantly "
        f"off it. Crosses: intervals of the values, {100 * uncertainty.family.confidence:g} % each.",
        width=left + width + legend.COLUMN + style.MARGIN,
        height=height + 70,
    )
    axes = page.axes(left, 46, width, height)
    for model in (located := np.flatnonzero(plane.located)).tolist():
        size, color, full = _STYLES.get(state[model], _OPEN)
        color, mark = legend.row_color(model, color), text.model_mark(model)
        x, y = (coordinates[model] for coordinates in plane.positions)
        spans = [span[model] for span in plane.intervals]
        for x_values, y_values in ((spans[0], [y] * 2), ([x] * 2, spans[1])):
            axes.plot(x_values, y_values, color=color, linewidth=0.9, zorder=2, gid=mark)
        draw_dot(axes, x, y, mark, color, size=size, filled=full)
    states = np.array([-state[model] for model in located.tolist()])
    named = np.lexsort((-uncertainty.shares.front[located], states))[:_NAMED].tolist()
    plane.label_axes(page, axes, models.names, located[named].tolist())
    return page.figure


Documents = CopaDocument | ComparisonDocument | OrderSweepDocument | WeightSweepDocument


def pictures(document: Documents) -> list[Picture]:
    """Return the pictures of a ``copa`` document."""
    # The document may have more models, or another order.
    names = document.objectives.population.names
    return renumber_pictures(_pictures(document), names, document.provenance.models)


def _pictures(document: Documents) -> list[Picture]:
    """Return the pictures of a document, with models numbered as in its table of objectives."""
    if isinstance(document, ComparisonDocument):
        caption = "Ranks of every model by every scalarization, joined by lines."
        comparison, names = document.comparison, document.objectives.population.names
        models = [names[model] for model in comparison.models]
        bump = arrange_bump(comparison.comparison.rank)
        drawing = partial(draw_bump, bump, models, comparison.names, "Ranks by every scalarization")
        return renumber_pictures([Picture("bump", caption, drawing)], models, names)
    if isinstance(document, WeightSweepDocument):
        result = []
        for p, sweep in document.sweeps:
            suffix = f"@p={p:g}" if len(document.sweeps) > 1 and p is not None else ""
            result += _front_pictures(document.objectives, sweep, suffix)
        return result
    return _ranking_pictures(document) if isinstance(document, CopaDocument) else []


def _ranking_pictures(document: CopaDocument) -> list[Picture]:
    """Return the pictures of a ranking: Pareto front with uncertainty, ranks, box plots and weight sweeps."""
    table, metrics, pictures = document.objectives, document.objectives.population.metrics, list[Picture]()
    if (uncertainty := document.uncertainty) is not None:
        # Pairs of objectives with the largest weights come first.
        for x, y in combinations(np.argsort(-table.weights, kind="stable").tolist(), 2):
            pair = f"{metrics[x]} and {metrics[y]}"
            caption = f"Models by {pair} with intervals: on the front, off it, undecided."
            picture = partial(draw_front_uncertainty, table, uncertainty, x, y)
            pictures.append(Picture(f"doubt@{metrics[x]}@{metrics[y]}", caption, picture))
    if len(table.population.metrics) > 1:
        caption = "Ranks of every model on every objective, joined by lines; the first ones in colour."
        drawing = partial(draw_parallel, table.population, document.leading_ranking.order)
        pictures.append(Picture("parallel", caption, drawing))
    caption = "Proportion of models that each model beats (box plots over the objectives)."
    shares, names = (document.ccdf_quantiles, document.ccdf_mean), table.population.names
    order, n_objectives = document.leading_ranking.order, len(table.population.metrics)
    drawing = partial(draw_boxes, order, *shares, names, n_objectives)
    pictures.append(Picture("boxes", caption, drawing))
    for sweep, metric in zip(document.sweeps, table.population.metrics, strict=bool(document.sweeps)):
        pictures += _front_pictures(table, sweep, f"@{metric}")
    return pictures


def _front_pictures(table: Objectives, sweep: Sweep, suffix: str) -> list[Picture]:
    """Return one picture per objective, plotted against the objective whose weight is swept.

    `suffix` is appended to the picture's name.
    """
    assert sweep.objective is not None
    swept, pictures = table.population.metrics[sweep.objective], []
    for other, name in enumerate(table.population.metrics):
        if other != sweep.objective:
            caption = f"Models by {swept} and {name}, coloured by the weight of {swept} that chooses them."
            drawing = partial(draw_front, table, sweep, other)
            pictures.append(Picture(f"front{suffix}@{name}", caption, drawing))
    return pictures
