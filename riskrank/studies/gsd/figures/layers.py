"""Layered drawings of acyclic graphs: who stands where, with as few crossings of edges as can be.

After Sugiyama, Tagawa and Toda (1981): long edges get a place in every layer they pass, the order within
layers is improved by barycentres, or found exactly where there are few orders, and positions follow the
neighbours as far as widths allow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from math import factorial, prod

import numpy as np

from riskrank.shown.figures.labels import in_order

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
    def crossings(self) -> int:
        """Pairs of parts that cross."""
        return _crossings(self.order, _between(self.order, self.segments))


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
    between_rows = _between(found.order, found.segments)
    return Layers(found.count, _untangled(found.order, between_rows), found.paths)


def positions(layers: Layers, widths: Sequence[float]) -> list[float]:
    """Middle of every node and bend from the left, in points; neighbours in a layer do not touch.

    Parameters
    ----------
    layers : Layers
    widths : sequence of float
        Of every node with its margin; bends need little.
    """
    total = sum(len(row) for row in layers.order)
    wide = [*widths, *([12.0] * (total - layers.count))]
    near: list[list[int]] = [[] for _ in range(total)]
    for upper, lower in layers.segments:
        near[upper].append(lower)
        near[lower].append(upper)
    x = np.zeros(total)
    gaps = [[(wide[a] + wide[b]) / 2 for a, b in pairwise(row)] for row in layers.order]
    for row, apart in zip(layers.order, gaps, strict=True):
        x[list(row)] = np.concatenate([[0.0], np.cumsum(apart)]) - sum(apart) / 2
    for sweep in range(2 * _SWEEPS):
        rows = list(zip(layers.order, gaps, strict=True))
        for row, apart in rows if sweep % 2 else rows[::-1]:
            wanted = [float(np.mean(x[near[node]])) if near[node] else x[node] for node in row]
            x[list(row)] = in_order(wanted, apart)
    return (x - min(x[node] - wide[node] / 2 for node in range(total))).tolist()


_Segments = list[list[tuple[int, int]]]


def _between(order: Sequence[Sequence[int]], segments: Sequence[tuple[int, int]]) -> _Segments:
    """Segments below each layer."""
    row_of = {node: row for row, nodes in enumerate(order) for node in nodes}
    found: _Segments = [[] for _ in order]
    for upper, lower in segments:
        found[row_of[upper]].append((upper, lower))
    return found


def _crossings(order: Sequence[Sequence[int]], between: _Segments) -> int:
    return sum(
        _crossings_of(above, below, segments)
        for above, below, segments in zip(order[:-1], order[1:], between, strict=False)
    )


def _crossings_of(above: Sequence[int], below: Sequence[int], segments: Sequence[tuple[int, int]]) -> int:
    place = {node: at for row in (above, below) for at, node in enumerate(row)}
    ends = np.array([(place[upper], place[lower]) for upper, lower in segments]).reshape(-1, 2)
    left = ends[:, None, 0] < ends[None, :, 0]
    right = ends[:, None, 1] > ends[None, :, 1]
    return int((left & right).sum())


def _untangled(order: tuple[tuple[int, ...], ...], between: _Segments) -> tuple[tuple[int, ...], ...]:
    if prod(factorial(min(len(row), 20)) for row in order) <= _ALL:
        every = product(*(permutations(row) for row in order))
        return min(every, key=lambda tried: _crossings(tried, between))
    best, least = order, _crossings(order, between)
    current = [list(row) for row in order]
    for sweep in range(_SWEEPS):
        _sweep(current, between, down=sweep % 2 == 0)
        count = _crossings(current, between)
        if count < least:
            best, least = tuple(map(tuple, current)), count
    return best


def _sweep(order: list[list[int]], between: _Segments, *, down: bool) -> None:
    """Order each layer by the mean place of its neighbours in the one before."""
    rows = range(1, len(order)) if down else range(len(order) - 2, -1, -1)
    for row in rows:
        before = {node: at for at, node in enumerate(order[row - 1] if down else order[row + 1])}
        segments = between[row - 1] if down else [(lower, upper) for upper, lower in between[row]]
        near: dict[int, list[int]] = {node: [] for node in order[row]}
        for other, node in segments:
            near[node].append(before[other])
        own = {node: at for at, node in enumerate(order[row])}
        order[row].sort(key=lambda node: (np.mean(near[node]) if near[node] else own[node], own[node]))
