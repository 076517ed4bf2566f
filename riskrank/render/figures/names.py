"""Names fit to be drawn: every character has a glyph, none is too long, no two become the same."""

import unicodedata
from collections import Counter
from collections.abc import Sequence

from riskrank.render.figures.fonts import TEXT, displayable, escaped, text_width

# Shares of what is kept that go to the beginning of a name, and of one that only a number tells apart.
_MIDDLE, _BEFORE_NUMBER = 0.5, 0.8


def fitted(names: Sequence[str], width: float, size: float = TEXT) -> list[str]:
    """Shorten names to a width, in their middle; those that become the same are numbered.

    Parameters
    ----------
    names : sequence of str
        All different.
    width : float
        In points.
    size : float
        Of the font, in points.

    Returns
    -------
    list of str
        All different.
    """
    whole = _told_apart(names)
    return _numbered(whole, [_cut(name, width, size, _MIDDLE) for name in whole], width, size)


def _told_apart(names: Sequence[str]) -> list[str]:
    """Names as they can be drawn; those that look alike, as é in one character and in two, spelled out."""
    alike = Counter(unicodedata.normalize("NFC", name) for name in names)
    return [
        displayable(name)
        if alike[unicodedata.normalize("NFC", name)] == 1 or unicodedata.is_normalized("NFC", name)
        else "".join(
            escaped(letter) if unicodedata.combining(letter) else displayable(letter) for letter in name
        )
        for name in names
    ]


def _numbered(whole: Sequence[str], shown: Sequence[str], width: float, size: float) -> list[str]:
    """Give names that still collide their number in the list."""
    twice, taken = {name for name, count in Counter(shown).items() if count > 1}, set(shown)
    found = []
    for number, (name, text) in enumerate(zip(whole, shown, strict=True), start=1):
        mark = f" ({number})"
        while text in twice or (text != shown[number - 1] and text in taken):
            text = _cut(name, width - text_width(mark, size), size, _BEFORE_NUMBER) + mark
            mark += "'"
            if text not in taken:
                break
        taken.add(text)
        found.append(text)
    return found


def _cut(name: str, width: float, size: float, balance: float) -> str:
    """Keep as many characters as fit, a share of them from the beginning."""
    if text_width(name, size) <= width:
        return name

    def keeping(count: int) -> str:
        head = round(count * balance)
        tail = count - head
        return name[:head].rstrip() + "…" + (name[-tail:].lstrip() if tail else "")

    low, high = 1, len(name) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if text_width(keeping(middle), size) <= width:
            low = middle
        else:
            high = middle - 1
    return keeping(low)
