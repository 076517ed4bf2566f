"""Pictures made of characters, for tables on a terminal: bars, sparklines, letters, diagrams."""

from collections.abc import Sequence
from string import ascii_lowercase

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.types import Booleans, Integers
from riskrank.render.numbers import runs_of

CELLS = 17
"""Characters of a bar."""
_BLOCKS = "▁▂▃▄▅▆▇█"
# For terminals that show nothing else, one for one.
_ASCII = str.maketrans("─●┊┼├└│–" + _BLOCKS, "-o:+|`|-" + "_.,-=+*#")


def in_ascii(picture: str) -> str:
    """The same picture in ASCII."""
    return picture.translate(_ASCII)


def interval_bars(
    estimate: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    mark: float | None = None,
    cells: int = CELLS,
) -> list[str]:
    """One bar a row from end to end with a dot at the estimate, all on one scale.

    Parameters
    ----------
    estimate, low, high : array_like, shape (k,)
        Ends that are not finite lie at the edge.
    mark : float, optional
        A value to mark in every row, such as 0.
    cells : int

    Returns
    -------
    list of k str
        Each of so many characters.
    """
    numbers = [np.asarray(part, dtype=np.float64) for part in (estimate, low, high)]
    everything = np.concatenate(
        [*(part[np.isfinite(part)] for part in numbers), [] if mark is None else [mark]]
    )
    if not everything.size:
        return [" " * cells for _ in numbers[0]]
    # Halves, as the ends may be as far apart as floating point goes.
    bottom, span = everything.min(), everything.max() / 2 - everything.min() / 2

    def cell(value: float) -> int:
        clipped = min(max(value, bottom), everything.max())
        share = float((clipped / 2 - bottom / 2) / span if span > 0 else 0.5)
        return round(share * (cells - 1))

    rows = []
    for middle, left, right in zip(*numbers, strict=True):
        drawn = [" "] * cells
        if mark is not None:
            drawn[cell(mark)] = "┊"
        ends = [bottom if np.isnan(left) else left, everything.max() if np.isnan(right) else right]
        first, last = cell(ends[0]), cell(ends[1])
        drawn[first : last + 1] = "─" * (last + 1 - first)
        if mark is not None and first < cell(mark) < last:
            drawn[cell(mark)] = "┼"
        if np.isfinite(middle):
            drawn[cell(middle)] = "●"
        rows.append("".join(drawn))
    return rows


def sparklines(values: ArrayLike) -> list[str]:
    """One line of blocks a row, the higher the larger, all on one scale.

    Parameters
    ----------
    values : array_like, shape (k, l)
    """
    heights = np.asarray(values, dtype=np.float64)
    bottom, top = heights.min(), heights.max()
    span = top / 2 - bottom / 2
    share = (heights / 2 - bottom / 2) / span if span > 0 else np.full(heights.shape, 0.5)
    steps = np.minimum((share * len(_BLOCKS)).astype(int), len(_BLOCKS) - 1)
    return ["".join(_BLOCKS[step] for step in row) for row in steps]


def beaten_letters(dominates: Booleans, order: Integers) -> list[str] | None:
    """A letter a model by its place, and after it the letters of those it is significantly better than.

    Parameters
    ----------
    dominates : ndarray of bool, shape (k, k)
    order : ndarray of int, shape (k,)
        Models from the first to the last.

    Returns
    -------
    list of k str, or None
        In the given order; None where letters do not suffice.
    """
    if len(order) > len(ascii_lowercase):
        return None
    beaten = dominates[np.ix_(order, order)]
    return [
        f"{letter} > {_runs(np.flatnonzero(row).tolist())}" if row.any() else letter
        for letter, row in zip(ascii_lowercase, beaten, strict=False)
    ]


def _runs(places: Sequence[int]) -> str:
    """Letters of places, more than two in a row as a range: ``b d–g``."""
    runs = ([ascii_lowercase[place] for place in run] for run in runs_of(places))
    return " ".join(f"{run[0]}–{run[-1]}" if len(run) > 2 else " ".join(run) for run in runs)


def hasse_rows(covers: Sequence[tuple[int, int]], order: Sequence[int]) -> list[str]:
    """A Hasse diagram, a row a node: its line runs down and branches into each node it is directly over.

    Parameters
    ----------
    covers : sequence of (int, int)
        Edges of the diagram: a node and one that it is directly over.
    order : sequence of int
        Nodes from the top, each after those above it.

    Returns
    -------
    list of str
        In that order.
    """
    place = {node: row for row, node in enumerate(order)}
    edges = {(place[upper], place[lower]) for upper, lower in covers}
    last = {upper: max(lower for above, lower in edges if above == upper) for upper, _ in edges}
    rows = []
    for row in range(len(order)):
        drawn = []
        for lane in range(row):
            joined = (lane, row) in edges
            goes_on = last.get(lane, -1) > row
            drawn.append(("├─" if goes_on else "└─") if joined else "│ " if goes_on else "  ")
        rows.append("".join(drawn) + "●")
    return rows
