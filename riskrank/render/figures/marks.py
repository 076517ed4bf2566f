"""Marks: of whom a part of a picture is, for a page to put models into focus.

Parts are marked where they are drawn, by the models' numbers; what a text says never tells whose it is.
"""

import re
from collections.abc import Sequence
from typing import Any, TypeVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from riskrank.render.figures.fonts import TEXT

P = TypeVar("P", bound=Figure)

HEADING, CURVE = "heading", "curve"
"""Marks of what a page writes as text of its own instead, and of what it draws thicker in focus."""
PANEL_NAMES = "panel-names"
"""Mark of the names of rows that panels beside each other share."""


_MARK = re.compile(r"model-(\d+)")
_MARKED = re.compile(rb'<g id="((?:model-\d+|curve|heading)(?: (?:model-\d+|curve))*)">')


def model_mark(*models: int) -> str:
    """Mark of what is drawn of models, by their numbers: a page can put them into focus.

    Whatever belongs to a model bears it, the texts that are its name included; a pair belongs to both.
    """
    return " ".join(f"model-{model}" for model in models)


def panel_mark(place: int) -> str:
    """Mark of the axes at a place from the left, which a narrow page draws below each other."""
    return f"panel-{place}"


def curve_mark(model: int) -> str:
    """Mark of a model's curve, which a page draws thicker in focus."""
    return f"{model_mark(model)} {CURVE}"


def write(
    axes: Axes, x: float, y: float, text: str, mark: str | None = None, ha: str = "left", **how: Any
) -> None:
    """Write a text of a model on axes or a canvas, of the usual size, in the middle of its line."""
    axes.text(x, y, text, None, ha=ha, gid=mark, **{"size": TEXT, "va": "center"} | how)


def marked_models(mark: str) -> list[int]:
    """Numbers of the models in a mark."""
    return [int(number) for number in _MARK.findall(mark)]


def renumbered(plot: P, numbers: Sequence[int]) -> P:
    """Mark what is drawn by other numbers of the models.

    Parameters
    ----------
    plot : Plot
        Of some models, marked by their places among them.
    numbers : sequence of int
        Of those models in the whole study.
    """
    if list(numbers) == list(range(len(numbers))):
        return plot
    for artist in (child for axes in plot.axes for child in axes.get_children()):
        mark = artist.get_gid()
        if mark and _MARK.search(mark):
            artist.set_gid(_MARK.sub(lambda found: model_mark(numbers[int(found[1])]), mark))
    return plot


def as_classes(svg: bytes) -> bytes:
    """Write marks as classes: names of elements must not repeat in a file."""
    return _MARKED.sub(rb'<g class="\1">', svg)
