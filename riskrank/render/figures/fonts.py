"""Fonts: what can be drawn with those at hand, and how wide a text will be.

A browser brings fonts of its own, so that pictures of a page keep every character as it is; files have only
the fonts of this machine, and write what these lack as escapes.
"""

import logging
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache

from matplotlib import font_manager
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties

from riskrank.render.escapes import UNSAFE

TEXT = 9.0
"""Size of ordinary text, in points."""

# DejaVu Sans comes with Matplotlib; for what it lacks, the first of these that is installed.
_FALLBACKS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Noto Sans JP",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "IPAGothic",
    "Droid Sans Fallback",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Arial Unicode MS",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
)

_in_browser: ContextVar[bool] = ContextVar("in_browser", default=False)


@contextmanager
def browser_fonts() -> Iterator[None]:
    """Draw for who has fonts of their own: no character is escaped for want of one here."""
    token = _in_browser.set(True)
    try:
        yield
    finally:
        _in_browser.reset(token)


@cache
def families() -> tuple[str, ...]:
    """Fonts to look for a character in, in order: those that Matplotlib knows."""
    installed = {entry.name for entry in font_manager.fontManager.ttflist}
    return ("DejaVu Sans", *(name for name in _FALLBACKS if name in installed))


@contextmanager
def at_hand() -> Iterator[None]:
    """Let Matplotlib find the fonts of :func:`families` without a word."""
    log = logging.getLogger("matplotlib.font_manager")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(level)


@cache
def characters() -> frozenset[int]:
    """Code points some font has a glyph for."""
    known: set[int] = set()
    with at_hand():
        for family in families():
            path = font_manager.findfont(FontProperties(family=[family]))
            known |= set(font_manager.get_font(path).get_charmap())
    return frozenset(known)


def displayable(name: str) -> str:
    """Control characters, and those no font at hand has, as escapes."""
    return "".join(letter if _shown(letter) else escaped(letter) for letter in name)


def _shown(letter: str) -> bool:
    if unicodedata.category(letter)[0] == "C" or UNSAFE.match(letter):
        return False
    return _in_browser.get() or ord(letter) in characters()


def escaped(letter: str) -> str:
    """Name a character by its number."""
    return letter.encode("unicode_escape", "backslashreplace").decode("ascii")


@lru_cache(maxsize=20_000)
def text_width(text: str, size: float = TEXT, weight: str = "normal") -> float:
    """Width of a line of text, in points; a good guess for characters that only a browser has."""
    known = characters()
    drawn = "".join(letter for letter in text if ord(letter) in known)
    others = sum(_ems(letter) for letter in text if ord(letter) not in known)
    with at_hand():
        font = FontProperties(family=list(families()), size=size, weight=weight)
        widths = [
            float(ruler.get_text_width_height_descent(drawn, font, ismath=False)[0]) * 72 / ruler.dpi
            for ruler in _rulers()
        ]
    return max(widths) + others * size


@cache
def _rulers() -> tuple[RendererAgg, ...]:
    """Coarse pixels make long texts a little wider or narrower than fine ones."""
    return RendererAgg(1, 1, 72), RendererAgg(1, 1, 288)


def _ems(letter: str) -> float:
    """About how wide a character of an unknown font is, in its size."""
    if unicodedata.combining(letter) or unicodedata.category(letter) == "Mn":
        return 0.0
    if unicodedata.category(letter) == "So":
        return 1.4  # pictures are wider than they are high
    return 1.05 if unicodedata.east_asian_width(letter) in "WF" else 0.8
