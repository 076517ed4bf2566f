"""Layered drawings of acyclic graphs with few edge crossings (Sugiyama, Tagawa and Toda 1981).

Long edges get a bend in every layer that they cross. The order within layers is improved by barycentre
sweeps, or optimised exhaustively if there are few orders. Nodes are placed near their neighbours, as far as
the widths allow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations, product
from math import factorial, prod
from statistics import fmean

import numpy as np

from riskrank.render.figures.text import spread_in_order

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
            x[list(row)] = spread_in_order(targets, distances)
    return (x - min(x - np.array(all_widths) / 2)).tolist()
