"""Matplotlib's SVG made part of a page: small, without styles of its own, in the page's colours.

What a figure is drawn with becomes classes of one style sheet, so that a strict content-security policy
can name it and the dark page can change it. Text stays text: it can be searched and copied, and no font is
carried along.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree import ElementTree

import numpy as np

from riskrank.render.figures.marks import CURVE, HEADING, PANEL_NAMES, marked_models, panel_mark
from riskrank.render.figures.style import ABOVE, FAINT, GOOD, GREY, INK, PALETTE, QUIET, SMALL, Plot

# Colours that follow the page, by what Matplotlib writes; all others stay as they are.
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
"""Of a point: the smallest words of a picture that is not made to fit are 11 pixels high."""
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
    """Classes of all figures of a page, a class a way to draw.

    Attributes
    ----------
    names : dict of str to str
        Class by its declarations.
    """

    names: dict[str, str] = field(default_factory=dict)

    def of(self, declarations: str) -> str:
        """Class of these declarations."""
        text = _COLOR.sub(lambda found: _color(found[0]), declarations)
        text = _FONT.sub("", text).strip("; ")
        return self.names.setdefault(text, f"s{len(self.names)}")

    def sheet(self, root: str) -> str:
        """Rules below a class of the page."""
        return "\n".join(f".{root} .{name}{{{text}}}" for text, name in self.names.items())


def _color(color: str) -> str:
    return f"var(--{COLORS[color]})" if color in COLORS else color


def to_inline(plot: Plot, styles: Styles, *, identity: str, alternative: str) -> str:
    """Write a figure as elements of a page, one that may be broken between its panels, without its heading.

    Parameters
    ----------
    plot : Plot
    styles : Styles
        Of the page; classes are added.
    identity : str
        What its names begin with, so that no two figures of a page share one.
    alternative : str
        What it shows, for those who cannot see it.
    """
    root = ElementTree.fromstring(plot.to_bytes("svg", text_as_text=True))
    width, height = (float(number) for number in root.attrib["viewBox"].split()[2:])
    down = plot.heading - ABOVE, height
    names_end, *ends = plot.panels if len(plot.panels) > 2 else (0.0, width)
    svg = _window((0, ends[0]), down, {"role": "img", "aria-labelledby": f"{identity}-t"})
    title = ElementTree.SubElement(svg, "title", {"id": f"{identity}-t"})
    title.text = alternative
    used = _references(root)
    names = {name: f"{identity}-{number}" for number, name in enumerate(sorted(used))}
    figure, further = root.findall(f"{_SVG}g")[-1], []
    rows = [group for group in figure if group.get("id") == PANEL_NAMES]
    # Panels that find no room beside the first stand below it, each with the names of its rows again.
    for at, across in enumerate(itertools.pairwise(ends), start=1):
        own = [group for group in figure if group.get("id") == panel_mark(at)]
        again = _window((0, names_end), down, {"aria-hidden": "true", "class": "again"})
        alone = _window(across, down, {"aria-hidden": "true"})
        for window, groups in ((again, rows), (alone, own)):
            window.extend(one for group in groups for one in _cleaned(group, styles, names))
        for group in own:
            figure.remove(group)
        further.append(ElementTree.Element("div", {"class": "panel"}))
        further[-1].extend([again, alone])
    for child in root:
        svg.extend(_cleaned(child, styles, names))
    return "".join(ElementTree.tostring(one, encoding="unicode") for one in (svg, *further))


def _window(
    across: tuple[float, float], down: tuple[float, float], attributes: dict[str, str]
) -> ElementTree.Element:
    """An empty picture of a part of the sheet."""
    width, height = across[1] - across[0], down[1] - down[0]
    size = {"width": f"{width * PIXELS:.1f}", "height": f"{height * PIXELS:.1f}"}
    view = f"{across[0]:g} {down[0]:g} {width:g} {height:g}"
    return ElementTree.Element("svg", {"viewBox": view, **size, **attributes})


def _references(root: ElementTree.Element) -> set[str]:
    found = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == f"{_XLINK}href" and value.startswith("#"):
                found.add(value[1:])
            found |= set(_REFERENCE.findall(value))
    return found


def _cleaned(
    element: ElementTree.Element, styles: Styles, names: dict[str, str]
) -> Iterator[ElementTree.Element]:
    """An element as the page takes it; what says nothing is replaced by what it holds."""
    tag = element.tag.removeprefix(_SVG)
    if tag in ("metadata", "style") or element.get("class") == HEADING:
        return
    attributes = _attributes(element, tag, styles, names)
    inside = [child for one in element for child in _cleaned(one, styles, names)]
    if tag in ("g", "defs") and not inside:
        return
    if tag == "g" and not attributes:
        yield from inside
        return
    found = ElementTree.Element(tag, attributes)
    found.extend(inside)
    if tag in ("text", "tspan"):
        found.text = element.text
    yield found


def _attributes(
    element: ElementTree.Element, tag: str, styles: Styles, names: dict[str, str]
) -> dict[str, str]:
    found = {}
    for key, value in element.attrib.items():
        if key == "style":
            pattern = _PATTERN.match(value)
            if pattern:  # its name is the figure's own, so no class can hold it
                found["fill"], value = _renamed(pattern[1], names), _PATTERN.sub("", value)
            found |= {"class": styles.of(value)} if value else {}
        elif key == "id":
            if value in names:
                found["id"] = names[value]
        elif key == "class":
            found["data-model"] = " ".join(map(str, marked_models(value)))
            found |= {"class": CURVE} if CURVE in value.split() else {}
        elif key == f"{_XLINK}href":
            found["href"] = f"#{names[value[1:]]}" if value.startswith("#") else "".join(value.split())
        elif key == "d":
            found[key] = _in_steps(_shorter(value))
        elif key in ("x", "y", "transform", "width", "height", "points"):
            found[key] = _shorter(value) if tag != "image" else value
        elif key == "clip-path":
            found[key] = _renamed(value, names)
        else:
            found[key] = value
    if tag == "text" and re.fullmatch(r"rotate\(-0 .*\)", found.get("transform", "")):
        del found["transform"]
    return found


def _renamed(value: str, names: dict[str, str]) -> str:
    return _REFERENCE.sub(lambda match: f"url(#{names[match[1]]})", value)


def _shorter(value: str) -> str:
    """Numbers to a hundredth of a point, and no more blanks than needed."""
    value = _NUMBER.sub(lambda found: _rounded(float(found[0])), value)
    return re.sub(r" ?([A-Za-z]) ?(?=[-\d])", r"\1", " ".join(value.split())) if "(" not in value else value


def _in_steps(path: str) -> str:
    """A path in which what goes on level, or upright, is one step, told by its length."""
    if "e" in path:  # of numbers
        return path
    written: list[str] = []
    start: tuple[float, ...] = (0.0, 0.0)
    at = corner = start
    before: tuple[int, ...] = ()
    for letter, numbers in _COMMAND.findall(path):
        to = tuple(map(float, numbers.split()[-2:])) or start
        way = tuple(int(np.sign(b - a)) for a, b in zip(at, to, strict=True))
        if letter != "L" or all(way) or not any(way):
            written.append(letter + numbers.strip())
            way = ()
        else:
            if way == before:
                written.pop()
            else:
                corner = at
            along = 0 if way[0] else 1
            written.append("hv"[along] + _LEADING.sub(r"\1.", _rounded(to[along] - corner[along])))
        start = to if letter == "M" else start
        at, before = to, way
    return "".join(written)


def _rounded(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
