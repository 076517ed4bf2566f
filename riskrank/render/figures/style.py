"""Common style of all pictures: fonts, colors, page layout, and units of axes.

Figures are created without pyplot, and Matplotlib's global settings change only while drawing. Therefore a
user's ``matplotlibrc`` does not affect pictures, and pictures do not affect a user's notebook.
"""

from __future__ import annotations

import io
import itertools
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import ScalarFormatter
from numpy.typing import ArrayLike

from riskrank.engine.types import Floats
from riskrank.render.escapes import escape_controls, protect_spaces, restore_spaces
from riskrank.render.figures.text import (
    HEADING,
    TEXT,
    escape_missing_glyphs,
    font_families,
    marks_to_classes,
    silent_font_search,
    text_width,
)

_THOUSANDS = re.compile(r"(?<![\d.])\d{4,}")


class Thousands(ScalarFormatter):
    """Tick formatter with thousands separators, as in tables."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Format a tick label."""
        return _THOUSANDS.sub(lambda match: f"{int(match[0]):,}", super().__call__(x, pos))


@dataclass(frozen=True)
class Unit:
    """A power of ten by which the numbers on an axis are divided.

    Attributes
    ----------
    exponent : int
        Exponent of the power of ten; 0 if the numbers are unchanged.
    percent : bool
        True if the numbers are proportions, shown in percent.
    """

    exponent: int
    percent: bool = False

    @classmethod
    def choose(cls, *values: ArrayLike, percent: bool = False) -> Unit:
        """Return the unit for all numbers on an axis: percent on request, otherwise a power of ten."""
        if percent:
            return cls(-2, percent=True)
        arrays = [np.abs(np.asarray(value, dtype=np.float64)).ravel() for value in values]
        largest = max((float(array[np.isfinite(array)].max(initial=0.0)) for array in arrays), default=0.0)
        if largest == 0 or 1e-3 <= largest < 1e5:
            return cls(0)
        return cls(int(np.floor(np.log10(largest))))

    def apply(self, values: ArrayLike) -> Floats:
        """Convert numbers to this unit."""
        array = np.asarray(values, dtype=np.float64)
        if self.exponent == 0:
            return array
        half = self.exponent // 2  # 10 to the full power may overflow
        return array / 10.0**half / 10.0 ** (self.exponent - half)

    def label(self, text: str) -> str:
        """Return the axis label with its unit."""
        if self.exponent == 0:
            return text
        if self.percent:
            return f"{text} (%)"
        digits = str(self.exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return f"{text} (×10{digits})"


def direction_label(label: str, *, lower: bool) -> str:
    """Return an axis label with an arrow towards better values."""
    return f"better ← {label}" if lower else f"{label} → better"


# Okabe and Ito's colors, which suit all common kinds of color vision, without yellow, which is too pale
# on white. Dashes and markers distinguish models in grey.
PALETTE = ("#0072B2", "#D55E00", "#882255", "#CC79A7", "#E69F00", "#000000", "#56B4E9")
# Color of passed claims, which no model uses.
GOOD = "#009E73"
_DASHES = ((6, 2), (1, 1.3), (6, 2, 1, 2), (3, 1.5), (10, 2, 1, 1.5, 1, 1.5), (10, 3))
DASHES: tuple[Any, ...] = ("solid", *((0, lengths) for lengths in _DASHES))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Number of models with a distinct color. All others are grey.
FOCUS = len(PALETTE)

_STYLE_FILE = Path(__file__).with_name("pictures.mplstyle")
_STYLE = matplotlib.rc_params_from_file(_STYLE_FILE, use_default_template=False)
INK, QUIET, GREY, FAINT = _STYLE["text.color"], _STYLE["axes.edgecolor"], "#b3b3b3", _STYLE["grid.color"]
# Text colors on a colored background, which the dark theme does not change.
ON_DARK, ON_PALE = "#fefefe", "#010101"
SMALL, TITLE = _STYLE["xtick.labelsize"], 11.0
# Height of a line of names, in points.
ROW = 13.0

PNG_DOTS = 144

_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "riskrank"},
    "pdf": {"CreationDate": None, "Creator": "riskrank", "Producer": None},
    "png": {"Software": "riskrank"},
}
# Groups of Matplotlib's settings that affect a drawing; a user's matplotlibrc must not change them.
_STYLED = {
    *("agg", "axes", "errorbar", "figure", "font", "grid", "hatch", "image", "legend", "lines", "markers"),
    *("mathtext", "patch", "path", "pdf", "polaraxes", "savefig", "scatter", "svg", "text"),
    *("xaxis", "xtick", "yaxis", "ytick"),
}


@contextmanager
def common_style() -> Iterator[None]:
    """Use the common style in this context or decorated function, and restore Matplotlib's settings."""
    settings = {
        name: value for name, value in matplotlib.rcParamsDefault.items() if name.partition(".")[0] in _STYLED
    }
    settings |= _STYLE | {"font.family": list(font_families()), "font.size": TEXT}
    with matplotlib.rc_context(settings), silent_font_search():
        yield


