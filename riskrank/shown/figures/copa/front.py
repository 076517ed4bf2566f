"""The Pareto front coloured by the weight that chooses each model ([COPA] Fig. 1 and 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from numpy.typing import NDArray

from riskrank.engine.copa.population import Population
from riskrank.engine.copa.sweep import Sweep
from riskrank.engine.types import Booleans, Floats
from riskrank.shown.figures.fonts import TEXT
from riskrank.shown.figures.marks import model_mark
from riskrank.shown.figures.names import fitted
from riskrank.shown.figures.scatter import COLUMN, name_points
from riskrank.shown.figures.style import FAINT, GREY, INK, MARGIN, SMALL, Plot, drawn, sheet
from riskrank.shown.figures.units import Unit

_NAMED = 8
# From dark to light in even steps, without the ends that paper swallows.
_EDGE: dict[str, Any] = {"markeredgecolor": INK, "markeredgewidth": 0.7}
_COLORS = ListedColormap(colormaps["cividis"](np.linspace(0.0, 0.92, 256)))


@dataclass(frozen=True)
class Front:
    """What is plotted of two objectives of N models.

    Attributes
    ----------
    metrics : (str, str)
        The objective whose weight is α, and another.
    values : ndarray, shape (N, 2)
        In original units; NaN where missing.
    larger_is_better : (bool, bool)
    u : ndarray, shape (N, 2)
        Share of the models that do better.
    front, feasible : ndarray of bool, shape (N,)
    alpha : ndarray, shape (N,)
        Middle of the weights that choose each model; NaN where none does.
    share : ndarray, shape (N,)
        Part of the range of α that chooses it.
    """

    metrics: tuple[str, str]
    values: Floats
    larger_is_better: tuple[bool, bool]
    u: Floats
    front: Booleans
    feasible: Booleans
    alpha: Floats
    share: Floats


def front(
    models: Population, values: Floats, larger_is_better: NDArray[np.bool_], sweep: Sweep, other: int
) -> Front:
    """Arrange a sweep of a weight for drawing.

    Parameters
    ----------
    models : Population
    values : ndarray, shape (N, K)
        In original units.
    larger_is_better : ndarray of bool, shape (K,)
    sweep : Sweep
        Of a weight.
    other : int
        The objective to draw against the one whose weight is swept.
    """
    assert sweep.objective is not None
    pair = [sweep.objective, other]
    return Front(
        metrics=(models.metrics[pair[0]], models.metrics[pair[1]]),
        values=values[:, pair],
        larger_is_better=(bool(larger_is_better[pair[0]]), bool(larger_is_better[pair[1]])),
        u=models.u[:, pair],
        front=models.front,
        feasible=models.feasible,
        alpha=sweep.middle,
        share=sweep.share,
    )


@dataclass(frozen=True)
class _FrontPanel:
    title: str
    x: Floats
    y: Floats
    xlabel: str
    ylabel: str


@drawn
def draw_front(found: Front, names: tuple[str, ...]) -> Plot:
    """Draw the objectives as measured, and as ranks.

    Parameters
    ----------
    found : Front
    names : tuple of N str
    """
    width, height, left, gap = 330.0, 230.0, 66.0, 74.0
    first, second = fitted(found.metrics, 150.0)
    page = sheet(
        f"Which model COPA chooses as {first} gains weight",
        f"Colour: the weight α of {first} that chooses a model, the others sharing the rest; open: on the "
        "Pareto front of all objectives, never chosen; grey: dominated or not feasible. Below, the same as "
        "shares of the models that do better.",
        width=left + width + COLUMN + MARGIN,
        height=2 * height + gap + 100,
    )
    units = [Unit.of(found.values[:, column]) for column in (0, 1)]
    arrows = ["→ better" if larger else "← better" for larger in found.larger_is_better]
    panels = (
        _FrontPanel(
            "As measured",
            units[0].apply(found.values[:, 0]),
            units[1].apply(found.values[:, 1]),
            f"{units[0].label(first)}  {arrows[0]}",
            f"{units[1].label(second)}  {arrows[1]}",
        ),
        _FrontPanel(
            "As ranks",
            found.u[:, 0],
            found.u[:, 1],
            f"{first}: share better  ← better",
            f"{second}: share better  ← better",
        ),
    )
    for number, panel in enumerate(panels):
        axes = page.axes(left, 86 + (1 - number) * (height + gap), width, height)
        _points(axes, found, panel)
        known = ~(np.isnan(panel.x) | np.isnan(panel.y))
        chosen = np.argsort(-found.share, kind="stable")
        named = [int(at) for at in chosen if not np.isnan(found.alpha[at]) and known[at]][:_NAMED]
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


def _points(axes: Axes, found: Front, panel: _FrontPanel) -> None:
    for model, (x, y) in enumerate(zip(panel.x, panel.y, strict=True)):
        if np.isnan(x) or np.isnan(y):
            continue
        how: dict[str, Any] = {
            "marker": "o",
            "markersize": 3,
            "color": GREY,
            "markeredgewidth": 0,
            "zorder": 2,
        }
        if not np.isnan(found.alpha[model]):
            color = _COLORS(float(found.alpha[model]))
            how = {"marker": "D", "markersize": 6.3, "markerfacecolor": color, **_EDGE, "zorder": 5}
        elif found.front[model]:
            how = {"marker": "o", "markersize": 4.2, "markerfacecolor": "white", **_EDGE, "zorder": 4}
        axes.plot([x], [y], linestyle="none", gid=model_mark(model), **how)
    axes.margins(0.07)
    axes.grid(visible=True, color=FAINT)
    axes.set_title(panel.title, size=TEXT, weight="bold", loc="left", pad=5)
    axes.set_xlabel(panel.xlabel, size=SMALL)
    axes.set_ylabel(panel.ylabel, size=SMALL)
