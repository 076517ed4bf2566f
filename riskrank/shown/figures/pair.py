"""Two models: their quantile and integrated quantile functions, and the area that violates dominance.

[RAB] Fig. 5, with the differences of the curves below, whose squares the ratio integrates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from riskrank.engine.dominance.pair_curves import PairCurves
from riskrank.engine.types import Floats
from riskrank.shown.figures.fonts import TEXT, text_width
from riskrank.shown.figures.marks import curve_mark, model_mark
from riskrank.shown.figures.names import fitted
from riskrank.shown.figures.style import DASHES, GREY, INK, MARGIN, PALETTE, QUIET, SMALL, Plot, drawn, sheet
from riskrank.shown.figures.units import Unit
from riskrank.shown.numbers import ratio
from riskrank.studies.wording import percent

_DOTTED = (0, (2, 1.5))
_AHEAD, _VIOLATION = PALETTE[0], PALETTE[1]
_BOTH = model_mark(0, 1)


@drawn
def draw_pair(found: PairCurves, names: tuple[str, str], column: str, *, level: float = 0.95) -> Plot:
    """Draw curves above, differences below; orders side by side. Marks number the winner 0, the loser 1.

    Parameters
    ----------
    found : PairCurves
    names : (str, str)
        Winner and loser.
    column : str
        What the scores are: a metric or a portfolio.
    level : float
        With which the band holds, where there is one.
    """
    shown = fitted(names, 200.0)
    width, height, gap = 220.0, 150.0, 66.0
    reading = (
        f"Hatched: where {shown[1]} is ahead, which violates the dominance of {shown[0]}. ε is the share of "
        "the hatched area in the whole, differences squared: 0 full dominance, 0.5 a draw."
    )
    if found.band is not None:
        reading += f" Dotted: {percent(level)} interval of the difference at each p alone."
    page = sheet(
        f"{shown[0]} against {shown[1]} on {column}",
        reading,
        width=2 * MARGIN + 52 + 2 * width + gap,
        height=2 * height + 124,
    )
    for order in (1, 2):
        left = MARGIN + 46 + (order - 1) * (width + gap)
        unit = Unit.of(found.winner[order - 1], found.loser[order - 1])
        above = page.axes(left, height + 90, width, height)
        below = page.axes(left, 42, width, height)
        _curves(above, found, order, unit)
        _difference(below, found, order, Unit.of(found.winner[order - 1] - found.loser[order - 1]))
        for axes in (above, below):
            axes.set_xlim(0, 1)
            axes.grid(visible=True)
            axes.set_axisbelow(True)
        above.set_title(
            f"{'First' if order == 1 else 'Second'} order: ε {_said(found.ratios[order - 1])}",
            size=TEXT,
            loc="left",
            weight="bold",
            pad=5,
        )
        above.set_ylabel(unit.label("score" if order == 1 else "integrated"), size=SMALL)
        below.set_ylabel(
            Unit.of(found.winner[order - 1] - found.loser[order - 1]).label("difference"), size=SMALL
        )
        below.set_xlabel("share of samples p", size=SMALL)
    canvas = page.canvas()
    x = MARGIN + 46.0
    for number, name in enumerate(shown):
        y = 2 * height + 116
        color, mark = (PALETTE[0], INK)[number], model_mark(number)
        canvas.plot([x, x + 24], [y, y], color=color, linestyle=DASHES[number], linewidth=1.5, gid=mark)
        canvas.text(x + 30, y, name, size=TEXT, va="center", ha="left", gid=mark)
        x += 30 + text_width(name) + 24
    return page.figure


def _said(value: float) -> str:
    """A ratio as in the tables."""
    text = ratio(value)
    return text if text[0] in "<>" else f"= {text}"


def _from_zero(found: PairCurves, order: int, curve: Floats) -> Floats:
    """A curve with its left end: the integral is 0 there, the quantile function what its first step is."""
    return np.concatenate([curve[:1] if order == 1 else [0.0], curve])


def _curves(axes: Axes, found: PairCurves, order: int, unit: Unit) -> None:
    levels = np.concatenate([[0.0], found.levels])
    winner, loser = (
        unit.apply(_from_zero(found, order, side[order - 1])) for side in (found.winner, found.loser)
    )
    step = "steps-pre" if order == 1 else "default"
    for number, curve in enumerate((winner, loser)):
        axes.plot(
            levels,
            curve,
            drawstyle=step,
            color=(PALETTE[0], INK)[number],
            linestyle=DASHES[number],
            linewidth=1.3,
            zorder=4,
            gid=curve_mark(number),
        )
    _fill(axes, levels, winner, loser, order)


def _difference(axes: Axes, found: PairCurves, order: int, unit: Unit) -> None:
    levels = np.concatenate([[0.0], found.levels])
    difference = unit.apply(_from_zero(found, order, found.winner[order - 1] - found.loser[order - 1]))
    zero = np.zeros_like(difference)
    step = "steps-pre" if order == 1 else "default"
    axes.plot(levels, difference, drawstyle=step, color=INK, linewidth=1.0, zorder=4, gid=_BOTH)
    if order == 1 and found.band is not None:
        for end in found.band:
            line = unit.apply(np.concatenate([end[:1], end]))
            axes.plot(
                levels,
                line,
                drawstyle=step,
                color=QUIET,
                linewidth=0.7,
                linestyle=_DOTTED,
                zorder=3,
                gid=_BOTH,
            )
    axes.axhline(0, color=GREY, linewidth=0.8, zorder=3)
    shape: dict[str, Any] = {"step": "pre"} if order == 1 else {"interpolate": True}
    ahead = np.maximum(difference, 0.0) if order == 1 else difference
    where = difference > 0 if order == 2 else np.ones(difference.size, dtype=bool)
    area: dict[str, Any] = {"color": _AHEAD, "alpha": 0.18, "linewidth": 0, "gid": _BOTH}
    axes.fill_between(levels, ahead, zero, where=where, **area, **shape)
    _fill(axes, levels, difference, zero, order)


def _fill(axes: Axes, levels: Floats, winner: Floats, loser: Floats, order: int) -> None:
    """Hatch where the loser is ahead."""
    behind = winner < loser
    if not behind.any():
        return
    if order == 1:
        # A step reaches from the level before to its own, so both ends of it belong to the area.
        winner = np.minimum(winner, loser)
        behind = behind | np.append(behind[1:], False)
    shape: dict[str, Any] = {"step": "pre"} if order == 1 else {"interpolate": True}
    axes.fill_between(
        levels,
        winner,
        loser,
        where=behind,
        facecolor="#f6cfb5",
        edgecolor=_VIOLATION,
        hatch="////",
        linewidth=0,
        zorder=2,
        gid=_BOTH,
        **shape,
    )
