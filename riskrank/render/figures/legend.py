"""Who is who: the models in focus with a look of their own, the others grey."""

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
from riskrank.render.figures.marks import curve_mark, model_mark, write
from riskrank.render.figures.names import fitted
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
    sheet,
)

P = TypeVar("P")
WIDEST = 150.0
"""Room for a name beside a picture, in points."""


@dataclass(frozen=True)
class Look:
    """How one model is drawn: apart from others in colour, and in dash or marker where colour is lost."""

    color: str
    dash: Any
    marker: str
    width: float
    layer: int

    @property
    def line(self) -> dict[str, Any]:
        """As Matplotlib calls what a line of this model has."""
        how = {"color": self.color, "linestyle": self.dash, "linewidth": self.width}
        return how | {"zorder": self.layer}


OTHERS = Look(GREY, "solid", "o", 1.0, 2)


# Models that have a look of their own by the number of it, the most important first, and those named.
_STUDY: ContextVar[tuple[Mapping[int, int], Sequence[int]] | None] = ContextVar("_STUDY", default=None)


def own_looks(models: Sequence[str], order: Iterable[int]) -> dict[int, int]:
    """Numbers of looks: of a model the same wherever the same models are compared, whoever is first.

    Parameters
    ----------
    models : sequence of str
    order : iterable of int
        The most important first, who keep their own look where there are more models than looks.
    """
    by_name, found = sorted(models), dict[int, int]()
    for model in islice(order, FOCUS):
        own = by_name.index(models[model])
        free = [(own + step) % FOCUS for step in range(FOCUS) if (own + step) % FOCUS not in found.values()]
        found[model] = free[0]
    return found


def as_in_study(draw: Callable[[], P], own: Mapping[int, int], named: Sequence[int]) -> Callable[[], P]:
    """A drawing in which models look as in all pictures of their study.

    Parameters
    ----------
    draw : callable
    own : mapping of int to int
        Of :func:`own_looks`.
    named : sequence of int
        Those that the study's verdict names.
    """

    @wraps(draw)
    def drawing() -> P:
        before = _STUDY.set((own, named))
        try:
            return draw()
        finally:
            _STUDY.reset(before)

    return drawing


def counted_as(draw: Callable[[], P], numbers: Sequence[int]) -> Callable[[], P]:
    """A drawing that counts models otherwise than its study does, in which they look the same.

    Parameters
    ----------
    draw : callable
    numbers : sequence of int
        Of each of its models in the study.
    """

    def drawing() -> P:
        study = _STUDY.get()
        if study is None:
            return draw()
        place = {number: at for at, number in enumerate(numbers)}
        own = {place[model]: look for model, look in study[0].items() if model in place}
        return as_in_study(draw, own, [place[model] for model in study[1] if model in place])()

    return drawing


def tone(model: int, other: str = QUIET) -> str:
    """Colour of a row: of a model that the verdict of the study names its own, else another."""
    study = _STUDY.get()
    return hue(model) if study is not None and model in study[1] else other


def hue(model: int) -> str:
    """Colour of a row of a model: its own in the pictures of its study, a dark grey of those without one."""
    own, _ = _STUDY.get() or ({}, ())
    return PALETTE[own[model]] if model in own else QUIET


def in_grey(models: int) -> str:
    """A word on the models of a picture that are grey, where some are."""
    return " Grey: models without a colour of their own." if models > FOCUS else ""


def looks(count: int, order: Iterable[int], *, models: bool = True) -> list[Look]:
    """Looks of all models, those of their study where one is drawn.

    Parameters
    ----------
    count : int
        Number of models.
    order : iterable of int
        Models, the most important first.
    models : bool
        Whether these are models at all, not methods or pairs.
    """
    own: Mapping[int, int] = {model: place for place, model in enumerate(islice(order, FOCUS))}
    named: Sequence[int] = ()
    if (study := _STUDY.get()) is not None and models:
        own, named = study
    found = [OTHERS] * count
    # The more important lie below: where curves coincide, a dash lets the line below it through.
    for layer, (model, at) in enumerate(own.items()):
        width = 2.6 if model in named else 1.5
        found[model] = Look(PALETTE[at], DASHES[at], MARKERS[at], width, 10 + layer)
    return found


