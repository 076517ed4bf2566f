"""Requested plots and their output files."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riskrank.errors import UsageError, option

# At least two letters, to exclude drive letters. A file name with a colon is written ./name:file.svg.
_PICTURE = re.compile(r"[a-z][a-z-]+(@.*)?")


@dataclass(frozen=True)
class PlotRequest:
    """A picture to draw, and the file to write it to.

    Attributes
    ----------
    picture : str or None
        Name of the picture, or None for the main picture.
    file : str
    kind : str
        File format: ``svg``, ``png`` or ``pdf``.
    """

    picture: str | None
    file: str
    kind: str


def parse_plots(texts: Sequence[str] | None, command: str) -> tuple[PlotRequest, ...]:
    """Parse the ``--plot`` arguments of a command.

    Raises
    ------
    UsageError
        If the picture does not exist, the file suffix is unknown, or Matplotlib is not installed.
    """
    if not texts:
        return ()
    from riskrank.render.figures.catalogue import check_picture_name, require_matplotlib

    require_matplotlib()
    requests = []
    for text in texts:
        picture, file = split_plot(text)
        check_picture_name(command, picture)
        requests.append(PlotRequest(picture, file, _plot_format(file)))
    return tuple(requests)


def draw_plot(plot: PlotRequest, document: Any) -> bytes:
    """Draw a picture, and return the contents of its file."""
    from riskrank.render.figures.catalogue import draw

    return draw(document, plot.picture).to_bytes(plot.kind)


def split_plot(text: str) -> tuple[str | None, str]:
    """Split ``PICTURE:FILE`` into the picture name, or None, and the file.

    Raises
    ------
    UsageError
        If the text starts with a colon.
    """
    picture, separator, file = text.partition(":")
    if "@" in picture:
        picture, separator, file = text.rpartition(":")  # the metric name may contain a colon
    if text.startswith(":"):
        raise UsageError(
            "the picture name before the colon is missing",
            found=option("plot", text),
            hint=f"for the main picture write {option('plot', text[1:] or 'ranking.svg')}",
        )
    if separator and _PICTURE.fullmatch(picture):
        return picture, file
    return None, text


def _plot_format(file: str) -> str:
    """Return the picture format for a file suffix, raising UsageError if it is unknown."""
    kinds = {".svg": "svg", ".png": "png", ".pdf": "pdf"}
    suffix = Path(file).suffix.lower()
    if suffix not in kinds:
        raise UsageError(
            f"unknown format of {file or 'a picture without a file'}",
            found=f"suffix {suffix or 'none'}",
            hint="use .svg, .png or .pdf, as in " + option("plot", "ranking.svg"),
        )
    return kinds[suffix]
