"""Exact sign tests that every dominance claim must also pass (method §4, "Few samples").

Resamples cannot contain a kind of failure that was never observed. Suppose that one model fails on four of
100 samples and the other on none. This difference is significant by the bootstrap, but not by the sign test
(McNemar's test for binary scores).
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from riskrank.engine.changes.cases import sign_test
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats

# Weights that differ by less are equal up to rounding.
_ROUNDING = 1e-12


def sign_test_p_values(scores: ClusteredScores) -> Floats:
    """Return exact two-sided p-values for the null hypothesis of no difference, for all pairs of models.

    For binary scores, such as 0 and 1, this is the sign test, with clusters as units. Binary distributions
    differ only in the mean, so the test is valid for every order of dominance. For other scores the value is
    a lower bound: if m samples differ, no exact test can give a p-value below 2/2^m. For unpaired or
    unequally weighted scores it is 0, which never restricts a claim.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.

    Returns
    -------
    ndarray, shape (k, k)
        Symmetric.
    """
    k = scores.models
    p_values = np.zeros((k, k))
    if not _has_equal_weights(scores):
        return p_values
    means, clusters = scores.sample_means(), scores.sample_clusters()[0]
    binary = is_binary(means)  # of several runs they are shares
    for i, j in combinations(range(k), 2):
        gains = np.subtract(means[i] > means[j], means[i] < means[j], dtype=np.float64)
        different = np.count_nonzero(np.bincount(clusters, gains != 0))
        p_values[i, j] = p_values[j, i] = sign_test(gains, clusters) if binary else min(2 * 0.5**different, 1)
    return p_values


def is_sign_tested(scores: ClusteredScores) -> bool:
    """Return True if the sign test alone decides all comparisons of these scores."""
    return _has_equal_weights(scores) and is_binary(scores.values) and is_binary(scores.sample_means())


def is_binary(values: Sequence[Floats]) -> bool:
    """Return True if the scores take at most two distinct values."""
    low, high = min(column.min() for column in values), max(column.max() for column in values)
    return all(((column == low) | (column == high)).all() for column in values)


def _has_equal_weights(scores: ClusteredScores) -> bool:
    """Return True if all models share the same samples and all samples have equal weights."""
    if not scores.paired or scores.judged or scores.strata.random:
        return False
    return not scores.strata.has_several_tasks or bool(np.ptp(scores.mean_weights[0]) <= _ROUNDING)