def in_focus(named: Sequence[int], order: Iterable[int]) -> list[int]:
    """Models by importance: those that the verdict names before all others of an order."""
    return [*named, *(model for model in order if model not in named)]


@dataclass(frozen=True)
class Key:
    """Entries of a key: names, and how their models are drawn.

    Attributes
    ----------
    names : tuple of str
        Fit to be drawn.
    looks : tuple of Look
    marks : tuple of str or None
        Of whom each entry is.
    width, height : float
        Of the whole key, in points.
    """

    names: tuple[str, ...]
    looks: tuple[Look, ...]
    marks: tuple[str | None, ...]

    _SAMPLE = 24.0

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        order: Iterable[int],
        given: Sequence[Look],
        marks: Sequence[str | None] | None = None,
    ) -> Key:
        """Name those that have a look of their own, in order, and count the others.

        Parameters
        ----------
        names : sequence of str
        order : iterable of int
            The most important first.
        given : sequence of Look
        marks : sequence of str or None, optional
            Of whom each is, where they are not models themselves.
        """
        marks = [model_mark(model) for model in range(len(names))] if marks is None else marks
        named = [model for model in order if given[model] is not OTHERS]
        if len(named) == len(names) - 1:
            named += {*range(len(names))} - {*named}
        shown = fitted([names[model] for model in named], WIDEST)
        rest = len(names) - len(named)
        if rest:
            shown.append(f"{rest} other{'s' if rest > 1 else ''}")
        return cls(
            tuple(shown),
            (*(given[model] for model in named), *([OTHERS] if rest else [])),
            (*(marks[model] for model in named), *([None] if rest else [])),
        )

    @property
    def width(self) -> float:
        """Of the whole key, in points."""
        return self._SAMPLE + 12 + max((text_width(name) for name in self.names), default=0.0)

    @property
    def height(self) -> float:
        """Of the whole key, in points."""
        return ROW * len(self.names)

    def draw(
        self,
        canvas: Axes,
        left: float,
        top: float,
        *,
        markers: bool = False,
        beside: Iterable[float] | None = None,
    ) -> None:
        """Draw it with its upper left corner at a place of a sheet's canvas.

        Parameters
        ----------
        canvas : Axes
        left, top : float
        markers : bool
            Show markers on the lines.
        beside : iterable of float, optional
            Height of each entry; below each other by default.
        """
        heights = [top - ROW * (at + 0.5) for at in range(len(self.names))] if beside is None else beside
        for y, name, look, mark in zip(heights, self.names, self.looks, self.marks, strict=True):
            xs = [left, left + self._SAMPLE / 2, left + self._SAMPLE]
            how: dict[str, Any] = look.line | {"marker": look.marker if markers else "none", "markersize": 4}
            canvas.plot(xs, [y] * len(xs), markevery=[1], gid=mark, **how)
            color = QUIET if look is OTHERS else INK
            write(canvas, left + self._SAMPLE + 6, y, name, mark, color=color)


def beside_key(
    key: Key, title: str, reading: str, *, method: str = "", width: float = 190.0, below: float = 42.0
) -> tuple[Sheet, Axes, Callable[..., None]]:
    """Start a sheet of axes with a key on their right.

    Parameters
    ----------
    key : Key
    title, reading, method : str
        As of :func:`sheet`.
    width : float
        Of the axes, in points, whose height is at least that of the key.
    below : float
        Room for the numbers and the label of the lower axis.

    Returns
    -------
    page : Sheet
    axes : Axes
    legend : callable
        Draws the key, as :meth:`Key.draw` does at its place.
    """
    height, left = max(200.0, key.height), 58.0
    whole = left + width + 20 + key.width + MARGIN
    page = sheet(title, reading, width=whole, height=below + height + 4, method=method)
    axes = page.axes(left, below, width, height)
    axes.grid(visible=True)
    return page, axes, partial(key.draw, page.canvas(), left + width + 20, below + height)


def joined(axes: Axes, x: ArrayLike, y: ArrayLike, look: Look, model: int, size: float, **how: Any) -> None:
    """Draw a model's line through some places, and its markers on them."""
    axes.plot(x, y, **(look.line | how), gid=curve_mark(model))
    points: dict[str, Any] = {
        "linestyle": "none",
        "marker": look.marker,
        "markersize": size,
        "zorder": look.layer,
    }
    axes.plot(x, y, color=look.color, **(points | how), gid=model_mark(model))
