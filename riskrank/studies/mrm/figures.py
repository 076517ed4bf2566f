"""Mean-risk models: means against a risk with the efficient frontier; all risks on a radar ([RAB] Fig. 8)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes

from riskrank.engine.portfolio.mean_risk import MeanRisk
from riskrank.engine.portfolio.risks import RiskColumn
from riskrank.engine.types import Floats
from riskrank.shown.figures.fonts import TEXT, text_width
from riskrank.shown.figures.key import Key, in_focus, looks
from riskrank.shown.figures.marks import curve_mark, model_mark
from riskrank.shown.figures.picture import Picture
from riskrank.shown.figures.scatter import COLUMN, name_points
from riskrank.shown.figures.style import FAINT, GREY, INK, MARGIN, PALETTE, Plot, drawn, sheet
from riskrank.shown.figures.units import Unit
from riskrank.shown.means import in_words
from riskrank.studies.mrm.study import MeanRiskDocument

_NAMED = 12
"""Models named in a scatter: the frontier first, then those of the largest mean minus risk."""
_CORNERS = 3
"""Risks that a radar needs."""


def pictures(document: MeanRiskDocument) -> list[Picture]:
    """A scatter a risk and one radar, a column of scores each."""
    models = document.provenance.models
    found = []
    for column, study in document.by_column:
        of = f"@{column}" if len(document.by_column) > 1 else ""
        for number, risk in _main_first(study.models):
            caption = f"Mean against {risk} of every model on {column}, with the efficient frontier."
            drawing = partial(draw_scatter, study.models, number, models, in_words(column))
            found.append(Picture(f"scatter@{risk}{of}", caption, drawing))
        if len(study.models.columns) >= _CORNERS:
            caption = f"Mean minus risk of every model on {column} under every risk."
            found.append(
                Picture(
                    f"radar{of}",
                    caption,
                    partial(draw_radar, study.models, models, in_words(column), document.named),
                )
            )
    return found


def _main_first(risks: MeanRisk) -> list[tuple[int, str]]:
    """Risks by number and name; those consistent with second-order dominance before the others."""

    def name(column: RiskColumn) -> str:
        return column.risk.name if column.level is None else f"{column.risk.name}-{column.level:g}"

    numbers = sorted(range(len(risks.columns)), key=lambda at: not risks.columns[at].risk.ssd_consistent)
    return [(at, name(risks.columns[at])) for at in numbers]


@drawn
def draw_scatter(risks: MeanRisk, number: int, names: Sequence[str], column: str) -> Plot:
    """Draw the mean up, one risk to the right; the frontier is the upper left edge."""
    label, risk, frontier = risks.columns[number].label, risks.risk[:, number], risks.frontier(number)
    width, height, left, below = 360.0, 270.0, 60.0, 42.0
    page = sheet(
        f"Mean and risk {label} of {column}",
        "Up: larger mean; left: less risk. Models on the line are efficient: no other has a larger mean "
        "without more risk. Named: these and the best of the others, as far as there is room.",
        width=left + width + COLUMN + MARGIN,
        height=below + height,
    )
    axes = page.axes(left, below, width, height)
    across, up = Unit.of(risk), Unit.of(risks.mean)
    x, y = across.apply(risk), up.apply(risks.mean)
    edge = np.flatnonzero(frontier)
    edge = edge[np.lexsort([y[edge], x[edge]])]
    axes.margins(0.08)
    for model, (across_at, up_at) in enumerate(zip(x, y, strict=True)):
        efficient = bool(frontier[model])
        axes.plot(
            [across_at],
            [up_at],
            color=PALETTE[0] if efficient else GREY,
            marker="D" if efficient else "o",
            markersize=5.8 if efficient else 4.7,
            markeredgewidth=0,
            zorder=4 if efficient else 2,
            gid=model_mark(model),
        )
    stairs = np.repeat(x[edge], 2)[1:], np.repeat(y[edge], 2)[:-1]
    axes.plot(*stairs, color=PALETTE[0], linewidth=1.0, zorder=3)
    axes.set_xlabel(across.label(f"risk {label}"))
    axes.set_ylabel(up.label("mean"))
    axes.grid(visible=True)
    # The frontier first, then the others; those of the largest mean minus risk first.
    named = np.lexsort([-risks.value[:, number], ~frontier]).tolist()
    marks = [model_mark(model) for model in range(len(names))]
    name_points(page.canvas(), axes, x, y, names, named[:_NAMED], marks=marks, line=stairs)
    return page.figure


@drawn
def draw_radar(risks: MeanRisk, names: Sequence[str], column: str, named: Sequence[int] = ()) -> Plot:
    """Draw one closed line a model, from the worst in the middle to the best on the rim."""
    order = in_focus(named, risks.share_order)
    labels = [risk.model for risk in risks.columns]
    given = looks(len(names), order)
    key = Key.of(names, order, given)
    side = 290.0
    rim = max(text_width(label) for label in labels) + 10
    page = sheet(
        f"Mean minus risk on {column}",
        "Rim: the best model under that risk; middle: the worst. The outer a model, the better.",
        width=MARGIN + 2 * rim + side + key.width + 28,
        height=max(side + 56, key.height + 30),
    )
    middle = page.top - 32 - side / 2
    axes = page.axes(MARGIN + rim, middle - side / 2, side, side)
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(labels)) / len(labels)
    _web(axes, angle, labels)
    closed = np.append(angle, angle[0])
    for model, (look, share) in enumerate(zip(given, risks.share, strict=True)):
        radius = 0.08 + 0.92 * np.append(share, share[0])
        axes.plot(radius * np.cos(closed), radius * np.sin(closed), **look.line, gid=curve_mark(model))
    key.draw(page.canvas(), MARGIN + 2 * rim + side + 16, page.top - 16)
    return page.figure


def _web(axes: Axes, angle: Floats, labels: Sequence[str]) -> None:
    axes.set(xlim=(-1.04, 1.04), ylim=(-1.04, 1.04))
    axes.set_axis_off()
    for radius in (0.08, 0.31, 0.54, 0.77, 1.0):
        ring = np.append(angle, angle[0])
        axes.plot(radius * np.cos(ring), radius * np.sin(ring), color=FAINT, linewidth=0.7, zorder=1)
    for direction, label in zip(angle, labels, strict=True):
        across, up = np.cos(direction), np.sin(direction)
        axes.plot([0, across], [0, up], color=FAINT, linewidth=0.7, zorder=1)
        side = "center" if abs(across) < 0.1 else "left" if across > 0 else "right"
        level = "bottom" if up > 0.95 else "top" if up < -0.95 else "center"
        axes.text(1.06 * across, 1.06 * up, label, ha=side, va=level, size=TEXT, color=INK)
