"""The common look of all pictures: fonts, colours, and the sheet they are drawn on.

Figures are made without pyplot and without touching Matplotlib's global settings for longer than a drawing
takes, so that neither a user's ``matplotlibrc`` changes a picture nor a picture changes a user's notebook.
"""

import io
import itertools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from riskrank.render.escapes import apart, together, visible
from riskrank.render.figures.fonts import TEXT, at_hand, displayable, families, text_width
from riskrank.render.figures.marks import HEADING, as_classes
from riskrank.render.figures.units import Thousands

P = ParamSpec("P")
R = TypeVar("R")

# Okabe and Ito's colours, told apart by all common kinds of colour vision; without their yellow, which
# white paper swallows. Dashes and markers go with them, for print in grey.
PALETTE = ("#0072B2", "#D55E00", "#882255", "#CC79A7", "#E69F00", "#000000", "#56B4E9")
GOOD = "#009E73"
"""What passes; no model has this colour."""
DASHES: tuple[Any, ...] = (
    "solid",
    (0, (6, 2)),
    (0, (1, 1.3)),
    (0, (6, 2, 1, 2)),
    (0, (3, 1.5)),
    (0, (10, 2, 1, 1.5, 1, 1.5)),
    (0, (10, 3)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
FOCUS = len(PALETTE)
"""Models with a colour of their own; the others are grey."""

INK, QUIET, GREY, FAINT = "#1a1a1a", "#595959", "#b3b3b3", "#e3e3e3"
ON_DARK, ON_PALE = "#fefefe", "#010101"
"""Text on a coloured ground, which a page in the dark leaves as it is."""
SMALL, TITLE = 8.0, 11.0
ROW = 13.0
"""Height of a line of names, in points."""

PNG_DOTS = 144

_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "riskrank"},
    "pdf": {"CreationDate": None, "Creator": "riskrank", "Producer": None},
    "png": {"Software": "riskrank"},
}
# Kinds of Matplotlib's settings that change a drawing: a user's matplotlibrc may not.
_STYLED = {
    *("agg", "axes", "errorbar", "figure", "font", "grid", "hatch", "image", "legend", "lines", "markers"),
    *("mathtext", "patch", "path", "pdf", "polaraxes", "savefig", "scatter", "svg", "text"),
    *("xaxis", "xtick", "yaxis", "ytick"),
}


@contextmanager
def look() -> Iterator[None]:
    """Draw with the common settings; Matplotlib's own are back afterwards."""
    settings = {
        name: value for name, value in matplotlib.rcParamsDefault.items() if name.partition(".")[0] in _STYLED
    }
    settings |= {
        "font.family": list(families()),
        "font.size": TEXT,
        "text.parse_math": False,  # a $ in a name is a dollar
        "text.color": INK,
        "axes.edgecolor": QUIET,
        "axes.labelcolor": INK,
        "axes.labelsize": TEXT,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "xtick.color": QUIET,
        "ytick.color": QUIET,
        "xtick.labelsize": SMALL,
        "ytick.labelsize": SMALL,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "grid.color": FAINT,
        "grid.linewidth": 0.6,
        "hatch.linewidth": 0.6,
        "image.composite_image": False,  # parts of one belong to different models
        "svg.hashsalt": "riskrank",  # element names would be random without
        "pdf.fonttype": 42,
    }
    with matplotlib.rc_context(settings), at_hand():
        yield


