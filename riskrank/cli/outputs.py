"""Pictures that a run draws, and their files."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riskrank.errors import UsageError, option

# Longer than a drive's letter; a file of such a name can be written ./name:file.svg.
_PICTURE = re.compile(r"[a-z][a-z-]+(@.*)?")


@dataclass(frozen=True)
class WantedPlot:
    """A picture and its file.

    Attributes
    ----------
    picture : str or None
        Its name; None for the main one.
    file : str
    kind : str
        ``svg``, ``png`` or ``pdf``.
    """

    picture: str | None
    file: str
    kind: str


def wanted_plots(texts: Sequence[str] | None, command: str) -> tuple[WantedPlot, ...]:
    """Pictures asked for on the command line.

    Raises
    ------
    UsageError
        If a command does not draw it, a file's name tells no format, or nothing can draw.
    """
    if not texts:
        return ()
    from riskrank.render.figures.catalogue import check_picture_name, require_matplotlib

    require_matplotlib()
    found = []
    for text in texts:
        picture, file = parts_of(text)
        check_picture_name(command, picture)
        found.append(WantedPlot(picture, file, _kind(file)))
    return tuple(found)


def draw_plot(plot: WantedPlot, document: Any) -> bytes:
    """Draw a picture as the bytes of its file."""
    from riskrank.render.figures.catalogue import draw

    return draw(document, plot.picture).to_bytes(plot.kind)


def parts_of(text: str) -> tuple[str | None, str]:
    """Name of a picture, if there is one, and its file.

    Raises
    ------
    UsageError
    """
    picture, separator, file = text.partition(":")
    if "@" in picture:
        picture, separator, file = text.rpartition(":")  # the name of a metric may hold a colon
    if text.startswith(":"):
        raise UsageError(
            "the name of a picture is missing before the colon",
            found=option("plot", text),
            hint=f"for the main picture write {option('plot', text[1:] or 'ranking.svg')}",
        )
    if separator and _PICTURE.fullmatch(picture):
        return picture, file
    return None, text


def _kind(file: str) -> str:
    kinds = {".svg": "svg", ".png": "png", ".pdf": "pdf"}
    suffix = Path(file).suffix.lower()
    if suffix not in kinds:
        raise UsageError(
            f"cannot tell the format of {file or 'a picture without a file'} from its name",
            found=f"suffix {suffix or 'none'}",
            hint="name it .svg, .png or .pdf, as in " + option("plot", "ranking.svg"),
        )
    return kinds[suffix]
