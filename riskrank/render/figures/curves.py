"""Quantile functions, Tail Value at Risk, distribution functions of several models ([RAB] Fig. 1, 9)."""

from collections.abc import Sequence
from itertools import islice

import numpy as np
from matplotlib.axes import Axes

from riskrank.engine.portfolio.summary import Summary
from riskrank.engine.types import Floats
from riskrank.render.figures.labels import spread
from riskrank.render.figures.legend import OTHERS, Key, Look, beside_key, looks
from riskrank.render.figures.marks import curve_mark
from riskrank.render.figures.scatter import sheet_points
from riskrank.render.figures.style import ROW, Plot, drawn
from riskrank.render.figures.units import Unit
from riskrank.render.mean_tables import score_of

_READING = {
    "quantiles": "Height over p: the score that a share p of the samples does not exceed. A curve above "
    "another everywhere dominates it in the first order; the left end is the tail.",
    "tvar": "Height over p: mean of the worst share p of the samples; left the bad cases, right the mean. "
    "A curve above another everywhere dominates it in the second order: better for whoever dislikes risk.",
    "cdf": "Height: share of the samples that score at most so much. The further right a curve, the better.",
}
CAPTIONS = {
    "quantiles": "Quantile function of every model on {}.",
    "tvar": "Tail Value at Risk of every model on {}: the mean of its worst share of samples.",
    "cdf": "Distribution function of every model on {}.",
}
"""What each kind shows, of a column."""
_TITLE = {
    "quantiles": ("Scores from the worst to the best sample", "quantile functions"),
    "tvar": ("Mean of the worst samples", "tail value at risk, TVaR,"),
    "cdf": ("Share of the samples up to each score", "distribution functions"),
}
"""In words, and as statisticians say."""


@drawn
def draw_curves(
    kind: str, found: Summary, names: Sequence[str], column: str, order: Sequence[int] | None = None
) -> Plot:
    """Draw one curve a model, the first ones in colour.

    Parameters
    ----------
    kind : {"quantiles", "tvar", "cdf"}
    found : Summary
    names : sequence of k str
    column : str
        What the scores are: a metric or a portfolio.
    order : sequence of int, optional
        Models, the first ones first; by their means if left out.
    """
    order = found.best_mean_first.tolist() if order is None else order
    given = looks(len(names), order)
    key = Key.of(names, order, given)
    title, method = _TITLE[kind]
    about = f"{title}, {score_of(column)}"
    page, axes, legend = beside_key(key, about, _READING[kind], method=f"{method} of {column}")
    _lines(axes, kind, found, given)
    unit = Unit.of(found.quantiles)
    score = unit.label("score")
    axes.set_xlabel(score if kind == "cdf" else "share of samples p")
    axes.set_ylabel(
        "share of samples"
        if kind == "cdf"
        else unit.label("score" if kind == "quantiles" else "mean of the worst share")
    )
    (axes.set_ylim if kind == "cdf" else axes.set_xlim)(0, 1)
    ends = None
    if kind != "cdf":  # which all end at 1
        ends = _ends(axes, found, kind, [*islice(order, len(names) - given.count(OTHERS))])
        low, high = sheet_points(page.canvas(), axes, [0, 0], axes.get_ylim())[:, 1]
        wanted = low + (high - low) * np.array([*ends, 0.0][: len(key.names)])
        # From the last: of equal ends the best stands on top.
        ends = spread(wanted[::-1], ROW, low, high)[::-1]
    legend(beside=ends)
    return page.figure


def _ends(axes: Axes, found: Summary, kind: str, models: Sequence[int]) -> Floats:
    """How far up the axis the curves of some models end on the right: where their names stand."""
    low, high = axes.get_ylim()
    values = found.tail_values if kind == "tvar" else found.quantiles
    ends = Unit.of(found.quantiles).apply(values[list(models), -1])
    return np.clip((ends - low) / (high - low), 0.0, 1.0)


def _lines(axes: Axes, kind: str, found: Summary, given: Sequence[Look]) -> None:
    unit = Unit.of(found.quantiles)
    values = unit.apply(found.tail_values if kind == "tvar" else found.quantiles)
    # From the left end: the first level belongs to the smallest score, and so does all below it.
    levels = np.concatenate([[0.0], found.levels])
    for model, (look, heights) in enumerate(zip(given, values, strict=True)):
        line = np.concatenate([heights[:1], heights])
        style = "default" if kind == "tvar" else "steps-post" if kind == "cdf" else "steps-pre"
        x, y = (line, levels) if kind == "cdf" else (levels, line)
        axes.plot(x, y, drawstyle=style, **look.line, gid=curve_mark(model))
