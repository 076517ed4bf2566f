"""The classical ways to fold objectives into one score, to set beside COPA.

All take objectives oriented so that larger is better and return scores of which small is better, as the
norm of COPA is. Ratios need the values as they were measured: `larger_is_better` tells which columns hold
them, the others hold their negatives.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.copa.population import checked_p, checked_weights, power_norm
from riskrank.errors import InputError, NumericalError, UsageError

# The scale of pairwise comparisons in AHP goes from 1 to 9.
_AHP_SPAN = 8.0
_POWER_ITERATIONS = 1000
# The comparison matrix is positive with entries in [1/9, 9]; its eigenvector is found to the last digits.
_POWER_TOLERANCE = 1e-14


def weighted_sum(
    objectives: np.ndarray,
    weights: Sequence[float] | np.ndarray | None = None,
    *,
    metrics: Sequence[str] | None = None,
) -> np.ndarray:
    """Return Σ_k ω_k f_k with the raw values, to be minimised (COPA §1): the plain average.

    Parameters
    ----------
    objectives : array of shape (N, K)
        Larger is better; f is its negative.
    weights : sequence of K float, optional
        Scaled to sum to one; uniform by default.
    metrics : sequence of K str, optional
        Used in error messages.

    Returns
    -------
    array of shape (N,)
        Small is better.

    Raises
    ------
    InputError
        For values that are not finite.
    UsageError
        For wrong weights.
    """
    objectives, metrics = _validated(objectives, metrics)
    return -objectives @ checked_weights(weights, metrics)


def delta(
    objectives: np.ndarray,
    larger_is_better: Sequence[bool] | np.ndarray,
    weights: Sequence[float] | np.ndarray | None = None,
    *,
    metrics: Sequence[str] | None = None,
) -> np.ndarray:
    """Return the weighted mean of the relative distances to the ideal, |f_k - ideal_k| / |ideal_k|.

    COPA eq. 6. The ideal is the best value in the table.

    Parameters
    ----------
    objectives, weights, metrics
        As in `weighted_sum`.
    larger_is_better : sequence of K bool
        False where a column was negated.

    Returns
    -------
    array of shape (N,)
        Small is better.

    Raises
    ------
    InputError
        For a column with zeros or negative values (before orientation): it has no relative distances.
    """
    values, metrics, upward = _positive(objectives, larger_is_better, metrics, "Δ")
    ideal = np.where(upward, values.max(axis=0), values.min(axis=0))
    return (np.abs(values - ideal) / ideal) @ checked_weights(weights, metrics)


def min_max(
    objectives: np.ndarray,
    weights: Sequence[float] | np.ndarray | None = None,
    *,
    metrics: Sequence[str] | None = None,
) -> np.ndarray:
    """Return the weighted mean of (f_k - ideal_k) / (nadir_k - ideal_k), COPA eq. 6.

    A constant column is at its ideal throughout and adds nothing.

    Parameters
    ----------
    objectives, weights, metrics
        As in `weighted_sum`.

    Returns
    -------
    array of shape (N,)
        Small is better.
    """
    objectives, metrics = _validated(objectives, metrics)
    ideal = objectives.max(axis=0)
    spread = ideal - objectives.min(axis=0)
    return ((ideal - objectives) / np.where(spread > 0, spread, 1.0)) @ checked_weights(weights, metrics)


def outer_weighted_norm(
    u: np.ndarray,
    weights: Sequence[float] | np.ndarray | None = None,
    *,
    p: float,
    metrics: Sequence[str] | None = None,
) -> np.ndarray:
    """Return the usual weighted p-norm (Σ_k ω_k u_k^p)^(1/p), with the weights outside the power.

    COPA §3.3 and Fig. B.2. For p = ∞ the weights vanish: it is the largest u_k among positive weights.

    Parameters
    ----------
    u : array of shape (N, K)
        Relative ranks, or any non-negative values of which small is better.
    weights, metrics
        As in `weighted_sum`.
    p : float
        At least 1; may be infinite.

    Returns
    -------
    array of shape (N,)
        Small is better.
    """
    u, metrics = _validated(u, metrics)
    weights, p = checked_weights(weights, metrics), checked_p(p)
    # ω^(1/p) inside is ω outside; 1/∞ = 0 turns positive weights into 1.
    return power_norm(u * np.where(weights > 0, weights ** (1 / p), 0.0), p)


def simple_additive_weighting(
    objectives: np.ndarray,
    larger_is_better: Sequence[bool] | np.ndarray,
    weights: Sequence[float] | np.ndarray | None = None,
    *,
    metrics: Sequence[str] | None = None,
) -> np.ndarray:
    """SAW: the weighted mean of max-normalised objectives, in the paper's minimisation form.

    COPA eq. 14 and 15: max/x for objectives to maximise, x/min for those to minimise. The textbook form,
    eq. 13, takes the reciprocals and picks other models.

    Parameters
    ----------
    objectives, larger_is_better, weights, metrics
        As in `delta`.

    Returns
    -------
    array of shape (N,)
        Small is better; at least 1.

    Raises
    ------
    InputError
        For a column with zeros or negative values (before orientation).
    """
    z, metrics = _max_normalised(objectives, larger_is_better, metrics, "SAW")
    return z @ checked_weights(weights, metrics)


def multiplicative_exponent_weighting(
    objectives: np.ndarray,
    larger_is_better: Sequence[bool] | np.ndarray,
    weights: Sequence[float] | np.ndarray | None = None,
    *,
    metrics: Sequence[str] | None = None,
) -> np.ndarray:
    """MEW: the weighted geometric mean of max-normalised objectives (COPA App. A).

    Parameters
    ----------
    objectives, larger_is_better, weights, metrics
        As in `delta`.

    Returns
    -------
    array of shape (N,)
        Small is better; at least 1.

    Raises
    ------
    InputError
        For a column with zeros or negative values (before orientation).
    """
    z, metrics = _max_normalised(objectives, larger_is_better, metrics, "MEW")
    return np.exp(np.log(z) @ checked_weights(weights, metrics))


def analytic_hierarchy_process(
    objectives: np.ndarray,
    larger_is_better: Sequence[bool] | np.ndarray,
    weights: Sequence[float] | np.ndarray | None = None,
    *,
    metrics: Sequence[str] | None = None,
) -> np.ndarray:
    """AHP: as SAW, with the principal eigenvectors of pairwise comparisons for max-normalised values.

    COPA App. A, eq. 16. With z max-normalised and t = 8 (ln z - ln min z) / (ln max z - ln min z), model
    i compares with j as 1 + t_i - t_j if z_i ≥ z_j and as the reciprocal of the opposite comparison
    otherwise. A constant column compares everyone as equal.

    Parameters
    ----------
    objectives, larger_is_better, weights, metrics
        As in `delta`.

    Returns
    -------
    array of shape (N,)
        Small is better; the scores of all models sum to one.

    Raises
    ------
    InputError
        For a column with zeros or negative values (before orientation).
    NumericalError
        If the power iteration does not converge.
    """
    z, metrics = _max_normalised(objectives, larger_is_better, metrics, "AHP")
    weights = checked_weights(weights, metrics)
    logs = np.log(z)
    low, high = logs.min(axis=0), logs.max(axis=0)
    t = _AHP_SPAN * (logs - low) / np.where(high > low, high - low, 1.0)
    return np.stack([_principal_direction(column) for column in t.T], axis=1) @ weights


def _principal_direction(t: np.ndarray) -> np.ndarray:
    """Find the eigenvector of the comparison matrix by power iteration, scaled to sum to one.

    The N × N matrix is never built. In the order of t its lower triangle 1 + t_i - t_j separates into
    functions of i times functions of j, so that cumulative sums apply it; so does the upper triangle
    1/(1 + t_j - t_i) once it is written as ∫ exp(-s (1 + t_j - t_i)) ds and the integral as a sum. Both
    add positive terms only and keep full precision; memory and time grow with N, not N².
    """
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


def _reciprocal_quadrature() -> tuple[np.ndarray, np.ndarray]:
    """Nodes s and weights w with 1/(1 + x) = Σ w exp(-s x) to 1e-14 for x in [0, 8]."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    edges = np.array([0.0, 1.0, 3.0, 8.0, 18.0, 38.0])
    half = np.diff(edges)[:, None] / 2
    s = (edges[:-1, None] + half * (nodes + 1)).ravel()
    return s, (half * weights).ravel() * np.exp(-s)


