"""Who comes first on a column of scores: what a suite is looked at for."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from riskrank.engine.dominance.inference import ABSOLUTE
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.types import Booleans


@dataclass(frozen=True)
class First:
    """Who comes first on a column of scores.

    Attributes
    ----------
    model : int
    order : int or None
        Of the dominance that ranks it first; None where something else does.
    pair : (int, int)
        The model that words and pictures speak of, and the one they hold it against.
    ahead : ndarray of bool, shape (k, k), or None
        Who is better than whom by the tests that rank; None where none were made.
    """

    model: int
    order: int | None
    pair: tuple[int, int]
    ahead: Booleans | None = field(default=None, compare=False)


def better_by(tests: Iterable[DominanceTests | None]) -> Booleans | None:
    """Who is better than whom by some tests of a column; None where none says so, or up to a threshold."""
    found = [one.dominates for one in tests if one is not None and one.claim.kind != ABSOLUTE]
    return np.any(found, axis=0) if found else None
