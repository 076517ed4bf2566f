"""Exhibits of a page (tables and pictures with their text), prepared for the templates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from riskrank.errors import option, spell
from riskrank.render.escapes import escape_for_page
from riskrank.render.figures.picture import Picture
from riskrank.render.page.sections import Block
from riskrank.render.page.svg import PIXELS, Styles, to_inline_svg
from riskrank.render.view import Bar, Cell, Column, Line, Table, as_cell, cell_text

if TYPE_CHECKING:
    from markupsafe import Markup

# Number of columns from which a table gets the full width, and from which it is printed in landscape.
_WIDE, _TURNED = 8, 13
# Number of columns up to which a table is as narrow as its text.
_NARROW = 3
# Width in pixels from which a picture gets the full width, because shrinking would make it unreadable.
_BROAD = 900
# Number of columns from which a phone shows each row as a block.
_STACKED = 4
# Pictures with labels on their right, which a phone replaces by a legend.
_KEYED = ("tvar", "quantiles", "cdf", "scatter", "profile")
# Pictures of the table below them, and their width from which a phone shows only the table.
_TABLED, _PHONE = ("bump", "heatmap"), 360
# Number of rows up to which a table is printed on one page.
_SHORT = 20
_UNBROKEN = re.compile(r"[-+.]{2,}|[−\d.,e-]+ to [−\d.,e-]+")
_NUMBER = re.compile(r"[<>≤~?\s]*[-−+]?[\d,]+(?:\.(\d+))?( %)?")
_BARS = (
    "Bar: 95 % interval of each mean, with the ends of the scale above the bars. The tests decide whether "
    "two models differ; they can separate models with overlapping bars."
)
_BEYOND = "Arrow: outside the scale, which would otherwise compress all other models."
_LOG = "log: logarithmic scale."
_ASSUMED = "(↑), (↓): assumed direction, because none is declared."
# Hints to options that show more become "below", because a page contains everything.
_MORE = (option("explain", True), option("top", "#"), f"(?<=: ){option('cases', '#')}")
_BELOW = re.compile("|".join(_MORE).replace("#", "[0-9]+"))


@dataclass(frozen=True)
class PageCell:
    """A table cell, with its text, CSS classes, bar, and column width in characters."""

    text: str
    classes: str
    bar: Bar | None
    width: int


@dataclass(frozen=True)
class PageRow:
    """A table row, with the indices of its models and the CSS class for the color of a single model."""

    cells: tuple[PageCell, ...]
    models: str
    color: str


@dataclass(frozen=True)
class PageTable:
    """A table, prepared for the template."""

    title: str
    classes: str
    heads: tuple[tuple[Column, str], ...]
    rows: tuple[PageRow, ...]
    stub: int
    folded: bool


@dataclass(frozen=True)
class Drawing:
    """A picture, prepared for the template.

    Attributes
    ----------
    svg : Markup
    title, reading : str
        Title of the picture, and a sentence on how to read it.
    width : float
        Width in pixels.
    key : mapping of str to str
        CSS color class of every model, for a legend below the picture, or empty if the picture has labels.
    tabled : bool
        True if narrow screens show a table instead.
    """

    svg: Markup
    title: str
    reading: str
    width: float = 0.0
    key: Mapping[str, str] = field(default_factory=dict)
    tabled: bool = False


@dataclass
class Exhibit:
    """Lines of text with at most one table or picture.

    If ``wide`` is True, the text is placed below the table or picture.
    """

    table: PageTable | None = None
    drawing: Drawing | None = None
    words: list[Line] = field(default_factory=list)
    wide: bool = False


class Exhibitor:
    """Builder of the exhibits of one page, with shared element names and CSS classes.

    Parameters
    ----------
    mark : str
        Prefix of element names.
    models : sequence of str
    colors : mapping of str to str
        CSS color class of every highlighted model, by name.
    flags : bool
        Whether to name parameters as command-line flags instead of Python keywords.
    """

    def __init__(self, mark: str, models: Sequence[str], colors: Mapping[str, str], *, flags: bool) -> None:
        self.styles, self._colors = Styles(), colors
        self._mark, self._flags, self._drawn = mark, flags, 0
        self._numbers = {name: number for number, name in enumerate(models)}

    def exhibits(
        self, blocks: Iterable[Block], *, wide: bool = False, finding: str = ""
    ) -> Iterator[Exhibit]:
        """Yield the exhibits for blocks of content.

        Lines of text belong to the preceding table or picture.

        Parameters
        ----------
        blocks : iterable of Block
        wide : bool
            Whether every table has the full width, with its text below.
        finding : str
            Finding illustrated by the pictures, for their alternative text.
        """
        exhibit: Exhibit | None = None
        for block in blocks:
            if isinstance(block, Line):
                exhibit = exhibit or Exhibit()
                exhibit.words.append(self._convert_line(block))
                continue
            if exhibit is not None:
                yield exhibit
            if isinstance(block, Picture):
                drawing = self._draw_picture(block, finding)
                exhibit = Exhibit(drawing=drawing, wide=drawing.width > _BROAD)
            else:
                plain = block.plain
                full_width = wide or len(plain.columns) >= _WIDE
                exhibit = Exhibit(table=self._convert_table(plain), words=_bar_notes(plain), wide=full_width)
        if exhibit is not None:
            yield exhibit

    def _convert_line(self, line: Line) -> Line:
        """Return a line with its parameters written out for the page."""
        text = spell(_BELOW.sub("below", line.text), flags=self._flags)
        return Line(text, line.label, line.style, line.verbatim)

    def _draw_picture(self, picture: Picture, finding: str) -> Drawing:
        """Draw a picture as inline SVG."""
        from markupsafe import Markup

        from riskrank.render.figures.text import browser_fonts

        self._drawn += 1
        with browser_fonts():
            plot = picture.draw()
            svg = to_inline_svg(
                plot,
                self.styles,
                identity=f"{self._mark}-{self._drawn}",
                alternative=escape_for_page(". ".join(filter(None, (finding, picture.caption)))),
            )
        key = {}
        if picture.kind in _KEYED:
            in_focus = [name for name in self._numbers if name in self._colors]
            grey_models = [name for name in self._numbers if name not in self._colors]
            grey_models = (
                grey_models if len(grey_models) == 1 else [f"{len(grey_models)} others"] * bool(grey_models)
            )
            key = {name: self._colors.get(name, "others") for name in [*in_focus, *grey_models]}
        width = 72 * plot.get_figwidth() * PIXELS
        tabled = picture.kind in _TABLED and width > _PHONE
        return Drawing(Markup(svg), plot.title, plot.reading, width, key, tabled)

    def _convert_table(self, table: Table) -> PageTable:
        """Convert a table for the template."""
        table = table.without_empty_columns
        left = [i for i, column in enumerate(table.columns[: table.stub]) if column.justify == "left"]
        name_column = next((i for i in left if table.columns[i].head), None)
        classes = [
            f"{column.justify} name" if i == name_column else column.justify
            for i, column in enumerate(table.columns)
        ]
        heads = tuple(zip(table.columns, classes, strict=True))
        aligned = [
            _alignment_classes([cell_text(row[i]) for row in table.rows]) for i in range(len(table.columns))
        ]
        widths = [max((len(cell_text(row[i])) for row in table.rows), default=0) for i in range(len(classes))]
        rows = []
        for i, row in enumerate(table.rows):
            named = [text for text in map(cell_text, row[: table.stub]) if text in self._numbers]
            cells = [
                _cell(cell, f"{kind} {pad[i]}" if pad[i] else kind, width)
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


def _bar_notes(table: Table) -> list[Line]:
    """Return a line that explains the bars of a table and any unusual scales."""
    axes = [column.axis for column in table.columns if column.axis]
    bars = [cell.bar for row in table.rows for cell in map(as_cell, row) if cell.bar]
    notes = [
        _BARS,
        *[_BEYOND] * any(bar.beyond for bar in bars),
        *[_LOG] * any(len(axis) > 2 for axis in axes),
        *[_ASSUMED] * any(column.axis and column.head.endswith(("(↑)", "(↓)")) for column in table.columns),
    ]
    return [Line(" ".join(notes))] if axes else []


def _cell(cell: Cell | str, classes: str, width: int) -> PageCell:
    """Convert a table cell for the template."""
    cell = as_cell(cell)
    # A row of marks or an interval must not break.
    unbroken = "whole" if "left" in classes and _UNBROKEN.fullmatch(cell.text) else ""
    return PageCell(cell.text, " ".join(filter(None, (classes, cell.style, unbroken))), cell.bar, width)


def _alignment_classes(texts: Sequence[str]) -> list[str]:
    """Return a CSS class per number of a column, to align the decimal points."""
    matches = [_NUMBER.fullmatch(text) for text in texts]
    places = [-1 if match is None else len(match[1] or "") for match in matches]
    most = max(places, default=0)
    if most < 1 or any(match and match[2] for match in matches):
        return [""] * len(texts)
    # The decimal point has a width, too.
    missing = [most - count + (count == 0) for count in places]
    return [
        f"d{count_missing}" if count_missing and count >= 0 else ""
        for count_missing, count in zip(missing, places, strict=True)
    ]
