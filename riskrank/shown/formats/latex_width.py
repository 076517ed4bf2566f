"""How a table of LaTeX is made to fit: its type, its columns, and numbers for long names.

The widths are those of Computer Modern, near enough of most text faces; a margin is left for the others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from riskrank.shown.view import Column, Table, as_cell, text_of

TEXT_WIDTH = 345.0
"""Points between the margins of ``article`` at 10 pt."""
# Width of an em in points at each size: small sizes are drawn wider than they are scaled.
_SIZES = (("", 10.0, 6.0), ("\\small", 9.3, 4.0), ("\\footnotesize", 8.5, 3.0), ("\\scriptsize", 8.0, 2.0))
_TIGHTEST = 1.5
_NARROW, _WIDE = frozenset("fijlrst.,:;'|!()[] -"), frozenset("mwMW%@−+<>=~≤≥μΓ&")
_MINUS = re.compile(r"(?<!\S)-(?=\d)")
# A column of words is folded no narrower than this, and only where it is wider.
_FOLDED = 52.0
# Names up to this many characters are not worth a number.
_SHORT = 8


@dataclass(frozen=True)
class Fitted:
    """A table with how it is set.

    Attributes
    ----------
    table : Table
    size : str
        Command of the type size.
    gap : float
        Points on either side of a column.
    folded : tuple of (float or None)
        Width of each column whose words go on below, in points.
    legend : str
        What the numbers in place of names stand for.
    lines : int
        Lines of the body, about.
    """

    table: Table
    size: str
    gap: float
    folded: tuple[float | None, ...]
    legend: str
    lines: int


def fitted(table: Table) -> list[Fitted]:
    """The table as it fits between the margins; several with the same leading columns if it must be."""
    plain: tuple[float | None, ...] = (None,) * len(table.columns)
    for size, em, gap in _SIZES:
        if _total(table, em, gap, plain) <= TEXT_WIDTH:
            return [_set(table, size, em, gap, plain, "")]
    size, em, _ = _SIZES[-1]
    numbered, legend = _numbered(table)
    for shown, words in ((table, ""), (numbered, legend)):
        folds = _folds(shown, em)
        for gap in (2.0, _TIGHTEST):
            if _total(shown, em, gap, folds) <= TEXT_WIDTH:
                return [_set(shown, size, em, gap, folds, words)]
    parts = list(_parts(numbered, em))
    return [
        _set(part, size, em, _TIGHTEST, _folds(part, em), legend if number == len(parts) else "")
        for number, part in enumerate(parts, start=1)
    ]


def head_lines(column: Column) -> list[str]:
    """The head of a column, line by line."""
    return column.head.split("\n") if column.head.strip() else [column.name]


def _parts(table: Table, em: float) -> Iterator[Table]:
    """Tables of so many columns as fit, each with the leading ones."""
    leading = list(range(table.stub))
    block, number = [*leading], 0
    for at in range(table.stub, len(table.columns)):
        tried = table.with_columns([*block, at])
        if _total(tried, em, _TIGHTEST, _folds(tried, em)) > TEXT_WIDTH and len(block) > len(leading):
            yield _continued(table.with_columns(block), number)
            block, number = [*leading], number + 1
        block.append(at)
    yield _continued(table.with_columns(block), number)


def _continued(table: Table, number: int) -> Table:
    return replace(table, title=f"{table.title}, continued") if number else table


def _numbered(table: Table) -> tuple[Table, str]:
    """The table with numbers for the long names that its rows begin with, and what they stand for."""
    names: dict[str, str] = {}
    long = [
        at
        for at, column in enumerate(table.columns[: table.stub])
        if column.justify == "left" and max((len(text_of(row[at])) for row in table.rows), default=0) > _SHORT
    ]
    rows = []
    for row in table.rows:
        cells = list(row)
        for at in long:
            text = text_of(cells[at])
            mark = names.setdefault(text, f"({len(names) + 1})")
            cells[at] = replace(as_cell(row[at]), text=mark)
        rows.append(tuple(cells))
    legend = "; ".join(f"{mark} {name}" for name, mark in names.items())
    return replace(table, rows=tuple(rows)), legend


def _folds(table: Table, em: float) -> tuple[float | None, ...]:
    """Widths of columns of several words, folded so that no word is parted."""
    found: list[float | None] = []
    for at, column in enumerate(table.columns):
        texts = [text_of(row[at]) for row in table.rows]
        words = [word for text in (*texts, *head_lines(column)) for word in text.split()]
        widest = max((_width(text, em) for text in texts), default=0.0)
        least = max([_FOLDED if column.justify == "left" else 0.0, *(_width(word, em) for word in words)])
        foldable = at >= table.stub and widest > _FOLDED and any(" " in text for text in texts)
        # "-0.0312 to" stays on one line with its "to".
        joined = (
            [_width(" ".join(text.split()[:2]), em) for text in texts] if column.justify == "right" else []
        )
        least = max([least, *joined])
        found.append(least if foldable and least < widest else None)
    return tuple(found)


def _total(table: Table, em: float, gap: float, folds: Sequence[float | None]) -> float:
    widths = []
    for at, (column, fold) in enumerate(zip(table.columns, folds, strict=True)):
        texts = [*(text_of(row[at]) for row in table.rows), *head_lines(column)]
        widths.append(fold if fold is not None else max((_width(text, em) for text in texts), default=0.0))
    return sum(widths) + 2 * gap * (len(widths) - 1)


def _set(
    table: Table, size: str, em: float, gap: float, folds: tuple[float | None, ...], legend: str
) -> Fitted:
    lines = 0
    for row in table.rows:
        shares = [
            math.ceil(_width(text_of(cell), em) / fold) for cell, fold in zip(row, folds, strict=True) if fold
        ]
        lines += max([1, *shares])
    return Fitted(table, size, gap, folds, legend, lines)


def _width(text: str, em: float) -> float:
    """Points that a text takes, on the wide side."""
    total = 0.0
    for letter in _MINUS.sub("−", text):
        if letter in _NARROW:
            total += 0.4
        elif letter in _WIDE or ord(letter) > 0x2E7F:
            total += 0.8 if ord(letter) < 0x2E80 else 1.05
        else:
            total += 0.74 if letter.isupper() else 0.54 if letter.isalpha() or letter == "_" else 0.5
    return 1.02 * total * em
