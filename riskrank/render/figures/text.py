"""Text of pictures: fonts and widths, names that fit, labels without overlap, and marks of models.

Browsers have their own fonts, so figures on a page keep every character. Image files use the local fonts, and
missing characters are written as escapes. Elements are marked with model indices when they are drawn, so that
a page can highlight models; models are never identified by label text.
"""

import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import Any, TypeVar

import numpy as np
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from riskrank.engine.types import Floats
from riskrank.render import WORDS
from riskrank.render.escapes import UNSAFE

# Size of ordinary text, in points.
TEXT = 9.0

_in_browser: ContextVar[bool] = ContextVar("in_browser", default=False)


@contextmanager
def browser_fonts() -> Iterator[None]:
    """Keep characters that are missing from local fonts within this context.

    Use it for figures on a page, because a browser has fonts of its own.
    """
    token = _in_browser.set(True)
    try:
        yield
    finally:
        _in_browser.reset(token)


@cache
def font_families() -> tuple[str, ...]:
    """Return the installed font families, in the order of glyph lookup."""
    installed = {entry.name for entry in font_manager.fontManager.ttflist}
    return ("DejaVu Sans", *(name for name in WORDS["fonts"]["fallbacks"] if name in installed))


@contextmanager
def silent_font_search() -> Iterator[None]:
    """Suppress Matplotlib's log messages about fonts within this context."""
    log = logging.getLogger("matplotlib.font_manager")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(level)


@cache
def available_characters() -> frozenset[int]:
    """Return the code points with a glyph in some font."""
    code_points: set[int] = set()
    with silent_font_search():
        for family in font_families():
            path = font_manager.findfont(FontProperties(family=[family]))
            code_points |= set(font_manager.get_font(path).get_charmap())
    return frozenset(code_points)


def escape_missing_glyphs(name: str) -> str:
    """Escape control characters, and characters without a glyph in any available font."""
    available = available_characters()
    return "".join(
        escape_character(letter)
        if unicodedata.category(letter)[0] == "C"
        or UNSAFE.match(letter)
        or not (_in_browser.get() or ord(letter) in available)
        else letter
        for letter in name
    )


def escape_character(letter: str) -> str:
    r"""Return the escape of a character, such as ``\u202e``."""
    return letter.encode("unicode_escape", "backslashreplace").decode("ascii")


# Two resolutions, because hinting makes long text slightly wider or narrower.
_RENDERERS = (RendererAgg(1, 1, 72), RendererAgg(1, 1, 288))


@lru_cache(maxsize=20_000)
def text_width(text: str, size: float = TEXT, weight: str = "normal") -> float:
    """Return the width of a line of text in points, estimated for characters missing from local fonts."""
    available = available_characters()
    drawable = "".join(letter for letter in text if ord(letter) in available)
    missing = sum(_estimate_width(letter) for letter in text if ord(letter) not in available)
    with silent_font_search():
        font = FontProperties(family=list(font_families()), size=size, weight=weight)
        widths = [
            float(renderer.get_text_width_height_descent(drawable, font, ismath=False)[0]) * 72 / renderer.dpi
            for renderer in _RENDERERS
        ]
    return max(widths) + missing * size


def _estimate_width(letter: str) -> float:
    """Return the approximate width of a character in an unknown font, relative to the font size."""
    if unicodedata.combining(letter) or unicodedata.category(letter) == "Mn":
        return 0.0
    if unicodedata.category(letter) == "So":
        return 1.4  # emoji are wider than they are high
    return 1.05 if unicodedata.east_asian_width(letter) in "WF" else 0.8


# Share of the kept characters from the beginning of a name; the second is for numbered names.
_MIDDLE, _BEFORE_NUMBER = 0.5, 0.8


def fit_names(names: Sequence[str], width: float, size: float = TEXT) -> list[str]:
    """Shorten names in the middle to fit a width, and number names that become equal.

    Parameters
    ----------
    names : sequence of str
        Distinct names.
    width : float
        Maximum width, in points.
    size : float
        Font size, in points.

    Returns
    -------
    list of str
        Distinct names.
    """
    counts = Counter(unicodedata.normalize("NFC", name) for name in names)
    displayable = []
    for name in names:
        composed = unicodedata.normalize("NFC", name)
        if name != composed and counts[composed] > 1:
            # Another name looks the same, so the combining characters of this one are escaped.
            letters = [
                escape_character(x) if unicodedata.combining(x) else escape_missing_glyphs(x) for x in name
            ]
            displayable.append("".join(letters))
        else:
            displayable.append(escape_missing_glyphs(name))
    shortened = [_shorten_middle(name, width, size, _MIDDLE) for name in displayable]
    duplicates, used = {name for name, count in Counter(shortened).items() if count > 1}, set(shortened)
    numbered = []
    for number, (name, text) in enumerate(zip(displayable, shortened, strict=True), start=1):
        suffix = f" ({number})"
        while text in duplicates or (text != shortened[number - 1] and text in used):
            text = _shorten_middle(name, width - text_width(suffix, size), size, _BEFORE_NUMBER) + suffix
            suffix += "'"
            if text not in used:
                break
        used.add(text)
        numbered.append(text)
    return numbered


