"""Styles of models (colors, dashes and markers, or grey), legends, and labels of points next to the axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from riskrank.engine.types import Floats
from riskrank.render.figures import style, text

# Space for a name next to a picture, in points.
WIDEST = 150.0


@dataclass(frozen=True)
class PlotStyle:
    """Color, dash, marker and line width of a model.

    Dashes and markers distinguish models in greyscale.
    """

    color: str
    dash: Any
    marker: str
    width: float
    layer: int

    @property
    def line(self) -> dict[str, Any]:
        """Matplotlib keyword arguments for a line of this model."""
        return {"color": self.color, "linestyle": self.dash, "linewidth": self.width, "zorder": self.layer}


PLAIN = PlotStyle(style.GREY, "solid", "o", 1.0, 2)


# Numbers of the styles by model, the most important first, and the models that the verdict names.
_STUDY: ContextVar[tuple[Mapping[int, int], Sequence[int]] | None] = ContextVar("_STUDY", default=None)


def assign_styles(models: Sequence[str], order: Iterable[int]) -> dict[int, int]:
    """Assign style indices (color and marker) to the most important models.

    The same set of models has the same styles in every study, regardless of order.

    Parameters
    ----------
    models : sequence of str
        Names of the models.
    order : iterable of int
        Models, most important first. If there are more models than styles, only the first ones have a style.

    Returns
    -------
    dict of int to int
        Style index by model.
    """
    by_name, assigned = sorted(models), dict[int, int]()
    for model in islice(order, style.FOCUS):
        preferred = by_name.index(models[model])
        candidates = ((preferred + step) % style.FOCUS for step in range(style.FOCUS))
        assigned[model] = next(index for index in candidates if index not in assigned.values())
    return assigned


@contextmanager
def study_styles(numbers: Mapping[int, int], named: Sequence[int]) -> Iterator[None]:
    """Use the same styles as in all pictures of the study, within this context or in a decorated function.

    Parameters
    ----------
    numbers : mapping of int to int
        Result of :func:`assign_styles`.
    named : sequence of int
        Models named in the study's verdict.
    """
    token = _STUDY.set((numbers, named))
    try:
        yield
    finally:
        _STUDY.reset(token)


def draw_renumbered(draw: Callable[[], style.Plot], numbers: Sequence[int]) -> style.Plot:
    """Draw some models of a study, with the styles and the marks that they have in the study.

    Parameters
    ----------
    draw : callable
        Draws the picture.
    numbers : sequence of int
        Index in the study of each model of the drawing.
    """
    study = _STUDY.get()
    if study is None:
        return text.renumber_marks(draw(), numbers)
    position = {number: index for index, number in enumerate(numbers)}
    styles = {position[model]: index for model, index in study[0].items() if model in position}
    with study_styles(styles, [position[model] for model in study[1] if model in position]):
        return text.renumber_marks(draw(), numbers)


def row_color(model: int, default: str = style.QUIET) -> str:
    """Return the color of a model if the verdict names it, and `default` otherwise."""
    study = _STUDY.get()
    return model_color(model) if study is not None and model in study[1] else default


def model_color(model: int) -> str:
    """Return the color of a model in the pictures of its study, or dark grey if it has no color."""
    numbers, _ = _STUDY.get() or ({}, ())
    return style.PALETTE[numbers[model]] if model in numbers else style.QUIET


def grey_note(models: int) -> str:
    """Return the sentence that explains grey models, or an empty string if every model has a color."""
    return " Grey: all other models." if models > style.FOCUS else ""


def choose_styles(count: int, order: Iterable[int], *, are_models: bool = True) -> list[PlotStyle]:
    """Return the styles of all models, reusing those that the current study has assigned.

    Parameters
    ----------
    count : int
        Number of models.
    order : iterable of int
        Models, most important first.
    are_models : bool
        False for curves of methods or pairs, which have no style in the study.
    """
    numbers: Mapping[int, int] = {model: index for index, model in enumerate(islice(order, style.FOCUS))}
    named: Sequence[int] = ()
    if (study := _STUDY.get()) is not None and are_models:
        numbers, named = study
    styles = [PLAIN] * count
    # More important curves are drawn first: where curves coincide, dashes reveal the curve below.
    for layer, (model, number) in enumerate(numbers.items()):
        width = 2.6 if model in named else 1.5
        styles[model] = PlotStyle(
            style.PALETTE[number], style.DASHES[number], style.MARKERS[number], width, 10 + layer
        )
    return styles


def by_importance(named: Sequence[int], order: Iterable[int]) -> list[int]:
    """Return the models named in the verdict, followed by the other models in the given order."""
    return [*named, *(model for model in order if model not in named)]


@dataclass(frozen=True)
class Key:
    """Legend of a picture.

    Attributes
    ----------
    names : tuple of str
        Labels of the entries, shortened to fit.
    styles : tuple of PlotStyle
        Color and marker of each model.
    marks : tuple of str or None
        Mark of each entry's model.
    width, height : float
        Size of the legend, in points.
    """

    names: tuple[str, ...]
    styles: tuple[PlotStyle, ...]
    marks: tuple[str | None, ...]

    _SAMPLE = 24.0

    @classmethod
    def from_names(
        cls,
        names: Sequence[str],
        order: Iterable[int],
        styles: Sequence[PlotStyle],
        marks: Sequence[str | None] | None = None,
    ) -> Key:
        """Create a legend that lists the models with a distinct style and counts the others.

        Parameters
        ----------
        names : sequence of str
            Names of the models.
        order : iterable of int
            Models, most important first.
        styles : sequence of PlotStyle
            Color and marker of each model.
        marks : sequence of str or None, optional
            SVG identifier of each entry; by default, that of its model.
        """
        marks = [text.model_mark(model) for model in range(len(names))] if marks is None else marks
        named = [model for model in order if styles[model] is not PLAIN]
        if len(named) == len(names) - 1:
            named += {*range(len(names))} - {*named}
        labels = text.fit_names([names[model] for model in named], WIDEST)
        unnamed = len(names) - len(named)
        if unnamed:
            labels.append(f"{unnamed} other{'s' if unnamed > 1 else ''}")
        return cls(
            tuple(labels),
            (*(styles[model] for model in named), *([PLAIN] if unnamed else [])),
            (*(marks[model] for model in named), *([None] if unnamed else [])),
        )

    @property
    def width(self) -> float:
        """Width of the legend, in points."""
        return self._SAMPLE + 12 + max((text.text_width(name) for name in self.names), default=0.0)

    @property
    def height(self) -> float:
        """Height of the legend, in points."""
        return style.ROW * len(self.names)

    def draw(
        self,
        canvas: Axes,
        left: float,
        top: float,
        *,
        markers: bool = False,
        entry_heights: Iterable[float] | None = None,
    ) -> None:
        """Draw the legend, with its upper left corner at the given point of a sheet's canvas.

        Parameters
        ----------
        canvas : Axes
            Matplotlib axes to draw on.
        left, top : float
            Position in points.
        markers : bool
            Whether to draw markers on the lines.
        entry_heights : iterable of float, optional
            Vertical position of each entry, in points; by default, entries are stacked.
        """
        stacked = [top - style.ROW * (index + 0.5) for index in range(len(self.names))]
        heights = stacked if entry_heights is None else entry_heights
        for y, name, plot_style, mark in zip(heights, self.names, self.styles, self.marks, strict=True):
            xs = [left, left + self._SAMPLE / 2, left + self._SAMPLE]
            marker = plot_style.marker if markers else "none"
            canvas.plot(xs, [y] * 3, marker=marker, markersize=4, markevery=[1], gid=mark, **plot_style.line)
            color = style.QUIET if plot_style is PLAIN else style.INK
            text.write_text(canvas, left + self._SAMPLE + 6, y, name, mark, color=color)


def axes_with_key(
    key: Key, title: str, explanation: str, *, method: str = "", width: float = 190.0, bottom: float = 42.0
) -> tuple[style.Sheet, Axes, Callable[..., None]]:
    """Create a sheet that contains axes with a legend on the right.

    Parameters
    ----------
    key : Key
        Names, colors and markers of the models.
    title, explanation, method : str
        See :func:`start_sheet`.
    width : float
        Width of the axes, in points. Their height is at least that of the legend.
    bottom : float
        Space for the tick labels and the axis label below, in points.

    Returns
    -------
    page : Sheet
    axes : Axes
    legend : callable
        Draws the legend at its position; keyword arguments are passed to :meth:`Key.draw`.
    """
    height, left = max(200.0, key.height), 58.0
    total_width = left + width + 20 + key.width + style.MARGIN
    page = style.start_sheet(title, explanation, width=total_width, height=bottom + height + 4, method=method)
    axes = page.axes(left, bottom, width, height)
    axes.grid(visible=True)
    return page, axes, partial(key.draw, page.canvas(), left + width + 20, bottom + height)


def draw_marked_line(
    axes: Axes, x: ArrayLike, y: ArrayLike, plot_style: PlotStyle, model: int, size: float, **extra: Any
) -> None:
    """Draw a model's line through points, with its markers."""
    axes.plot(x, y, **(plot_style.line | extra), gid=text.curve_mark(model))
    points = plot_style.line | {"linestyle": "none", "marker": plot_style.marker, "markersize": size}
    axes.plot(x, y, **(points | extra), gid=text.model_mark(model))


