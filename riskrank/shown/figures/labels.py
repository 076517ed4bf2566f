"""Where labels go so that none hides another: in a column beside lines, or around points.

Not by springs, as adjustText places them: those let names lie on dots and lines, and lines to names cross
other dots, where here a name without room is left out.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from riskrank.engine.types import Booleans, Floats

# Directions from a point to the near edge of its label, the usual reading order first; then further out.
_AROUND = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
_BETWEEN = ((2, 1), (2, -1), (-2, 1), (-2, -1), (1, 2), (1, -2), (-1, 2), (-1, -2))
_DISTANCES = (6.0, 12.0, 22.0, 36.0, 54.0, 76.0, 100.0, 130.0, 165.0)
_AT_POINT = 7.0
"""Length of a line to a label that lies on the point itself."""

Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""


def spread(wanted: ArrayLike, gap: float, low: float, high: float) -> Floats:
    """Move positions apart as little as possible, in the sense of least squares.

    Parameters
    ----------
    wanted : array_like, shape (n,)
        Where labels would stand, in any order; equal ones keep the order given.
    gap : float
        Least distance of neighbours. Made smaller where n labels have no room.
    low, high : float
        Bounds of all positions.

    Returns
    -------
    ndarray, shape (n,)
        In the same order, at least ``gap`` apart.
    """
    places = np.asarray(wanted, dtype=np.float64)
    if places.size == 0:
        return places
    if places.size > 1:
        gap = min(gap, (high - low) / (places.size - 1))
    order = np.argsort(places, kind="stable")
    steps = gap * np.arange(places.size)
    moved = np.empty_like(places)
    moved[order] = (
        np.clip(in_order(places[order], np.diff(steps)) - steps, low, max(low, high - steps[-1])) + steps
    )
    return moved


def in_order(wanted: ArrayLike, gaps: ArrayLike) -> Floats:
    """Move positions apart as little as possible, in the order given.

    Parameters
    ----------
    wanted : array_like, shape (n,)
        At least one.
    gaps : array_like, shape (n - 1,)
        Least distance of each position to the next.

    Returns
    -------
    ndarray, shape (n,)
    """
    steps = np.concatenate([[0.0], np.cumsum(np.asarray(gaps, dtype=np.float64))])
    # With the gaps taken out, what remains is to find the nearest non-decreasing sequence.
    return np.asarray(isotonic_regression(np.asarray(wanted, dtype=np.float64) - steps).x) + steps


def overlap(first: ArrayLike, second: ArrayLike) -> Booleans:
    """Whether boxes (left, bottom, right, top) share any area; shapes (..., 4) are broadcast."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    return (
        (one[..., 0] < other[..., 2])
        & (other[..., 0] < one[..., 2])
        & (one[..., 1] < other[..., 3])
        & (other[..., 1] < one[..., 3])
    )


def around(
    points: ArrayLike,
    sizes: Sequence[tuple[float, float]],
    obstacles: ArrayLike,
    frame: ArrayLike,
    *,
    dots: ArrayLike | None = None,
    column: float | None = None,
) -> list[tuple[float, float] | None]:
    """Place a label near each of some points, where a straight line to it meets nothing.

    Parameters
    ----------
    points : array_like, shape (n, 2)
        The points to name, in order of importance.
    sizes : sequence of n (float, float)
        Width and height of each label.
    obstacles : array_like, shape (o, 4)
        Boxes no label may cover: all points, as a rule.
    frame : array_like, shape (4,)
        Box all labels have to lie in.
    dots : array_like, shape (d, 4), optional
        Boxes no line to a label may cross; the obstacles by default.
    column : float, optional
        Left end of labels that may stand in a column right of the frame, where there is no room within.

    Returns
    -------
    list of (float, float) or None
        Lower left corner of each label; None where there is no room.
    """
    taken = np.asarray(obstacles, dtype=np.float64).reshape(-1, 4)
    ties = np.empty((0, 4))
    crossed = taken if dots is None else np.asarray(dots, dtype=np.float64).reshape(-1, 4)
    left, bottom, right, top = np.asarray(frame, dtype=np.float64).tolist()
    found: list[tuple[float, float] | None] = []
    for (x, y), (width, height) in zip(np.asarray(points, dtype=np.float64).tolist(), sizes, strict=True):
        boxes = [
            box
            for box in _candidates(x, y, width, height)
            if box[0] >= left and box[1] >= bottom and box[2] <= right and box[3] <= top
        ]
        if column is not None:
            lows = np.arange(bottom, top - height, height)
            lows = lows[np.argsort(np.abs(lows + height / 2 - y), kind="stable")]
            boxes += [(column, low, column + width, low + height) for low in lows.tolist()]
        place = next((box for box in boxes if _free(box, (x, y), taken, crossed, ties)), None)
        found.append(None if place is None else (place[0], place[1]))
        if place is not None:
            taken, crossed = np.vstack([taken, place]), np.vstack([crossed, place])
            ties = np.vstack([ties, _tie_boxes((x, y), place)])
    return found


def nearest(point: tuple[float, float], box: Box) -> tuple[float, float]:
    """Where a line from a point reaches a box first."""
    return min(max(point[0], box[0]), box[2]), min(max(point[1], box[1]), box[3])


def _free(box: Box, point: tuple[float, float], taken: Floats, crossed: Floats, ties: Floats) -> bool:
    """Whether a label covers nothing, and the line to it crosses nothing."""
    if overlap(box, taken).any() or overlap(box, ties).any():
        return False
    line = _tie_boxes(point, box)
    return not overlap(line[:, None], np.vstack([crossed, ties])[None]).any()


def _tie_boxes(point: tuple[float, float], box: Box) -> Floats:
    """Small boxes along the line from a point to its label, but for the part at the point itself."""
    end = nearest(point, box)
    length = float(np.hypot(end[0] - point[0], end[1] - point[1]))
    if length <= _AT_POINT:
        return np.empty((0, 4))
    share = np.arange(_AT_POINT, length, 2.0)[:, None] / length
    places = np.array(point) + share * (np.array(end) - np.array(point))
    return np.hstack([places - 0.5, places + 0.5])


def _candidates(x: float, y: float, width: float, height: float) -> list[Box]:
    boxes = []
    for distance in _DISTANCES:
        for across, up in _AROUND if distance <= _DISTANCES[1] else (*_AROUND, *_BETWEEN):
            reach = distance / float(np.hypot(across, up))
            left = x + across * reach - (width if across < 0 else 0 if across > 0 else width / 2)
            bottom = y + up * reach - (height if up < 0 else 0 if up > 0 else height / 2)
            boxes.append((left, bottom, left + width, bottom + height))
    return boxes
