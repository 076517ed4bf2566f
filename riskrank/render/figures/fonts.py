"""Available fonts, and the width of text drawn with them.

Browsers have their own fonts, so figures on a page keep every character. Image files use the local fonts, and
missing characters are written as escapes.
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

# Matplotlib includes DejaVu Sans. These fonts are fallbacks for missing characters.
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
    return ("DejaVu Sans", *(name for name in _FALLBACKS if name in installed))


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
    return "".join(letter if _is_displayable(letter) else escape_character(letter) for letter in name)


def _is_displayable(letter: str) -> bool:
    """Return True if a character has a glyph in some available font."""
    if unicodedata.category(letter)[0] == "C" or UNSAFE.match(letter):
        return False
    return _in_browser.get() or ord(letter) in available_characters()


def escape_character(letter: str) -> str:
    r"""Return the escape of a character, such as ``\u202e``."""
    return letter.encode("unicode_escape", "backslashreplace").decode("ascii")


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
            for renderer in _rulers()
        ]
    return max(widths) + missing * size


@cache
def _rulers() -> tuple[RendererAgg, ...]:
    """Return renderers at two resolutions, because hinting makes long text slightly wider or narrower."""
    return RendererAgg(1, 1, 72), RendererAgg(1, 1, 288)


def _estimate_width(letter: str) -> float:
    """Return the approximate width of a character in an unknown font, relative to the font size."""
    if unicodedata.combining(letter) or unicodedata.category(letter) == "Mn":
        return 0.0
    if unicodedata.category(letter) == "So":
        return 1.4  # emoji are wider than they are high
    return 1.05 if unicodedata.east_asian_width(letter) in "WF" else 0.8
