"""Figures of ``gsd`` documents.

They are Hasse diagrams of the dominance relation at several thresholds ([GSD] Fig. 5 and 6), null
distributions of the relabelling tests ([GSD] §4.2), p-values under contamination, and critical-difference
diagrams: mean ranks, with bars joining models not separated by Nemenyi's test.

Hasse diagrams are layered drawings with few edge crossings (Sugiyama, Tagawa and Toda 1981). Long edges get a
bend in every layer that they cross. The order within layers is improved by barycentre sweeps, or optimised
exhaustively if there are few orders. Nodes are placed near their neighbours, as far as the widths allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, permutations, product
from math import factorial, prod
from statistics import fmean
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch
from matplotlib.ticker import MaxNLocator

from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.engine.gsd.rank_tests import CriteriaTests
from riskrank.engine.gsd.relabelling import RelabellingTest
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.render.figures import text
from riskrank.render.figures.legend import Key, axes_with_key, choose_styles, row_color
from riskrank.render.figures.rows import draw_bar, draw_dot
from riskrank.render.figures.style import (
    GREY,
    INK,
    MARGIN,
    PALETTE,
    QUIET,
    ROW,
    SMALL,
    Plot,
    Unit,
    common_style,
    start_sheet,
)
from riskrank.render.figures.text import TEXT, fit_names, model_mark, renumber_marks, text_width, write_text
from riskrank.render.view import Picture
from riskrank.studies.gsd.study import GsdDocument

# Number of models up to which every model has a name. If there are more, only the first ones have one.
_MOST_NAMED = 60
_NAMED_OF_MANY = 30
_BAR_HEIGHT = 5.0


@dataclass(frozen=True)
class CriticalDifference:
    """Critical-difference diagram of k models on one criterion.

    Attributes
    ----------
    criterion : str
        Name of the criterion.
    order : ndarray of int, shape (k,)
        Models, the best mean rank first.
    mean_rank : ndarray, shape (k,)
        Mean ranks in the order of `order`.
    cliques : tuple of (int, int)
        First and last positions of the maximal runs of models without a significant difference.
    """

    criterion: str
    order: Integers
    mean_rank: Floats
    cliques: tuple[tuple[int, int], ...]


def critical_difference(tests: CriteriaTests, criterion: int, name: str, level: float) -> CriticalDifference:
    """Compute the critical-difference diagram of one criterion.

    Parameters
    ----------
    tests : CriteriaTests
        Friedman and Nemenyi tests on every criterion.
    criterion : int
        Index of the criterion.
    name : str
        Name of the criterion.
    level : float
        Significance level.
    """
    order = np.argsort(tests.mean_rank[criterion], kind="stable")
    different = tests.nemenyi_p_value[criterion][np.ix_(order, order)] <= level
    return CriticalDifference(name, order, tests.mean_rank[criterion][order], find_cliques(different))


def find_cliques(different: Booleans) -> tuple[tuple[int, int], ...]:
    """Return the longest runs of neighbouring models without a significant difference, as (first, last).

    Runs of a single model are excluded.

    Parameters
    ----------
    different : ndarray of bool, shape (k, k)
        Symmetric mask of significant differences, in the order of mean ranks.
    """
    runs: list[tuple[int, int]] = []
    for first in range(len(different)):
        last = first
        while last + 1 < len(different) and not different[first : last + 1, last + 1].any():
            last += 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return tuple(runs)


@common_style()
def draw_critical_difference(
    tests: CriteriaTests, criteria: Sequence[str], names: Sequence[str], *, level: float, samples: int
) -> Plot:
    """Draw the critical-difference diagrams of all criteria, one above the other.

    Parameters
    ----------
    tests : CriteriaTests
        Friedman and Nemenyi tests on every criterion.
    criteria : sequence of n str
        Names of the criteria.
    names : sequence of k str
        Names of the models.
    level : float
        Significance level of the tests.
    samples : int
        Number of samples behind each test.
    """
    diagrams = [critical_difference(tests, j, name, level) for j, name in enumerate(criteria)]
    k = len(names)
    n_named = k if k <= _MOST_NAMED else _NAMED_OF_MANY
    labelled = [[names[model] for model in diagram.order[:n_named]] for diagram in diagrams]
    labels_by_criterion = [fit_names(models, 150.0) for models in labelled]
    side = max(text_width(label) for labels in labels_by_criterion for label in labels) + 34
    across = 300.0
    heights = [64 + _BAR_HEIGHT * len(diagram.cliques) + ROW * ((n_named + 1) // 2) for diagram in diagrams]
    page = start_sheet(
        "Mean ranks of the models, by criterion",
        f"Left: better. Bars join models whose mean ranks over {samples:,} samples do not differ "
        f"significantly (Nemenyi, level {level:g} for all pairs of a criterion).",
        width=2 * (MARGIN + side) + across,
        height=sum(heights) + MARGIN,
    )
    canvas, top = page.canvas(), page.top
    for diagram, labels, height in zip(diagrams, labels_by_criterion, heights, strict=True):
        write_text(canvas, MARGIN, top - 4, fit_names([diagram.criterion], 400.0)[0], weight="bold", va="top")
        _draw_diagram(canvas, diagram, labels, MARGIN + side, across, top - 44)
        top -= height
    return page.figure


def _draw_diagram(
    canvas: Axes, diagram: CriticalDifference, labels: Sequence[str], left: float, width: float, axis: float
) -> None:
    """Draw the diagram of one criterion.

    Parameters
    ----------
    canvas : Axes
        Matplotlib axes to draw on.
    diagram : CriticalDifference
        Mean ranks and groups to draw.
    labels : sequence of str
        Names of the models to label, those with the best mean ranks.
    left, width : float
        Left end and width of the rank axis, in points.
    axis : float
        Vertical position of the rank axis.
    """
    k = len(diagram.order)
    x = left + width * (diagram.mean_rank - 1) / max(k - 1, 1)
    canvas.plot([left, left + width], [axis, axis], color=INK, linewidth=1.0)
    tick_step = max(1, int(np.ceil((k - 1) / 12)))
    for rank in range(1, k + 1, tick_step):
        position = left + width * (rank - 1) / max(k - 1, 1)
        canvas.plot([position, position], [axis, axis + 4], color=INK, linewidth=0.8)
        write_text(canvas, position, axis + 6, str(rank), ha="center", size=SMALL, va="bottom", color=QUIET)
    for number, (first, last) in enumerate(diagram.cliques):
        mark = model_mark(*diagram.order[first : last + 1].tolist())
        draw_bar(canvas, [x[first] - 2, x[last] + 2], axis - 6 - _BAR_HEIGHT * number, mark, INK, width=2.6)
    marks = [model_mark(int(model)) for model in diagram.order]
    for position, mark in zip(x[len(labels) :], marks[len(labels) :], strict=True):
        canvas.plot([position, position], [axis, axis - 4], color=GREY, linewidth=0.6, gid=mark)
    rows = axis - 14 - _BAR_HEIGHT * len(diagram.cliques)
    for place, (label, mark) in enumerate(zip(labels, marks, strict=False)):
        row, end, align, outward = place, left - 6, "right", -1
        if place >= (len(labels) + 1) // 2:
            row, end, align, outward = len(labels) - 1 - place, left + width + 6, "left", 1
        y, mean = rows - ROW * (row + 0.5), f"{diagram.mean_rank[place]:.1f}"
        canvas.plot([x[place], x[place], end], [axis, y, y], color=GREY, linewidth=0.7, zorder=1, gid=mark)
        draw_dot(canvas, x[place], axis, mark, INK, size=4)
        write_text(canvas, end + outward * 2, y, mean, mark, align, size=SMALL, color=QUIET)
        write_text(canvas, end + outward * 27, y, label, mark, align)


# Maximum number of nodes to draw, from the top.
_MOST_NODES = 80
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
        Height in inches.
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
        """Compute the layout of the Hasse diagram of an analysis."""
        diagram = analysis.hasse
        order = sorted(range(len(diagram.nodes)), key=lambda node: (diagram.levels[node], node))[:_MOST_NODES]
        place = {node: i for i, node in enumerate(order)}
        edge_numbers = [i for i, edge in enumerate(diagram.edges) if place.keys() >= {*edge}]
        nodes = [diagram.nodes[node] for node in order]
        members = sorted({model for node in nodes for model in node})
        fitted = fit_names([names[model] for model in members], _WIDEST_LABEL)
        label_of_model = dict(zip(members, fitted, strict=True))
        labels = [[label_of_model[model] for model in node] for node in nodes]
        widths = [max(text_width(line) for line in lines) + 26 for lines in labels]
        edges = [(place[upper], place[lower]) for upper, lower in (diagram.edges[i] for i in edge_numbers)]
        layers = arrange_layers([diagram.levels[node] for node in order], edges, _MOST_ACROSS)
        y: dict[int, float] = {}
        depth = 0.0
        for row in layers.order:
            lines = max((len(labels[node]) for node in row if node < len(labels)), default=1)
            height = lines * _LINE_HEIGHT + 8
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


@common_style()
def draw_hasse(analyses: Sequence[GsdAnalysis], names: Sequence[str]) -> Plot:
    """Draw the Hasse diagrams of k models at all thresholds, side by side.

    Parameters
    ----------
    analyses : sequence of GsdAnalysis
        Dominance relations, one per threshold.
    names : sequence of k str
        Names of the models.
    """
    panels = [HassePanel.from_analysis(analysis, names) for analysis in analyses]
    gap = 40.0
    width = max(2 * MARGIN + sum(panel.width for panel in panels) + gap * (len(panels) - 1), 360.0)
    lines = "Full lines: significant; dashed: in these samples only."
    if not any(analysis.tests for analysis in analyses):
        lines = "Dashed: in these samples; no tests were requested."
    excluded = max(panel.excluded for panel in panels)
    omitted = f" {excluded} lower nodes are not drawn." if excluded else ""
    height = max(panel.height for panel in panels)
    page = start_sheet(
        "Dominance for every utility function of the criteria",
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


@common_style()
def draw_null_distribution(
    optima: Floats, observed: float, p_value: float, winner: str, loser: str, label: str
) -> Plot:
    """Draw a histogram of the optima of N relabelled samples, with the observed optimum as a line.

    In the SVG identifiers, the winner is model 0 and the loser is model 1.

    Parameters
    ----------
    optima : ndarray, shape (N,)
        Optima of the relabelled samples.
    observed, p_value : float
        Observed optimum, and its p-value.
    winner, loser : str
        Names of the models.
    label : str
        Name of the threshold.
    """
    unit = Unit.choose(optima, observed)
    optima, observed = unit.apply(optima), float(unit.apply(observed))
    low, high = min(float(optima.min()), observed), max(float(optima.max()), observed)
    margin = (high - low) * 0.02 or max(abs(high), 1.0) * 0.02
    bars = int(np.clip(round(2 * optima.size ** (1 / 3)), 5, 60))
    mark = model_mark(0, 1)
    labels = fit_names([winner, loser], 150.0)
    width, height, left, below = 360.0, 190.0, 56.0, 42.0
    page = start_sheet(
        f"{labels[0]} over {labels[1]}, {label}: relabelled samples",
        "Bars: smallest difference in expected utility with randomly swapped labels. Line: observed value, "
        f"p = {p_value:.3g} before correction. Far to the right: unlikely by chance.",
        width=left + width + MARGIN + 8,
        height=below + height + 14,
    )
    axes = page.axes(left, below, width, height)
    patch: dict[str, Any] = {"color": GREY, "edgecolor": "white", "linewidth": 0.5, "gid": mark}
    _, edges, _ = axes.hist(optima, bars, range=(low - margin, high + margin), **patch)
    axes.axvline(observed, color=PALETTE[1], linewidth=1.8, gid=mark)
    axes.set(xlabel=unit.label("optimum"), ylabel="relabellings", xlim=(edges[0], edges[-1]))
    on_right = observed < (edges[0] + edges[-1]) / 2
    axes.annotate(
        "observed",
        (observed, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(4 if on_right else -4, 3),
        textcoords="offset points",
        ha="left" if on_right else "right",
        size=SMALL,
        color=QUIET,
        gid=mark,
    )
    return page.figure


@common_style()
def draw_contamination(
    tests: Sequence[RelabellingTest], names: Sequence[str], *, level: float, samples: int, label: str
) -> Plot:
    """Draw the p-value of each pair of models against the number of corrupted samples.

    Parameters
    ----------
    tests : sequence of RelabellingTest
        Tests with p-values by number of contaminated samples.
    names : sequence of str
        Names of the models.
    level : float
        Significance level.
    samples : int
        Number of samples.
    label : str
        Name of the threshold.
    """
    order = sorted(range(len(tests)), key=lambda i: (-len(tests[i].contamination), tests[i].p_value, i))
    labels = [f"{names[test.winner]} over {names[test.loser]}" for test in tests]
    pair_styles = choose_styles(len(labels), order, are_models=False)
    marks = [model_mark(test.winner, test.loser) for test in tests]
    key = Key.from_names(labels, order, pair_styles, marks)
    reading = (
        f"Dashed: level {level:g}, before any correction. The further right a line crosses it, the more "
        f"of the {samples:,} samples could be wrong without changing the result."
    )
    page, axes, legend = axes_with_key(key, f"p-values if some samples are wrong, {label}", reading)
    for plot_style, test, mark in zip(pair_styles, tests, marks, strict=True):
        axes.plot(test.contamination, marker=plot_style.marker, markersize=4, **plot_style.line, gid=mark)
    axes.axhline(level, color=GREY, linestyle=(0, (4, 2)), linewidth=1.0, zorder=1)
    longest = max(len(test.contamination) for test in tests)
    axes.set(xlabel="number of wrong samples", ylabel="p-value", xlim=(-0.3, max(longest - 0.7, 1.3)))
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend()
    return page.figure


def pictures(document: GsdDocument) -> list[Picture]:
    """Return the pictures: Hasse diagram, null distributions, and requested contamination and rank tests."""
    models, samples = document.provenance.models, document.quality.samples
    caption = "Hasse diagram: a line from each model down to those it dominates, one diagram per threshold."
    result = [Picture("hasse", caption, partial(draw_hasse, document.analyses, models))]
    for analysis in document.analyses:
        suffix = f"@{analysis.threshold}" if len(document.analyses) > 1 else ""
        level = analysis.family.interval_level(1)
        tolerant = [test for test in analysis.tests.values() if min(test.contamination, default=1) <= level]
        if tolerant:
            caption = "p-value of every significant pair, by the number of wrong samples."
            arguments: dict[str, Any] = {"level": level, "samples": samples, "label": str(analysis.threshold)}
            drawing = partial(draw_contamination, tolerant, models, **arguments)
            result.append(Picture(f"contamination{suffix}", caption, drawing))
        for i, j in _pairs_by_p_value(analysis):
            caption = (
                f"Distribution of the optimum for {models[i]} over {models[j]} under relabelling, with the "
                "observed optimum."
            )
            name = f"null@{models[i]}@{models[j]}{suffix}"
            result.append(Picture(name, caption, partial(_draw_null_distribution, document, analysis, i, j)))
    if document.baselines is not None:
        caption = "Mean ranks on every criterion; bars join models that Nemenyi's test does not separate."
        tests, criteria = document.baselines, document.criteria
        arguments = {"level": document.relabelling.family.interval_level(1), "samples": samples}
        drawing = partial(draw_critical_difference, tests, criteria, models, **arguments)
        result.append(Picture("ranks", caption, drawing))
    return result


def _pairs_by_p_value(analysis: GsdAnalysis) -> list[tuple[int, int]]:
    """Return the tested pairs of models, by decreasing p-value.

    Pairs with dominance in the sample come first.
    """
    dominates, tests = analysis.relation.dominates, analysis.tests
    return sorted(tests, key=lambda pair: (not dominates[pair], -tests[pair].p_value, pair))


def _draw_null_distribution(document: GsdDocument, analysis: GsdAnalysis, i: int, j: int) -> Plot:
    """Draw the null distribution of the test of models number `i` and `j`."""
    models, test, label = document.provenance.models, analysis.tests[i, j], str(analysis.threshold)
    optima = document.null_optima(analysis, i, j)
    plot = draw_null_distribution(optima, test.optimum, test.p_value, models[i], models[j], label)
    return renumber_marks(plot, (i, j))


# Largest number of orders for an exhaustive search.
_MOST_ORDERS = 5000
_SWEEPS = 12


@dataclass(frozen=True)
class Layers:
    """Nodes of a graph arranged in layers. Indices from `count` on are bends of long edges.

    Attributes
    ----------
    count : int
        Number of nodes of the graph.
    order : tuple of tuple of int
        Nodes and bends of each layer from left to right, top layer first.
    paths : tuple of tuple of int
        Nodes and bends along each edge.
    """

    count: int
    order: tuple[tuple[int, ...], ...]
    paths: tuple[tuple[int, ...], ...]

    @property
    def segments(self) -> list[tuple[int, int]]:
        """Parts of edges between adjacent layers, as pairs of upper and lower node."""
        return [part for path in self.paths for part in pairwise(path)]

    @property
    def neighbours(self) -> list[list[int]]:
        """Neighbours of each node and bend in the adjacent layers."""
        joined: list[list[int]] = [[] for row in self.order for _ in row]
        for upper, lower in self.segments:
            joined[upper].append(lower)
            joined[lower].append(upper)
        return joined

    @property
    def crossings(self) -> int:
        """Number of pairs of segments that cross."""
        place = {node: (row, at) for row, nodes in enumerate(self.order) for at, node in enumerate(nodes)}
        places = [(*place[upper], place[lower][1]) for upper, lower in self.segments]
        segments = np.array(places).reshape(-1, 3)
        row, above, below = segments.T[:, :, None]
        return int(((row == row.T) & (above < above.T) & (below > below.T)).sum())


def arrange_layers(levels: Sequence[int], edges: Sequence[tuple[int, int]], widest: int) -> Layers:
    """Arrange a graph in layers with few edge crossings.

    Parameters
    ----------
    levels : sequence of int
        Layer of each node, 0 at the top; edges lead downwards.
    edges : sequence of (int, int)
        Upper and lower node.
    widest : int
        Largest number of nodes per layer; larger levels are split into several layers.

    Returns
    -------
    Layers
    """
    rows: list[list[int]] = []
    for level in range(max(levels, default=-1) + 1):
        nodes = [node for node, at in enumerate(levels) if at == level]
        rows += [nodes[start : start + widest] for start in range(0, len(nodes), widest)]
    row_of = {node: row for row, nodes in enumerate(rows) for node in nodes}
    paths, bends = [], len(levels)
    for upper, lower in edges:
        between = range(row_of[upper] + 1, row_of[lower])
        path = [upper, *range(bends, bends + len(between)), lower]
        for row, bend in zip(between, path[1:-1], strict=True):
            rows[row].append(bend)
        bends += len(between)
        paths.append(tuple(path))
    layers = Layers(len(levels), tuple(map(tuple, rows)), tuple(paths))
    return min(_candidate_orders(layers), key=lambda candidate: candidate.crossings)


def _candidate_orders(layers: Layers) -> Iterator[Layers]:
    """Yield graphs with different orders of the nodes within layers.

    If there are few orders, all are yielded. Otherwise, barycentre sweeps down and up determine them.
    """
    if prod(factorial(min(len(row), 20)) for row in layers.order) <= _MOST_ORDERS:
        for order in product(*map(permutations, layers.order)):
            yield replace(layers, order=order)
        return
    yield layers
    rows, neighbours = list(layers.order), layers.neighbours
    for sweep in range(_SWEEPS):
        numbered = range(1, len(rows)) if sweep % 2 == 0 else range(len(rows) - 2, -1, -1)
        for row in numbered:
            before = {node: position for position, node in enumerate(rows[row - numbered.step])}
            middle = {}
            for position, node in enumerate(rows[row]):
                joined = [before[neighbour] for neighbour in neighbours[node] if neighbour in before]
                middle[node] = fmean(joined or [position])
            rows[row] = tuple(sorted(rows[row], key=middle.__getitem__))
        yield replace(layers, order=tuple(rows))


def node_positions(layers: Layers, widths: Sequence[float]) -> list[float]:
    """Return the horizontal centre of every node and bend in points. Nodes do not overlap.

    Parameters
    ----------
    layers : Layers
        Nodes of the diagram by level.
    widths : sequence of float
        Width of every node, including its margin.
    """
    neighbours = layers.neighbours
    all_widths = [*widths, *([12.0] * (len(neighbours) - layers.count))]
    x = np.zeros(len(neighbours))
    gaps = [[(all_widths[a] + all_widths[b]) / 2 for a, b in pairwise(row)] for row in layers.order]
    rows = list(zip(layers.order, gaps, strict=True))
    for row, distances in rows:
        x[list(row)] = np.concatenate([[0.0], np.cumsum(distances)]) - sum(distances) / 2
    for sweep in range(2 * _SWEEPS):
        for row, distances in rows if sweep % 2 else rows[::-1]:
            targets = [float(np.mean(x[neighbours[node]])) if neighbours[node] else x[node] for node in row]
            x[list(row)] = text.spread_in_order(targets, distances)
    return (x - min(x - np.array(all_widths) / 2)).tolist()
