"""Names for drawing, which are displayable, short enough and distinct."""

import unicodedata
from collections import Counter
from collections.abc import Sequence

from riskrank.render.figures.fonts import TEXT, escape_character, escape_missing_glyphs, text_width

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
    drawable = _displayable_names(names)
    return _number_duplicates(
        drawable, [_shorten_middle(name, width, size, _MIDDLE) for name in drawable], width, size
    )


def _displayable_names(names: Sequence[str]) -> list[str]:
    """Return the names with undisplayable characters escaped.

    Decomposed characters are escaped if two names would look the same.
    """
    counts = Counter(unicodedata.normalize("NFC", name) for name in names)
    return [
        escape_missing_glyphs(name)
        if counts[unicodedata.normalize("NFC", name)] == 1 or unicodedata.is_normalized("NFC", name)
        else "".join(
            escape_character(letter) if unicodedata.combining(letter) else escape_missing_glyphs(letter)
            for letter in name
        )
        for name in names
    ]


def _number_duplicates(
    names: Sequence[str], shortened: Sequence[str], width: float, size: float
) -> list[str]:
    """Append the list position to names that are equal after shortening."""
    duplicates, used = {name for name, count in Counter(shortened).items() if count > 1}, set(shortened)
    numbered = []
    for number, (name, text) in enumerate(zip(names, shortened, strict=True), start=1):
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
    width, size : float
        Width of the result and font size, in points.
    balance : float
        Proportion of the kept characters that come from the beginning.
    """
    if text_width(name, size) <= width:
        return name

    def keep(count: int) -> str:
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
