"""Curves with error bars over sample sizes: power ([RAB] Fig. 6, 7), stability of rankings ([RAB] Fig. 2)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from riskrank.engine.types import Floats, Integers
from riskrank.render.figures.fonts import text_width
from riskrank.render.figures.legend import Key, beside_key, looks
from riskrank.render.figures.style import GREY, SMALL, Plot, drawn

_WIDTH = 340.0


@dataclass(frozen=True)
class ErrorBars:
    """What is plotted.

    Attributes
    ----------
    sizes : ndarray of int, shape (s,)
        Samples, increasing.
    values, errors : ndarray, shape (c, s)
        Height of each curve, and half the length of its bars.
    order : tuple of int
        Curves, the most important first.
    """

    sizes: Integers
    values: Floats
    errors: Floats
    order: tuple[int, ...]


@dataclass(frozen=True)
class TargetLine:
    """A level to reach, and the size that reaches it, where there is one."""

    level: float
    size: int | None


@drawn
def draw_error_bars(
    found: ErrorBars,
    names: Sequence[str],
    title: str,
    reading: str,
    *,
    ylabel: str,
    low: float = 0.0,
    least: float = 0.0,
    target: TargetLine | None = None,
) -> Plot:
    """Draw curves over sizes on a logarithmic axis.

    Parameters
    ----------
    found : ErrorBars
    names : sequence of c str
    title, reading, ylabel : str
    low : float
        Lower end of the axis; its upper end is 1.
    least : float
        The least value there can be; the largest is 1.
    target : TargetLine, optional
    """
    given = looks(len(names), found.order, models=False)
    key = Key.of(names, found.order, given)
    page, axes, legend = beside_key(key, title, reading)
    _sizes(axes, found.sizes, _WIDTH)
    axes.set(xlabel="samples", ylabel=ylabel, ylim=(low, 1.02))
    beside = _beside(found.sizes, len(names))
    for look, values, errors, factor in zip(given, found.values, found.errors, beside, strict=True):
        # A bar that left the range of the values would say what cannot be.
        reach = np.minimum(errors, [values - least, 1 - values])
        axes.errorbar(
            found.sizes * factor,
            values,
            yerr=np.maximum(reach, 0),
            marker=look.marker,
            markersize=4,
            elinewidth=0.8,
            capsize=2,
            **look.line,
        )
    if target is not None:
        _target(axes, target)
    legend(markers=True)
    return page.figure


def _beside(sizes: Integers, count: int) -> Floats:
    """Factors of the sizes by which curves stand side by side, so that no bar hides another."""
    nearest = float(np.diff(np.log(sizes)).min()) if sizes.size > 1 else 0.2
    step = min(0.5 * nearest / max(count, 1), 0.02 * max(float(np.log(sizes[-1] / sizes[0])), 0.2))
    return np.asarray(np.exp(step * (np.arange(count) - (count - 1) / 2)), dtype=np.float64)


def _sizes(axes: Axes, sizes: Integers, width: float) -> None:
    """Mark the sizes themselves, as many as have room for their number."""
    low, high = np.log(sizes[0]), np.log(sizes[-1])
    room = max(high - low, 0.2)
    axes.set_xscale("log")
    axes.set_xlim(float(np.exp(low - 0.06 * room)), float(np.exp(high + 0.06 * room)))
    shown: list[int] = []
    for size in sizes.tolist():
        apart = width * (np.log(size) - np.log(shown[-1])) / (1.12 * room) if shown else np.inf
        if apart > text_width(f"{size:,}", SMALL) + 8:
            shown.append(size)
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{size:,}" for size in shown])


def _target(axes: Axes, target: TargetLine) -> None:
    axes.axhline(target.level, color=GREY, linewidth=1.0, linestyle=(0, (4, 2)), zorder=1)
    if target.size is not None and axes.get_xlim()[0] <= target.size <= axes.get_xlim()[1]:
        axes.axvline(target.size, color=GREY, linewidth=1.0, linestyle=(0, (4, 2)), zorder=1)
