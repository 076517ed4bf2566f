"""Figures of relabelling tests: the null distribution ([GSD] §4.2), and p-values under contamination."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from riskrank.engine.gsd.relabelling import RelabellingTest
from riskrank.engine.types import Floats
from riskrank.render.figures.legend import Key, axes_with_key, choose_looks
from riskrank.render.figures.style import (
    GREY,
    MARGIN,
    PALETTE,
    QUIET,
    SMALL,
    Plot,
    Unit,
    in_common_style,
    start_sheet,
)
from riskrank.render.figures.text import fit_names, model_mark


@in_common_style
def draw_null_distribution(
    optima: Floats, observed: float, p_value: float, winner: str, loser: str, label: str
) -> Plot:
    """Draw a histogram of the optima of N relabelled samples, with the observed optimum as a line.

    In the marks of the figure, 0 stands for the winner and 1 for the loser.

    Parameters
    ----------
    optima : ndarray, shape (N,)
        Optima of the relabelled samples.
    observed, p_value : float
    winner, loser : str
        Names of the models.
    label : str
        Name of the threshold.
    """
    unit = Unit.choose(optima, observed)
    optima, observed = unit.apply(optima), float(unit.apply(observed))
    low, high = min(float(optima.min()), observed), max(float(optima.max()), observed)
    margin = (high - low) * 0.02 or max(abs(high), 1.0) * 0.02
    bars = int(np.clip(round(2 * optima.size ** (1 / 3)), 5, 60))
    mark = model_mark(0, 1)
    labels = fit_names([winner, loser], 150.0)
    width, height, left, below = 360.0, 190.0, 56.0, 42.0
    page = start_sheet(
        f"{labels[0]} over {labels[1]}, {label}: relabelled samples",
        "Bars: smallest difference in expected utility with randomly swapped labels. Line: observed value, "
        f"p = {p_value:.3g} before correction. Far to the right: unlikely by chance.",
        width=left + width + MARGIN + 8,
        height=below + height + 14,
    )
    axes = page.axes(left, below, width, height)
    style: dict[str, Any] = {"color": GREY, "edgecolor": "white", "linewidth": 0.5, "gid": mark}
    _, edges, _ = axes.hist(optima, bars, range=(low - margin, high + margin), **style)
    axes.axvline(observed, color=PALETTE[1], linewidth=1.8, gid=mark)
    axes.set(xlabel=unit.label("optimum"), ylabel="relabellings", xlim=(edges[0], edges[-1]))
    on_right = observed < (edges[0] + edges[-1]) / 2
    axes.annotate(
        "observed",
        (observed, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(4 if on_right else -4, 3),
        textcoords="offset points",
        ha="left" if on_right else "right",
        size=SMALL,
        color=QUIET,
        gid=mark,
    )
    return page.figure


@in_common_style
def draw_contamination(
    tests: Sequence[RelabellingTest], names: Sequence[str], *, level: float, samples: int, label: str
) -> Plot:
    """Draw the p-value of each pair of k models against the number of contaminated samples.

    Parameters
    ----------
    tests : sequence of RelabellingTest
    names : sequence of k str
    level : float
    samples : int
        Number of samples.
    label : str
        Name of the threshold.
    """
    order = sorted(range(len(tests)), key=lambda i: (-len(tests[i].contamination), tests[i].p_value, i))
    labels = [f"{names[test.winner]} over {names[test.loser]}" for test in tests]
    pair_looks = choose_looks(len(labels), order, are_models=False)
    marks = [model_mark(test.winner, test.loser) for test in tests]
    key = Key.from_names(labels, order, pair_looks, marks)
    page, axes, legend = axes_with_key(
        key,
        f"p-values if some samples are arbitrary, {label}",
        f"Dashed: level {level:g}, before any correction. The further right a line crosses it, the more "
        f"of the {samples:,} samples could be wrong without changing the result.",
    )
    for look, test, mark in zip(pair_looks, tests, marks, strict=True):
        axes.plot(test.contamination, marker=look.marker, markersize=4, **look.line, gid=mark)
    axes.axhline(level, color=GREY, linestyle=(0, (4, 2)), linewidth=1.0, zorder=1)
    longest = max(len(test.contamination) for test in tests)
    axes.set(xlabel="number of arbitrary samples", ylabel="p-value", xlim=(-0.3, max(longest - 0.7, 1.3)))
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend()
    return page.figure
