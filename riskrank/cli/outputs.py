"""Files a run writes: what it was asked to draw, and none over a file it reads."""

import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from riskrank.errors import UsageError, option

_WRITES = os.O_WRONLY | os.O_RDWR
_opened: dict[str, None] = {}


def watch_reading() -> None:
    """Note from now on which files are opened to be read."""
    _opened.clear()
    _listen()


def opened(but: Iterable[str]) -> list[str]:
    """Return the files that were opened to be read, except some."""
    others = {os.path.realpath(path) for path in but}
    return [path for path in _opened if os.path.realpath(path) not in others]


@cache
def _listen() -> None:
    sys.addaudithook(_note)


def _note(event: str, parts: Any) -> None:
    if event == "open" and isinstance(parts[0], str) and not parts[2] & _WRITES:
        _opened[parts[0]] = None


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
    from riskrank.shown.figures.catalogue import check_name, require_matplotlib

    require_matplotlib()
    found = []
    for text in texts:
        picture, file = parts_of(text)
        check_name(command, picture)
        found.append(WantedPlot(picture, file, _kind(file)))
    return tuple(found)


def draw_plot(plot: WantedPlot, document: Any) -> bytes:
    """Draw a picture as the bytes of its file."""
    from riskrank.shown.figures.catalogue import draw

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
