"""Intervals of claims, a row each, against what they have to lie above."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from riskrank.engine.types import Floats
from riskrank.render.figures.fonts import TEXT, text_width
from riskrank.render.figures.marks import model_mark, write
from riskrank.render.figures.names import fitted
from riskrank.render.figures.rows import Rows, bar, dot
from riskrank.render.figures.style import FAINT, GOOD, INK, MARGIN, PALETTE, QUIET, Plot, drawn, sheet
from riskrank.render.figures.units import Thousands, Unit

# Colour, marker and fill: told apart in grey by shape, and by the word beside them.
_ANSWERS = {
    "pass": (GOOD, "o", True),
    "fail": (PALETTE[1], "X", True),
    "inconclusive": (QUIET, "D", False),
}
_WORSE = PALETTE[1]


@dataclass(frozen=True)
class Intervals:
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
    answer : tuple of str
        ``pass``, ``fail`` or ``inconclusive``.
    pairs : tuple of (int, int)
        New and old model of each claim.
    turned : bool
        Whether less is better in the file, whose differences are then written on the axis.
    """

    unit: str
    claims: tuple[str, ...]
    estimate: Floats
    low: Floats
    high: Floats
    boundary: Floats
    answer: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    turned: bool = False

    @property
    def marks(self) -> list[str]:
        """Whom each claim is about."""
        return [model_mark(*pair) for pair in self.pairs]


_WIDTH, _BELOW, _APART = 280.0, 38.0, 14.0


@drawn
def draw_intervals(found: Sequence[Intervals], title: str = "Claims") -> Plot:
    """Draw a panel a unit, a row a claim.

    Parameters
    ----------
    found : sequence of Intervals
    title : str
    """
    panels = [Rows.of(one.claims, one.marks, 330.0) for one in found]
    left = max(rows.width for rows in panels)
    said = max(text_width(answer, TEXT, "bold") for one in found for answer in one.answer)
    words = (
        "Mark and bar: difference of the two models, right where the new one is better, with its interval; "
        "upright stroke: what a claim says it lies right of; long line: no difference. Orange: wholly left "
        "of it, so the new one is worse, whatever a claim allows."
    )
    if any((np.isnan(one.low) & np.isnan(one.high)).any() for one in found):
        words += " Where there is no bar, a claim has a p-value and no interval."
    page = sheet(
        title,
        words,
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
        for answer, y, mark in zip(one.answer[: len(rows.labels)], rows.y, rows.marks, strict=False):
            bold: dict[str, Any] = {"weight": "bold", "color": _ANSWERS[answer][0]}
            write(canvas, left + _WIDTH + 10, below + y, answer, mark, **bold)
        top = below - _BELOW - _APART
    return page.figure


class _Turned(Thousands):
    """Numbers of an axis on which the smaller ones lie right."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Write a number with the other sign."""
        # Subtracting from zero makes no −0.
        return super().__call__(0.0 - x, pos)


def _panel(axes: Axes, found: Intervals, rows: Rows) -> None:
    parts = (found.estimate, found.low, found.high, found.boundary)
    finite = np.concatenate([part[np.isfinite(part)] for part in parts])
    unit = Unit.of(finite)
    low, high = unit.apply([min(finite.min(), 0.0), max(finite.max(), 0.0)])
    room = max(high - low, 1e-12) * 0.06
    axes.set_xlim(low - room, high + room)
    rows.lay_out(axes, f"worse ← {unit.label(fitted([found.unit], _WIDTH - 80)[0])} → better", 5)
    if found.turned:
        axes.xaxis.set_major_formatter(_Turned(useOffset=False))
    axes.axvline(0, color=QUIET, linewidth=0.8, zorder=1)
    for at, y in enumerate(rows.y.tolist()):
        (color, marker, full), mark = _ANSWERS[found.answer[at]], rows.marks[at]
        ends = np.clip(unit.apply([found.low[at], found.high[at]]), low - room, high + room)
        # A claim of "not worse" may hold although the difference is shown to be one for the worse.
        color = _WORSE if ends[1] < 0 else color
        if not np.isnan(ends).all():
            bar(axes, ends, y, mark, color)
            for end in ends:  # taller than any marker, so that a short one is seen beside it
                axes.plot([end, end], [y - 4.5, y + 4.5], color=color, linewidth=1.0, zorder=3, gid=mark)
        dot(axes, float(unit.apply(found.estimate[at])), y, mark, color, marker=marker, size=5.5, full=full)
        boundary = float(unit.apply(found.boundary[at]))
        axes.plot([boundary, boundary], [y - 5, y + 5], color=INK, linewidth=1.4, zorder=5, gid=mark)
        axes.axhline(y, color=FAINT, linewidth=0.6, zorder=0, gid=mark)
