"""Text charts for terminal tables: interval bars, sparklines, significance letters and Hasse diagrams."""

from collections.abc import Sequence
from string import ascii_lowercase

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.types import Booleans, Integers
from riskrank.render.numbers import consecutive_runs

# Width of a bar, in characters.
CELLS = 17
_BLOCKS = "▁▂▃▄▅▆▇█"
# ASCII replacements, one character each.
_ASCII = str.maketrans("─●┊┼├└│–" + _BLOCKS, "-o:+|`|-" + "_.,-=+*#")


def to_ascii(picture: str) -> str:
    """Replace the characters of a text chart with ASCII characters."""
    return picture.translate(_ASCII)


def interval_bars(
    estimate: ArrayLike, low: ArrayLike, high: ArrayLike, *, mark: float | None = None, cells: int = CELLS
) -> list[str]:
    """Draw k intervals as rows of text on a common scale, with a dot at each estimate.

    Parameters
    ----------
    estimate, low, high : array_like, shape (k,)
        Non-finite limits extend to the edge.
    mark : float, optional
        Value to mark in every row, such as 0.
    cells : int
        Width in characters.

    Returns
    -------
    list of k str
        Strings of length `cells`.
    """
    numbers = [np.asarray(part, dtype=np.float64) for part in (estimate, low, high)]
    finite = np.concatenate([*(part[np.isfinite(part)] for part in numbers), [] if mark is None else [mark]])
    if not finite.size:
        return [" " * cells for _ in numbers[0]]
    # Halve the values, because the range may overflow.
    bottom, span = finite.min(), finite.max() / 2 - finite.min() / 2

    def cell(value: float) -> int:
        """Return the character position of a value on the scale of the chart."""
        clipped = min(max(value, bottom), finite.max())
        share = float((clipped / 2 - bottom / 2) / span if span > 0 else 0.5)
        return round(share * (cells - 1))

    rows = []
    for middle, left, right in zip(*numbers, strict=True):
        characters = [" "] * cells
        if mark is not None:
            characters[cell(mark)] = "┊"
        bounds = [bottom if np.isnan(left) else left, finite.max() if np.isnan(right) else right]
        first, last = cell(bounds[0]), cell(bounds[1])
        characters[first : last + 1] = "─" * (last + 1 - first)
        if mark is not None and first < cell(mark) < last:
            characters[cell(mark)] = "┼"
        if np.isfinite(middle):
            characters[cell(middle)] = "●"
        rows.append("".join(characters))
    return rows


def sparklines(values: ArrayLike) -> list[str]:
    """Draw k rows of l values as lines of block characters, on a common scale.

    Parameters
    ----------
    values : array_like, shape (k, l)
        Values of each sparkline.

    Returns
    -------
    list of k str
        Strings of length l.
    """
    heights = np.asarray(values, dtype=np.float64)
    bottom, top = heights.min(), heights.max()
    span = top / 2 - bottom / 2
    share = (heights / 2 - bottom / 2) / span if span > 0 else np.full(heights.shape, 0.5)
    steps = np.minimum((share * len(_BLOCKS)).astype(int), len(_BLOCKS) - 1)
    return ["".join(_BLOCKS[step] for step in row) for row in steps]


def significance_letters(dominates: Booleans, order: Integers) -> list[str] | None:
    """Return the letter of each of k models, followed by the letters of the models that it dominates.

    Parameters
    ----------
    dominates : ndarray of bool, shape (k, k)
        True where the row's model dominates the column's.
    order : ndarray of int, shape (k,)
        Models from first to last.

    Returns
    -------
    list of k str, or None
        Texts such as ``a > b d–g``, in the given order, or None for more than 26 models.
    """
    if len(order) > len(ascii_lowercase):
        return None
    beaten = dominates[np.ix_(order, order)]
    return [
        f"{letter} > {_format_letters(np.flatnonzero(row).tolist())}" if row.any() else letter
        for letter, row in zip(ascii_lowercase, beaten, strict=False)
    ]


def _format_letters(numbers: Sequence[int]) -> str:
    """Format numbers as letters of the alphabet, with ranges for three or more in a row: ``b d–g``."""
    runs = ([ascii_lowercase[number] for number in run] for run in consecutive_runs(numbers))
    return " ".join(f"{run[0]}–{run[-1]}" if len(run) > 2 else " ".join(run) for run in runs)


def hasse_rows(covers: Sequence[tuple[int, int]], order: Sequence[int]) -> list[str]:
    """Draw a Hasse diagram as text, one row per node.

    A line runs down from each node and branches to the nodes that it covers.

    Parameters
    ----------
    covers : sequence of (int, int)
        Edges of the diagram, as pairs of a node and a node that it covers.
    order : sequence of int
        Nodes from the top, each after all nodes that cover it.

    Returns
    -------
    list of str
        Rows in the given order.
    """
    row_of = {node: row for row, node in enumerate(order)}
    edges = {(row_of[upper], row_of[lower]) for upper, lower in covers}
    last = {upper: max(lower for above, lower in edges if above == upper) for upper, _ in edges}
    rows = []
    for row in range(len(order)):
        characters = []
        for lane in range(row):
            joined = (lane, row) in edges
            continues = last.get(lane, -1) > row
            characters.append(("├─" if continues else "└─") if joined else "│ " if continues else "  ")
        rows.append("".join(characters) + "●")
    return rows
