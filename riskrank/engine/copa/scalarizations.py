"""The classical ways to fold objectives into one score, to set beside COPA.

All take objectives oriented so that larger is better and return scores of which small is better, as the
norm of COPA is. Ratios need the values as they were measured: `larger_is_better` tells which columns hold
them, the others hold their negatives.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.copa.choice import checked_p, power_norm
from riskrank.engine.copa.hierarchy import principal_direction
from riskrank.engine.types import Booleans, Floats
from riskrank.engine.weights import normalised_weights
from riskrank.errors import InputError, UsageError, option


def weighted_sum(
    objectives: Floats,
    weights: Sequence[float] | Floats | None = None,
    *,
    metrics: Sequence[str] | None = None,
) -> Floats:
    """Σ_k ω_k f_k with the raw values, to be minimised (COPA §1): the plain average.

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
    return -objectives @ normalised_weights(weights, metrics, kind="objective")


def delta(
    objectives: Floats,
    larger_is_better: Sequence[bool] | Booleans,
    weights: Sequence[float] | Floats | None = None,
    *,
    metrics: Sequence[str] | None = None,
) -> Floats:
    """The weighted mean of the relative distances to the ideal, |f_k - ideal_k| / |ideal_k|.

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
    return (np.abs(values - ideal) / ideal) @ normalised_weights(weights, metrics, kind="objective")


def min_max(
    objectives: Floats,
    weights: Sequence[float] | Floats | None = None,
    *,
    metrics: Sequence[str] | None = None,
) -> Floats:
    """The weighted mean of (f_k - ideal_k) / (nadir_k - ideal_k), COPA eq. 6.

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
    return ((ideal - objectives) / np.where(spread > 0, spread, 1.0)) @ normalised_weights(
        weights, metrics, kind="objective"
    )


def outer_weighted_norm(
    u: Floats,
    weights: Sequence[float] | Floats | None = None,
    *,
    p: float,
    metrics: Sequence[str] | None = None,
) -> Floats:
    """The usual weighted p-norm (Σ_k ω_k u_k^p)^(1/p), with the weights outside the power.

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
    weights, p = normalised_weights(weights, metrics, kind="objective"), checked_p(p)
    # ω^(1/p) inside is ω outside; 1/∞ = 0 turns positive weights into 1.
    return power_norm(u * np.where(weights > 0, weights ** (1 / p), 0.0), p)


def simple_additive_weighting(
    objectives: Floats,
    larger_is_better: Sequence[bool] | Booleans,
    weights: Sequence[float] | Floats | None = None,
    *,
    metrics: Sequence[str] | None = None,
) -> Floats:
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
    return z @ normalised_weights(weights, metrics, kind="objective")


def multiplicative_exponent_weighting(
    objectives: Floats,
    larger_is_better: Sequence[bool] | Booleans,
    weights: Sequence[float] | Floats | None = None,
    *,
    metrics: Sequence[str] | None = None,
) -> Floats:
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
    return np.exp(np.log(z) @ normalised_weights(weights, metrics, kind="objective"))


def analytic_hierarchy_process(
    objectives: Floats,
    larger_is_better: Sequence[bool] | Booleans,
    weights: Sequence[float] | Floats | None = None,
    *,
    metrics: Sequence[str] | None = None,
) -> Floats:
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
    weights = normalised_weights(weights, metrics, kind="objective")
    return np.stack([principal_direction(column) for column in z.T], axis=1) @ weights


def _max_normalised(
    objectives: Floats,
    larger_is_better: Sequence[bool] | Booleans,
    metrics: Sequence[str] | None,
    method: str,
) -> tuple[Floats, tuple[str, ...]]:
    """COPA eq. 14: at least 1, and 1 for the best."""
    values, metrics, upward = _positive(objectives, larger_is_better, metrics, method)
    return np.where(upward, values.max(axis=0) / values, values / values.min(axis=0)), metrics


def _positive(
    objectives: Floats,
    larger_is_better: Sequence[bool] | Booleans,
    metrics: Sequence[str] | None,
    method: str,
) -> tuple[Floats, tuple[str, ...], Booleans]:
    """The values as they were measured, all positive."""
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


def _validated(objectives: Floats, metrics: Sequence[str] | None) -> tuple[Floats, tuple[str, ...]]:
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
            hint=f"drop these models ({option('missing', 'drop')})",
        )
    return objectives, names
