"""Exhibits of a page: tables and pictures with their text, prepared for the templates.

Pictures are inline SVG: Matplotlib's SVG, reduced in size and with CSS classes instead of styles. Unlike
styles, classes comply with a strict content-security policy and can be changed by the dark theme. Text is
kept as text, so that it can be searched and copied without embedded fonts.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np

from riskrank.errors import option, spell
from riskrank.render import WORDS
from riskrank.render.escapes import escape_for_page
from riskrank.render.figures.style import ABOVE, FAINT, GOOD, GREY, INK, PALETTE, QUIET, SMALL, Plot
from riskrank.render.figures.text import CURVE, HEADING, PANEL_NAMES, marked_models, panel_mark
from riskrank.render.view import Bar, Block, Column, Line, Picture, Table, as_cell, cell_text

if TYPE_CHECKING:
    from markupsafe import Markup


# CSS variables of the colors that follow the theme of the page, by Matplotlib's color.
COLORS = {
    "#ffffff": "paper",
    "#000000": "ink",
    INK.lower(): "ink",
    QUIET.lower(): "quiet",
    GREY.lower(): "grey",
    FAINT.lower(): "faint",
    GOOD.lower(): "good",
    **{color.lower(): f"c{number}" for number, color in enumerate(PALETTE)},
}
# Pixels per point: the smallest text of an unscaled picture is 11 pixels high.
PIXELS = 11 / SMALL
FONTS = "'DejaVu Sans', Verdana, 'Noto Sans', sans-serif"

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_DECIMALS = re.compile(r"-?\d+\.\d{2,}(?!\d*e)")
_COLOR = re.compile(r"#[0-9a-f]{6}\b")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_FONT = re.compile(r"font-family: [^;]*;? ?")
_PATTERN = re.compile(r"fill: (url\(#[^)]*\));? ?")
_LEADING = re.compile(r"^(-?)0\.")
_COMMAND = re.compile(r"([A-Za-z])([^A-Za-z]*)")


@dataclass
class Styles:
    """CSS classes for all figures of a page, one class per set of declarations.

    Attributes
    ----------
    names : dict of str to str
        Class names by declarations.
    """

    names: dict[str, str] = field(default_factory=dict)

    def class_for(self, declarations: str) -> str:
        """Return the name of the CSS class for some declarations, and add the class if it is new."""
        # The colors of the style are CSS variables.
        text = _COLOR.sub(
            lambda match: f"var(--{COLORS[match[0]]})" if match[0] in COLORS else match[0], declarations
        )
        text = _FONT.sub("", text).strip("; ")
        return self.names.setdefault(text, f"s{len(self.names)}")

    def css(self, root: str) -> str:
        """Return the CSS rules, restricted to descendants of the class `root`."""
        return "\n".join(f".{root} .{name}{{{text}}}" for text, name in self.names.items())


def to_inline_svg(plot: Plot, styles: Styles, *, identity: str, alternative: str) -> str:
    """Convert a figure to HTML elements without its heading.

    Each panel becomes a separate SVG element, so that a narrow page can stack them.

    Parameters
    ----------
    plot : Plot
        The figure to embed.
    styles : Styles
        CSS classes of the page, extended in place.
    identity : str
        Prefix of element names, unique on the page.
    alternative : str
        Alternative text for readers who cannot see the figure.
    """
    root = ElementTree.fromstring(plot.to_bytes("svg", text_as_text=True))
    width, height = (float(number) for number in root.attrib["viewBox"].split()[2:])
    down = plot.heading - ABOVE, height
    names_end, *edges = plot.panels if len(plot.panels) > 2 else (0.0, width)
    svg = _create_svg((0, edges[0]), down, {"role": "img", "aria-labelledby": f"{identity}-t"})
    title = ElementTree.SubElement(svg, "title", {"id": f"{identity}-t"})
    title.text = alternative
    attributes = [item for element in root.iter() for item in element.attrib.items()]
    values = [(key == f"{_XLINK}href", value) for key, value in attributes]
    used = {value[1:] for is_link, value in values if is_link and value.startswith("#")}
    used |= {name for _, value in values for name in _REFERENCE.findall(value)}
    names = {name: f"{identity}-{number}" for number, name in enumerate(sorted(used))}
    figure, further = root.findall(f"{_SVG}g")[-1], []
    rows = [group for group in figure if group.get("id") == PANEL_NAMES]
    # Panels that do not fit next to the first wrap below it, each with the row names repeated.
    for index, across in enumerate(itertools.pairwise(edges), start=1):
        panel_groups = [group for group in figure if group.get("id") == panel_mark(index)]
        repeated_names = _create_svg((0, names_end), down, {"aria-hidden": "true", "class": "again"})
        panel_svg = _create_svg(across, down, {"aria-hidden": "true"})
        for parent, groups in ((repeated_names, rows), (panel_svg, panel_groups)):
            parent.extend(child for group in groups for child in _clean_element(group, styles, names))
        for group in panel_groups:
            figure.remove(group)
        further.append(ElementTree.Element("div", {"class": "panel"}))
        further[-1].extend([repeated_names, panel_svg])
    for element in root:
        svg.extend(_clean_element(element, styles, names))
    return "".join(ElementTree.tostring(part, encoding="unicode") for part in (svg, *further))


def _create_svg(
    across: tuple[float, float], down: tuple[float, float], attributes: dict[str, str]
) -> ElementTree.Element:
    """Create an empty SVG element for a part of the sheet.

    Parameters
    ----------
    across, down : (float, float)
        Horizontal and vertical extent of the part, in points.
    attributes : dict of str to str
        Further attributes of the element.
    """
    width, height = across[1] - across[0], down[1] - down[0]
    size = {"width": f"{width * PIXELS:.1f}", "height": f"{height * PIXELS:.1f}"}
    view = f"{across[0]:g} {down[0]:g} {width:g} {height:g}"
    return ElementTree.Element("svg", {"viewBox": view, **size, **attributes})


def _clean_element(
    element: ElementTree.Element, styles: Styles, names: dict[str, str]
) -> Iterator[ElementTree.Element]:
    """Yield an SVG element without what the page does not need, or the children of an unneeded group.

    Parameters
    ----------
    element : Element
        Element of Matplotlib's SVG.
    styles : Styles
        CSS classes of the page, extended in place.
    names : dict of str to str
        Page-wide unique identifiers by those in the figure.
    """
    tag = element.tag.removeprefix(_SVG)
    if tag in ("metadata", "style") or element.get("class") == HEADING:
        return
    attributes = _clean_attributes(element, tag, styles, names)
    children = [child for nested in element for child in _clean_element(nested, styles, names)]
    if tag in ("g", "defs") and not children:
        return
    if tag == "g" and not attributes:
        yield from children
        return
    cleaned = ElementTree.Element(tag, attributes)
    cleaned.extend(children)
    if tag in ("text", "tspan"):
        cleaned.text = element.text
    yield cleaned


def _clean_attributes(
    element: ElementTree.Element, tag: str, styles: Styles, names: dict[str, str]
) -> dict[str, str]:
    """Return an element's attributes, with classes instead of styles and page-wide unique identifiers."""
    attributes = {}
    for key, value in element.attrib.items():
        if key == "style":
            pattern = _PATTERN.match(value)
            if pattern:  # the name is unique to the figure, so it cannot be part of a class
                attributes["fill"], value = _rename_references(pattern[1], names), _PATTERN.sub("", value)
            attributes |= {"class": styles.class_for(value)} if value else {}
        elif key == "id":
            if value in names:
                attributes["id"] = names[value]
        elif key == "class":
            attributes["data-model"] = " ".join(map(str, marked_models(value)))
            attributes |= {"class": CURVE} if CURVE in value.split() else {}
        elif key == f"{_XLINK}href":
            attributes["href"] = f"#{names[value[1:]]}" if value.startswith("#") else "".join(value.split())
        elif key == "d":
            attributes[key] = _shorten_path(_shorten_numbers(value))
        elif key in ("x", "y", "transform", "width", "height", "points"):
            attributes[key] = _shorten_numbers(value) if tag != "image" else value
        elif key == "clip-path":
            attributes[key] = _rename_references(value, names)
        else:
            attributes[key] = value
    if tag == "text" and re.fullmatch(r"rotate\(-0 .*\)", attributes.get("transform", "")):
        del attributes["transform"]
    return attributes


