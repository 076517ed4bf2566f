"""The Pareto front coloured by the weight that chooses each model ([COPA] Fig. 1 and 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize

from riskrank.engine.copa.population import Population
from riskrank.engine.copa.sweep import Sweep
from riskrank.engine.types import Booleans, Floats
from riskrank.shown.figures.fonts import TEXT
from riskrank.shown.figures.marks import model_mark
from riskrank.shown.figures.names import fitted
from riskrank.shown.figures.rows import dot
from riskrank.shown.figures.scatter import COLUMN, name_points
from riskrank.shown.figures.style import FAINT, GREY, INK, MARGIN, SMALL, Plot, drawn, sheet
from riskrank.shown.figures.units import Unit

_NAMED = 8
# From dark to light in even steps, without the ends that paper swallows.
_COLORS = ListedColormap(colormaps["cividis"](np.linspace(0.0, 0.92, 256)))


@dataclass(frozen=True)
class _FrontPanel:
    title: str
    x: Floats
    y: Floats
    xlabel: str
    ylabel: str


@drawn
def draw_front(
    models: Population,
    values: Floats,
    larger_is_better: Booleans,
    sweep: Sweep,
    other: int,
    percent: Booleans,
) -> Plot:
    """Draw the objective whose weight is swept against another, as measured, and as ranks.

    Parameters
    ----------
    models : Population
    values : ndarray, shape (N, K)
        In original units; NaN where missing.
    larger_is_better : ndarray of bool, shape (K,)
    sweep : Sweep
        Of a weight.
    other : int
        The other objective.
    percent : ndarray of bool, shape (K,)
        Which objectives are shares.
    """
    assert sweep.objective is not None
    width, height, left, gap = 330.0, 230.0, 66.0, 74.0
    pair, names, weight = [sweep.objective, other], models.names, sweep.middle
    first, second = fitted([models.metrics[at] for at in pair], 150.0)
    page = sheet(
        f"Which model COPA chooses as {first} gains weight",
        f"Colour: the weight α of {first} that chooses a model, the others sharing the rest; open: on the "
        "Pareto front of all objectives, never chosen; grey: dominated or not feasible. Below, the same as "
        "shares of the models that do better.",
        width=left + width + COLUMN + MARGIN,
        height=2 * height + gap + 100,
    )
    units = [Unit.of(values[:, at], percent=bool(percent[at])) for at in pair]
    arrows = ["→ better" if larger_is_better[at] else "← better" for at in pair]
    panels = (
        _FrontPanel(
            "As measured",
            units[0].apply(values[:, pair[0]]),
            units[1].apply(values[:, pair[1]]),
            f"{units[0].label(first)}  {arrows[0]}",
            f"{units[1].label(second)}  {arrows[1]}",
        ),
        _FrontPanel(
            "As ranks",
            models.u[:, pair[0]],
            models.u[:, pair[1]],
            f"{first}: share better  ← better",
            f"{second}: share better  ← better",
        ),
    )
    for number, panel in enumerate(panels):
        axes = page.axes(left, 86 + (1 - number) * (height + gap), width, height)
        _points(axes, models.front, weight, panel)
        known = ~(np.isnan(panel.x) | np.isnan(panel.y))
        chosen = np.argsort(-sweep.share, kind="stable")
        named = [int(at) for at in chosen if not np.isnan(weight[at]) and known[at]][:_NAMED]
        place = {int(model): at for at, model in enumerate(np.flatnonzero(known))}
        name_points(
            page.canvas(),
            axes,
            panel.x[known],
            panel.y[known],
            [names[model] for model in np.flatnonzero(known)],
            [place[model] for model in named],
            marks=[model_mark(int(model)) for model in np.flatnonzero(known)],
        )
    bar = page.axes(left, 34, width, 8)
    assert bar.figure is not None
    bar.figure.colorbar(ScalarMappable(Normalize(0, 1), _COLORS), cax=bar, orientation="horizontal")
    bar.set_xlabel(f"weight α of {first}", size=SMALL)
    return page.figure


def _points(axes: Axes, front: Booleans, weight: Floats, panel: _FrontPanel) -> None:
    for model, (x, y) in enumerate(zip(panel.x, panel.y, strict=True)):
        if np.isnan(x) or np.isnan(y):
            continue
        mark = model_mark(model)
        if not np.isnan(weight[model]):
            dot(axes, x, y, mark, INK, marker="D", size=6.3, inside=_COLORS(float(weight[model])))
        elif front[model]:
            dot(axes, x, y, mark, INK, size=4.2, full=False)
        else:
            dot(axes, x, y, mark, GREY, size=3)
    axes.margins(0.07)
    axes.grid(visible=True, color=FAINT)
    axes.set_title(panel.title, size=TEXT, weight="bold", loc="left", pad=5)
    axes.set_xlabel(panel.xlabel, size=SMALL)
    axes.set_ylabel(panel.ylabel, size=SMALL)
