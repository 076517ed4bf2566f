"""Numbers of samples and of the clusters they lie in, the same for models that share them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, option


def unit_numbers(
    labels: Sequence[NDArray], sortings: Sequence[NDArray[np.intp]], paired: bool
) -> tuple[Integers, ...]:
    """Number the sorted labels of each model 0, 1, ...; models of a paired design must have the same.

    Raises
    ------
    InputError
    """
    found = [
        np.unique(label[sorting], return_inverse=True)
        for label, sorting in zip(labels, sortings, strict=True)
    ]
    if paired and any(not np.array_equal(names, found[0][0]) for names, _ in found):
        raise InputError(
            "paired models must be scored on the same samples",
            found="models with different samples",
            hint=f"use {option('unpaired', True)}, or keep the common samples with "
            f"{option('missing', 'drop')}",
        )
    return tuple(number.astype(np.int64) for _, number in found)


def nested(
    values: Sequence[Floats], clusters: Sequence[NDArray], samples: Sequence[NDArray], paired: bool
) -> tuple[tuple[Floats, ...], tuple[Integers, ...], bool, tuple[Integers, ...]]:
    """Values, clusters, pairing and samples of a design whose clusters hold several samples.

    Raises
    ------
    InputError
        If models of a paired design do not share samples and clusters, or a sample lies in two clusters.
    """
    sortings = [np.lexsort(pair) for pair in zip(samples, clusters, strict=True)]
    unit_numbers(samples, sortings, paired)
    ordered = tuple(value[sorting] for value, sorting in zip(values, sortings, strict=True))
    numbers = unit_numbers(clusters, sortings, paired)
    grouped = []
    for sample, sorting in zip(samples, sortings, strict=True):
        # A sample lies in one cluster, so that the next row begins another one where its name changes.
        changes = sample[sorting][1:] != sample[sorting][:-1]
        grouped.append(np.concatenate(([0], np.cumsum(changes))).astype(np.int64))
    if all(np.array_equal(*both) for both in zip(numbers, grouped, strict=True)):
        return ordered, numbers, paired, ()
    return ordered, numbers, paired, tuple(grouped)
