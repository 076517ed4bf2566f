"""Plots of quantile functions, Tail Value at Risk and distribution functions ([RAB] Fig. 1, 9)."""

from collections.abc import Sequence
from itertools import islice

import numpy as np
from matplotlib.axes import Axes

from riskrank.engine.portfolio.summary import Summary
from riskrank.engine.types import Floats
from riskrank.render.figures.labels import spread_labels
from riskrank.render.figures.legend import PLAIN, Key, Look, axes_with_key, choose_looks
from riskrank.render.figures.marks import curve_mark
from riskrank.render.figures.scatter import sheet_points
from riskrank.render.figures.style import ROW, Plot, in_common_style
from riskrank.render.figures.units import Unit
from riskrank.render.mean_tables import score_title

_READING = {
    "quantiles": "Height at p: the score that a share p of the samples does not exceed. Left: the tail. "
    "A curve that is higher everywhere dominates in first order.",
    "tvar": "Height at p: mean of the worst share p of the samples; left the bad cases, right the mean. "
    "A curve that is higher everywhere dominates in second order: better for the risk-averse.",
    "cdf": "Height: share of the samples with at most this score. Curves further right are better.",
}
CAPTIONS = {
    "quantiles": "Quantile function of each model on {}.",
    "tvar": "Tail Value at Risk of each model on {}: the mean of its worst share of samples.",
    "cdf": "Distribution function of each model on {}.",
}
"""Caption of each kind of curve, with a placeholder for the score column."""
_TITLE = {
    "quantiles": ("Scores from the worst to the best sample", "quantile functions"),
    "tvar": ("Mean of the worst samples", "tail value at risk, TVaR,"),
    "cdf": ("Share of the samples up to each score", "distribution functions"),
}
"""Title in plain words, and statistical term."""


@in_common_style
def draw_curves(
    kind: str, summary: Summary, names: Sequence[str], column: str, order: Sequence[int] | None = None
) -> Plot:
    """Draw one curve for each of k models, with the first models highlighted in color.

    Parameters
    ----------
    kind : {"quantiles", "tvar", "cdf"}
    summary : Summary
    names : sequence of k str
    column : str
        Metric or portfolio that the scores belong to.
    order : sequence of int, optional
        Models from first to last; by default in descending order of their means.
    """
    order = summary.best_mean_first.tolist() if order is None else order
    looks = choose_looks(len(names), order)
    key = Key.from_names(names, order, looks)
    title, method = _TITLE[kind]
    heading = f"{title}, {score_title(column)}"
    page, axes, legend = axes_with_key(key, heading, _READING[kind], method=f"{method} of {column}")
    _draw_lines(axes, kind, summary, looks)
    unit = Unit.choose(summary.quantiles)
    score = unit.label("score")
    axes.set_xlabel(score if kind == "cdf" else "share of samples p")
    axes.set_ylabel(
        "share of samples"
        if kind == "cdf"
        else unit.label("score" if kind == "quantiles" else "mean of the worst share")
    )
    (axes.set_ylim if kind == "cdf" else axes.set_xlim)(0, 1)
    heights = None
    if kind != "cdf":  # distribution functions all end at 1
        heights = _curve_end_heights(axes, summary, kind, [*islice(order, len(names) - looks.count(PLAIN))])
        low, high = sheet_points(page.canvas(), axes, [0, 0], axes.get_ylim())[:, 1]
        desired = low + (high - low) * np.array([*heights, 0.0][: len(key.names)])
        # Reverse the order, so that the best of equal ends is on top.
        heights = spread_labels(desired[::-1], ROW, low, high)[::-1]
    legend(entry_heights=heights)
    return page.figure


def _curve_end_heights(axes: Axes, summary: Summary, kind: str, models: Sequence[int]) -> Floats:
    """Return the heights of the curves' right ends, to place their labels.

    The array has one entry per model, as a fraction of the axis.
    """
    low, high = axes.get_ylim()
    values = summary.tail_values if kind == "tvar" else summary.quantiles
    heights = Unit.choose(summary.quantiles).apply(values[list(models), -1])
    return np.clip((heights - low) / (high - low), 0.0, 1.0)


def _draw_lines(axes: Axes, kind: str, summary: Summary, looks: Sequence[Look]) -> None:
    """Draw the curve of every model on the axes."""
    unit = Unit.choose(summary.quantiles)
    values = unit.apply(summary.tail_values if kind == "tvar" else summary.quantiles)
    # Extend to level 0: all levels up to the first belong to the smallest score.
    levels = np.concatenate([[0.0], summary.levels])
    for model, (look, heights) in enumerate(zip(looks, values, strict=True)):
        line = np.concatenate([heights[:1], heights])
        style = "default" if kind == "tvar" else "steps-post" if kind == "cdf" else "steps-pre"
        x, y = (line, levels) if kind == "cdf" else (levels, line)
        axes.plot(x, y, drawstyle=style, **look.line, gid=curve_mark(model))
