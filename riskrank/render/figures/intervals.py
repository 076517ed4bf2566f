"""Plot of claims: confidence intervals for differences, one row per claim, with its boundary."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from riskrank.engine.types import Floats
from riskrank.render.figures.rows import Rows, draw_bar, draw_dot
from riskrank.render.figures.style import (
    FAINT,
    GOOD,
    INK,
    MARGIN,
    PALETTE,
    QUIET,
    Plot,
    Thousands,
    Unit,
    in_common_style,
    start_sheet,
)
from riskrank.render.figures.text import TEXT, fit_names, model_mark, text_width, write_text

# Color, marker and fill; marker and label distinguish the answers in grey.
_ANSWERS = {"pass": (GOOD, "o", True), "fail": (PALETTE[1], "X", True), "inconclusive": (QUIET, "D", False)}
_WORSE = PALETTE[1]


@dataclass(frozen=True)
class Intervals:
    """Data for g claims in the same unit.

    Attributes
    ----------
    unit : str
        Unit of all numbers.
    claims : tuple of str
    estimate, low, high : ndarray, shape (g,)
        Difference in favor of the new model, with its interval. Infinite limits are drawn open; NaN means no
        limit.
    boundary : ndarray, shape (g,)
        Value that the difference must exceed for the claim to hold.
    answer : tuple of str
        ``pass``, ``fail`` or ``inconclusive``.
    pairs : tuple of (int, int)
        New and old model of each claim.
    lower_is_better : bool
        True if lower is better as stored in the file. The axis then shows differences in the stored values.
    """

    unit: str
    claims: tuple[str, ...]
    estimate: Floats
    low: Floats
    high: Floats
    boundary: Floats
    answer: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    lower_is_better: bool = False

    @property
    def marks(self) -> list[str]:
        """Marks of the models in each claim."""
        return [model_mark(*pair) for pair in self.pairs]


_WIDTH, _BELOW, _PANEL_GAP = 280.0, 38.0, 14.0


@in_common_style
def draw_intervals(panels_of_claims: Sequence[Intervals], title: str = "Claims") -> Plot:
    """Draw one panel per unit, with one row per claim.

    Parameters
    ----------
    panels_of_claims : sequence of Intervals
    title : str
    """
    panels = [Rows.from_names(claims.claims, claims.marks, 330.0) for claims in panels_of_claims]
    left = max(rows.width for rows in panels)
    answer_width = max(
        text_width(answer, TEXT, "bold") for claims in panels_of_claims for answer in claims.answer
    )
    reading = (
        "Mark and bar: difference of the two models with its interval; right means that the new model is "
        "better. Long line: no difference. Short line: a claim passes if the interval is right of it. "
        "Orange: the new model is worse, because the interval is left of no difference."
    )
    if any((np.isnan(claims.low) & np.isnan(claims.high)).any() for claims in panels_of_claims):
        reading += " A claim without a bar has a p-value but no interval."
    page = start_sheet(
        title,
        reading,
        width=left + _WIDTH + 20 + answer_width + MARGIN,
        height=sum(rows.height + _BELOW + _PANEL_GAP for rows in panels),
    )
    canvas = page.canvas()
    top = page.top
    for claims, rows in zip(panels_of_claims, panels, strict=True):
        bottom = top - rows.height
        axes = page.axes(left, bottom, _WIDTH, rows.height)
        _draw_panel(axes, claims, rows)
        rows.draw(canvas, bottom, left)
        for answer, y, mark in zip(claims.answer[: len(rows.labels)], rows.y, rows.marks, strict=False):
            bold: dict[str, Any] = {"weight": "bold", "color": _ANSWERS[answer][0]}
            write_text(canvas, left + _WIDTH + 10, bottom + y, answer, mark, **bold)
        top = bottom - _BELOW - _PANEL_GAP
    return page.figure


class _Negated(Thousands):
    """Tick formatter for negated values, for an axis that decreases to the right."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Format a tick label with the opposite sign."""
        # Subtracting from zero avoids −0.
        return super().__call__(0.0 - x, pos)


def _draw_panel(axes: Axes, claims: Intervals, rows: Rows) -> None:
    """Draw the intervals and boundaries of the claims in one unit."""
    parts = (claims.estimate, claims.low, claims.high, claims.boundary)
    finite = np.concatenate([part[np.isfinite(part)] for part in parts])
    unit = Unit.choose(finite)
    low, high = unit.apply([min(finite.min(), 0.0), max(finite.max(), 0.0)])
    margin = max(high - low, 1e-12) * 0.06
    axes.set_xlim(low - margin, high + margin)
    rows.prepare_axes(axes, f"worse ← {unit.label(fit_names([claims.unit], _WIDTH - 80)[0])} → better", 5)
    if claims.lower_is_better:
        axes.xaxis.set_major_formatter(_Negated(useOffset=False))
    axes.axvline(0, color=QUIET, linewidth=0.8, zorder=1)
    for claim, y in enumerate(rows.y.tolist()):
        (color, marker, filled), mark = _ANSWERS[claims.answer[claim]], rows.marks[claim]
        limits = np.clip(unit.apply([claims.low[claim], claims.high[claim]]), low - margin, high + margin)
        # A claim of "not worse" may hold although the difference is significantly negative.
        color = _WORSE if limits[1] < 0 else color
        if not np.isnan(limits).all():
            draw_bar(axes, limits, y, mark, color)
            for limit in limits:  # taller than any marker, so that short intervals stay visible
                axes.plot([limit, limit], [y - 4.5, y + 4.5], color=color, linewidth=1.0, zorder=3, gid=mark)
        draw_dot(
            axes,
            float(unit.apply(claims.estimate[claim])),
            y,
            mark,
            color,
            marker=marker,
            size=5.5,
            filled=filled,
        )
        boundary = float(unit.apply(claims.boundary[claim]))
        axes.plot([boundary, boundary], [y - 5, y + 5], color=INK, linewidth=1.4, zorder=5, gid=mark)
        axes.axhline(y, color=FAINT, linewidth=0.6, zorder=0, gid=mark)