def drawn(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function draw in the common look."""

    @wraps(function)
    def draw(*args: P.args, **kwargs: P.kwargs) -> R:
        with look():
            return function(*args, **kwargs)

    return draw


class Plot(Figure):
    """A figure that a notebook shows, and that is the same bytes whenever it is written.

    Attributes
    ----------
    title, reading : str
        Its heading in full.
    heading : float
        Height of the heading, in points from the upper edge.
    panels : tuple of float
        Where panels beside each other begin, and the last one ends, in points from the left: names of rows
        stand before the first.
    """

    title: str = ""
    reading: str = ""
    heading: float = 0.0
    panels: tuple[float, ...] = ()

    def to_bytes(self, kind: str, *, text_as_text: bool = False) -> bytes:
        """Write as ``svg``, ``png`` or ``pdf``.

        Parameters
        ----------
        kind : str
        text_as_text : bool
            Leave the fonts of an SVG to who shows it, instead of drawing every glyph.
        """
        buffer = io.BytesIO()
        for words in self.findobj(Text):
            words.set_text(visible(words.get_text()))  # no format can write control characters
        fonts: dict[Any, Any] = {"svg.fonttype": "none" if text_as_text else "path"}
        with look(), matplotlib.rc_context(fonts), warnings.catch_warnings():
            if text_as_text:  # who shows it has more fonts than are at hand
                warnings.filterwarnings("ignore", "Glyph .* missing")
            self.savefig(
                buffer,
                format=kind,
                dpi=PNG_DOTS,
                metadata=_METADATA[kind],
                facecolor="white",
                edgecolor="none",
            )
        data = buffer.getvalue()
        return as_classes(data) if kind == "svg" else data

    def _repr_png_(self) -> bytes:
        return self.to_bytes("png")


def wrap(text: str, width: float, size: float = TEXT) -> list[str]:
    """Break a text into lines of at most a width in points; a longer word gets a line of its own."""
    lines: list[str] = []
    space, reached = text_width("n n", size) - text_width("nn", size), 0.0
    for word in map(apart, together(text).split()):
        # Words are measured once; letters that close up across a blank matter near the end of a line only.
        reached += space + text_width(word, size)
        longer = f"{lines[-1]} {word}" if lines else word
        close = abs(reached - width) < 0.04 * width
        if lines and (text_width(longer, size) if close else reached) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
            reached = text_width(word, size)
    return lines


@dataclass(frozen=True)
class Sheet:
    """A figure with a heading, measured in points from its lower left corner.

    Attributes
    ----------
    figure : Plot
    width, height : float
        Of the whole sheet.
    top : float
        Where the heading ends and the drawing may begin.
    """

    figure: Plot
    width: float
    height: float
    top: float

    def axes(self, left: float, bottom: float, width: float, height: float) -> Axes:
        """Add axes at a place in points."""
        place = (left / self.width, bottom / self.height, width / self.width, height / self.height)
        axes = self.figure.add_axes(place)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(Thousands())
        return axes

    def canvas(self) -> Axes:
        """Add axes over the whole sheet, whose units are points, without any frame."""
        axes = self.axes(0, 0, self.width, self.height)
        axes.set(xlim=(0, self.width), ylim=(0, self.height), autoscale_on=False)
        axes.set_axis_off()
        axes.set_zorder(5)
        axes.patch.set_visible(False)
        return axes


MARGIN = 12.0
ABOVE = 8.0
"""Room between the heading and the drawing, which a label at the top of an axis reaches into."""


def sheet(title: str, reading: str, *, width: float, height: float, method: str = "") -> Sheet:
    """Start a sheet: a title, a line or two on how to read the picture, and room for it.

    Parameters
    ----------
    title, reading : str
        In words.
    width : float
        Of the sheet, in points.
    height : float
        Room below the heading, in points.
    method : str
        What a statistician calls it, in small print.
    """
    reading += f" Method: {method}." if method else ""
    room = width - 2 * MARGIN
    titles = [(line, TITLE, "bold", INK) for line in wrap(displayable(title), room, TITLE * 1.08)]
    words = [(line, SMALL, "normal", QUIET) for line in wrap(displayable(reading), room, SMALL)]
    lines = [*titles, *words]
    heading = MARGIN + sum(size * 1.4 for _, size, _, _ in lines) + ABOVE
    whole = height + heading
    figure = Plot(figsize=(width / 72, whole / 72), dpi=72)
    figure.title, figure.reading, figure.heading = title, reading, heading
    FigureCanvasAgg(figure)
    steps = itertools.accumulate((size * 1.4 for _, size, _, _ in lines), initial=MARGIN)
    for (line, size, weight, color), below in zip(lines, steps, strict=False):
        how: dict[str, Any] = {"size": size, "weight": weight, "color": color, "gid": HEADING}
        figure.text(MARGIN / width, 1 - below / whole, line, va="top", ha="left", **how)
    return Sheet(figure, width, whole, height)
