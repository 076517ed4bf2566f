"""Model marks on the elements of a picture, so that a page can highlight models.

Elements are marked with model indices when they are drawn; models are never identified by label text.
"""

import re
from collections.abc import Sequence
from typing import Any, TypeVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from riskrank.render.figures.fonts import TEXT

P = TypeVar("P", bound=Figure)

HEADING, CURVE = "heading", "curve"
"""Marks of the heading, which a page replaces by text, and of curves, which it draws thicker in focus."""
PANEL_NAMES = "panel-names"
"""Mark of the row names that panels share."""


_MARK = re.compile(r"model-(\d+)")
_MARKED = re.compile(rb'<g id="((?:model-\d+|curve|heading)(?: (?:model-\d+|curve))*)">')


def model_mark(*models: int) -> str:
    """Return the mark of an element that shows the given models, by index.

    Every element that shows a model has its mark, including its name. An element for a pair has both marks.
    """
    return " ".join(f"model-{model}" for model in models)


def panel_mark(position: int) -> str:
    """Return the mark of a panel, given its position from the left.

    Narrow pages use the marks to stack the panels.
    """
    return f"panel-{position}"


def curve_mark(model: int) -> str:
    """Return the mark of a model's curve, drawn thicker when the model is highlighted."""
    return f"{model_mark(model)} {CURVE}"


def write_text(
    axes: Axes, x: float, y: float, text: str, mark: str | None = None, ha: str = "left", **style: Any
) -> None:
    """Write marked text on axes or a canvas, vertically centered and in the default size."""
    axes.text(x, y, text, None, ha=ha, gid=mark, **{"size": TEXT, "va": "center"} | style)


def marked_models(mark: str) -> list[int]:
    """Return the indices of the models in a mark."""
    return [int(number) for number in _MARK.findall(mark)]


def renumber_marks(plot: P, numbers: Sequence[int]) -> P:
    """Replace the model indices in all marks of a figure.

    Parameters
    ----------
    plot : Plot
        Figure whose marks contain each model's position among the figure's models.
    numbers : sequence of int
        Index of each of these models in the whole study.
    """
    if list(numbers) == list(range(len(numbers))):
        return plot
    for artist in (child for axes in plot.axes for child in axes.get_children()):
        mark = artist.get_gid()
        if mark and _MARK.search(mark):
            artist.set_gid(_MARK.sub(lambda match: model_mark(numbers[int(match[1])]), mark))
    return plot


def marks_to_classes(svg: bytes) -> bytes:
    """Convert marks in an SVG from identifiers, which must be unique, to classes."""
    return _MARKED.sub(rb'<g class="\1">', svg)
