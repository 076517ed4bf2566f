"""Marks of the parts of a picture by model, so that a page can highlight models.

Parts are marked by model number when they are drawn; the text of a label never identifies a model.
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
    """Return the mark of a part that shows some models, by their numbers.

    Everything that shows a model bears its mark, including its name. A part on a pair bears both marks.
    """
    return " ".join(f"model-{model}" for model in models)


def panel_mark(place: int) -> str:
    """Return the mark of a panel by its position from the left; a narrow page stacks panels."""
    return f"panel-{place}"


def curve_mark(model: int) -> str:
    """Return the mark of a model's curve, which a page draws thicker when the model is highlighted."""
    return f"{model_mark(model)} {CURVE}"


def write_text(
    axes: Axes, x: float, y: float, text: str, mark: str | None = None, ha: str = "left", **style: Any
) -> None:
    """Write marked text on axes or a canvas, vertically centered and in the usual size."""
    axes.text(x, y, text, None, ha=ha, gid=mark, **{"size": TEXT, "va": "center"} | style)


def marked_models(mark: str) -> list[int]:
    """Return the numbers of the models in a mark."""
    return [int(number) for number in _MARK.findall(mark)]


def renumber_marks(plot: P, numbers: Sequence[int]) -> P:
    """Replace the model numbers in all marks of a figure.

    Parameters
    ----------
    plot : Plot
        Figure marked by the position of each model among its own models.
    numbers : sequence of int
        Number of each of these models in the whole study.
    """
    if list(numbers) == list(range(len(numbers))):
        return plot
    for artist in (child for axes in plot.axes for child in axes.get_children()):
        mark = artist.get_gid()
        if mark and _MARK.search(mark):
            artist.set_gid(_MARK.sub(lambda match: model_mark(numbers[int(match[1])]), mark))
    return plot


def marks_to_classes(svg: bytes) -> bytes:
    """Write marks in an SVG as classes, because identifiers must be unique in a file."""
    return _MARKED.sub(rb'<g class="\1">', svg)
