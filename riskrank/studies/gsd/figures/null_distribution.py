"""Where the observed optimum stands among those of relabelled samples ([GSD] §4.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from riskrank.engine.types import Floats
from riskrank.shown.figures.marks import model_mark
from riskrank.shown.figures.names import fitted
from riskrank.shown.figures.style import GREY, MARGIN, PALETTE, QUIET, SMALL, Plot, drawn, sheet
from riskrank.shown.figures.units import Unit


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
