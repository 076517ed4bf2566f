"""Hasse diagrams: a pre-order as the few edges that imply all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.types import Booleans


@dataclass(frozen=True)
class HasseDiagram:
    """Covering edges between classes of equals.

    Attributes
    ----------
    nodes : tuple of tuple of int
        Elements that dominate each other share a node; nodes and their elements in increasing order.
    edges : tuple of (int, int)
        Upper and lower node of every covering pair.
    levels : tuple of int
        Of each node, the length of the longest way up; 0 at the top.
    implied : tuple of (int, int)
        Pairs of elements related only through others, where the relation given was not transitive.
    """

    nodes: tuple[tuple[int, ...], ...]
    edges: tuple[tuple[int, int], ...]
    levels: tuple[int, ...]
    implied: tuple[tuple[int, int], ...]


def hasse_diagram(relation: ArrayLike) -> HasseDiagram:
    """Reduce a relation to its Hasse diagram.

    Parameters
    ----------
    relation : array_like of bool, shape (k, k)
        Whether the row's element dominates the column's; closed under transitivity first.

    Returns
    -------
    HasseDiagram
    """
    given = np.array(relation, dtype=bool)
    closed = _transitive_closure(given)
    np.fill_diagonal(closed, True)
    equal = closed & closed.T
    first = equal.argmax(axis=1)  # the smallest element of each one's class
    heads = np.unique(first)
    strict = closed[np.ix_(heads, heads)] & ~equal[np.ix_(heads, heads)]
    covers = strict & ~_compose(strict, strict)
    added = closed & ~given & ~np.eye(len(given), dtype=bool)
    return HasseDiagram(
        nodes=tuple(tuple(np.flatnonzero(first == head).tolist()) for head in heads),
        edges=_pairs(covers),
        levels=_levels(strict),
        implied=_pairs(added),
    )


def _compose(first: Booleans, second: Booleans) -> Booleans:
    return (first.astype(np.float32) @ second.astype(np.float32)) > 0


def _pairs(relation: Booleans) -> tuple[tuple[int, int], ...]:
    return tuple((i, j) for i, j in np.argwhere(relation).tolist())


def _transitive_closure(relation: Booleans) -> Booleans:
    closed = relation.copy()
    for middle in range(len(closed)):
        closed |= np.outer(closed[:, middle], closed[middle])
    return closed


def _levels(strict: Booleans) -> tuple[int, ...]:
    level = np.zeros(len(strict), dtype=np.int64)
    # What dominates more has less above it: by the time a node's turn comes, all above it are placed.
    for node in np.argsort(strict.sum(axis=0), kind="stable"):
        above = strict[:, node]
        level[node] = 1 + level[above].max() if above.any() else 0
    return tuple(level.tolist())