class Plot(Figure):
    """A figure with reproducible file output, displayed automatically in notebooks.

    Attributes
    ----------
    title, explanation : str
        Full text of the heading.
    heading : float
        Height of the heading, in points.
    panels : tuple of float
        Left edges of side-by-side panels, and right edge of the last one, in points. Row names are to the
        left of the first edge.
    """

    title: str = ""
    explanation: str = ""
    heading: float = 0.0
    panels: tuple[float, ...] = ()

    def to_bytes(self, file_format: str, *, text_as_text: bool = False) -> bytes:
        """Render the figure as an SVG, PNG or PDF file.

        Parameters
        ----------
        file_format : {"svg", "png", "pdf"}
            Format of the file.
        text_as_text : bool
            Whether to keep text in an SVG as text, instead of drawing glyphs as paths.
        """
        buffer = io.BytesIO()
        for artist in self.findobj(Text):
            artist.set_text(escape_controls(artist.get_text()))  # no format can write control characters
        fonts: dict[Any, Any] = {"svg.fonttype": "none" if text_as_text else "path"}
        with common_style(), matplotlib.rc_context(fonts), warnings.catch_warnings():
            if text_as_text:  # the viewer has other fonts
                warnings.filterwarnings("ignore", "Glyph .* missing")
            self.savefig(
                buffer,
                format=file_format,
                dpi=PNG_DOTS,
                metadata=_METADATA[file_format],
                facecolor="white",
                edgecolor="none",
            )
        data = buffer.getvalue()
        return marks_to_classes(data) if file_format == "svg" else data

    def _repr_png_(self) -> bytes:
        """Return the figure as a PNG file, for notebooks."""
        return self.to_bytes("png")


def wrap_text(text: str, width: float, size: float = TEXT) -> list[str]:
    """Break text into lines of at most the given width, in points.

    A longer word is kept on its own line.
    """
    lines: list[str] = []
    space, used = text_width("n n", size) - text_width("nn", size), 0.0
    for word in map(restore_spaces, protect_spaces(text).split()):
        # Summed widths of words ignore kerning, which matters only close to the end of a line.
        used += space + text_width(word, size)
        longer = f"{lines[-1]} {word}" if lines else word
        near_limit = abs(used - width) < 0.04 * width
        if lines and (text_width(longer, size) if near_limit else used) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
            used = text_width(word, size)
    return lines


@dataclass(frozen=True)
class Sheet:
    """A figure with a heading; coordinates are in points from the lower left corner.

    Attributes
    ----------
    figure : Plot
        Matplotlib figure of the sheet.
    width, height : float
        Size of the whole sheet, in points.
    top : float
        Lower edge of the heading, the upper limit of the drawing area.
    """

    figure: Plot
    width: float
    height: float
    top: float

    def axes(self, left: float, bottom: float, width: float, height: float) -> Axes:
        """Add axes at a position given in points."""
        extent = (left / self.width, bottom / self.height, width / self.width, height / self.height)
        axes = self.figure.add_axes(extent)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(Thousands())
        return axes

    def canvas(self) -> Axes:
        """Add invisible axes that cover the whole sheet, with coordinates in points."""
        axes = self.axes(0, 0, self.width, self.height)
        axes.set(xlim=(0, self.width), ylim=(0, self.height), autoscale_on=False)
        axes.set_axis_off()
        axes.set_zorder(5)
        axes.patch.set_visible(False)
        return axes


MARGIN = 12.0
# Space between the heading and the drawing, for a label at the top of an axis.
ABOVE = 8.0


def start_sheet(title: str, explanation: str, *, width: float, height: float, method: str = "") -> Sheet:
    """Create a sheet with a title, a short text on how to read the picture, and space for the drawing.

    Parameters
    ----------
    title, explanation : str
        Title of the figure, and the text below it.
    width : float
        Width of the sheet, in points.
    height : float
        Height of the space below the heading, in points.
    method : str
        Name of the statistical method, appended to the explanation.
    """
    explanation += f" Method: {method}." if method else ""
    lines: list[tuple[str, float, str, str]] = []
    # Bold text is wider than the measured text.
    for text, size, weight, color in ((title, TITLE, "bold", INK), (explanation, SMALL, "normal", QUIET)):
        measured = 1.08 * size if weight == "bold" else size
        wrapped = wrap_text(escape_missing_glyphs(text), width - 2 * MARGIN, measured)
        lines += [(line, size, weight, color) for line in wrapped]
    heading = MARGIN + sum(size * 1.4 for _, size, _, _ in lines) + ABOVE
    total_height = height + heading
    figure = Plot(figsize=(width / 72, total_height / 72), dpi=72)
    figure.title, figure.explanation, figure.heading = title, explanation, heading
    FigureCanvasAgg(figure)
    steps = itertools.accumulate((size * 1.4 for _, size, _, _ in lines), initial=MARGIN)
    for (line, size, weight, color), offset in zip(lines, steps, strict=False):
        style: dict[str, Any] = {"size": size, "weight": weight, "color": color, "gid": HEADING}
        figure.text(MARGIN / width, 1 - offset / total_height, line, va="top", ha="left", **style)
    return Sheet(figure, width, total_height, height)
