"""Scores sorted once, so that whole numbers are what is drawn and sorted in every resample."""

from collections.abc import Sequence

import numpy as np

from riskrank.engine.types import Floats, Integers

# From here on counting the digits of 16 bits takes less than comparing numbers.
_COUNTED = 256


def places_of(values: Sequence[Floats], units: Sequence[int]) -> tuple[list[Floats], list[Integers]]:
    """Scores of each model upwards, and the place there of every score of a unit.

    To sort whole numbers of 16 bits takes a quarter of the time that scores take.

    Parameters
    ----------
    values : sequence of k ndarrays, shapes (n_i,)
        Scores, unit by unit.
    units : sequence of k int
        Number of units of each model, C_i, all of one size.

    Returns
    -------
    list of k ndarrays, shapes (n_i,), and list of k ndarrays of int, shapes (C_i, n_i / C_i)
    """
    ordered, places = [], list[Integers]()
    most = max(value.size for value in values)
    kind = np.uint16 if most <= 2**16 else np.int32 if most <= 2**31 else np.int64
    for value, count in zip(values, units, strict=True):
        order = np.argsort(value, kind="stable")
        own: Integers = np.empty(order.size, dtype=kind)
        own[order] = np.arange(order.size)
        ordered.append(value.take(order))
        places.append(own.reshape(count, -1))
    return ordered, places


def sort_places(places: Integers) -> None:
    """Sort places along the last axis, in place."""
    counted = places.dtype == np.uint16 and places.shape[-1] >= _COUNTED
    places.sort(axis=-1, kind="stable" if counted else None)
