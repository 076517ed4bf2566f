"""Curves: distributions of scores, their differences between two models, and values against sample size.

Functions of distributions are shown as in Fig. 1 and 9 of [RAB]. The comparison of two models shows the
differences of the quantile and integrated quantile functions of [RAB] Fig. 5; the violation ratio integrates
their squares. Curves with error bars show power ([RAB] Fig. 6, 7) and the stability of rankings ([RAB]
Fig. 2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from riskrank.engine.dominance.influence import PairCurves
from riskrank.engine.portfolio.summary import Summary
from riskrank.engine.types import Floats, Integers
from riskrank.render import WORDS
from riskrank.render.figures import style, text
from riskrank.render.figures.legend import PLAIN, Key, PlotStyle, axes_with_key, choose_styles, sheet_points
from riskrank.render.mean_tables import score_title
from riskrank.render.numbers import format_ratio
from riskrank.studies.wording import format_percent

# Caption of each kind of curve, with a placeholder for the score column.
CAPTIONS: dict[str, str] = {kind: words["caption"] for kind, words in WORDS["curves"].items()}


@style.common_style()
def draw_curves(
    kind: str, summary: Summary, names: Sequence[str], column: str, order: Sequence[int] | None = None
) -> style.Plot:
    """Draw one curve for each of k models, with the first models highlighted in color.

    Parameters
    ----------
    kind : {"quantiles", "tvar", "cdf"}
        Quantile functions, tail means by tail proportion, or distribution functions.
    summary : Summary
        Means, quantiles and tail means of all models.
    names : sequence of k str
        Names of the models.
    column : str
        Metric or portfolio that the scores belong to.
    order : sequence of int, optional
        Models from first to last; by default in descending order of their means.
    """
    order = summary.best_mean_first.tolist() if order is None else order
    styles = choose_styles(len(names), order)
    key = Key.from_names(names, order, styles)
    words = WORDS["curves"][kind]
    heading, method = f"{words['title']}, {score_title(column)}", f"{words['method']} of {column}"
    page, axes, legend = axes_with_key(key, heading, words["reading"], method=method)
    _draw_lines(axes, kind, summary, styles)
    unit = style.Unit.choose(summary.quantiles)
    share, score, mean = "share of samples p", unit.label("score"), unit.label("mean of the worst share")
    labels = {"cdf": (score, "share of samples"), "quantiles": (share, score), "tvar": (share, mean)}
    across, up = labels[kind]
    axes.set(xlabel=across, ylabel=up)
    (axes.set_ylim if kind == "cdf" else axes.set_xlim)(0, 1)
    heights = None
    if kind != "cdf":  # distribution functions all end at 1
        values = summary.tail_values if kind == "tvar" else summary.quantiles
        ends = unit.apply(values[[*islice(order, len(names) - styles.count(PLAIN))], -1])
        bottom, top = axes.get_ylim()
        low, high = sheet_points(page.canvas(), axes, [0, 0], [bottom, top])[:, 1]
        shares = np.clip((ends - bottom) / (top - bottom), 0.0, 1.0)
        desired = low + (high - low) * np.array([*shares, 0.0][: len(key.names)])
        # Reverse the order, so that the best of equal ends is on top.
        heights = text.spread_labels(desired[::-1], style.ROW, low, high)[::-1]
    legend(entry_heights=heights)
    return page.figure


def _draw_lines(axes: Axes, kind: str, summary: Summary, styles: Sequence[PlotStyle]) -> None:
    """Draw the curve of every model on the axes."""
    unit = style.Unit.choose(summary.quantiles)
    values = unit.apply(summary.tail_values if kind == "tvar" else summary.quantiles)
    # Extend to level 0: all levels up to the first belong to the smallest score.
    levels = np.concatenate([[0.0], summary.levels])
    for model, (plot_style, heights) in enumerate(zip(styles, values, strict=True)):
        line = np.concatenate([heights[:1], heights])
        drawstyle = "default" if kind == "tvar" else "steps-post" if kind == "cdf" else "steps-pre"
        x, y = (line, levels) if kind == "cdf" else (levels, line)
        axes.plot(x, y, drawstyle=drawstyle, **plot_style.line, gid=text.curve_mark(model))


_WIDTH = 340.0


@dataclass(frozen=True)
class ErrorBars:
    """Data for c curves with error bars at s sample sizes.

    Attributes
    ----------
    sizes : ndarray of int, shape (s,)
        Sample sizes, increasing.
    values, errors : ndarray, shape (c, s)
        Value of each curve, and half-length of its error bar.
    order : tuple of int
        Indices of the curves, most important first.
    """

    sizes: Integers
    values: Floats
    errors: Floats
    order: tuple[int, ...]


@style.common_style()
def draw_error_bars(
    curves: ErrorBars,
    names: Sequence[str],
    title: str,
    explanation: str,
    *,
    ylabel: str,
    lower: float = 0.0,
    smallest: float = 0.0,
    target: tuple[float, int | None] | None = None,
) -> style.Plot:
    """Draw curves against sample size on a logarithmic axis.

    Parameters
    ----------
    curves : ErrorBars
        Values with error bars.
    names : sequence of c str
        Names of the curves.
    title, explanation, ylabel : str
        Title of the figure, the text below it, and the label of the vertical axis.
    lower : float
        Lower limit of the vertical axis; its upper limit is 1.
    smallest : float
        Smallest possible value; error bars are clipped to the range from here to 1.
    target : (float, int or None), optional
        Target value, and the sample size that reaches it, if any; both are marked by dashed lines.
    """
    styles = choose_styles(len(names), curves.order, are_models=False)
    key = Key.from_names(names, curves.order, styles)
    page, axes, legend = axes_with_key(key, title, explanation)
    _label_sizes(axes, curves.sizes)
    axes.set(xlabel="samples", ylabel=ylabel, ylim=(lower, 1.02))
    nearest = float(np.diff(np.log(curves.sizes)).min()) if curves.sizes.size > 1 else 0.2
    span = float(np.log(curves.sizes[-1] / curves.sizes[0]))
    step = min(0.5 * nearest / max(len(names), 1), 0.02 * max(span, 0.2))
    # Curves are shifted sideways, so that error bars do not overlap.
    factors = np.exp(step * (np.arange(len(names)) - (len(names) - 1) / 2))
    for plot_style, values, errors, factor in zip(styles, curves.values, curves.errors, factors, strict=True):
        # Error bars must not extend beyond the possible values.
        reach = np.minimum(errors, [values - smallest, 1 - values])
        axes.errorbar(
            curves.sizes * factor,
            values,
            yerr=np.maximum(reach, 0),
            marker=plot_style.marker,
            markersize=4,
            elinewidth=0.8,
            capsize=2,
            **plot_style.line,
        )
    if target is not None:
        dashed: dict[str, Any] = {
            "color": style.GREY,
            "linewidth": 1.0,
            "linestyle": (0, (4, 2)),
            "zorder": 1,
        }
        level, size = target
        axes.axhline(level, **dashed)
        if size is not None and axes.get_xlim()[0] <= size <= axes.get_xlim()[1]:
            axes.axvline(size, **dashed)
    legend(markers=True)
    return page.figure


def _label_sizes(axes: Axes, sizes: Integers) -> None:
    """Make the x-axis logarithmic, and label as many of the increasing sample sizes as fit."""
    low, high = np.log(sizes[0]), np.log(sizes[-1])
    span = max(high - low, 0.2)
    axes.set_xscale("log")
    axes.set_xlim(float(np.exp(low - 0.06 * span)), float(np.exp(high + 0.06 * span)))
    labelled: list[int] = []
    for size in sizes.tolist():
        distance = _WIDTH * (np.log(size) - np.log(labelled[-1])) / (1.12 * span) if labelled else np.inf
        if distance > text.text_width(f"{size:,}", style.SMALL) + 8:
            labelled.append(size)
    axes.xaxis.set_major_locator(FixedLocator(labelled))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{size:,}" for size in labelled])


_DOTTED = (0, (2, 1.5))
_BOTH = text.model_mark(0, 1)


@style.common_style()
def draw_pair(
    curves: PairCurves,
    names: tuple[str, str],
    column: str,
    *,
    level: float = 0.95,
    styles: Sequence[PlotStyle] | None = None,
) -> style.Plot:
    """Draw the quantile differences for first- and second-order dominance, one above the other.

    In the SVG identifiers, the winner is model 0 and the loser is model 1.

    Parameters
    ----------
    curves : PairCurves
        Quantile functions of the two models.
    names : (str, str)
        Winner and loser.
    column : str
        Metric or portfolio that the scores belong to.
    level : float
        Confidence level 1 − α of the band, if there is one.
    styles : sequence of two PlotStyle, optional
        Styles of the two models in all pictures of their study.
    """
    labels = text.fit_names(names, 100.0)
    styles = choose_styles(2, (0, 1), are_models=False) if styles is None else styles
    # Stack the two orders, so that a phone shows both.
    width, height, step = 190.0, 100.0, 158.0
    differences = [winner - loser for winner, loser in zip(curves.winner, curves.loser, strict=True)]
    # Curves start at the first step for quantiles, and at 0 for their integrals.
    starts = (differences[0][:1], [0.0])
    differences = [np.concatenate(parts) for parts in zip(starts, differences, strict=True)]
    parts = [
        f"Height: score of {labels[0]} minus score of {labels[1]}, with the samples of each sorted from "
        "worst to best."
    ]
    if any((difference < 0).any() for difference in differences):
        parts.append(
            f"Hatched: {labels[1]} is ahead, which violates the dominance of {labels[0]}. Violation ratio ε: "
            "hatched share of the area between the curves (squared differences); 0.5 is a draw."
        )
    if curves.band is not None:
        parts.append(f"Dotted: pointwise {format_percent(level)} interval.")
    page = style.start_sheet(
        f"{labels[0]} against {labels[1]} on {score_title(column)}",
        " ".join(parts),
        width=2 * style.MARGIN + 46 + width,
        height=2 * step + 20 + style.ROW,
        method=f"first- and second-order dominance on {column}",
    )
    for order, difference in enumerate(differences, start=1):
        axes = page.axes(style.MARGIN + 46, 42 + (2 - order) * step, width, height)
        _draw_difference(axes, curves, difference, order, styles)
        axes.set_xlim(0, 1)
        axes.grid(visible=True)
        ratio = format_ratio(curves.ratios[order - 1])
        axes.set_title(
            f"{'First' if order == 1 else 'Second'} order: ε {'' if ratio[0] in '<>' else '= '}{ratio}",
            size=text.TEXT,
            loc="left",
            weight="bold",
            pad=5,
        )
        axes.set_ylabel(style.Unit.choose(difference).label("worse ← → better"), size=style.SMALL)
        axes.set_xlabel("share of samples p" if order == 1 else "worst share p, cumulative", size=style.SMALL)
    canvas, x, top = page.canvas(), style.MARGIN + 46.0, 2 * step + 12 + style.ROW
    text.write_text(canvas, style.MARGIN, top, "Ahead:", _BOTH)
    for number, name in enumerate(labels):
        mark, y = text.model_mark(number), top - number * style.ROW
        canvas.plot([x, x + 24], [y, y], color=styles[number].color, linewidth=4, gid=mark)
        text.write_text(canvas, x + 30, y, name, mark)
    return page.figure


def _draw_difference(
    axes: Axes, curves: PairCurves, difference: Floats, order: int, styles: Sequence[PlotStyle]
) -> None:
    """Draw a difference curve with its band, and fill the areas in which each model is ahead.

    Parameters
    ----------
    axes : Axes
        Matplotlib axes to draw on.
    curves : PairCurves
        Quantile functions of the two models.
    difference : ndarray, shape (l + 1,)
        Difference of the curves of order `order` at 0 and at each of l quantile levels.
    order : {1, 2}
        Order of dominance.
    styles : sequence of two PlotStyle
        Color and marker of both models.
    """
    unit, levels = style.Unit.choose(difference), np.concatenate([[0.0], curves.levels])
    difference = unit.apply(difference)
    step = "steps-pre" if order == 1 else "default"
    line: dict[str, Any] = {"drawstyle": step, "gid": _BOTH}
    axes.plot(levels, difference, color=style.INK, linewidth=1.0, zorder=4, **line)
    for bound in curves.band if order == 1 and curves.band is not None else ():
        bounds = unit.apply(np.concatenate([bound[:1], bound]))
        axes.plot(levels, bounds, color=style.QUIET, linewidth=0.7, linestyle=_DOTTED, zorder=3, **line)
    axes.axhline(0, color=style.GREY, linewidth=0.8, zorder=3)
    for plot_style, sign in zip(styles, (1, -1), strict=True):
        if not (sign * difference > 0).any():
            continue
        ahead = sign * np.maximum(sign * difference, 0.0) if order == 1 else difference
        # A step extends from the previous level, so both of its ends belong to the area.
        inside = np.ones(difference.size, dtype=bool) if order == 1 else sign * difference > 0
        shape: dict[str, Any] = {"step": "pre"} if order == 1 else {"interpolate": True}
        # A fill would hide the hatch, because an SVG pattern has a single opacity.
        fill: Any = (plot_style.color, 0.25) if sign > 0 else "none"
        area: dict[str, Any] = {"facecolor": fill, "edgecolor": plot_style.color}
        area |= {"hatch": "////"} if sign < 0 else {}
        axes.fill_between(levels, ahead, 0.0, where=inside, linewidth=0, zorder=2, gid=_BOTH, **area, **shape)