def _max_normalised(
    objectives: np.ndarray,
    larger_is_better: Sequence[bool] | np.ndarray,
    metrics: Sequence[str] | None,
    method: str,
) -> tuple[np.ndarray, tuple[str, ...]]:
    """COPA eq. 14: at least 1, and 1 for the best."""
    values, metrics, upward = _positive(objectives, larger_is_better, metrics, method)
    return np.where(upward, values.max(axis=0) / values, values / values.min(axis=0)), metrics


def _positive(
    objectives: np.ndarray,
    larger_is_better: Sequence[bool] | np.ndarray,
    metrics: Sequence[str] | None,
    method: str,
) -> tuple[np.ndarray, tuple[str, ...], np.ndarray]:
    """Return the values as they were measured, all positive."""
    objectives, metrics = _validated(objectives, metrics)
    upward = np.asarray(larger_is_better, dtype=bool)
    if upward.shape != (len(metrics),):
        raise UsageError(
            "one direction per objective is needed",
            found=f"{upward.size} directions for {len(metrics)} objectives",
            hint="say of each column whether larger is better",
        )
    values = np.where(upward, objectives, -objectives)
    wrong = (values <= 0).any(axis=0)
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        column = values[:, k]
        raise InputError(
            f"{method} divides by the values of {metrics[k]!r}, which must be positive",
            found=f"zeros: {int((column == 0).sum())}, negative values: {int((column < 0).sum())}",
            hint=f"leave {method} or this objective out, or use COPA, which needs only the order",
        )
    return values, metrics, upward


def _validated(objectives: np.ndarray, metrics: Sequence[str] | None) -> tuple[np.ndarray, tuple[str, ...]]:
    objectives = np.asarray(objectives, dtype=np.float64)
    if objectives.ndim != 2 or not objectives.size:
        raise InputError(
            "a table of models by objectives is needed",
            found=f"an array of shape {objectives.shape}",
            hint="give one row per model and at least one objective",
        )
    names = (
        tuple(metrics)
        if metrics is not None
        else tuple(f"column {k + 1}" for k in range(objectives.shape[1]))
    )
    wrong = ~np.isfinite(objectives).all(axis=0)
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"the values of {names[k]!r} must be finite to be summed",
            found=f"{int((~np.isfinite(objectives[:, k])).sum())} values missing or infinite",
            hint="drop these models (--missing drop)",
        )
    return objectives, names
