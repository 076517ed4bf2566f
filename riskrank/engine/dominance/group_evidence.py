"""Better in one group of samples, worse in another (method §4, "What a verdict may say").

Every group has tests of its own. To say that the order of two models turns around between groups is a choice
among groups × pairs, and without a correction over all of them it is said in 16 % of tables of identical
models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.sampling.multiplicity import adjust
from riskrank.engine.types import Booleans, Floats


@dataclass(frozen=True)
class GroupReversal:
    """Two models whose order turns around: the first is better in some groups and worse in others."""

    first: int
    second: int
    better_in: tuple[int, ...]
    worse_in: tuple[int, ...]


@dataclass(frozen=True)
class GroupEvidence:
    """Tests of one claim in every group, as one family.

    Attributes
    ----------
    p_adjusted : ndarray, shape (g, k, k)
        Adjusted over groups × pairs.
    dominates : ndarray of bool, shape (g, k, k)
        Significant in that family.
    """

    p_adjusted: Floats
    dominates: Booleans

    @property
    def reversals(self) -> list[GroupReversal]:
        """Pairs of which each model is significantly better in some group."""
        ahead = self.dominates.any(axis=0)
        found = []
        for i, j in np.argwhere(np.triu(ahead & ahead.T, 1)).tolist():
            groups = (np.flatnonzero(self.dominates[:, *pair]).tolist() for pair in ((i, j), (j, i)))
            found.append(GroupReversal(i, j, *map(tuple, groups)))
        return found


def across_groups(
    groups: Sequence[DominanceTests], *, alpha: float = 0.05, correction: str = "holm"
) -> GroupEvidence:
    """Take the tests of several groups for one family.

    Answers: "may I say better in X, worse in Y?"

    Parameters
    ----------
    groups : sequence of g DominanceTests
        The same claim on the same k models in every group, all pairs tested.
    alpha : float
        Level of the family of g·k(k − 1) tests.
    correction : str
        See :func:`riskrank.engine.sampling.multiplicity.adjust`.

    Returns
    -------
    GroupEvidence
        What the resamples of a group were too few for in this larger family is not significant.
    """
    p_values = np.stack([np.ones_like(one.ratios) if one.p_value is None else one.p_value for one in groups])
    off = ~np.eye(p_values.shape[1], dtype=bool)
    p_adjusted = np.ones_like(p_values)
    family = p_values[:, off]
    p_adjusted[:, off] = adjust(family.ravel(), correction).reshape(family.shape)
    return GroupEvidence(p_adjusted, p_adjusted <= alpha)
