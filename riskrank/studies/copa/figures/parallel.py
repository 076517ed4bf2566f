"""Ranks on every objective, a line a model: parallel coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from riskrank.engine.copa.population import Population
from riskrank.engine.types import Floats, Integers
from riskrank.shown.figures.fonts import text_width
from riskrank.shown.figures.key import OTHERS, Key, Look, in_grey, joined, looks
from riskrank.shown.figures.marks import curve_mark, write
from riskrank.shown.figures.names import fitted
from riskrank.shown.figures.style import FAINT, MARGIN, SMALL, Plot, drawn, sheet


@drawn
def draw_parallel(models: Population, order: Integers) -> Plot:
    """Draw an upright axis an objective, the best at the top.

    Parameters
    ----------
    models : Population
    order : ndarray of int
        Models that may be chosen, the best first.
    """
    names = models.names
    given = looks(len(names), order)
    key = Key.of(names, order, given)
    K = len(models.metrics)
    heads = fitted(models.metrics, 120.0)
    widest = max(text_width(head, SMALL) for head in heads)
    upright = widest + 12 <= max(56.0, 460.0 / max(K - 1, 1))
    step = max(widest + 12, 56.0, 300.0 / max(K - 1, 1)) if upright else max(30.0, 300.0 / max(K - 1, 1))
    above = 18.0 if upright else widest + 12
    height, below, left = 250.0, 18.0, 46.0 + widest / 2 * upright
    page = sheet(
        "Ranks on every objective",
        "Height: share of the models that do better on an objective, the best at the top."
        + in_grey(len(names)),
        width=left + step * (K - 1) + max(20.0, widest / 2 + 8) + key.width + MARGIN,
        height=above + max(height, key.height) + below,
    )
    axes = page.axes(left, below, step * (K - 1), height)
    axes.set(xlim=(0, K - 1), ylim=(1.03, -0.03), xticks=[], yticks=[0, 0.25, 0.5, 0.75, 1])
    axes.set_ylabel("share of models that do better", size=SMALL)
    axes.spines[:].set_visible(False)
    for at in range(K):
        axes.axvline(at, color=FAINT, linewidth=1.0, zorder=1)
    _lines(axes, models.u, given)
    canvas = page.canvas()
    for at, head in enumerate(heads):
        how: dict[str, Any] = {"va": "bottom", "rotation": 0 if upright else 90}
        write(canvas, left + step * at, below + height + 5, head, ha="center", size=SMALL, **how)
    key.draw(canvas, left + step * (K - 1) + max(20.0, widest / 2 + 8), below + height)
    return page.figure


def _lines(axes: Axes, u: Floats, given: Sequence[Look]) -> None:
    x = np.arange(u.shape[1])
    for model, look in enumerate(given):
        if look is OTHERS:
            faint = look.line | {"linewidth": 0.5, "alpha": 0.6}
            axes.plot(x, u[model], **faint, clip_on=False, gid=curve_mark(model))
        else:
            joined(axes, x, u[model], look, model, 4, clip_on=False)
