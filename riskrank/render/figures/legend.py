"""Looks of models: colors, dashes and markers for highlighted models, grey for all others; and legends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, wraps
from itertools import islice
from typing import Any, TypeVar

from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from riskrank.render.figures.fonts import text_width
from riskrank.render.figures.marks import curve_mark, model_mark, write_text
from riskrank.render.figures.names import fit_names
from riskrank.render.figures.style import (
    DASHES,
    FOCUS,
    GREY,
    INK,
    MARGIN,
    MARKERS,
    PALETTE,
    QUIET,
    ROW,
    Sheet,
    start_sheet,
)

P = TypeVar("P")
WIDEST = 150.0
"""Room for a name next to a picture, in points."""


@dataclass(frozen=True)
class Look:
    """Color, dash, marker and line width of a model; dash and marker survive printing in grey."""

    color: str
    dash: Any
    marker: str
    width: float
    layer: int

    @property
    def line(self) -> dict[str, Any]:
        """Matplotlib's keyword arguments for a line of this model."""
        how = {"color": self.color, "linestyle": self.dash, "linewidth": self.width}
        return how | {"zorder": self.layer}


OTHERS = Look(GREY, "solid", "o", 1.0, 2)


# Numbers of the looks by model, the most important first, and the models that the verdict names.
_STUDY: ContextVar[tuple[Mapping[int, int], Sequence[int]] | None] = ContextVar("_STUDY", default=None)


def assign_looks(models: Sequence[str], order: Iterable[int]) -> dict[int, int]:
    """Assign numbers of looks to the most important models.

    A set of models gets the same looks in every study, whatever their order.

    Parameters
    ----------
    models : sequence of str
    order : iterable of int
        Models, the most important first; only the first ones get a look if there are more models than looks.

    Returns
    -------
    dict of int to int
        Number of the look, by model.
    """
    by_name, assigned = sorted(models), dict[int, int]()
    for model in islice(order, FOCUS):
        preferred = by_name.index(models[model])
        free = [
            (preferred + step) % FOCUS
            for step in range(FOCUS)
            if (preferred + step) % FOCUS not in assigned.values()
        ]
        assigned[model] = free[0]
    return assigned


def with_study_looks(
    draw: Callable[[], P], numbers: Mapping[int, int], named: Sequence[int]
) -> Callable[[], P]:
    """Wrap a drawing function so that models look as in all pictures of their study.

    Parameters
    ----------
    draw : callable
    numbers : mapping of int to int
        Result of :func:`assign_looks`.
    named : sequence of int
        Models that the study's verdict names.
    """

    @wraps(draw)
    def drawing() -> P:
        token = _STUDY.set((numbers, named))
        try:
            return draw()
        finally:
            _STUDY.reset(token)

    return drawing


def with_model_numbers(draw: Callable[[], P], numbers: Sequence[int]) -> Callable[[], P]:
    """Wrap a drawing function that numbers its models differently from the study.

    Parameters
    ----------
    draw : callable
    numbers : sequence of int
        Number of each of its models in the study.
    """

    def drawing() -> P:
        study = _STUDY.get()
        if study is None:
            return draw()
        place = {number: place_ for place_, number in enumerate(numbers)}
        looks_of = {place[model]: look for model, look in study[0].items() if model in place}
        return with_study_looks(draw, looks_of, [place[model] for model in study[1] if model in place])()

    return drawing


def row_color(model: int, default: str = QUIET) -> str:
    """Return the color of a model that the verdict names, or a default color."""
    study = _STUDY.get()
    return model_color(model) if study is not None and model in study[1] else default


def model_color(model: int) -> str:
    """Return the color of a model in the pictures of its study; dark grey if it has none."""
    numbers, _ = _STUDY.get() or ({}, ())
    return PALETTE[numbers[model]] if model in numbers else QUIET


def grey_note(models: int) -> str:
    """Return a sentence on grey models; empty if all models have a color."""
    return " Grey: models without a colour of their own." if models > FOCUS else ""


def choose_looks(count: int, order: Iterable[int], *, are_models: bool = True) -> list[Look]:
    """Return the looks of all models, as assigned in the study that is being drawn, if any.

    Parameters
    ----------
    count : int
        Number of models.
    order : iterable of int
        Models, the most important first.
    are_models : bool
        False if methods or pairs are drawn, which have no look in the study.
    """
    numbers: Mapping[int, int] = {model: place for place, model in enumerate(islice(order, FOCUS))}
    named: Sequence[int] = ()
    if (study := _STUDY.get()) is not None and are_models:
        numbers, named = study
    looks = [OTHERS] * count
    # More important curves are drawn first: where curves coincide, dashes reveal the curve below.
    for layer, (model, number) in enumerate(numbers.items()):
        width = 2.6 if model in named else 1.5
        looks[model] = Look(PALETTE[number], DASHES[number], MARKERS[number], width, 10 + layer)
    return looks


