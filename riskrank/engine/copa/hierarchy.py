"""The analytic hierarchy process: the principal eigenvector of pairwise comparisons (COPA App. A)."""

from __future__ import annotations

import numpy as np

from riskrank.engine.types import Floats
from riskrank.errors import NumericalError

# The scale of pairwise comparisons goes from 1 to 9.
_SPAN = 8.0
_POWER_ITERATIONS = 1000

# The comparison matrix is positive with entries in [1/9, 9]; its eigenvector is found to the last digits.
_POWER_TOLERANCE = 1e-14


def principal_direction(z: Floats) -> Floats:
    """Find the eigenvector of the comparison matrix of one objective, scaled to sum to one.

    With t = 8 (ln z - ln min z) / (ln max z - ln min z), model i compares with j as 1 + t_i - t_j if
    z_i ≥ z_j and as the reciprocal of the opposite comparison otherwise (COPA eq. 16).

    Parameters
    ----------
    z : ndarray, shape (N,)
        Positive. A constant column compares everyone as equal.

    Returns
    -------
    ndarray, shape (N,)

    Raises
    ------
    NumericalError
        If the power iteration does not converge.

    Notes
    -----
    The N × N matrix is never built. In the order of t its lower triangle 1 + t_i - t_j separates into
    functions of i times functions of j, so that cumulative sums apply it; so does the upper triangle
    1/(1 + t_j - t_i) once it is written as ∫ exp(-s (1 + t_j - t_i)) ds and the integral as a sum. Both
    add positive terms only and keep full precision; memory and time grow with N, not N².
    """
    logs = np.log(z)
    low, high = logs.min(), logs.max()
    t = _SPAN * (logs - low) / (high - low if high > low else 1.0)
    order = np.argsort(t, kind="stable")
    t = t[order]
    s, quadrature = _reciprocal_quadrature()
    rising, falling = np.exp(np.outer(s, t)), np.exp(-np.outer(s, t))
    vector = np.full(t.size, 1 / t.size)
    for _ in range(_POWER_ITERATIONS):
        lower = (1 + t) * np.cumsum(vector) - np.cumsum(t * vector)
        later = np.zeros((s.size, t.size))
        later[:, :-1] = np.cumsum((falling * vector)[:, :0:-1], axis=1)[:, ::-1]
        image = lower + quadrature @ (rising * later)
        image /= image.sum()
        if np.abs(image - vector).sum() <= _POWER_TOLERANCE * np.sqrt(t.size):
            scores = np.empty_like(image)
            scores[order] = image
            return scores
        vector = image
    raise NumericalError(
        "the power iteration of AHP did not converge",
        found=f"changes above {_POWER_TOLERANCE:g} after {_POWER_ITERATIONS} iterations",
        hint="leave AHP out of the comparison",
    )


def _reciprocal_quadrature() -> tuple[Floats, Floats]:
    """Nodes s and weights w with 1/(1 + x) = Σ w exp(-s x) to 1e-14 for x in [0, 8]."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    edges = np.array([0.0, 1.0, 3.0, 8.0, 18.0, 38.0])
    half = np.diff(edges)[:, None] / 2
    s = (edges[:-1, None] + half * (nodes + 1)).ravel()
    return s, (half * weights).ravel() * np.exp(-s)
