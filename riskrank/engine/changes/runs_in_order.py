"""Runs of the same cases one after the other: levels of looks, flips, and cases that were lost for good.

A look at every new run errs more often than it says. The j-th look spends α/(j(j + 1)), which comes to α over
all looks there will ever be (method §9). Of that, four fifths go to the comparison with the baseline and a
fifth to that with the run before, so that neither says "worse" falsely more often than α together.

A case that fails in each of the last t of n runs, f of them failures, was lost for good if chance would
hardly put the failures there: were the order of its runs exchangeable, its last t runs would all be failures
with probability C(n − t, f − t)/C(n, f).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import comb

import numpy as np

from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.evidence.johnson import MeanDifference
from riskrank.engine.evidence.student import Student
from riskrank.engine.family import Family
from riskrank.engine.types import Booleans

SHARES = {"baseline": 0.8, "last": 0.2}
"""Parts of the level of the year, by what a run is compared with."""


def family_of_look(family: Family, look: int, share: float) -> Family:
    """The claims of one look: each direction at its part of the level, so that ends of intervals go with it.

    Parameters
    ----------
    family : Family
        Of the whole year.
    look : int
        1 for the first.
    share : float
        Part of the level, one of :data:`SHARES`.
    """
    return replace(family.at(2 * share / (look * (look + 1))), sides=2)


def evidence_of(differences: Sequence[MeanDifference]) -> Evidence:
    """What paired differences of means say of "it lies above 0", Student's and Johnson's p the larger."""
    parts = np.array([(one.estimate, one.error, one.samples - 1, one.skewness) for one in differences])
    found = Student(*parts.reshape(-1, 4).T)
    return found.evidence(0.0, found.df + 1)


def flips(passed: Booleans, counted: Booleans) -> int:
    """How often a case changes from a run to the next, where that counts.

    Parameters
    ----------
    passed : ndarray of bool, shape (n,)
        Runs of a case in order.
    counted : ndarray of bool, shape (n - 1,)
    """
    return int(np.count_nonzero((passed[1:] != passed[:-1]) & counted))


def lost_for_good(passed: Booleans) -> tuple[int, float]:
    """In how many of its last runs a case failed throughout, and how likely chance makes that of it.

    Parameters
    ----------
    passed : ndarray of bool, shape (n,)
        Runs of a case in order.

    Returns
    -------
    runs : int
    p_value : float
        1 where it never passed, or passes now.
    """
    n, failed = passed.size, int(np.count_nonzero(~passed))
    last = n if failed == n else int(np.argmax(passed[::-1]))
    if failed == n or last == 0:
        return last, 1.0
    return last, comb(n - last, failed - last) / comb(n, failed)
