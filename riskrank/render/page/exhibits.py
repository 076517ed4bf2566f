"""Exhibits: a table or a picture with the words that belong beside it, ready for the templates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from riskrank.errors import option, spell
from riskrank.render.escapes import for_page
from riskrank.render.figures.picture import Picture
from riskrank.render.page.sections import Block
from riskrank.render.page.svg import PIXELS, Styles, to_inline
from riskrank.render.view import Bar, Cell, Column, Line, Table, as_cell, text_of

if TYPE_CHECKING:
    from markupsafe import Markup

# Columns from which on a table takes the whole width, and from which on it is printed across the page.
_WIDE, _TURNED = 8, 13
# Columns up to which it is no wider than its words.
_NARROW = 3
# Pixels from which on a picture takes the whole width: smaller, its words would be hard to read.
_BROAD = 900
# Columns from which on a phone shows a row as a block.
_STACKED = 4
# Pictures whose names stand on their right, where a phone does not show them.
_KEYED = ("tvar", "quantiles", "cdf", "scatter", "profile")
# Pictures of a table below them, and pixels from which on a phone shows that alone.
_TABLED, _PHONE = ("bump", "heatmap", "taskmap"), 360
# Rows up to which a table is printed on one page.
_SHORT = 20
_WHOLE = re.compile(r"[-+.]{2,}|[−\d.,e-]+ to [−\d.,e-]+")
_NUMBER = re.compile(r"[<>≤~?\s]*[-−+]?[\d,]+(?:\.(\d+))?( %)?")
_BARS = (
    "Bar: 95 % interval of each mean alone, between the ends that stand above the bars. Whether two models "
    "differ is for the tests to say: they may tell apart what overlaps here."
)
_BEYOND = "Arrow: beyond the end, so far away that on one scale the others could not be told apart."
_LOG = "log: equal ways are equal ratios."
_ASSUMED = "(↑), (↓): which way is better is assumed, as nobody declared it."
# How much more there is elsewhere stands on a page below: it holds everything.
_MORE = (option("explain", True), option("top", "#"), f"(?<=: ){option('cases', '#')}")
_BELOW = re.compile("|".join(_MORE).replace("#", "[0-9]+"))


@dataclass(frozen=True)
class PageCell:
    """A cell: its text, its classes, its bar, and how many characters its column's numbers take."""

    text: str
    classes: str
    bar: Bar | None
    width: int


@dataclass(frozen=True)
class PageRow:
    """A row of a table, with the models it is about by their numbers, and the colour of its model."""

    cells: tuple[PageCell, ...]
    models: str
    color: str


@dataclass(frozen=True)
class PageTable:
    """A table as the template takes it."""

    title: str
    classes: str
    heads: tuple[tuple[Column, str], ...]
    rows: tuple[PageRow, ...]
    stub: int
    folded: bool


@dataclass(frozen=True)
class Drawing:
    """A picture as the template takes it: its width in pixels, a key if any, and whether a table says it."""

    svg: Markup
    title: str
    reading: str
    width: float = 0.0
    key: Mapping[str, str] = field(default_factory=dict)
    tabled: bool = False


@dataclass
class Exhibit:
    """A table, a picture or neither, with words; ``wide`` where there is no room beside it."""

    table: PageTable | None = None
    drawing: Drawing | None = None
    words: list[Line] = field(default_factory=list)
    wide: bool = False


