"""Rows for models, with names on the left as long as they fit, then thin rows without names.

Forest plots have one panel per quantity, with estimates and intervals. Plots of claims have one row per
claim, with its interval and boundary. The chart of variance components has one row per source of noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator
from numpy.typing import ArrayLike

from riskrank.engine.evidence.crossed import Components
from riskrank.engine.types import Floats, Integers
from riskrank.render.figures import text
from riskrank.render.figures.legend import model_color
from riskrank.render.figures.style import (
    FAINT,
    GOOD,
    GREY,
    INK,
    MARGIN,
    PALETTE,
    QUIET,
    ROW,
    SMALL,
    Plot,
    Sheet,
    Thousands,
    Unit,
    common_style,
    start_sheet,
)
from riskrank.render.mean_tables import variance_proportions
from riskrank.render.view import Picture
from riskrank.studies.wording import format_fixed, format_percent

# Number of rows up to which every row has a name. If there are more, only the first rows have one.
MOST_NAMED = 80
FIRST = 40
_THIN = 2.5
# Space below the rows for tick labels, and between axes, in points.
BELOW, _BETWEEN = 44.0, 26.0
# Space to the right of a panel for the values of its rows.
_VALUES = 34.0
_STEP = ROW + 2.0


@dataclass(frozen=True)
class Rows:
    """Layout of k rows, in points above the lower edge of the drawing.

    Attributes
    ----------
    labels : tuple of str
        Names in the first rows, shortened to fit.
    y : ndarray, shape (k,)
        Vertical center of each row, from top to bottom.
    height : float
        Total height of all rows.
    unnamed : int
        Number of rows without a name.
    marks : tuple of str
        SVG identifier of each row.
    """

    labels: tuple[str, ...]
    y: Floats
    height: float
    unnamed: int
    marks: tuple[str, ...]

    @classmethod
    def from_names(cls, names: Sequence[str], marks: Sequence[str], width: float = 170.0) -> Rows:
        """Lay out k rows in the given order.

        Parameters
        ----------
        names : sequence of k str
            Names of the models.
        marks : sequence of k str
            SVG identifier of each row.
        width : float
            Space for a name, in points.
        """
        k = len(names)
        named = k if k <= MOST_NAMED else FIRST
        heights = np.array([_STEP] * named + [_THIN] * (k - named))
        # The count of unnamed rows needs the height of a name.
        height = max(float(heights.sum()), named * _STEP + (_STEP if k > named else 0))
        return cls(
            tuple(text.fit_names(names[:named], width)),
            height - np.cumsum(heights) + heights / 2,
            height,
            k - named,
            tuple(marks),
        )

    @classmethod
    def for_models(cls, names: Sequence[str], order: Iterable[int]) -> Rows:
        """Lay out one row for each of k models.

        Parameters
        ----------
        names : sequence of k str
            Names in the order of the study.
        order : iterable of int
            Models from top to bottom.
        """
        models = list(order)
        return cls.from_names([names[model] for model in models], [*map(text.model_mark, models)])

    @property
    def width(self) -> float:
        """Width of the name column with its margin, in points."""
        return max(text.text_width(label) for label in (*self.labels, self._unnamed_label)) + MARGIN + 14

    @property
    def _unnamed_label(self) -> str:
        """Label that gives the number of rows without a name."""
        return f"{self.unnamed} others" if self.unnamed else ""

    def prepare_axes(self, axes: Axes, label: str, steps: int) -> None:
        """Set up axes for the rows, with a label and about `steps` ticks on the x-axis."""
        axes.set(ylim=(0, self.height), yticks=[])
        axes.set_xlabel(label, size=SMALL)
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_locator(MaxNLocator(steps))

    def write_names(self, canvas: Axes, bottom: float, left: float | None = None) -> None:
        """Write the names on a sheet's canvas, right-aligned.

        Parameters
        ----------
        canvas : Axes
            Matplotlib axes to draw on.
        bottom : float
            Lower edge of the rows, in points.
        left : float, optional
            Left edge of the drawing next to the names; by default, the width of the names.
        """
        left = self.width if left is None else left
        for label, y, mark in zip(self.labels, self.y, self.marks, strict=False):
            text.write_text(canvas, left - 6, bottom + y, label, mark, "right")
        canvas.set_gid(text.PANEL_NAMES)
        if self.unnamed:
            y = bottom + float(self.y[len(self.labels) :].mean())
            text.write_text(canvas, left - 6, y, self._unnamed_label, ha="right", size=SMALL, color=QUIET)


def ruled_sheet(
    rows: Rows,
    title: str,
    explanation: str,
    *,
    width: float,
    columns: int = 1,
    gap: float = 6.0,
    values: float = 0.0,
    method: str = "",
) -> tuple[Sheet, list[Axes]]:
    """Create a sheet with row names on the left, axes next to them, and a faint rule per named row.

    Parameters
    ----------
    rows : Rows
        Vertical positions of the models.
    title, explanation : str
        Title of the figure, and the text below it.
    width : float
        Width of each axes, in points.
    columns : int
        Number of axes next to each other.
    gap : float
        Space between the axes and the heading, in points.
    values : float
        Space to the right of each axes for the values of its rows, in points.
    method : str
        See :func:`start_sheet`.

    Returns
    -------
    page : Sheet
    panels : list of Axes
    """
    step = width + values + _BETWEEN
    total_width = rows.width + columns * step - _BETWEEN + MARGIN + 10
    page = start_sheet(title, explanation, width=total_width, height=BELOW + rows.height + gap, method=method)
    panels = [page.axes(rows.width + number * step, BELOW, width, rows.height) for number in range(columns)]
    for number, axes in enumerate(panels):
        for y, mark in zip(rows.y[: len(rows.labels)], rows.marks, strict=False):
            axes.axhline(y, color=FAINT, linewidth=0.6, zorder=0, gid=mark)
        axes.set_gid(text.panel_mark(number))
    rows.write_names(page.canvas(), BELOW)
    edges = [rows.width + number * step - _BETWEEN / 2 for number in range(1, columns)]
    page.figure.panels = (rows.width - 6, *edges, total_width)
    return page, panels


def draw_bar(axes: Axes, limits: ArrayLike, y: float, mark: str, color: str, *, width: float = 2.2) -> None:
    """Draw a horizontal bar between two limits at height `y`, with the SVG identifier `mark`."""
    axes.plot(limits, [y, y], color=color, linewidth=width, solid_capstyle="butt", zorder=2, gid=mark)


def draw_dot(
    axes: Axes,
    x: float,
    y: float,
    mark: str,
    color: str,
    *,
    marker: str = "o",
    size: float = 4.5,
    filled: bool = True,
    fill: Any = None,
) -> None:
    """Draw a marker at a point, hollow unless `filled`.

    `mark` is the SVG identifier of the marker. `fill` overrides the interior color.
    """
    rim = 0.0 if filled and fill is None else 0.9
    style: dict[str, Any] = {"markeredgewidth": rim, "zorder": 4 if rim else 3, "markersize": size}
    fill = fill or (color if filled else "white")
    axes.plot([x], [y], marker=marker, color=color, markerfacecolor=fill, gid=mark, **style)


# Kinds of quantities: ranks, and differences with a line at 0.
PLACES, DIFFERENCES = "places", "differences"


@dataclass(frozen=True)
class Interval:
    """Estimates of one quantity for k models in rank order, with optional intervals.

    Attributes
    ----------
    label : str
        Heading of the column.
    estimate : ndarray, shape (k,)
        Estimated values.
    low, high : ndarray, shape (k,), or None
        Limits of the intervals.
    kind : {"", "places", "differences"}
        Kind of quantity, which determines the axis.
    """

    label: str
    estimate: Floats
    low: Floats | None = None
    high: Floats | None = None
    kind: str = ""

    @classmethod
    def from_arrays(cls, order: Integers, label: str, kind: str, *parts: ArrayLike | None) -> Interval:
        """Create the intervals of one quantity for k models, reordered by `order`.

        Parameters
        ----------
        order : ndarray of int, shape (k,)
            Indices of the models, best first.
        label, kind : str
            Heading of the column, and kind of value.
        *parts : array_like, shape (k,), or None
            Estimates of all models and, optionally, the lower and upper limits of their intervals.
        """
        arrays = [np.asarray(part, dtype=np.float64)[order] for part in parts if part is not None]
        low, high = arrays[1:] or (None, None)
        return cls(label, arrays[0], low, high, kind)


@dataclass(frozen=True)
class Forest:
    """Data for a forest plot of k models in rank order.

    Attributes
    ----------
    order : ndarray of int, shape (k,)
        Indices of the models, best first.
    columns : tuple of Interval
        Rank with its rank set, violation ratio or win rate, and difference in means to the leader (if there
        is one).
    """

    order: Integers
    columns: tuple[Interval, ...]


@common_style()
def draw_forest(forest: Forest, names: Sequence[str], title: str, explanation: str, method: str) -> Plot:
    """Draw a forest plot: panels of intervals that share one row for each of k models.

    Parameters
    ----------
    forest : Forest
        Data of the forest plot.
    names : sequence of k str
        Names in the order of the study.
    title, explanation, method : str
        See :func:`start_sheet`.
    """
    rows = Rows.for_models(names, forest.order)
    page, panels = ruled_sheet(
        rows, title, explanation, width=150.0, columns=len(forest.columns), values=_VALUES, method=method
    )
    colors = [model_color(model) for model in forest.order.tolist()]
    for axes, column in zip(panels, forest.columns, strict=True):
        _draw_forest_panel(axes, column, rows, colors)
    return page.figure


def _draw_forest_panel(axes: Axes, column: Interval, rows: Rows, colors: Sequence[str]) -> None:
    """Draw the estimates and intervals of one quantity, with one color per model."""
    parts = [part for part in (column.estimate, column.low, column.high) if part is not None]
    unit, named = Unit.choose(*parts), len(rows.labels)
    estimate, *limits = map(unit.apply, parts)
    for row, (y, mark) in enumerate(zip(rows.y.tolist(), rows.marks, strict=True)):
        row_style = (colors[row], colors[row], 2.2, 4.5) if row < named else (GREY, QUIET, 1.2, 1.7)
        line, color, thickness, size = row_style
        if limits:
            draw_bar(axes, [limit[row] for limit in limits], y, mark, line, width=thickness)
        draw_dot(axes, estimate[row], y, mark, color, size=size)
    axes.margins(x=0.06)
    rows.prepare_axes(axes, unit.label(column.label), 4)
    if column.kind != PLACES:
        decimals = int(np.clip(2 - np.floor(np.log10(np.ptp(estimate) or 1.0)), 0, 4))
        style: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "va": "center", "size": SMALL}
        style |= {"xycoords": axes.get_yaxis_transform(), "annotation_clip": False}
        for value, y, mark in zip(estimate.tolist(), rows.y[:named].tolist(), rows.marks, strict=False):
            axes.annotate(format_fixed(value, decimals), (1, y), (_VALUES, 0), gid=mark, **style)
    if column.kind == PLACES:
        k = len(rows.y)
        axes.set_xlim(0.4, k + 0.6)
        steps = np.unique(np.round(np.linspace(1, k, min(k, 5))).astype(int))
        axes.xaxis.set_major_locator(FixedLocator(steps.tolist()))
    elif column.kind == DIFFERENCES:
        axes.axvline(0, color=QUIET, linewidth=0.8, zorder=1)


def pictures(components: Components) -> list[Picture]:
    """Return a list with one picture: a bar chart of the variance components."""
    caption = "Share of each source of noise in the variance of the difference between two models."
    return [Picture("noise", caption, partial(draw_shares, components))]


@common_style()
def draw_shares(components: Components) -> Plot:
    """Draw one bar per source of noise, largest share of the variance first."""
    sources = variance_proportions(components)
    names = [name if size is None else f"{name} ({size:,})" for name, size, _ in sources]
    rows = Rows.from_names(names, [""] * len(sources))
    explanation = (
        "Bar: share of the source in the variance of the difference between two models, for a single score. "
        "The longest bar shows where more levels help most. Parentheses: number of levels."
    )
    page, (axes,) = ruled_sheet(rows, "Sources of noise", explanation, width=300.0)
    for (_, _, share), y in zip(sources, rows.y.tolist(), strict=True):
        draw_bar(axes, [0, 100 * share], y, "", QUIET, width=7.0)
        text.write_text(axes, 100 * share + 1.5, y, format_percent(share) if share else "0 %")
    rows.prepare_axes(axes, "share of the variance (%)", 5)
    axes.set_xlim(0, 112)
    axes.set_xticks([0, 25, 50, 75, 100])
    return page.figure


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
        Text of each claim.
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
        True if lower values of the metric are better. The axis then shows differences of the original values.
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
        """SVG identifier of each claim, with the indices of its models."""
        return [text.model_mark(*pair) for pair in self.pairs]


_CLAIM_WIDTH, _BELOW, _PANEL_GAP = 280.0, 38.0, 14.0


@common_style()
def draw_intervals(panels_of_claims: Sequence[Intervals], title: str = "Claims") -> Plot:
    """Draw the intervals of claims, with one panel per unit and one row per claim.

    Parameters
    ----------
    panels_of_claims : sequence of Intervals
        Data of each panel.
    title : str
        Title of the figure.
    """
    panels = [Rows.from_names(claims.claims, claims.marks, 330.0) for claims in panels_of_claims]
    left = max(rows.width for rows in panels)
    answers = {answer for claims in panels_of_claims for answer in claims.answer}
    answer_width = max(text.text_width(answer, text.TEXT, "bold") for answer in answers)
    explanation = (
        "Mark and bar: difference between the two models, with its interval; to the right, the new model is "
        "better. Long line: no difference. Short line: a claim passes if the interval is to the right of it. "
        "Orange: the new model is worse (the whole interval is to the left of the long line)."
    )
    if any((np.isnan(claims.low) & np.isnan(claims.high)).any() for claims in panels_of_claims):
        explanation += " A claim without a bar has a p-value but no interval."
    width = left + _CLAIM_WIDTH + 20 + answer_width + MARGIN
    height = sum(rows.height + _BELOW + _PANEL_GAP for rows in panels)
    page = start_sheet(title, explanation, width=width, height=height)
    canvas = page.canvas()
    top = page.top
    for claims, rows in zip(panels_of_claims, panels, strict=True):
        bottom = top - rows.height
        axes = page.axes(left, bottom, _CLAIM_WIDTH, rows.height)
        _draw_claims_panel(axes, claims, rows)
        rows.write_names(canvas, bottom, left)
        for answer, y, mark in zip(claims.answer[: len(rows.labels)], rows.y, rows.marks, strict=False):
            bold: dict[str, Any] = {"weight": "bold", "color": _ANSWERS[answer][0]}
            text.write_text(canvas, left + _CLAIM_WIDTH + 10, bottom + y, answer, mark, **bold)
        top = bottom - _BELOW - _PANEL_GAP
    return page.figure


class _Negated(Thousands):
    """Tick formatter for negated values, for an axis that decreases to the right."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Format a tick label with the opposite sign."""
        # Subtracting from zero avoids −0.
        return super().__call__(0.0 - x, pos)


def _draw_claims_panel(axes: Axes, claims: Intervals, rows: Rows) -> None:
    """Draw the estimates, intervals and boundaries of claims that share a unit."""
    parts = (claims.estimate, claims.low, claims.high, claims.boundary)
    finite = np.concatenate([part[np.isfinite(part)] for part in parts])
    unit = Unit.choose(finite)
    low, high = unit.apply([min(finite.min(), 0.0), max(finite.max(), 0.0)])
    margin = max(high - low, 1e-12) * 0.06
    axes.set_xlim(low - margin, high + margin)
    label = f"worse ← {unit.label(text.fit_names([claims.unit], _CLAIM_WIDTH - 80)[0])} → better"
    rows.prepare_axes(axes, label, 5)
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
        estimate = float(unit.apply(claims.estimate[claim]))
        draw_dot(axes, estimate, y, mark, color, marker=marker, size=5.5, filled=filled)
        boundary = float(unit.apply(claims.boundary[claim]))
        axes.plot([boundary, boundary], [y - 5, y + 5], color=INK, linewidth=1.4, zorder=5, gid=mark)
        axes.axhline(y, color=FAINT, linewidth=0.6, zorder=0, gid=mark)
