"""The sampling design: which scores belong to which sample, and which samples are drawn together.

Method §1. A sample (prompt, patient, data set) may hold several draws of a model; they are clustered,
so the unit of resampling is the sample. In a paired design all models share the samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskrank.errors import InputError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Below this many samples a test would "find" differences nobody should believe; up to the second
# number the result stands with a warning (method §4).
FEWEST_SAMPLES = 10
FEW_SAMPLES = 30


@dataclass(frozen=True)
class ClusteredScores:
    """One score column of every model, with the samples the scores belong to.

    Attributes
    ----------
    values : tuple of k ndarrays, shapes (n_i,)
        Scores, larger is better, grouped by sample.
    clusters : tuple of k ndarrays of int, shapes (n_i,)
        Non-decreasing sample numbers 0, 1, ... without gaps within a model.
    paired : bool
        Whether sample c is the same sample for every model.
    """

    values: tuple[Floats, ...]
    clusters: tuple[Integers, ...]
    paired: bool

    @classmethod
    def build(
        cls,
        values: Sequence[ArrayLike],
        clusters: Sequence[ArrayLike] | None = None,
        *,
        paired: bool = True,
    ) -> ClusteredScores:
        """Validate scores and renumber their samples.

        Parameters
        ----------
        values : sequence of k array_like, shapes (n_i,)
            Scores of each model, larger is better.
        clusters : sequence of k array_like of int, shapes (n_i,), optional
            Sample of each score; by default every score is a sample of its own, and in a paired
            design equal positions are equal samples.
        paired : bool
            Whether all models were scored on the same samples.

        Raises
        ------
        InputError
            If there are fewer than two models, a score is not finite, or models of a paired design
            do not share their samples.
        """
        arrays = tuple(np.asarray(value, dtype=np.float64) for value in values)
        if len(arrays) < 2:
            raise InputError(
                "a comparison needs at least two models",
                found=f"{len(arrays)} model",
                hint="select more models or give a table that holds more",
            )
        if any(array.ndim != 1 or array.size == 0 or not np.all(np.isfinite(array)) for array in arrays):
            raise InputError(
                "scores must be finite and each model needs some",
                found="NaN, infinity or no score",
                hint="clean the table, or drop missing scores with --missing drop",
            )
        given = [np.arange(array.size) for array in arrays] if clusters is None else clusters
        ordered, numbers, labels = [], [], []
        for array, cluster in zip(arrays, given, strict=True):
            position = np.argsort(cluster, kind="stable")
            label, number = np.unique(np.asarray(cluster)[position], return_inverse=True)
            ordered.append(array[position])
            numbers.append(number.astype(np.int64))
            labels.append(label)
        if paired and any(not np.array_equal(label, labels[0]) for label in labels):
            raise InputError(
                "paired models must be scored on the same samples",
                found="models with different samples",
                hint="use --unpaired, or keep the common samples with --missing drop",
            )
        return cls(tuple(ordered), tuple(numbers), paired)

    @property
    def models(self) -> int:
        """Number of models, k."""
        return len(self.values)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of scores of each model."""
        return tuple(value.size for value in self.values)

    @property
    def cluster_counts(self) -> tuple[int, ...]:
        """Number of samples of each model."""
        return tuple(int(cluster[-1]) + 1 for cluster in self.clusters)

    @property
    def effective_size(self) -> int:
        """Number of independent samples behind the least-sampled model."""
        return min(self.cluster_counts)

    def draws_per_sample(self) -> int | None:
        """Scores a sample holds if that number is the same for all samples and models, else None."""
        sizes = {count for cluster in self.clusters for count in np.unique(np.bincount(cluster)).tolist()}
        return sizes.pop() if len(sizes) == 1 else None

    def sample_means(self) -> tuple[Floats, ...]:
        """Mean of the draws of each sample, per model: shapes (number of samples,)."""
        return tuple(
            np.bincount(cluster, value) / np.bincount(cluster)
            for value, cluster in zip(self.values, self.clusters, strict=True)
        )


def require_testable(scores: ClusteredScores) -> None:
    """Refuse a test on fewer samples than can carry one.

    Raises
    ------
    InputError
        If a model has fewer than 10 samples.
    """
    if scores.effective_size < FEWEST_SAMPLES:
        raise InputError(
            f"a dominance test needs at least {FEWEST_SAMPLES} samples a model",
            found=f"{scores.effective_size}",
            hint="score more samples, or use --no-test for the ratios without a test",
        )
