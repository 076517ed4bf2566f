"""Hasse diagrams of the dominance relation at several thresholds, side by side ([GSD] Fig. 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.render.figures.legend import row_color
from riskrank.render.figures.style import GREY, INK, MARGIN, QUIET, Plot, in_common_style, start_sheet
from riskrank.render.figures.text import TEXT, fit_names, model_mark, text_width, write_text
from riskrank.studies.gsd.figures.layers import arrange_layers, node_positions

_MOST_NODES = 80
"""Maximum number of nodes to draw, from the top."""
_MOST_ACROSS = 8
_LINE_HEIGHT = 11.0
_LAYER_GAP = 30.0
_WIDEST_LABEL = 110.0


@dataclass(frozen=True)
class HassePanel:
    """A Hasse diagram with its layout.

    Attributes
    ----------
    label : str
        Name of the threshold.
    nodes : list of tuple of int
        Models of each node, which dominate each other. At most the top 80 nodes.
    labels : list of list of str
        Names of the models of each node.
    paths : list of tuple of int
        Nodes and bends along each edge, from top to bottom.
    significant : list of bool
        True for edges that are significant.
    front : list of bool
        True for nodes whose models are on the front.
    x, y : list of float, dict of int to float
        Centre of each node and bend; y increases downwards.
    widths : list of float
        Width of each node.
    height : float
    excluded : int
        Number of lower nodes that are not drawn.
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
    excluded: int

    @classmethod
    def from_analysis(cls, analysis: GsdAnalysis, names: Sequence[str]) -> HassePanel:
        """Lay out the Hasse diagram of an analysis."""
        diagram = analysis.hasse
        order = sorted(range(len(diagram.nodes)), key=lambda node: (diagram.levels[node], node))[:_MOST_NODES]
        place = {node: i for i, node in enumerate(order)}
        edge_numbers = [i for i, edge in enumerate(diagram.edges) if place.keys() >= {*edge}]
        nodes = [diagram.nodes[node] for node in order]
        members = sorted({model for node in nodes for model in node})
        label_of_model = dict(
            zip(members, fit_names([names[model] for model in members], _WIDEST_LABEL), strict=True)
        )
        labels = [[label_of_model[model] for model in node] for node in nodes]
        widths = [max(text_width(line) for line in lines) + 26 for lines in labels]
        edges = [(place[upper], place[lower]) for upper, lower in (diagram.edges[i] for i in edge_numbers)]
        layers = arrange_layers([diagram.levels[node] for node in order], edges, _MOST_ACROSS)
        y: dict[int, float] = {}
        depth = 0.0
        for row in layers.order:
            height = (
                max((len(labels[node]) for node in row if node < len(labels)), default=1) * _LINE_HEIGHT + 8
            )
            y |= dict.fromkeys(row, depth + height / 2)
            depth += height + _LAYER_GAP
        return cls(
            label=str(analysis.threshold),
            nodes=nodes,
            labels=labels,
            paths=list(layers.paths),
            significant=[analysis.significant_edges[i] for i in edge_numbers],
            front=[bool(analysis.front[list(node)].any()) for node in nodes],
            x=node_positions(layers, widths),
            y=y,
            widths=widths,
            height=depth - _LAYER_GAP,
            excluded=len(diagram.nodes) - len(order),
        )

    @property
    def width(self) -> float:
        """Width of the panel, up to its rightmost node."""
        right_edges = [x + width / 2 for x, width in zip(self.x, self.widths, strict=False)]
        return max(*right_edges, text_width(self.label, TEXT, "bold"), max(self.x) + 6)


@in_common_style
def draw_hasse(analyses: Sequence[GsdAnalysis], names: Sequence[str]) -> Plot:
    """Draw the Hasse diagrams of k models at all thresholds, side by side.

    Parameters
    ----------
    analyses : sequence of GsdAnalysis
    names : sequence of k str
    """
    panels = [HassePanel.from_analysis(analysis, names) for analysis in analyses]
    gap = 40.0
    width = max(2 * MARGIN + sum(panel.width for panel in panels) + gap * (len(panels) - 1), 360.0)
    lines = "Full lines: significant; dashed: in these samples only."
    if not any(analysis.tests for analysis in analyses):
        lines = "Dashed: in these samples; no tests were requested."
    left_out = max(panel.excluded for panel in panels)
    omitted = f" {left_out} lower nodes are not drawn." if left_out else ""
    height = max(panel.height for panel in panels)
    page = start_sheet(
        "Dominance for every utility that respects the criteria",
        "A line down: the upper model dominates the lower one and all below it. Models without a path down "
        f"or up are incomparable. Thick frames: the front, which no model dominates. {lines}{omitted}",
        width=width,
        height=height + 2 * MARGIN + 20,
    )
    canvas = page.canvas()
    left = MARGIN
    for panel in panels:
        write_text(canvas, left, page.top - 4, panel.label, weight="bold", va="top")
        _draw_panel(canvas, panel, left, page.top - 24)
        left += panel.width + gap
    return page.figure


def _draw_panel(canvas: Axes, panel: HassePanel, left: float, top: float) -> None:
    """Draw one Hasse diagram with its top left corner at (left, top)."""
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
        x, y, height = left + panel.x[node], top - panel.y[node], len(lines) * _LINE_HEIGHT + 6
        width = panel.widths[node] - 14
        frame_color = next((color for color in map(row_color, panel.nodes[node]) if color != QUIET), INK)
        canvas.add_patch(
            FancyBboxPatch(
                (x - width / 2, y - height / 2),
                width,
                height,
                boxstyle="round,pad=0,rounding_size=4",
                facecolor="white",
                edgecolor=frame_color if panel.front[node] else GREY,
                linewidth=1.8 if panel.front[node] else 0.8,
                zorder=3,
                gid=marks[node],
            )
        )
        for number, (line, model) in enumerate(zip(lines, panel.nodes[node], strict=True)):
            middle = y + height / 2 - 3 - _LINE_HEIGHT * (number + 0.5)
            write_text(canvas, x, middle, line, model_mark(model), "center", va="center_baseline", zorder=4)
