"""The classical ways to fold objectives into one score, to set beside COPA.

All take objectives oriented so that larger is better and return scores of which small is better, as the
norm of COPA is. Ratios need the values as they were measured: `larger_is_better` tells which columns hold
them, the others hold their negatives.

The analytic hierarchy process: the principal eigenvector of pairwise comparisons (COPA App. A).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.ranking import power_norm
from riskrank.engine.types import Booleans, Floats
from riskrank.errors import InputError, NumericalError, option

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


@dataclass(frozen=True, eq=False)
class Scalarizations:
    """The scores of N models under K objectives; every one has shape (N,), and small is better.

    Attributes
    ----------
    objectives : array of shape (N, K)
        Larger is better.
    larger_is_better : array of bool, shape (K,)
        False where a column was negated.
    weights : array of shape (K,)
        ω, of sum 1.
    metrics : sequence of K str
        Used in error messages.
    """

    objectives: Floats
    larger_is_better: Booleans
    weights: Floats
    metrics: Sequence[str]

    def weighted_sum(self) -> Floats:
        """Σ_k ω_k f_k with the raw values f, the negative objectives (COPA §1): the plain average.

        Raises
        ------
        InputError
            For values that are not finite, as all of these do.
        """
        return -self._finite() @ self.weights

    def delta(self) -> Floats:
        """The weighted mean of the relative distances to the ideal, |f_k - ideal_k| / |ideal_k|.

        COPA eq. 6. The ideal is the best value in the table.

        Raises
        ------
        InputError
            For a column with zeros or negative values (before orientation): it has no relative distances.
        """
        values = self._positive("Δ")
        ideal = np.where(self.larger_is_better, values.max(axis=0), values.min(axis=0))
        return (np.abs(values - ideal) / ideal) @ self.weights

    def min_max(self) -> Floats:
        """The weighted mean of (f_k - ideal_k) / (nadir_k - ideal_k), COPA eq. 6.

        A constant column is at its ideal throughout and adds nothing.
        """
        objectives = self._finite()
        ideal = objectives.max(axis=0)
        spread = ideal - objectives.min(axis=0)
        return ((ideal - objectives) / np.where(spread > 0, spread, 1.0)) @ self.weights

    def simple_additive_weighting(self) -> Floats:
        """SAW: the weighted mean of max-normalised objectives, in the paper's minimisation form; at least 1.

        COPA eq. 14 and 15: max/x for objectives to maximise, x/min for those to minimise. The textbook form,
        eq. 13, takes the reciprocals and picks other models.

        Raises
        ------
        InputError
            As of `delta`.
        """
        return self._max_normalised("SAW") @ self.weights

    def multiplicative_exponent_weighting(self) -> Floats:
        """MEW: the weighted geometric mean of max-normalised objectives (COPA App. A); at least 1.

        Raises
        ------
        InputError
            As of `delta`.
        """
        return np.exp(np.log(self._max_normalised("MEW")) @ self.weights)

    def analytic_hierarchy_process(self) -> Floats:
        """AHP: as SAW, with the principal eigenvectors of pairwise comparisons; all scores sum to one.

        COPA App. A, eq. 16. With z max-normalised and t = 8 (ln z - ln min z) / (ln max z - ln min z), model
        i compares with j as 1 + t_i - t_j if z_i ≥ z_j and as the reciprocal of the opposite comparison
        otherwise. A constant column compares everyone as equal.

        Raises
        ------
        InputError
            As of `delta`.
        NumericalError
            If the power iteration does not converge.
        """
        z = self._max_normalised("AHP")
        return np.stack([principal_direction(column) for column in z.T], axis=1) @ self.weights

    def _max_normalised(self, method: str) -> Floats:
        """COPA eq. 14: at least 1, and 1 for the best."""
        values = self._positive(method)
        return np.where(self.larger_is_better, values.max(axis=0) / values, values / values.min(axis=0))

    def _positive(self, method: str) -> Floats:
        """The values as they were measured, all positive."""
        objectives = self._finite()
        values = np.where(self.larger_is_better, objectives, -objectives)
        wrong = (values <= 0).any(axis=0)
        if wrong.any():
            k = int(np.argmax(wrong))
            column = values[:, k]
            raise InputError(
                f"{method} divides by the values of {self.metrics[k]!r}, which must be positive",
                found=f"zeros: {int((column == 0).sum())}, negative values: {int((column < 0).sum())}",
                hint=f"leave {method} or this objective out, or use COPA, which needs only the order",
            )
        return values

    def _finite(self) -> Floats:
        """The objectives, none of them missing."""
        wrong = ~np.isfinite(self.objectives)
        if wrong.any():
            k = int(np.argmax(wrong.any(axis=0)))
            raise InputError(
                f"the values of {self.metrics[k]!r} must be finite to be summed",
                found=f"{int(wrong[:, k].sum())} values missing or infinite",
                hint=f"drop these models ({option('missing', 'drop')})",
            )
        return self.objectives


def outer_weighted_norm(u: Floats, weights: Floats, p: float) -> Floats:
    """The usual weighted p-norm (Σ_k ω_k u_k^p)^(1/p), with the weights outside the power.

    COPA §3.3 and Fig. B.2. For p = ∞ the weights vanish: it is the largest u_k among positive weights.

    Parameters
    ----------
    u : array of shape (N, K)
        Relative ranks, or any non-negative values of which small is better.
    weights : array of shape (K,)
    p : float
        At least 1; may be infinite.

    Returns
    -------
    array of shape (N,)
        Small is better.
    """
    # ω^(1/p) inside is ω outside; 1/∞ = 0 turns positive weights into 1.
    return power_norm(u * np.where(weights > 0, weights ** (1 / p), 0.0), p)
