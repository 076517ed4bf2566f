"""A claim at its worst both ways: what is missing speaks against it, then for it (method §11).

Whatever the missing scores are, they lie within their bounds, and so does the difference between two fills:
the new model's gaps at the worst end and the old one's at the best, and the reverse (Manski 1990). A claim is
shown only if it is with the first fill, and refuted only if it is with the second; its one-sided p-values are
at least those of any other fill, so that the correction for many claims holds as it stands.

References
----------
C. F. Manski (1990). Nonparametric bounds on treatment effects. The American Economic Review 80(2), 319-323.
"""

from __future__ import annotations

import numpy as np

from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.types import Floats


def either_way(against: Evidence, in_favour: Evidence) -> Evidence:
    """What the samples say of claims, whatever the missing ones are.

    Parameters
    ----------
    against, in_favour : Evidence
        Of the same claims, with what is missing against them, and in favour of them.

    Returns
    -------
    Evidence
        The estimate is the middle of those there can be.
    """
    low, high = against.estimate, in_favour.estimate

    def ends(level: float) -> tuple[Floats, Floats]:
        return against.ends(level)[0], in_favour.ends(level)[1]

    def needed(level: float) -> Floats:
        """No number where a claim hangs on what is missing."""
        above, below = low > against.boundary, high < against.boundary
        told = np.where(above, against.needed(level), in_favour.needed(level))
        return np.where(above | below, told, np.inf)

    return Evidence.of(
        low + (high - low) / 2,
        against.p_above,
        in_favour.p_below,
        error=np.maximum(against.error, in_favour.error),
        boundary=against.boundary,
        worth=against.worth,
        ends=ends,
        needed=needed,
        log_e=(against.log_e[0], in_favour.log_e[1]) if against.log_e and in_favour.log_e else None,
    )
