"""The Pareto front coloured by the weight that chooses each model ([COPA] Fig. 1 and 4)."""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from riskrank.engine.copa.sweep import Sweep
from riskrank.engine.types import Booleans, Floats
from riskrank.shown.figures.fonts import TEXT
from riskrank.shown.figures.heat_map import color_scale
from riskrank.shown.figures.marks import model_mark
from riskrank.shown.figures.rows import dot
from riskrank.shown.figures.scatter import COLUMN
from riskrank.shown.figures.style import GREY, INK, MARGIN, SMALL, Plot, drawn, sheet
from riskrank.studies.copa.figures.plane import Plane
from riskrank.studies.copa.objectives import Objectives

_NAMED = 8
# From dark to light in even steps, without the ends that paper swallows.
_COLORS = ListedColormap(colormaps["cividis"](np.linspace(0.0, 0.92, 256)))


@drawn
def draw_front(table: Objectives, sweep: Sweep, other: int) -> Plot:
    """Draw the objective whose weight is swept against another, as measured, and as ranks.

    Parameters
    ----------
    table : Objectives
    sweep : Sweep
        Of a weight.
    other : int
        The other objective.
    """
    assert sweep.objective is not None
    width, height, left, gap = 330.0, 230.0, 66.0, 74.0
    models, weight = table.population, sweep.middle
    plane = Plane.of(table, (sweep.objective, other))
    first, second = plane.labels
    page = sheet(
        f"Which model COPA chooses as {first} gains weight",
        f"Colour: the weight α of {first} that chooses a model, the others sharing the rest; open: on the "
        "Pareto front of all objectives, never chosen; grey: dominated or not feasible. Below, the same as "
        "shares of the models that do better.",
        width=left + width + COLUMN + MARGIN,
        height=2 * height + gap + 100,
    )
    better = "share better  ← better"
    x, y = models.u[:, sweep.objective], models.u[:, other]
    ranks = Plane(plane.labels, (x, y), (f"{first}: {better}", f"{second}: {better}"))
    chosen = [at for at in np.argsort(-sweep.share, kind="stable").tolist() if not np.isnan(weight[at])]
    for number, (title, panel) in enumerate((("As measured", plane), ("As ranks", ranks))):
        axes = page.axes(left, 86 + (1 - number) * (height + gap), width, height)
        axes.set_title(title, size=TEXT, weight="bold", loc="left", pad=5)
        _points(axes, models.front, weight, panel)
        panel.finish(page, axes, models.names, [at for at in chosen if panel.known[at]][:_NAMED])
    bar = page.axes(left, 34, width, 8)
    color_scale(bar, _COLORS, 0, 1, orientation="horizontal")
    bar.set_xlabel(f"weight α of {first}", size=SMALL)
    return page.figure


def _points(axes: Axes, front: Booleans, weight: Floats, panel: Plane) -> None:
    for model in np.flatnonzero(panel.known).tolist():
        (x, y), mark = (along[model] for along in panel.at), model_mark(model)
        if not np.isnan(weight[model]):
            dot(axes, x, y, mark, INK, marker="D", size=6.3, inside=_COLORS(float(weight[model])))
        elif front[model]:
            dot(axes, x, y, mark, INK, size=4.2, full=False)
        else:
            dot(axes, x, y, mark, GREY, size=3)
