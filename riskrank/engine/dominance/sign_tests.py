"""The exact sign test, without which no claim of dominance is shown (method §4, "Few samples").

Resamples never draw a failure that nobody saw: of 100 samples, four of which one model fails and none the
other, they show a difference that the sign test, of two values McNemar's, does not.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from riskrank.engine.changes.cases import sign_test
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats

# Weights that differ by no more are the same but for rounding.
_ROUNDING = 1e-12


def sign_tests(scores: ClusteredScores) -> Floats:
    """Exact two-sided p-values of "no difference" of scores of the same samples; 0 of all others.

    Scores of two values, such as 0 and 1, have the sign test, clusters changing sides as a whole: their
    distributions differ by the means alone, so that every order of dominance has it. Of other scores no exact
    test can show more than m samples that differ, all in one direction: 2/2^m.

    Parameters
    ----------
    scores : ClusteredScores
        k models' scores.

    Returns
    -------
    ndarray, shape (k, k)
        Symmetric.
    """
    k = scores.models
    found = np.zeros((k, k))
    if not _counts_alike(scores):
        return found
    means, clusters = scores.sample_means(), scores.sample_clusters()[0]
    signs = two_valued(means)  # of several runs they are shares
    for i, j in combinations(range(k), 2):
        gains = np.subtract(means[i] > means[j], means[i] < means[j], dtype=np.float64)
        least = min(2 * 0.5 ** np.unique(clusters[gains != 0]).size, 1.0)
        found[i, j] = found[j, i] = sign_test(gains, clusters) if signs else least
    return found


def by_signs(scores: ClusteredScores) -> bool:
    """Whether the sign test decides all there is to decide of these scores."""
    return _counts_alike(scores) and two_valued(scores.values) and two_valued(scores.sample_means())


def two_valued(values: Sequence[Floats]) -> bool:
    """Whether there are two values at most, so that a mean says all: a worst share tells nothing more."""
    low, high = min(own.min() for own in values), max(own.max() for own in values)
    return all(((own == low) | (own == high)).all() for own in values)


def _counts_alike(scores: ClusteredScores) -> bool:
    """Whether samples are the same for all models, each as much as another, also of a suite."""
    if not scores.paired or scores.judged or scores.strata.random:
        return False
    return not scores.strata.several or bool(np.ptp(scores.shares[0]) <= _ROUNDING)