class Exhibitor:
    """Makes the exhibits of one page, which share names and styles.

    Parameters
    ----------
    mark : str
        What names of elements begin with.
    models : sequence of str
    colors : mapping of str to str
        Class of the colour of a model, by name; of those in focus.
    flags : bool
        Whether parameters are named as flags of the command line or as Python keywords.
    """

    def __init__(self, mark: str, models: Sequence[str], colors: Mapping[str, str], *, flags: bool) -> None:
        self.styles, self._colors = Styles(), colors
        self._mark, self._flags, self._drawn = mark, flags, 0
        self._numbers = {name: number for number, name in enumerate(models)}

    def exhibits(
        self, blocks: Iterable[Block], *, wide: bool = False, finding: str = ""
    ) -> Iterator[Exhibit]:
        """Words stand beside what they follow; what comes before any table or picture stands alone.

        Parameters
        ----------
        blocks : iterable of Block
        wide : bool
            Give every table the whole width, its words below.
        finding : str
            What the pictures show, for who hears of them.
        """
        found: Exhibit | None = None
        for block in blocks:
            if isinstance(block, Line):
                found = found or Exhibit()
                found.words.append(self._line(block))
                continue
            if found is not None:
                yield found
            if isinstance(block, Picture):
                drawing = self._drawing(block, finding)
                found = Exhibit(drawing=drawing, wide=drawing.width > _BROAD)
            else:
                plain = block.plain
                whole = wide or len(plain.columns) >= _WIDE
                found = Exhibit(table=self._table(plain), words=_on_bars(plain), wide=whole)
        if found is not None:
            yield found

    def _line(self, line: Line) -> Line:
        text = spell(_BELOW.sub("below", line.text), flags=self._flags)
        return Line(text, line.label, line.style, line.verbatim)

    def _drawing(self, picture: Picture, finding: str) -> Drawing:
        from markupsafe import Markup

        from riskrank.render.figures.fonts import browser_fonts

        self._drawn += 1
        with browser_fonts():
            plot = picture.draw()
            svg = to_inline(
                plot,
                self.styles,
                identity=f"{self._mark}-{self._drawn}",
                alternative=for_page(". ".join(filter(None, (finding, picture.caption)))),
            )
        key = {}
        if picture.kind in _KEYED:
            named = [name for name in self._numbers if name in self._colors]
            rest = [name for name in self._numbers if name not in self._colors]
            rest = rest if len(rest) == 1 else [f"{len(rest)} others"] * bool(rest)
            key = {name: self._colors.get(name, "others") for name in [*named, *rest]}
        width = 72 * plot.get_figwidth() * PIXELS
        tabled = picture.kind in _TABLED and width > _PHONE
        return Drawing(Markup(svg), plot.title, plot.reading, width, key, tabled)

    def _table(self, table: Table) -> PageTable:
        table = table.filled
        left = [at for at, column in enumerate(table.columns[: table.stub]) if column.justify == "left"]
        name = next((at for at in left if table.columns[at].head), None)
        classes = [
            f"{column.justify} name" if at == name else column.justify
            for at, column in enumerate(table.columns)
        ]
        heads = tuple(zip(table.columns, classes, strict=True))
        aligned = [_decimals([text_of(row[at]) for row in table.rows]) for at in range(len(table.columns))]
        widths = [max((len(text_of(row[at])) for row in table.rows), default=0) for at in range(len(classes))]
        rows = []
        for at, row in enumerate(table.rows):
            named = [text for text in map(text_of, row[: table.stub]) if text in self._numbers]
            cells = [
                _cell(cell, f"{kind} {pad[at]}" if pad[at] else kind, width)
                for cell, kind, pad, width in zip(row, classes, aligned, widths, strict=True)
            ]
            about = " ".join(str(self._numbers[text]) for text in named)
            color = self._colors.get(named[0], "") if len(named) == 1 else ""
            rows.append(PageRow(tuple(cells), about, color))
        kinds = ["wide"] * (len(heads) >= _WIDE) + ["turned"] * (len(heads) >= _TURNED)
        kinds += ["short"] * (len(rows) <= _SHORT) + ["narrow"] * (len(heads) <= _NARROW)
        bars = sum(column.axis is not None for column in table.columns)
        kinds += [f"bars bars-{min(bars, 6)}"] if bars else ["stacked"] * (len(heads) >= _STACKED)
        title = spell(table.title, flags=self._flags)
        return PageTable(title, " ".join(kinds), heads, tuple(rows), table.stub, table.folded)


def _on_bars(table: Table) -> list[Line]:
    """What the bars of a table are, and what is special of their scales."""
    axes = [column.axis for column in table.columns if column.axis]
    bars = [cell.bar for row in table.rows for cell in map(as_cell, row) if cell.bar]
    said = [
        _BARS,
        *[_BEYOND] * any(bar.beyond for bar in bars),
        *[_LOG] * any(len(axis) > 2 for axis in axes),
        *[_ASSUMED] * any(column.axis and column.head.endswith(("(↑)", "(↓)")) for column in table.columns),
    ]
    return [Line(" ".join(said))] if axes else []


def _cell(cell: Cell | str, classes: str, width: int) -> PageCell:
    cell = as_cell(cell)
    # A mark for each task is one picture, an interval one number.
    whole = "whole" if "left" in classes and _WHOLE.fullmatch(cell.text) else ""
    return PageCell(cell.text, " ".join(filter(None, (classes, cell.style, whole))), cell.bar, width)


def _decimals(texts: Sequence[str]) -> list[str]:
    """Class of each cell of a column of numbers that moves its decimal point below those of the others."""
    found = [_NUMBER.fullmatch(text) for text in texts]
    places = [-1 if one is None else len(one[1] or "") for one in found]
    most = max(places, default=0)
    if most < 1 or any(one and one[2] for one in found):
        return [""] * len(texts)
    # The point itself takes a place.
    lacking = [most - count + (count == 0) for count in places]
    return [f"d{few}" if few and count >= 0 else "" for few, count in zip(lacking, places, strict=True)]