def _rename_references(value: str, names: dict[str, str]) -> str:
    """Replace the identifiers in ``url(#…)`` references."""
    return _REFERENCE.sub(lambda match: f"url(#{names[match[1]]})", value)


def _shorten_numbers(value: str) -> str:
    """Round the numbers in an attribute to a hundredth of a point, and remove unnecessary spaces."""
    value = _DECIMALS.sub(lambda match: _format_coordinate(float(match[0])), value)
    return re.sub(r" ?([A-Za-z]) ?(?=[-\d])", r"\1", " ".join(value.split())) if "(" not in value else value


def _shorten_path(path: str) -> str:
    """Merge consecutive horizontal or vertical steps of a path into relative ``h`` and ``v`` commands."""
    if "e" in path:  # numbers in scientific notation
        return path
    written: list[str] = []
    start: tuple[float, ...] = (0.0, 0.0)
    position = corner = start
    previous: tuple[int, ...] = ()
    for letter, numbers in _COMMAND.findall(path):
        target = tuple(map(float, numbers.split()[-2:])) or start
        direction = tuple(int(np.sign(b - a)) for a, b in zip(position, target, strict=True))
        if letter != "L" or all(direction) or not any(direction):
            written.append(letter + numbers.strip())
            direction = ()
        else:
            if direction == previous:
                written.pop()
            else:
                corner = position
            along = 0 if direction[0] else 1
            step = _format_coordinate(target[along] - corner[along])
            written.append("hv"[along] + _LEADING.sub(r"\1.", step))
        start = target if letter == "M" else start
        position, previous = target, direction
    return "".join(written)


