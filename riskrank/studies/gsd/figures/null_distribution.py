"""Tests by relabelling: where the observed optimum stands ([GSD] §4.2), and what contamination leaves."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from riskrank.engine.gsd.relabelling import RelabellingTest
from riskrank.engine.types import Floats
from riskrank.render.figures.legend import Key, beside_key, looks
from riskrank.render.figures.marks import model_mark
from riskrank.render.figures.names import fitted
from riskrank.render.figures.style import GREY, MARGIN, PALETTE, QUIET, SMALL, Plot, drawn, sheet
from riskrank.render.figures.units import Unit


@drawn
def draw_null_distribution(
    optima: Floats, observed: float, p_value: float, winner: str, loser: str, label: str
) -> Plot:
    """Draw optima of relabelled samples as bars, the observed as a line.

    Marks number the winner 0, the loser 1.
    """
    unit = Unit.of(optima, observed)
    optima, observed = unit.apply(optima), float(unit.apply(observed))
    low, high = min(float(optima.min()), observed), max(float(optima.max()), observed)
    room = (high - low) * 0.02 or max(abs(high), 1.0) * 0.02
    bars = int(np.clip(round(2 * optima.size ** (1 / 3)), 5, 60))
    both = model_mark(0, 1)
    shown = fitted([winner, loser], 150.0)
    width, height, left, below = 360.0, 190.0, 56.0, 42.0
    page = sheet(
        f"{shown[0]} over {shown[1]}, {label}: relabelled samples",
        "Bars: the least difference of expected utility with labels swapped at random. Line: as observed, "
        f"p = {p_value:.3g} before correction. Far to the right: no accident.",
        width=left + width + MARGIN + 8,
        height=below + height + 14,
    )
    axes = page.axes(left, below, width, height)
    how: dict[str, Any] = {"color": GREY, "edgecolor": "white", "linewidth": 0.5, "gid": both}
    _, edges, _ = axes.hist(optima, bars, range=(low - room, high + room), **how)
    axes.axvline(observed, color=PALETTE[1], linewidth=1.8, gid=both)
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
        gid=both,
    )
    return page.figure


@drawn
def draw_contamination(
    tests: Sequence[RelabellingTest], names: Sequence[str], *, level: float, samples: int, label: str
) -> Plot:
    """Draw a rising line a pair, against the level of the test; the label names the threshold."""
    order = sorted(range(len(tests)), key=lambda at: (-len(tests[at].contamination), tests[at].p_value, at))
    labels = [f"{names[one.winner]} over {names[one.loser]}" for one in tests]
    given = looks(len(labels), order, models=False)
    marks = [model_mark(one.winner, one.loser) for one in tests]
    key = Key.of(labels, order, given, marks)
    page, axes, legend = beside_key(
        key,
        f"p-values if some samples may be arbitrary, {label}",
        f"Dashed: the level {level:g}, before any correction. The further right a line crosses it, the more "
        f"of the {samples:,} samples could be wrong without changing the result.",
    )
    for look, one, mark in zip(given, tests, marks, strict=True):
        axes.plot(one.contamination, marker=look.marker, markersize=4, **look.line, gid=mark)
    axes.axhline(level, color=GREY, linestyle=(0, (4, 2)), linewidth=1.0, zorder=1)
    longest = max(len(one.contamination) for one in tests)
    axes.set(xlabel="samples that may be arbitrary", ylabel="p-value", xlim=(-0.3, max(longest - 0.7, 1.3)))
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend()
    return page.figure
