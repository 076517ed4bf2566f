"""Two models: by how much one is ahead of the other at every share of the samples, and where it is behind.

The differences of the quantile and integrated quantile functions of [RAB] Fig. 5, whose squares the violation
ratio integrates.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from riskrank.engine.dominance.pair_curves import PairCurves
from riskrank.engine.types import Floats
from riskrank.render.figures.fonts import TEXT
from riskrank.render.figures.legend import Look, looks
from riskrank.render.figures.marks import model_mark, write
from riskrank.render.figures.names import fitted
from riskrank.render.figures.style import GREY, INK, MARGIN, QUIET, ROW, SMALL, Plot, drawn, sheet
from riskrank.render.figures.units import Unit
from riskrank.render.mean_tables import score_of
from riskrank.render.numbers import ratio
from riskrank.studies.wording import percent

_DOTTED = (0, (2, 1.5))
_BOTH = model_mark(0, 1)


@drawn
def draw_pair(
    found: PairCurves,
    names: tuple[str, str],
    column: str,
    *,
    level: float = 0.95,
    given: Sequence[Look] | None = None,
) -> Plot:
    """Draw the differences, an order below the other. Marks number the winner 0, the loser 1.

    Parameters
    ----------
    found : PairCurves
    names : (str, str)
        Winner and loser.
    column : str
        What the scores are: a metric or a portfolio.
    level : float
        With which the band holds, where there is one.
    given : sequence of two Look, optional
        Of the two in all pictures of their study.
    """
    shown, given = fitted(names, 100.0), looks(2, (0, 1), models=False) if given is None else given
    # Orders below each other, so that a phone shows both.
    width, height, step = 190.0, 100.0, 158.0
    differences = [_difference_of(found, order) for order in (1, 2)]
    parts = [
        f"Height: score of {shown[0]} less that of {shown[1]}, each one's samples from the worst to the best."
    ]
    if any((one < 0).any() for one in differences):
        parts.append(
            f"Hatched: {shown[1]} is ahead, which violates the dominance of {shown[0]}. Violation ratio ε: "
            "the share of the hatched area in the whole, differences squared; 0.5 is a draw."
        )
    if found.band is not None:
        parts.append(f"Dotted: {percent(level)} interval at each p alone.")
    page = sheet(
        f"{shown[0]} against {shown[1]} on {score_of(column)}",
        " ".join(parts),
        width=2 * MARGIN + 46 + width,
        height=2 * step + 20 + ROW,
        method=f"dominance of both orders on {column}",
    )
    for order, difference in enumerate(differences, start=1):
        axes = page.axes(MARGIN + 46, 42 + (2 - order) * step, width, height)
        _difference(axes, found, difference, order, given)
        axes.set_xlim(0, 1)
        axes.grid(visible=True)
        axes.set_title(
            f"{'First' if order == 1 else 'Second'} order: ε {_said(found.ratios[order - 1])}",
            size=TEXT,
            loc="left",
            weight="bold",
            pad=5,
        )
        axes.set_ylabel(Unit.of(difference).label("worse ← → better"), size=SMALL)
        axes.set_xlabel("share of samples p" if order == 1 else "worst share p, summed up", size=SMALL)
    canvas, x, top = page.canvas(), MARGIN + 46.0, 2 * step + 12 + ROW
    write(canvas, MARGIN, top, "Ahead:", _BOTH)
    for number, name in enumerate(shown):
        mark, y = model_mark(number), top - number * ROW
        canvas.plot([x, x + 24], [y, y], color=given[number].color, linewidth=4, gid=mark)
        write(canvas, x + 30, y, name, mark)
    return page.figure


def _said(value: float) -> str:
    """A ratio as in the tables."""
    text = ratio(value)
    return text if text[0] in "<>" else f"= {text}"


def _difference_of(found: PairCurves, order: int) -> Floats:
    """The difference with its left end: an integral is 0 there, a quantile function its first step."""
    difference = found.winner[order - 1] - found.loser[order - 1]
    return np.concatenate([difference[:1] if order == 1 else [0.0], difference])


def _difference(axes: Axes, found: PairCurves, difference: Floats, order: int, given: Sequence[Look]) -> None:
    unit, levels = Unit.of(difference), np.concatenate([[0.0], found.levels])
    difference = unit.apply(difference)
    step = "steps-pre" if order == 1 else "default"
    line: dict[str, Any] = {"drawstyle": step, "gid": _BOTH}
    axes.plot(levels, difference, color=INK, linewidth=1.0, zorder=4, **line)
    for end in found.band if order == 1 and found.band is not None else ():
        ends = unit.apply(np.concatenate([end[:1], end]))
        axes.plot(levels, ends, color=QUIET, linewidth=0.7, linestyle=_DOTTED, zorder=3, **line)
    axes.axhline(0, color=GREY, linewidth=0.8, zorder=3)
    for look, sign in zip(given, (1, -1), strict=True):
        if not (sign * difference > 0).any():
            continue
        ahead = sign * np.maximum(sign * difference, 0.0) if order == 1 else difference
        # A step reaches from the level before to its own, so both ends of it belong to the area.
        where = np.ones(difference.size, dtype=bool) if order == 1 else sign * difference > 0
        shape: dict[str, Any] = {"step": "pre"} if order == 1 else {"interpolate": True}
        # A ground below the hatch would hide it: an SVG's pattern has one opacity.
        ground: Any = (look.color, 0.25) if sign > 0 else "none"
        area: dict[str, Any] = {"facecolor": ground, "edgecolor": look.color}
        area |= {"hatch": "////"} if sign < 0 else {}
        axes.fill_between(levels, ahead, 0.0, where=where, linewidth=0, zorder=2, gid=_BOTH, **area, **shape)
