"""Layered drawings of acyclic graphs: who stands where, with as few crossings of edges as can be.

After Sugiyama, Tagawa and Toda (1981): long edges get a place in every layer they pass, the order within
layers is improved by barycentres, or found exactly where there are few orders, and positions follow the
neighbours as far as widths allow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations, product
from math import factorial, prod
from statistics import fmean

import numpy as np

from riskrank.render.figures.labels import in_order

# Orders up to which all are looked at.
_ALL = 5000
_SWEEPS = 12


@dataclass(frozen=True)
class Layers:
    """Nodes in layers; numbers from ``count`` on are bends of long edges.

    Attributes
    ----------
    count : int
        Nodes of the graph.
    order : tuple of tuple of int
        Nodes and bends of each layer from left to right, the top layer first.
    paths : tuple of tuple of int
        Every edge as the nodes and bends it passes.
    """

    count: int
    order: tuple[tuple[int, ...], ...]
    paths: tuple[tuple[int, ...], ...]

    @property
    def segments(self) -> list[tuple[int, int]]:
        """Parts of edges between neighbouring layers."""
        return [part for path in self.paths for part in pairwise(path)]

    @property
    def neighbours(self) -> list[list[int]]:
        """Of each node and bend, those in the layers above and below that it is joined with."""
        found: list[list[int]] = [[] for row in self.order for _ in row]
        for upper, lower in self.segments:
            found[upper].append(lower)
            found[lower].append(upper)
        return found

    @property
    def crossings(self) -> int:
        """Pairs of parts that cross."""
        place = {node: (row, at) for row, nodes in enumerate(self.order) for at, node in enumerate(nodes)}
        ends = np.array([(*place[upper], place[lower][1]) for upper, lower in self.segments]).reshape(-1, 3)
        row, above, below = ends.T[:, :, None]
        return int(((row == row.T) & (above < above.T) & (below > below.T)).sum())


def layered(levels: Sequence[int], edges: Sequence[tuple[int, int]], widest: int) -> Layers:
    """Arrange a graph in layers.

    Parameters
    ----------
    levels : sequence of int
        Layer of each node, 0 at the top; edges lead downwards.
    edges : sequence of (int, int)
        Upper and lower node.
    widest : int
        Nodes a layer may hold; a level of more becomes several layers.

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
    found = Layers(len(levels), tuple(map(tuple, rows)), tuple(paths))
    return min(_orders(found), key=lambda one: one.crossings)


def _orders(layers: Layers) -> Iterator[Layers]:
    """All orders of the nodes where they are few, else those that barycentres lead to, down and up."""
    if prod(factorial(min(len(row), 20)) for row in layers.order) <= _ALL:
        for order in product(*map(permutations, layers.order)):
            yield replace(layers, order=order)
        return
    yield layers
    rows, near = list(layers.order), layers.neighbours
    for sweep in range(_SWEEPS):
        numbered = range(1, len(rows)) if sweep % 2 == 0 else range(len(rows) - 2, -1, -1)
        for row in numbered:
            before = {node: at for at, node in enumerate(rows[row - numbered.step])}
            middle = {
                node: fmean([before[one] for one in near[node] if one in before] or [at])
                for at, node in enumerate(rows[row])
            }
            rows[row] = tuple(sorted(rows[row], key=middle.__getitem__))
        yield replace(layers, order=tuple(rows))


def positions(layers: Layers, widths: Sequence[float]) -> list[float]:
    """Middle of every node and bend from the left, in points; neighbours in a layer do not touch.

    Parameters
    ----------
    layers : Layers
    widths : sequence of float
        Of every node with its margin; bends need little.
    """
    near = layers.neighbours
    wide = [*widths, *([12.0] * (len(near) - layers.count))]
    x = np.zeros(len(near))
    gaps = [[(wide[a] + wide[b]) / 2 for a, b in pairwise(row)] for row in layers.order]
    rows = list(zip(layers.order, gaps, strict=True))
    for row, apart in rows:
        x[list(row)] = np.concatenate([[0.0], np.cumsum(apart)]) - sum(apart) / 2
    for sweep in range(2 * _SWEEPS):
        for row, apart in rows if sweep % 2 else rows[::-1]:
            wanted = [float(np.mean(x[near[node]])) if near[node] else x[node] for node in row]
            x[list(row)] = in_order(wanted, apart)
    return (x - min(x - np.array(wide) / 2)).tolist()
