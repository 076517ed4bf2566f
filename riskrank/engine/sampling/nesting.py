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
    homes: list[tuple[NDArray, NDArray]] = []
    for cluster, sample in zip(clusters, samples, strict=True):
        names, first, number = np.unique(sample, return_index=True, return_inverse=True)
        homes.append((names, cluster[first]))
        _require_one_home(names[number], cluster[first][number], cluster)
    sortings = [np.lexsort(pair) for pair in zip(samples, clusters, strict=True)]
    unit_numbers(samples, sortings, paired)
    if paired:
        for names, home in homes[1:]:
            _require_one_home(names, homes[0][1], home)
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


def _require_one_home(samples: NDArray, clusters: NDArray, others: NDArray) -> None:
    strays = np.flatnonzero(clusters != others)
    if strays.size:
        at = strays[0]
        raise InputError(
            "a sample belongs to one cluster only",
            found=f"sample {samples[at]} in the clusters {clusters[at]} and {others[at]}",
            hint="give every sample one cluster, the same for all models",
        )
