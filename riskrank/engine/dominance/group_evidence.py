"""Better in one group of samples, worse in another (method §4, "What a verdict may say").

Every group has tests of its own. To say that the order of two models turns around between groups is a choice
among groups × pairs, and without a correction over all of them it is said in 16 % of tables of identical
models.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.family import Family
from riskrank.engine.types import Booleans, Floats


def across_groups(p_values: Sequence[Floats], family: Family = Family()) -> Booleans:
    """Take the tests of several groups for one family.

    Answers: "may I say better in X, worse in Y?"

    Parameters
    ----------
    p_values : sequence of g ndarrays, shapes (k, k)
        Of the same claim on the same k models in every group, before any correction.
    family : Family, optional
        Level and correction.

    Returns
    -------
    ndarray of bool, shape (g, k, k)
        What is significant among the g·k(k − 1) tests; nothing on the diagonals.
    """
    stacked = np.stack(p_values)
    asked = np.broadcast_to(~np.eye(stacked.shape[1], dtype=bool), stacked.shape)
    return family.significant(family.adjusted(stacked, asked)) & asked
