"""Comparison of two models by quantile: their difference at every quantile level.

The figure shows the differences of the quantile and integrated quantile functions of [RAB] Fig. 5. The
violation ratio integrates the squares of these differences.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from riskrank.engine.dominance.pair_curves import PairCurves
from riskrank.engine.types import Floats
from riskrank.render.figures.legend import Look, choose_looks
from riskrank.render.figures.style import (
    GREY,
    INK,
    MARGIN,
    QUIET,
    ROW,
    SMALL,
    Plot,
    Unit,
    in_common_style,
    start_sheet,
)
from riskrank.render.figures.text import TEXT, fit_names, model_mark, write_text
from riskrank.render.mean_tables import score_title
from riskrank.render.numbers import format_ratio
from riskrank.studies.wording import format_percent

_DOTTED = (0, (2, 1.5))
_BOTH = model_mark(0, 1)


@in_common_style
def draw_pair(
    curves: PairCurves,
    names: tuple[str, str],
    column: str,
    *,
    level: float = 0.95,
    looks: Sequence[Look] | None = None,
) -> Plot:
    """Draw the quantile differences for first- and second-order dominance, one above the other.

    In the figure's marks, the winner is model 0 and the loser is model 1.

    Parameters
    ----------
    curves : PairCurves
    names : (str, str)
        Winner and loser.
    column : str
        Metric or portfolio that the scores belong to.
    level : float
        Confidence level 1 − α of the band, if there is one.
    looks : sequence of two Look, optional
        Looks of the two models in all pictures of their study.
    """
    labels, looks = (
        fit_names(names, 100.0),
        choose_looks(2, (0, 1), are_models=False) if looks is None else looks,
    )
    # Stack the two orders, so that a phone shows both.
    width, height, step = 190.0, 100.0, 158.0
    differences = [_difference_curve(curves, order) for order in (1, 2)]
    parts = [
        f"Height: score of {labels[0]} minus score of {labels[1]}, with the samples of each sorted from "
        "worst to best."
    ]
    if any((difference_ < 0).any() for difference_ in differences):
        parts.append(
            f"Hatched: {labels[1]} is ahead, against the dominance of {labels[0]}. Violation ratio ε: "
            "hatched share of the area between the curves (squared differences); 0.5 is a draw."
        )
    if curves.band is not None:
        parts.append(f"Dotted: pointwise {format_percent(level)} interval.")
    page = start_sheet(
        f"{labels[0]} against {labels[1]} on {score_title(column)}",
        " ".join(parts),
        width=2 * MARGIN + 46 + width,
        height=2 * step + 20 + ROW,
        method=f"dominance of both orders on {column}",
    )
    for order, difference in enumerate(differences, start=1):
        axes = page.axes(MARGIN + 46, 42 + (2 - order) * step, width, height)
        _draw_difference(axes, curves, difference, order, looks)
        axes.set_xlim(0, 1)
        axes.grid(visible=True)
        axes.set_title(
            f"{'First' if order == 1 else 'Second'} order: ε {_ratio_text(curves.ratios[order - 1])}",
            size=TEXT,
            loc="left",
            weight="bold",
            pad=5,
        )
        axes.set_ylabel(Unit.choose(difference).label("worse ← → better"), size=SMALL)
        axes.set_xlabel("share of samples p" if order == 1 else "worst share p, cumulative", size=SMALL)
    canvas, x, top = page.canvas(), MARGIN + 46.0, 2 * step + 12 + ROW
    write_text(canvas, MARGIN, top, "Ahead:", _BOTH)
    for number, name in enumerate(labels):
        mark, y = model_mark(number), top - number * ROW
        canvas.plot([x, x + 24], [y, y], color=looks[number].color, linewidth=4, gid=mark)
        write_text(canvas, x + 30, y, name, mark)
    return page.figure


def _ratio_text(value: float) -> str:
    """Return a violation ratio with its relation sign, such as "= 0.123" or "<0.001"."""
    text = format_ratio(value)
    return text if text[0] in "<>" else f"= {text}"


def _difference_curve(curves: PairCurves, order: int) -> Floats:
    """Return the difference at the left end and at each of l quantile levels, shape (l + 1,).

    The left end is 0 for integrals and the first step for quantiles.
    """
    difference = curves.winner[order - 1] - curves.loser[order - 1]
    return np.concatenate([difference[:1] if order == 1 else [0.0], difference])


def _draw_difference(
    axes: Axes, curves: PairCurves, difference: Floats, order: int, looks: Sequence[Look]
) -> None:
    """Draw one difference curve on its axes."""
    unit, levels = Unit.choose(difference), np.concatenate([[0.0], curves.levels])
    difference = unit.apply(difference)
    step = "steps-pre" if order == 1 else "default"
    line: dict[str, Any] = {"drawstyle": step, "gid": _BOTH}
    axes.plot(levels, difference, color=INK, linewidth=1.0, zorder=4, **line)
    for bound in curves.band if order == 1 and curves.band is not None else ():
        bounds = unit.apply(np.concatenate([bound[:1], bound]))
        axes.plot(levels, bounds, color=QUIET, linewidth=0.7, linestyle=_DOTTED, zorder=3, **line)
    axes.axhline(0, color=GREY, linewidth=0.8, zorder=3)
    for look, sign in zip(looks, (1, -1), strict=True):
        if not (sign * difference > 0).any():
            continue
        ahead = sign * np.maximum(sign * difference, 0.0) if order == 1 else difference
        # A step extends from the previous level, so both of its ends belong to the area.
        inside = np.ones(difference.size, dtype=bool) if order == 1 else sign * difference > 0
        shape: dict[str, Any] = {"step": "pre"} if order == 1 else {"interpolate": True}
        # A fill would hide the hatch, because an SVG pattern has a single opacity.
        fill: Any = (look.color, 0.25) if sign > 0 else "none"
        area: dict[str, Any] = {"facecolor": fill, "edgecolor": look.color}
        area |= {"hatch": "////"} if sign < 0 else {}
        axes.fill_between(levels, ahead, 0.0, where=inside, linewidth=0, zorder=2, gid=_BOTH, **area, **shape)
