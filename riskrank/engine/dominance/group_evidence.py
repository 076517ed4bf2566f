"""Better in one group of samples, worse in another (method §4, "What a verdict may say").

Every group has tests of its own. To say that the order of two models turns around between groups is a choice
among groups × pairs, and without a correction over all of them it is said in 16 % of tables of identical
models.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.sampling.multiplicity import adjust
from riskrank.engine.types import Floats


def across_groups(p_values: Sequence[Floats], *, correction: str = "holm") -> Floats:
    """Take the tests of several groups for one family.

    Answers: "may I say better in X, worse in Y?"

    Parameters
    ----------
    p_values : sequence of g ndarrays, shapes (k, k)
        Of the same claim on the same k models in every group, before any correction.
    correction : str
        See :func:`riskrank.engine.sampling.multiplicity.adjust`.

    Returns
    -------
    ndarray, shape (g, k, k)
        P-values adjusted over the g·k(k − 1) tests; 1 on the diagonals.
    """
    stacked = np.stack(p_values)
    off = ~np.eye(stacked.shape[1], dtype=bool)
    adjusted = np.ones_like(stacked)
    family = stacked[:, off]
    adjusted[:, off] = adjust(family.ravel(), correction).reshape(family.shape)
    return adjusted
