"""Curves with error bars against sample size: power ([RAB] Fig. 6, 7), ranking stability ([RAB] Fig. 2)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from riskrank.engine.types import Floats, Integers
from riskrank.render.figures.fonts import text_width
from riskrank.render.figures.legend import Key, axes_with_key, choose_looks
from riskrank.render.figures.style import GREY, SMALL, Plot, in_common_style

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


@dataclass(frozen=True)
class TargetLine:
    """A target level, and the sample size that reaches it (or None)."""

    level: float
    size: int | None


@in_common_style
def draw_error_bars(
    curves: ErrorBars,
    names: Sequence[str],
    title: str,
    reading: str,
    *,
    ylabel: str,
    lower: float = 0.0,
    smallest: float = 0.0,
    target: TargetLine | None = None,
) -> Plot:
    """Draw curves against sample size on a logarithmic axis.

    Parameters
    ----------
    curves : ErrorBars
    names : sequence of c str
    title, reading, ylabel : str
    lower : float
        Lower limit of the vertical axis; its upper limit is 1.
    smallest : float
        Smallest possible value; error bars are clipped to the range from here to 1.
    target : TargetLine, optional
    """
    looks = choose_looks(len(names), curves.order, are_models=False)
    key = Key.from_names(names, curves.order, looks)
    page, axes, legend = axes_with_key(key, title, reading)
    _label_sizes(axes, curves.sizes, _WIDTH)
    axes.set(xlabel="samples", ylabel=ylabel, ylim=(lower, 1.02))
    factors = _side_by_side_factors(curves.sizes, len(names))
    for look, values, errors, factor in zip(looks, curves.values, curves.errors, factors, strict=True):
        # Error bars must not extend beyond the possible values.
        reach = np.minimum(errors, [values - smallest, 1 - values])
        axes.errorbar(
            curves.sizes * factor,
            values,
            yerr=np.maximum(reach, 0),
            marker=look.marker,
            markersize=4,
            elinewidth=0.8,
            capsize=2,
            **look.line,
        )
    if target is not None:
        _draw_target(axes, target)
    legend(markers=True)
    return page.figure


def _side_by_side_factors(sizes: Integers, count: int) -> Floats:
    """Return factors that shift the curves sideways, so that error bars do not overlap, shape (count,)."""
    nearest = float(np.diff(np.log(sizes)).min()) if sizes.size > 1 else 0.2
    step = min(0.5 * nearest / max(count, 1), 0.02 * max(float(np.log(sizes[-1] / sizes[0])), 0.2))
    return np.asarray(np.exp(step * (np.arange(count) - (count - 1) / 2)), dtype=np.float64)


def _label_sizes(axes: Axes, sizes: Integers, width: float) -> None:
    """Label as many sizes on the axis as fit without overlap."""
    low, high = np.log(sizes[0]), np.log(sizes[-1])
    span = max(high - low, 0.2)
    axes.set_xscale("log")
    axes.set_xlim(float(np.exp(low - 0.06 * span)), float(np.exp(high + 0.06 * span)))
    labelled: list[int] = []
    for size in sizes.tolist():
        distance = width * (np.log(size) - np.log(labelled[-1])) / (1.12 * span) if labelled else np.inf
        if distance > text_width(f"{size:,}", SMALL) + 8:
            labelled.append(size)
    axes.xaxis.set_major_locator(FixedLocator(labelled))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{size:,}" for size in labelled])


def _draw_target(axes: Axes, target: TargetLine) -> None:
    """Draw the target level and the sample size that reaches it."""
    axes.axhline(target.level, color=GREY, linewidth=1.0, linestyle=(0, (4, 2)), zorder=1)
    if target.size is not None and axes.get_xlim()[0] <= target.size <= axes.get_xlim()[1]:
        axes.axvline(target.size, color=GREY, linewidth=1.0, linestyle=(0, (4, 2)), zorder=1)