def _shorten_middle(name: str, width: float, size: float, balance: float) -> str:
    """Replace the middle of a name with an ellipsis to fit a width.

    Parameters
    ----------
    name : str
        Name to write.
    width, size : float
        Width of the result and font size, in points.
    balance : float
        Proportion of the kept characters that come from the beginning.
    """
    if text_width(name, size) <= width:
        return name

    def keep(count: int) -> str:
        """Return the name shortened to `count` letters and an ellipsis."""
        head = round(count * balance)
        tail = count - head
        return name[:head].rstrip() + "…" + (name[-tail:].lstrip() if tail else "")

    low, high = 1, len(name) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if text_width(keep(middle), size) <= width:
            low = middle
        else:
            high = middle - 1
    return keep(low)


def spread_labels(positions: ArrayLike, gap: float, low: float, high: float) -> Floats:
    """Spread n positions to a minimum distance, with the smallest sum of squared shifts.

    Parameters
    ----------
    positions : array_like, shape (n,)
        Desired positions in any order; equal ones keep their order.
    gap : float
        Minimum distance between neighbors, reduced if n labels do not fit.
    low, high : float
        Bounds of all positions.

    Returns
    -------
    ndarray, shape (n,)
        Positions in the given order.
    """
    desired = np.asarray(positions, dtype=np.float64)
    if desired.size == 0:
        return desired
    if desired.size > 1:
        gap = min(gap, (high - low) / (desired.size - 1))
    order = np.argsort(desired, kind="stable")
    steps = gap * np.arange(desired.size)
    moved = np.empty_like(desired)
    first = spread_in_order(desired[order], np.diff(steps)) - steps
    moved[order] = np.clip(first, low, max(low, high - steps[-1])) + steps
    return moved


def spread_in_order(positions: ArrayLike, gaps: ArrayLike) -> Floats:
    """Spread n ordered positions to given minimum distances, with the smallest sum of squared shifts.

    Parameters
    ----------
    positions : array_like, shape (n,)
        Desired positions, at least one.
    gaps : array_like, shape (n - 1,)
        Minimum distance from each position to the next.

    Returns
    -------
    ndarray, shape (n,)
    """
    steps = np.concatenate([[0.0], np.cumsum(np.asarray(gaps, dtype=np.float64))])
    # Without the gaps, the problem is isotonic regression.
    return np.asarray(isotonic_regression(np.asarray(positions, dtype=np.float64) - steps).x) + steps


P = TypeVar("P", bound=Figure)

# Marks of the heading, which a page replaces by text, and of curves, which it draws thicker in focus.
HEADING, CURVE = "heading", "curve"
# Mark of the row names that panels share.
PANEL_NAMES = "panel-names"

_MARK = re.compile(r"model-(\d+)")
_MARKED = re.compile(rb'<g id="((?:model-\d+|curve|heading)(?: (?:model-\d+|curve))*)">')


def model_mark(*models: int) -> str:
    """Return the SVG identifier of an element that shows the given models, by index.

    A page uses it to highlight all elements of a model, including its name.
    """
    return " ".join(f"model-{model}" for model in models)


def panel_mark(position: int) -> str:
    """Return the SVG identifier of a panel, given its position from the left.

    Narrow pages use the identifiers to stack the panels.
    """
    return f"panel-{position}"


def curve_mark(model: int) -> str:
    """Return the SVG identifier of a model's curve, which a page draws thicker when it is highlighted."""
    return f"{model_mark(model)} {CURVE}"


def write_text(
    axes: Axes, x: float, y: float, text: str, mark: str | None = None, ha: str = "left", **style: Any
) -> None:
    """Write text on axes or a canvas, vertically centered, with the SVG identifier `mark`."""
    axes.text(x, y, text, None, ha=ha, gid=mark, **{"size": TEXT, "va": "center"} | style)


def marked_models(mark: str) -> list[int]:
    """Return the indices of the models in an SVG identifier that :func:`model_mark` created."""
    return [int(number) for number in _MARK.findall(mark)]


def renumber_marks(plot: P, numbers: Sequence[int]) -> P:
    """Replace the model indices in all SVG identifiers of a figure.

    Parameters
    ----------
    plot : Plot
        Figure whose identifiers contain each model's position among the figure's models.
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
    """Convert the identifiers of models and panels in an SVG file to classes, which need not be unique."""
    return _MARKED.sub(rb'<g class="\1">', svg)
