"""Hasse diagrams of the relation, several thresholds side by side ([GSD] Fig. 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.render.figures.fonts import TEXT, text_width
from riskrank.render.figures.legend import tone
from riskrank.render.figures.marks import model_mark, write
from riskrank.render.figures.names import fitted
from riskrank.render.figures.style import GREY, INK, MARGIN, QUIET, Plot, drawn, sheet
from riskrank.studies.gsd.figures.layers import layered, positions

_MOST = 80
"""Nodes drawn at most: the top ones."""
_ACROSS = 8
_LINE = 11.0
_GAP = 30.0
_WIDEST = 110.0


@dataclass(frozen=True)
class HassePanel:
    """A diagram with its places.

    Attributes
    ----------
    label : str
        Threshold it belongs to.
    nodes : list of tuple of int
        Models of each node, of very many the top ones; those of one node dominate each other.
    labels : list of list of str
        Their names.
    paths : list of tuple of int
        Nodes and bends that each edge passes, downwards.
    significant : list of bool
        Of each edge: whether a test supports it.
    front : list of bool
        Of each node: whether its models are in the front.
    x, y : list of float, dict of int to float
        Middle of each node and bend, to the right and down.
    widths : list of float
        Of each node.
    height : float
    left_out : int
        Nodes further down that are not drawn.
    """

    label: str
    nodes: list[tuple[int, ...]]
    labels: list[list[str]]
    paths: list[tuple[int, ...]]
    significant: list[bool]
    front: list[bool]
    x: list[float]
    y: dict[int, float]
    widths: list[float]
    height: float
    left_out: int

    @classmethod
    def of(cls, analysis: GsdAnalysis, names: Sequence[str]) -> HassePanel:
        """Arrange a diagram for drawing."""
        diagram = analysis.hasse
        order = sorted(range(len(diagram.nodes)), key=lambda node: (diagram.levels[node], node))[:_MOST]
        place = {node: at for at, node in enumerate(order)}
        kept = [at for at, edge in enumerate(diagram.edges) if place.keys() >= {*edge}]
        nodes = [diagram.nodes[node] for node in order]
        members = sorted({model for node in nodes for model in node})
        shown = dict(zip(members, fitted([names[model] for model in members], _WIDEST), strict=True))
        labels = [[shown[model] for model in node] for node in nodes]
        widths = [max(text_width(line) for line in lines) + 26 for lines in labels]
        edges = [(place[upper], place[lower]) for upper, lower in (diagram.edges[at] for at in kept)]
        layers = layered([diagram.levels[node] for node in order], edges, _ACROSS)
        y: dict[int, float] = {}
        depth = 0.0
        for row in layers.order:
            tall = max((len(labels[node]) for node in row if node < len(labels)), default=1) * _LINE + 8
            y |= dict.fromkeys(row, depth + tall / 2)
            depth += tall + _GAP
        return cls(
            label=str(analysis.threshold),
            nodes=nodes,
            labels=labels,
            paths=list(layers.paths),
            significant=[analysis.significant_edges[at] for at in kept],
            front=[bool(analysis.front[list(node)].any()) for node in nodes],
            x=positions(layers, widths),
            y=y,
            widths=widths,
            height=depth - _GAP,
            left_out=len(diagram.nodes) - len(order),
        )

    @property
    def width(self) -> float:
        """To the end of the widest node."""
        ends = [x + width / 2 for x, width in zip(self.x, self.widths, strict=False)]
        return max(*ends, text_width(self.label, TEXT, "bold"), max(self.x) + 6)


@drawn
def draw_hasse(analyses: Sequence[GsdAnalysis], names: Sequence[str]) -> Plot:
    """Draw diagrams side by side.

    Parameters
    ----------
    analyses : sequence of GsdAnalysis
    names : sequence of k str
    """
    panels = [HassePanel.of(one, names) for one in analyses]
    gap = 40.0
    width = max(2 * MARGIN + sum(panel.width for panel in panels) + gap * (len(panels) - 1), 360.0)
    lines = "Full lines: significant; dashed: in these samples only."
    if not any(one.tests for one in analyses):
        lines = "Dashed: in these samples; no test was asked for."
    left_out = max(one.left_out for one in panels)
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
        write(canvas, left, page.top - 4, panel.label, weight="bold", va="top")
        _draw(canvas, panel, left, page.top - 24)
        left += panel.width + gap
    return page.figure


def _draw(canvas: Axes, panel: HassePanel, left: float, top: float) -> None:
    marks = [model_mark(*models) for models in panel.nodes]
    for path, significant in zip(panel.paths, panel.significant, strict=True):
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
        front = next((color for color in map(tone, panel.nodes[node]) if color != QUIET), INK)
        canvas.add_patch(
            FancyBboxPatch(
                (x - wide / 2, y - tall / 2),
                wide,
                tall,
                boxstyle="round,pad=0,rounding_size=4",
                facecolor="white",
                edgecolor=front if panel.front[node] else GREY,
                linewidth=1.8 if panel.front[node] else 0.8,
                zorder=3,
                gid=marks[node],
            )
        )
        for number, (line, model) in enumerate(zip(lines, panel.nodes[node], strict=True)):
            middle = y + tall / 2 - 3 - _LINE * (number + 0.5)
            write(canvas, x, middle, line, model_mark(model), "center", va="center_baseline", zorder=4)
