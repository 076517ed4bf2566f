"""Intervals, a row each, against a line: differences to the leader, gates against their margin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import MaxNLocator

from riskrank.engine.types import Floats
from riskrank.report.figures.rows import Rows
from riskrank.report.figures.style import (
    FAINT,
    INK,
    MARGIN,
    PALETTE,
    QUIET,
    TEXT,
    Plot,
    drawn,
    sheet,
    text_width,
)
from riskrank.report.figures.units import Unit

# Colour, marker and fill: told apart in grey by shape, and by the word beside them.
_VERDICTS = {
    "pass": (PALETTE[2], "o", True),
    "fail": (PALETTE[1], "X", True),
    "inconclusive": (QUIET, "D", False),
}


@dataclass(frozen=True)
class Gates:
    """What is plotted of g claims.

    Attributes
    ----------
    claims : tuple of str
    estimate, low, high : ndarray, shape (g,)
        Difference in favour of the new model, with its interval; infinite ends are open.
    margin : ndarray, shape (g,)
        What the interval has to lie above: 0 to be better, minus the margin to be not worse.
    verdict : tuple of str
        ``pass``, ``fail`` or ``inconclusive``.
    """

    claims: tuple[str, ...]
    estimate: Floats
    low: Floats
    high: Floats
    margin: Floats
    verdict: tuple[str, ...]


@drawn
def draw_gates(found: Gates, title: str = "Gates") -> Plot:
    """Draw each claim's interval on a scale of its own: claims may have different units.

    Parameters
    ----------
    found : Gates
    title : str
    """
    rows = Rows.of(found.claims, 240.0)
    count = len(found.claims)
    width, below = 280.0, 40.0
    words = [f"{verdict}" for verdict in found.verdict]
    page = sheet(
        title,
        "Dot and bar: difference in favour of the new model, with its interval; dashed: the margin it has to "
        "stay above; full line: no difference. Claims in one unit share the axis.",
        width=rows.width + width + 20 + max(text_width(word) for word in words) + MARGIN,
        height=below + rows.height + 6,
    )
    axes = page.axes(rows.width, below, width, rows.height)
    finite = np.concatenate(
        [part[np.isfinite(part)] for part in (found.estimate, found.low, found.high, found.margin)]
    )
    unit = Unit.of(finite)
    low, high = unit.apply([min(finite.min(), 0.0), max(finite.max(), 0.0)])
    room = max(high - low, 1e-12) * 0.06
    axes.set(
        xlim=(low - room, high + room), ylim=(0, rows.height), yticks=[], xlabel=unit.label("difference")
    )
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.axvline(0, color=QUIET, linewidth=0.8, zorder=1)
    canvas = page.canvas()
    rows.draw(canvas, below)
    for at in range(count):
        color, marker, full = _VERDICTS[found.verdict[at]]
        y, margin = rows.y[at], float(unit.apply(found.margin[at]))
        ends = np.clip(unit.apply([found.low[at], found.high[at]]), low - room, high + room)
        axes.plot(ends, [y, y], color=color, linewidth=2.0, solid_capstyle="butt", zorder=3)
        axes.plot(
            [float(unit.apply(found.estimate[at]))],
            [y],
            marker=marker,
            markersize=6,
            color=color,
            markerfacecolor=color if full else "white",
            zorder=4,
        )
        axes.plot([margin, margin], [y - 5, y + 5], color=INK, linewidth=1.2, linestyle=(0, (2, 1)), zorder=5)
        axes.axhline(y, color=FAINT, linewidth=0.6, zorder=0)
        if at < len(rows.labels):
            canvas.text(
                rows.width + width + 10,
                below + y,
                words[at],
                size=TEXT,
                va="center",
                ha="left",
                color=color,
                weight="bold",
            )
    return page.figure