def by_importance(named: Sequence[int], order: Iterable[int]) -> list[int]:
    """Return the models that the verdict names, followed by all other models of an order."""
    return [*named, *(model for model in order if model not in named)]


@dataclass(frozen=True)
class Key:
    """Legend of a picture.

    Attributes
    ----------
    names : tuple of str
        Labels of the entries, shortened to fit.
    looks : tuple of Look
    marks : tuple of str or None
        Mark of the model of each entry.
    width, height : float
        Size of the whole legend, in points.
    """

    names: tuple[str, ...]
    looks: tuple[Look, ...]
    marks: tuple[str | None, ...]

    _SAMPLE = 24.0

    @classmethod
    def build(
        cls,
        names: Sequence[str],
        order: Iterable[int],
        looks: Sequence[Look],
        marks: Sequence[str | None] | None = None,
    ) -> Key:
        """Build a legend that names the models with a look of their own and counts the others.

        Parameters
        ----------
        names : sequence of str
        order : iterable of int
            Models, the most important first.
        looks : sequence of Look
        marks : sequence of str or None, optional
            Mark of each name; marks of models by default.
        """
        marks = [model_mark(model) for model in range(len(names))] if marks is None else marks
        named = [model for model in order if looks[model] is not OTHERS]
        if len(named) == len(names) - 1:
            named += {*range(len(names))} - {*named}
        labels = fit_names([names[model] for model in named], WIDEST)
        unnamed = len(names) - len(named)
        if unnamed:
            labels.append(f"{unnamed} other{'s' if unnamed > 1 else ''}")
        return cls(
            tuple(labels),
            (*(looks[model] for model in named), *([OTHERS] if unnamed else [])),
            (*(marks[model] for model in named), *([None] if unnamed else [])),
        )

    @property
    def width(self) -> float:
        """Width of the whole legend, in points."""
        return self._SAMPLE + 12 + max((text_width(name) for name in self.names), default=0.0)

    @property
    def height(self) -> float:
        """Height of the whole legend, in points."""
        return ROW * len(self.names)

    def draw(
        self,
        canvas: Axes,
        left: float,
        top: float,
        *,
        markers: bool = False,
        entry_heights: Iterable[float] | None = None,
    ) -> None:
        """Draw the legend with its upper left corner at a point of a sheet's canvas.

        Parameters
        ----------
        canvas : Axes
        left, top : float
            In points.
        markers : bool
            Show markers on the lines.
        entry_heights : iterable of float, optional
            Height of each entry, in points; one below the other by default.
        """
        heights = (
            [top - ROW * (at + 0.5) for at in range(len(self.names))]
            if entry_heights is None
            else entry_heights
        )
        for y, name, look, mark in zip(heights, self.names, self.looks, self.marks, strict=True):
            xs = [left, left + self._SAMPLE / 2, left + self._SAMPLE]
            style: dict[str, Any] = look.line | {
                "marker": look.marker if markers else "none",
                "markersize": 4,
            }
            canvas.plot(xs, [y] * len(xs), markevery=[1], gid=mark, **style)
            color = QUIET if look is OTHERS else INK
            write_text(canvas, left + self._SAMPLE + 6, y, name, mark, color=color)


def axes_with_key(
    key: Key, title: str, reading: str, *, method: str = "", width: float = 190.0, bottom: float = 42.0
) -> tuple[Sheet, Axes, Callable[..., None]]:
    """Start a sheet of axes with a legend on their right.

    Parameters
    ----------
    key : Key
    title, reading, method : str
        As of :func:`start_sheet`.
    width : float
        Width of the axes, in points. They are at least as high as the legend.
    bottom : float
        Room for the tick labels and the label of the lower axis, in points.

    Returns
    -------
    page : Sheet
    axes : Axes
    legend : callable
        Draws the legend at its place; keyword arguments as of :meth:`Key.draw`.
    """
    height, left = max(200.0, key.height), 58.0
    total_width = left + width + 20 + key.width + MARGIN
    page = start_sheet(title, reading, width=total_width, height=bottom + height + 4, method=method)
    axes = page.axes(left, bottom, width, height)
    axes.grid(visible=True)
    return page, axes, partial(key.draw, page.canvas(), left + width + 20, bottom + height)


def draw_marked_line(
    axes: Axes, x: ArrayLike, y: ArrayLike, look: Look, model: int, size: float, **style: Any
) -> None:
    """Draw a model's line through some points, with its markers on them."""
    axes.plot(x, y, **(look.line | style), gid=curve_mark(model))
    points: dict[str, Any] = {
        "linestyle": "none",
        "marker": look.marker,
        "markersize": size,
        "zorder": look.layer,
    }
    axes.plot(x, y, color=look.color, **(points | style), gid=model_mark(model))
