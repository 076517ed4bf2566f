"""Intervals of gates, a row each, against what they have to lie above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from riskrank.engine.types import Floats
from riskrank.report.figures.names import fitted
from riskrank.report.figures.rows import Rows
from riskrank.report.figures.style import (
    FAINT,
    INK,
    MARGIN,
    PALETTE,
    QUIET,
    SMALL,
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
    """What is plotted of g claims in one unit.

    Attributes
    ----------
    unit : str
        What their numbers are.
    claims : tuple of str
    estimate, low, high : ndarray, shape (g,)
        Difference in favour of the new model, with its interval; infinite ends are open, NaN is no end.
    boundary : ndarray, shape (g,)
        What the claim says the difference lies above.
    verdict : tuple of str
        ``pass``, ``fail`` or ``inconclusive``.
    """

    unit: str
    claims: tuple[str, ...]
    estimate: Floats
    low: Floats
    high: Floats
    boundary: Floats
    verdict: tuple[str, ...]


_WIDTH, _BELOW, _APART = 280.0, 38.0, 14.0


@drawn
def draw_gates(found: Sequence[Gates], title: str = "Gates") -> Plot:
    """Draw a panel a unit, a row a claim.

    Parameters
    ----------
    found : sequence of Gates
    title : str
    """
    panels = [Rows.of(one.claims, 330.0) for one in found]
    left = max(rows.width for rows in panels)
    said = max(text_width(verdict, TEXT, "bold") for one in found for verdict in one.verdict)
    page = sheet(
        title,
        "Dot and bar: difference in favour of the new model, with its interval; upright stroke: the boundary "
        "that a claim says it lies above; long line: no difference.",
        width=left + _WIDTH + 20 + said + MARGIN,
        height=sum(rows.height + _BELOW + _APART for rows in panels),
    )
    canvas = page.canvas()
    top = page.top
    for one, rows in zip(found, panels, strict=True):
        below = top - rows.height
        axes = page.axes(left, below, _WIDTH, rows.height)
        _panel(axes, one, rows)
        rows.draw(canvas, below, left)
        for verdict, y in zip(one.verdict[: len(rows.labels)], rows.y, strict=False):
            x, color = left + _WIDTH + 10, _VERDICTS[verdict][0]
            canvas.text(x, below + y, verdict, size=TEXT, va="center", ha="left", color=color, weight="bold")
        top = below - _BELOW - _APART
    return page.figure


def _panel(axes: Axes, found: Gates, rows: Rows) -> None:
    parts = (found.estimate, found.low, found.high, found.boundary)
    finite = np.concatenate([part[np.isfinite(part)] for part in parts])
    unit = Unit.of(finite)
    low, high = unit.apply([min(finite.min(), 0.0), max(finite.max(), 0.0)])
    room = max(high - low, 1e-12) * 0.06
    axes.set(xlim=(low - room, high + room), ylim=(0, rows.height), yticks=[])
    axes.set_xlabel(unit.label(fitted([found.unit], _WIDTH)[0]), size=SMALL)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.axvline(0, color=QUIET, linewidth=0.8, zorder=1)
    for at, y in enumerate(rows.y):
        color, marker, full = _VERDICTS[found.verdict[at]]
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
        boundary = float(unit.apply(found.boundary[at]))
        axes.plot([boundary, boundary], [y - 5, y + 5], color=INK, linewidth=1.4, zorder=5)
        axes.axhline(y, color=FAINT, linewidth=0.6, zorder=0)
