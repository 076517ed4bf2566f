"""Scores sorted once, so that whole numbers are what is drawn and sorted in every resample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.types import Floats, Integers


def places_of(values: Sequence[Floats], units: Sequence[int]) -> tuple[Floats, list[Integers]]:
    """All scores, each model's upwards, and the place there of every score of a unit.

    To sort whole numbers of 32 bits takes half the time that scores take.

    Parameters
    ----------
    values : sequence of k ndarrays, shapes (n_i,)
        Scores, unit by unit.
    units : sequence of k int
        Number of units of each model, C_i, all of one size.

    Returns
    -------
    ndarray, shape (Σ n_i,), and list of k ndarrays of int, shapes (C_i, n_i / C_i)
    """
    ordered, places, start = [], list[Integers](), 0
    kind = np.int32 if sum(value.size for value in values) < 2**31 else np.int64
    for value, count in zip(values, units, strict=True):
        order = np.argsort(value, kind="stable")
        own: Integers = np.empty(order.size, dtype=kind)
        own[order] = np.arange(start, start + order.size)
        start += order.size
        ordered.append(value.take(order))
        places.append(own.reshape(count, -1))
    return np.concatenate(ordered), places
