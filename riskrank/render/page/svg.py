"""Inline SVG for pages: Matplotlib's SVG, reduced in size and with CSS classes instead of styles.

Unlike styles, classes comply with a strict content-security policy and can be changed by the dark theme. Text
is kept as text, so that it can be searched and copied without embedded fonts.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree import ElementTree

import numpy as np

from riskrank.render.figures.style import ABOVE, FAINT, GOOD, GREY, INK, PALETTE, QUIET, SMALL, Plot
from riskrank.render.figures.text import CURVE, HEADING, PANEL_NAMES, marked_models, panel_mark

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
PIXELS = 11 / SMALL
"""Pixels per point: the smallest text of an unscaled picture is 11 pixels high."""
FONTS = "'DejaVu Sans', Verdana, 'Noto Sans', sans-serif"

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_NUMBER = re.compile(r"-?\d+\.\d{2,}(?!\d*e)")
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
        """Return the CSS class for a set of declarations, creating it if necessary."""
        text = _COLOR.sub(lambda match: _color(match[0]), declarations)
        text = _FONT.sub("", text).strip("; ")
        return self.names.setdefault(text, f"s{len(self.names)}")

    def css(self, root: str) -> str:
        """Return the CSS rules, restricted to descendants of the class `root`."""
        return "\n".join(f".{root} .{name}{{{text}}}" for text, name in self.names.items())


def _color(color: str) -> str:
    """Return the CSS variable for a color of the style, or the color itself."""
    return f"var(--{COLORS[color]})" if color in COLORS else color


def to_inline_svg(plot: Plot, styles: Styles, *, identity: str, alternative: str) -> str:
    """Convert a figure to HTML elements without its heading.

    Each panel becomes a separate SVG element, so that a narrow page can stack them.

    Parameters
    ----------
    plot : Plot
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
    svg = _empty_svg((0, edges[0]), down, {"role": "img", "aria-labelledby": f"{identity}-t"})
    title = ElementTree.SubElement(svg, "title", {"id": f"{identity}-t"})
    title.text = alternative
    used = _references(root)
    names = {name: f"{identity}-{number}" for number, name in enumerate(sorted(used))}
    figure, further = root.findall(f"{_SVG}g")[-1], []
    rows = [group for group in figure if group.get("id") == PANEL_NAMES]
    # Panels that do not fit next to the first wrap below it, each with the row names repeated.
    for index, across in enumerate(itertools.pairwise(edges), start=1):
        panel_groups = [group for group in figure if group.get("id") == panel_mark(index)]
        repeated_names = _empty_svg((0, names_end), down, {"aria-hidden": "true", "class": "again"})
        panel_svg = _empty_svg(across, down, {"aria-hidden": "true"})
        for window, groups in ((repeated_names, rows), (panel_svg, panel_groups)):
            window.extend(child_ for group in groups for child_ in _clean(group, styles, names))
        for group in panel_groups:
            figure.remove(group)
        further.append(ElementTree.Element("div", {"class": "panel"}))
        further[-1].extend([repeated_names, panel_svg])
    for child in root:
        svg.extend(_clean(child, styles, names))
    return "".join(ElementTree.tostring(child_, encoding="unicode") for child_ in (svg, *further))


def _empty_svg(
    across: tuple[float, float], down: tuple[float, float], attributes: dict[str, str]
) -> ElementTree.Element:
    """Return an empty SVG element for a part of the sheet.

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


def _references(root: ElementTree.Element) -> set[str]:
    """Return all identifiers referenced by elements."""
    identifiers = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == f"{_XLINK}href" and value.startswith("#"):
                identifiers.add(value[1:])
            identifiers |= set(_REFERENCE.findall(value))
    return identifiers


def _clean(
    element: ElementTree.Element, styles: Styles, names: dict[str, str]
) -> Iterator[ElementTree.Element]:
    """Yield an element prepared for the page, or the children of a group without attributes."""
    tag = element.tag.removeprefix(_SVG)
    if tag in ("metadata", "style") or element.get("class") == HEADING:
        return
    attributes = _attributes(element, tag, styles, names)
    children = [child for nested in element for child in _clean(nested, styles, names)]
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


def _attributes(
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
    value = _NUMBER.sub(lambda match: _format_coordinate(float(match[0])), value)
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
            written.append(
                "hv"[along] + _LEADING.sub(r"\1.", _format_coordinate(target[along] - corner[along]))
            )
        start = target if letter == "M" else start
        position, previous = target, direction
    return "".join(written)


def _format_coordinate(number: float) -> str:
    """Format a coordinate, rounded to a hundredth of a point."""
    return f"{number:.2f}".rstrip("0").rstrip(".")
