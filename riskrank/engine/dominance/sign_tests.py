"""The exact sign test of 0/1 scores, without which no claim of dominance is shown (method §4, "Few samples").

Resamples never draw a failure that nobody saw: of 100 samples, four of which one model fails and none the
other, they show a difference that the sign test, here McNemar's, does not.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from riskrank.engine.changes.cases import sign_test
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats


def sign_tests(scores: ClusteredScores) -> Floats:
    """Exact two-sided p-values of "no difference" of 0/1 scores of the same samples; 0 of all others.

    Samples of one cluster change sides together. Distributions of 0 and 1 differ by their means alone, so
    that every order of dominance has it.

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
    if not scores.paired or scores.judged or scores.strata.several or not zeros_and_ones(scores.values):
        return found
    means, clusters = scores.sample_means(), scores.sample_clusters()[0]
    if zeros_and_ones(means):  # of several runs they are shares
        for i, j in combinations(range(k), 2):
            found[i, j] = found[j, i] = sign_test(means[i] - means[j], clusters)
    return found


def zeros_and_ones(values: Sequence[Floats]) -> bool:
    """Whether scores are all 0 or 1, so that a mean says all of them: a worst share tells nothing more."""
    return all(((own == 0) | (own == 1)).all() for own in values)
