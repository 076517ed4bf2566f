"""Where labels go so that none hides another: in a column beside lines, or around points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.types import Booleans, Floats

# Directions from a point to the near edge of its label, the usual reading order first; then further out.
_AROUND = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
_DISTANCES = (6.0, 12.0, 22.0, 36.0, 54.0)


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
    gaps : array_like, shape (n - 1,)
        Least distance of each position to the next.

    Returns
    -------
    ndarray, shape (n,)
    """
    steps = np.concatenate([[0.0], np.cumsum(np.asarray(gaps, dtype=np.float64))])
    # With the gaps taken out, what remains is to find the nearest non-decreasing sequence.
    return _non_decreasing(np.asarray(wanted, dtype=np.float64) - steps) + steps


def _non_decreasing(values: Floats) -> Floats:
    """Pool adjacent violators."""
    pools: list[list[float]] = []
    for value in values.tolist():
        pools.append([value, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            last, count = pools.pop()
            mean, others = pools[-1]
            pools[-1] = [(mean * others + last * count) / (others + count), others + count]
    return np.concatenate([np.full(int(count), mean) for mean, count in pools])


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
    points: ArrayLike, sizes: Sequence[tuple[float, float]], obstacles: ArrayLike, frame: ArrayLike
) -> list[tuple[float, float] | None]:
    """Place a label near each of some points.

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

    Returns
    -------
    list of (float, float) or None
        Lower left corner of each label; None where there is no room.
    """
    taken = np.asarray(obstacles, dtype=np.float64).reshape(-1, 4)
    left, bottom, right, top = np.asarray(frame, dtype=np.float64).tolist()
    found: list[tuple[float, float] | None] = []
    for (x, y), (width, height) in zip(np.asarray(points, dtype=np.float64).tolist(), sizes, strict=True):
        place = None
        for box in _candidates(x, y, width, height):
            inside = box[0] >= left and box[1] >= bottom and box[2] <= right and box[3] <= top
            if inside and not overlap(box, taken).any():
                place = (box[0], box[1])
                taken = np.vstack([taken, box])
                break
        found.append(place)
    return found


def _candidates(x: float, y: float, width: float, height: float) -> list[tuple[float, float, float, float]]:
    boxes = []
    for distance in _DISTANCES:
        for across, up in _AROUND:
            reach = distance if 0 in (across, up) else distance / np.sqrt(2)
            left = x + across * reach - (width if across < 0 else 0 if across > 0 else width / 2)
            bottom = y + up * reach - (height if up < 0 else 0 if up > 0 else height / 2)
            boxes.append((left, bottom, left + width, bottom + height))
    return boxes