def _format_coordinate(number: float) -> str:
    """Format a coordinate, rounded to a hundredth of a point."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


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
# Hints to options that show more become "below", because a page contains everything.
_MORE = (option("explain", True), option("top", "#"), f"(?<=: ){option('cases', '#')}")
_BELOW = re.compile("|".join(_MORE).replace("#", "[0-9]+"))


@dataclass(frozen=True)
class PageCell:
    """A table cell with its CSS classes, its bar, and the width of its column in characters."""

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
        The picture as SVG.
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
        Names of the models.
    colors : mapping of str to str
        CSS color class of every highlighted model, by name.
    flags : bool
        Whether to name parameters as command-line flags instead of Python keywords.
    """

    def __init__(self, mark: str, models: Sequence[str], colors: Mapping[str, str], *, flags: bool) -> None:
        """Store the models, their colors, and the prefix `mark` of element names on the page."""
        self.styles, self._colors = Styles(), colors
        self._mark, self._flags, self._drawn = mark, flags, 0
        self._numbers = {name: number for number, name in enumerate(models)}

    def exhibits(
        self, blocks: Iterable[Block], *, wide: bool = False, finding: str = ""
    ) -> Iterator[Exhibit]:
        """Yield one exhibit per table or picture, each with the lines of text that follow it.

        Parameters
        ----------
        blocks : iterable of Block
            Tables, pictures and lines of text, in the order of the page.
        wide : bool
            Whether every table has the full width, with its text below.
        finding : str
            Finding illustrated by the pictures, for their alternative text.
        """
        exhibit: Exhibit | None = None
        for block in blocks:
            if isinstance(block, Line):
                exhibit = exhibit or Exhibit()
                # The parameters are written out for the page.
                text = spell(_BELOW.sub("below", block.text), flags=self._flags)
                exhibit.words.append(replace(block, text=text, details=False))
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

    def _draw_picture(self, picture: Picture, finding: str) -> Drawing:
        """Draw a picture as inline SVG."""
        from markupsafe import Markup

        from riskrank.render.figures.text import browser_fonts

        self._drawn += 1
        with browser_fonts():
            plot = picture.draw()
            alternative = escape_for_page(". ".join(filter(None, (finding, picture.caption))))
            identity = f"{self._mark}-{self._drawn}"
            svg = to_inline_svg(plot, self.styles, identity=identity, alternative=alternative)
        key = {}
        if picture.kind in _KEYED:
            in_focus = [name for name in self._numbers if name in self._colors]
            grey_models = [name for name in self._numbers if name not in self._colors]
            if len(grey_models) > 1:
                grey_models = [f"{len(grey_models)} others"]
            key = {name: self._colors.get(name, "others") for name in in_focus + grey_models}
        width = 72 * plot.get_figwidth() * PIXELS
        tabled = picture.kind in _TABLED and width > _PHONE
        return Drawing(Markup(svg), plot.title, plot.explanation, width, key, tabled)

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
        texts = [[cell_text(row[i]) for row in table.rows] for i in range(len(table.columns))]
        aligned = [*map(_alignment_classes, texts)]
        widths = [max(map(len, column), default=0) for column in texts]
        rows = []
        for i, row in enumerate(table.rows):
            named = [text for text in map(cell_text, row[: table.stub]) if text in self._numbers]
            cells = []
            for cell, kind, alignment, width in zip(map(as_cell, row), classes, aligned, widths, strict=True):
                # A row of marks or an interval must not break.
                unbroken = "whole" if "left" in kind and _UNBROKEN.fullmatch(cell.text) else ""
                names = " ".join(filter(None, (kind, alignment[i], cell.style, unbroken)))
                cells.append(PageCell(cell.text, names, cell.bar, width))
            models = " ".join(str(self._numbers[text]) for text in named)
            color = self._colors.get(named[0], "") if len(named) == 1 else ""
            rows.append(PageRow(tuple(cells), models, color))
        kinds = ["wide"] * (len(heads) >= _WIDE) + ["turned"] * (len(heads) >= _TURNED)
        kinds += ["short"] * (len(rows) <= _SHORT) + ["narrow"] * (len(heads) <= _NARROW)
        bars = sum(column.axis is not None for column in table.columns)
        kinds += [f"bars bars-{min(bars, 6)}"] if bars else ["stacked"] * (len(heads) >= _STACKED)
        title = spell(table.title, flags=self._flags)
        return PageTable(title, " ".join(kinds), heads, tuple(rows), table.stub, table.folded)


def _bar_notes(table: Table) -> list[Line]:
    """Return a line that explains the bars of a table, or an empty list if it has none."""
    axes = [column.axis for column in table.columns if column.axis]
    bars = [cell.bar for row in table.rows for cell in map(as_cell, row) if cell.bar]
    applies = {
        "bars": True,
        "beyond": any(bar.beyond for bar in bars),
        "logarithmic": any(len(axis) > 2 for axis in axes),
        "assumed": any(column.axis and column.head.endswith(("(↑)", "(↓)")) for column in table.columns),
    }
    notes = [text for name, text in WORDS["notes"].items() if applies[name]]
    return [Line(" ".join(notes))] if axes else []


def _alignment_classes(texts: Sequence[str]) -> list[str]:
    """Return a CSS class for each text of a column, which aligns the decimal points, or "" for none."""
    matches = [_NUMBER.fullmatch(text) for text in texts]
    places = [-1 if match is None else len(match[1] or "") for match in matches]
    most = max(places, default=0)
    if most < 1 or any(match and match[2] for match in matches):
        return [""] * len(texts)
    # A number without decimals lacks the decimal point, too.
    return [f"d{most - count + (count == 0)}" if 0 <= count < most else "" for count in places]