# Space to the right of the axes for names, in points.
COLUMN = 150.0


def label_points(
    canvas: Axes, axes: Axes, x: ArrayLike, y: ArrayLike, names: Sequence[str], named: Sequence[int]
) -> None:
    """Label some of n points in a column to the right of the axes, as close to their heights as possible.

    Parameters
    ----------
    canvas : Axes
        Canvas of the sheet, in points.
    axes : Axes
        Axes that already contain all points.
    x, y : array_like, shape (n,)
        Coordinates of all models.
    names : sequence of n str
        Names of the points.
    named : sequence of int
        Indices of the points to label.
    """
    limits = np.array([axes.get_xlim(), axes.get_ylim()])
    axes.set(xlim=limits[0], ylim=limits[1])  # names are placed for these limits
    points = sheet_points(canvas, axes, x, y)[list(named)]
    (_, low), (right, high) = sheet_points(canvas, axes, *limits).tolist()
    heights = text.spread_labels(points[:, 1], style.ROW, low, high)
    labels = text.fit_names([names[point] for point in named], COLUMN - 30)
    for point, (x_at, y_at), height, label in zip(named, points.tolist(), heights, labels, strict=True):
        line: dict[str, Any] = {
            "color": style.GREY,
            "linewidth": 0.6,
            "zorder": 1,
            "gid": text.model_mark(point),
        }
        canvas.plot([x_at + 4, right + 2, right + 14], [y_at, height, height], **line)
        text.write_text(canvas, right + 17, height, label, text.model_mark(point))


def sheet_points(canvas: Axes, axes: Axes, x: ArrayLike, y: ArrayLike) -> Floats:
    """Convert n positions in data coordinates to points on the sheet, shape (n, 2)."""
    pixels = axes.transData.transform(np.column_stack([x, y]))
    return np.asarray(canvas.transData.inverted().transform(pixels), dtype=np.float64)
