"""Hasse diagrams of the relation, several thresholds side by side ([GSD] Fig. 5 and 6)."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from riskrank.engine.gsd.relation import HasseDiagram
from riskrank.engine.types import Booleans
from riskrank.shown.figures.fonts import TEXT, text_width
from riskrank.shown.figures.key import tone
from riskrank.shown.figures.marks import model_mark, write
from riskrank.shown.figures.names import fitted
from riskrank.shown.figures.style import GREY, INK, MARGIN, QUIET, Plot, drawn, sheet
from riskrank.studies.gsd.figures.layers import Layers, layered, positions

_MOST = 80
"""Nodes drawn at most: the top ones."""
_ACROSS = 8
_LINE = 11.0
_GAP = 30.0
_WIDEST = 110.0


@dataclass(frozen=True)
class Hasse:
    """What is plotted of one relation.

    Attributes
    ----------
    label : str
        Threshold it belongs to.
    nodes : tuple of tuple of int
        Models of each node; those of one node dominate each other.
    levels : tuple of int
        0 at the top.
    edges : tuple of (int, int)
        Upper and lower node of each covering pair.
    significant : tuple of bool
        Of each edge: whether a test supports it, for some model of the upper node over some of the lower.
    front : tuple of bool
        Of each node: whether its models are in the front.
    left_out : int
        Nodes further down that are not drawn.
    """

    label: str
    nodes: tuple[tuple[int, ...], ...]
    levels: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    significant: tuple[bool, ...]
    front: tuple[bool, ...]
    left_out: int


def hasse(label: str, diagram: HasseDiagram, front: Booleans, significant: Booleans) -> Hasse:
    """Arrange a diagram for drawing; of very many nodes the top ones.

    Parameters
    ----------
    label : str
    diagram : HasseDiagram
    front : ndarray of bool, shape (k,)
    significant : ndarray of bool, shape (k, k)
        Row over column.
    """
    order = sorted(range(len(diagram.nodes)), key=lambda node: (diagram.levels[node], node))[:_MOST]
    place = {node: at for at, node in enumerate(order)}
    kept = [(upper, lower) for upper, lower in diagram.edges if upper in place and lower in place]
    return Hasse(
        label=label,
        nodes=tuple(diagram.nodes[node] for node in order),
        levels=tuple(diagram.levels[node] for node in order),
        edges=tuple((place[upper], place[lower]) for upper, lower in kept),
        significant=tuple(
            any(bool(significant[i, j]) for i in diagram.nodes[upper] for j in diagram.nodes[lower])
            for upper, lower in kept
        ),
        front=tuple(bool(front[list(diagram.nodes[node])].any()) for node in order),
        left_out=len(diagram.nodes) - len(order),
    )


@dataclass(frozen=True)
class _HassePanel:
    """A diagram with its places."""

    found: Hasse
    layers: Layers
    labels: list[list[str]]
    x: list[float]
    y: dict[int, float]
    widths: list[float]
    height: float

    @property
    def width(self) -> float:
        ends = [x + width / 2 for x, width in zip(self.x, self.widths, strict=False)]
        return max(*ends, text_width(self.found.label, TEXT, "bold"), max(self.x) + 6)


@drawn
def draw_hasse(found: Sequence[Hasse], names: Sequence[str], *, tested: bool) -> Plot:
    """Draw diagrams side by side.

    Parameters
    ----------
    found : sequence of Hasse
    names : sequence of k str
    tested : bool
        Whether edges were tested.
    """
    panels = [_panel(one, names) for one in found]
    gap = 40.0
    width = max(2 * MARGIN + sum(panel.width for panel in panels) + gap * (len(panels) - 1), 360.0)
    lines = "Full lines: significant; dashed: in these samples only."
    lines = lines if tested else "Dashed: in these samples; no test was asked for."
    left_out = max(one.left_out for one in found)
    rest = f" {left_out} nodes further down are not drawn." if left_out else ""
    height = max(panel.height for panel in panels)
    page = sheet(
        "Dominance for every utility that respects the criteria",
        "A line down: the upper model dominates the lower one, and all below it. Models without a way down "
        f"or up are incomparable. Thick frames: the front, which nobody dominates. {lines}{rest}",
        width=width,
        height=height + 2 * MARGIN + 20,
    )
    canvas = page.canvas()
    left = MARGIN
    for panel in panels:
        write(canvas, left, page.top - 4, panel.found.label, weight="bold", va="top")
        _draw(canvas, panel, left, page.top - 24)
        left += panel.width + gap
    return page.figure


def _panel(found: Hasse, names: Sequence[str]) -> _HassePanel:
    members = sorted({model for node in found.nodes for model in node})
    shown = dict(zip(members, fitted([names[model] for model in members], _WIDEST), strict=True))
    labels = [[shown[model] for model in node] for node in found.nodes]
    widths = [max(text_width(line) for line in lines) + 26 for lines in labels]
    layers = layered(found.levels, found.edges, _ACROSS)
    y: dict[int, float] = {}
    depth = 0.0
    for row in layers.order:
        tall = max((len(labels[node]) for node in row if node < len(labels)), default=1) * _LINE + 8
        for node in row:
            y[node] = depth + tall / 2
        depth += tall + _GAP
    return _HassePanel(found, layers, labels, positions(layers, widths), y, widths, depth - _GAP)


def _draw(canvas: Axes, panel: _HassePanel, left: float, top: float) -> None:
    found = panel.found
    marks = [model_mark(*models) for models in found.nodes]
    for path, significant in zip(panel.layers.paths, found.significant, strict=True):
        canvas.plot(
            [left + panel.x[node] for node in path],
            [top - panel.y[node] for node in path],
            color=INK if significant else QUIET,
            linestyle="solid" if significant else (0, (3, 2)),
            linewidth=0.9,
            zorder=1,
            gid=f"{marks[path[0]]} {marks[path[-1]]}",
        )
    for node, lines in enumerate(panel.labels):
        x, y, tall = left + panel.x[node], top - panel.y[node], len(lines) * _LINE + 6
        wide = panel.widths[node] - 14
        front = next((color for color in map(tone, found.nodes[node]) if color != QUIET), INK)
        canvas.add_patch(
            FancyBboxPatch(
                (x - wide / 2, y - tall / 2),
                wide,
                tall,
                boxstyle="round,pad=0,rounding_size=4",
                facecolor="white",
                edgecolor=front if found.front[node] else GREY,
                linewidth=1.8 if found.front[node] else 0.8,
                zorder=3,
                gid=marks[node],
            )
        )
        for number, (line, model) in enumerate(zip(lines, found.nodes[node], strict=True)):
            middle = y + tall / 2 - 3 - _LINE * (number + 0.5)
            write(canvas, x, middle, line, model_mark(model), "center", va="center_baseline", zorder=4)
