"""The classical scalarizations, which combine objectives into one score, and their comparison with COPA.

All take objectives oriented so that larger is better, and return scores for which smaller is better, like the
COPA norm. Ratios require the original values: columns with `larger_is_better` contain them, the others their
negatives.

The analytic hierarchy process uses the principal eigenvector of pairwise comparisons (COPA App. A).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import RankComparison, compare_rankings
from riskrank.engine.copa.population import Population
from riskrank.engine.copa.ranking import power_norm, rank_models
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, NumericalError, option

# The scale of pairwise comparisons goes from 1 to 9.
_SPAN = 8.0
_POWER_ITERATIONS = 1000

# The comparison matrix is positive with entries in [1/9, 9], so the iteration converges to full precision.
_POWER_TOLERANCE = 1e-14


def principal_direction(z: Floats) -> Floats:
    """Return the principal eigenvector of one objective's comparison matrix, scaled to sum to 1.

    With t = 8 (ln z - ln min z) / (ln max z - ln min z), model i compares with j as 1 + t_i - t_j if
    z_i ≥ z_j and as the reciprocal of the opposite comparison otherwise (COPA eq. 16).

    Parameters
    ----------
    z : ndarray, shape (N,)
        Positive. In a constant column, all comparisons are 1.

    Returns
    -------
    ndarray, shape (N,)

    Raises
    ------
    NumericalError
        If the power iteration does not converge.

    Notes
    -----
    The N × N matrix is never built. In the order of t, its lower triangle 1 + t_i - t_j separates into
    functions of i times functions of j, so cumulative sums apply it. The upper triangle 1/(1 + t_j - t_i)
    separates as well, once it is written as ∫ exp(-s (1 + t_j - t_i)) ds and the integral as a sum. Both add
    positive terms only and keep full precision. Memory and time grow with N, not N².
    """
    logs = np.log(z)
    low, high = logs.min(), logs.max()
    t = _SPAN * (logs - low) / (high - low if high > low else 1.0)
    order = np.argsort(t, kind="stable")
    t = t[order]
    # Nodes s and weights w such that 1/(1 + x) ≈ Σ w exp(-s x), with an error of at most 1e-14 in [0, 8].
    nodes, weights = np.polynomial.legendre.leggauss(16)
    edges = np.array([0.0, 1.0, 3.0, 8.0, 18.0, 38.0])
    half = np.diff(edges)[:, None] / 2
    s = (edges[:-1, None] + half * (nodes + 1)).ravel()
    quadrature = (half * weights).ravel() * np.exp(-s)
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
    problem = "the power iteration of AHP did not converge"
    detail = f"changes above {_POWER_TOLERANCE:g} after {_POWER_ITERATIONS} iterations"
    raise NumericalError(problem, found=detail, hint="exclude AHP from the comparison")


@dataclass(frozen=True, eq=False)
class Scalarizations:
    """Scores of N models on K objectives by several scalarizations.

    Every method returns an array of shape (N,) in which smaller is better.

    Attributes
    ----------
    objectives : array of shape (N, K)
        Larger is better.
    larger_is_better : array of bool, shape (K,)
        False for columns that were negated.
    weights : array of shape (K,)
        Weights ω, summing to 1.
    metrics : sequence of K str
        Used in error messages.
    """

    objectives: Floats
    larger_is_better: Booleans
    weights: Floats
    metrics: Sequence[str]

    def weighted_sum(self) -> Floats:
        """Return the weighted sum Σ_k ω_k f_k of the negated objectives f (COPA §1).

        With equal weights this is the plain average.

        Raises
        ------
        InputError
            If a value is not finite; all methods of this class raise this error.
        """
        return -self._require_finite() @ self.weights

    def delta(self) -> Floats:
        """Return the weighted mean of the relative distances to the ideal, |f_k - ideal_k| / |ideal_k|.

        COPA eq. 6. The ideal is the best value in the table.

        Raises
        ------
        InputError
            If a column has zero or negative values before orientation.
        """
        values = self._require_positive("Δ")
        ideal = np.where(self.larger_is_better, values.max(axis=0), values.min(axis=0))
        return (np.abs(values - ideal) / ideal) @ self.weights

    def min_max(self) -> Floats:
        """Return the weighted mean of (f_k - ideal_k) / (nadir_k - ideal_k), COPA eq. 6.

        The ideal is the best value f_k in the table, the nadir the worst. A constant column contributes 0.
        """
        objectives = self._require_finite()
        ideal = objectives.max(axis=0)
        spread = ideal - objectives.min(axis=0)
        return ((ideal - objectives) / np.where(spread > 0, spread, 1.0)) @ self.weights

    def simple_additive_weighting(self) -> Floats:
        """Return the SAW score: the weighted mean of max-normalised objectives, at least 1.

        COPA eq. 14 and 15, the paper's minimisation form: max/x for objectives to maximise, x/min for those
        to minimise. The textbook form, eq. 13, uses the reciprocals and chooses other models.

        Raises
        ------
        InputError
            As in `delta`.
        """
        return self._max_normalised("SAW") @ self.weights

    def multiplicative_exponent_weighting(self) -> Floats:
        """Return the MEW score: the weighted geometric mean of max-normalised objectives (COPA App. A).

        The score is at least 1.

        Raises
        ------
        InputError
            As in `delta`.
        """
        return np.exp(np.log(self._max_normalised("MEW")) @ self.weights)

    def analytic_hierarchy_process(self) -> Floats:
        """Return the AHP score: the weighted mean of principal eigenvectors of pairwise comparisons.

        COPA App. A, eq. 16. With z max-normalised and t = 8 (ln z - ln min z) / (ln max z - ln min z), model
        i compares with j as 1 + t_i - t_j if z_i ≥ z_j and as the reciprocal of the opposite comparison
        otherwise. In a constant column, all comparisons are 1.

        Raises
        ------
        InputError
            As in `delta`.
        NumericalError
            If the power iteration does not converge.
        """
        z = self._max_normalised("AHP")
        return np.stack([principal_direction(column) for column in z.T], axis=1) @ self.weights

    def _max_normalised(self, method: str) -> Floats:
        """Return the max-normalised objectives, shape (N, K): 1 for the best model, larger for others.

        See COPA eq. 14. `method` is the name of the scalarization, for the error message.

        Raises
        ------
        InputError
            If a value is not positive.
        """
        values = self._require_positive(method)
        return np.where(self.larger_is_better, values.max(axis=0) / values, values / values.min(axis=0))

    def _require_positive(self, method: str) -> Floats:
        """Return the original values, shape (N, K); raise an InputError unless all are positive.

        `method` is the name of the scalarization, for the error message.
        """
        objectives = self._require_finite()
        values = np.where(self.larger_is_better, objectives, -objectives)
        wrong = (values <= 0).any(axis=0)
        if wrong.any():
            k = int(np.argmax(wrong))
            column = values[:, k]
            problem = f"{method} divides by the values of {self.metrics[k]!r}, which must be positive"
            detail = f"zeros: {int((column == 0).sum())}, negative values: {int((column < 0).sum())}"
            hint = f"exclude {method} or this objective, or use COPA, which needs only ranks"
            raise InputError(problem, found=detail, hint=hint)
        return values

    def _require_finite(self) -> Floats:
        """Return the objectives, shape (N, K); raise an InputError if any is missing or infinite."""
        wrong = ~np.isfinite(self.objectives)
        if wrong.any():
            k = int(np.argmax(wrong.any(axis=0)))
            problem = f"the values of {self.metrics[k]!r} must be finite to be summed"
            detail = f"{int(wrong[:, k].sum())} values missing or infinite"
            raise InputError(problem, found=detail, hint=f"drop these models ({option('missing', 'drop')})")
        return self.objectives


def outer_weighted_norm(u: Floats, weights: Floats, p: float) -> Floats:
    """Return the usual weighted p-norm (Σ_k ω_k u_k^p)^(1/p), with the weights outside the power.

    See COPA §3.3 and Fig. B.2. For p = ∞, the norm is the largest u_k with a positive weight.

    Parameters
    ----------
    u : array of shape (N, K)
        Relative ranks, or any non-negative values for which smaller is better.
    weights : array of shape (K,)
        Weights of the objectives.
    p : float
        At least 1; may be infinite.

    Returns
    -------
    array of shape (N,)
        Smaller is better.
    """
    # ω^(1/p) inside the power equals ω outside; 1/∞ = 0 turns positive weights into 1.
    return power_norm(u * np.where(weights > 0, weights ** (1 / p), 0.0), p)


BASELINES = ("average", "delta", "min-max", "p-norm", "saw", "ahp", "mew")

# Order of the usual weighted p-norm if no finite p above 1 is requested: the order in COPA Fig. B.2.
_USUAL_P = 8.0


@dataclass(frozen=True)
class ScalarizationComparison:
    """Rankings of the feasible models by several scalarizations.

    Attributes
    ----------
    names : tuple of str
        Names of the M scalarizations.
    models : array of int, shape (N,)
        Feasible models in the COPA order for the first p, best first.
    scores : array of shape (M, N)
        COPA norms, and values of the other scalarizations; smaller is better.
    comparison : RankComparison
        Agreement of the rankings, with models in the same order.
    excluded : dict of str to InputError
        Scalarizations that cannot be computed for this table, with the reason.
    """

    names: tuple[str, ...]
    models: Integers
    scores: Floats
    comparison: RankComparison
    excluded: dict[str, InputError]


def compare_scalarizations(
    models: Population,
    values: Floats,
    larger_is_better: Booleans,
    weights: Floats,
    *,
    orders: Sequence[float],
    baselines: Sequence[str] = BASELINES,
    lenient: bool = True,
) -> ScalarizationComparison:
    """Rank models by COPA with several norms and by classical scalarizations (COPA Fig. 6 and 7).

    Every scalarization, with its ideals and ranges, is computed on the whole population. Then the rankings of
    the feasible models are compared.

    Parameters
    ----------
    models : Population
        Models with their relative ranks and Pareto front.
    values : array of shape (N, K)
        Values of N models on K objectives in original units; NaN where missing.
    larger_is_better : array of bool, shape (K,)
        True for objectives to maximise.
    weights : array of shape (K,)
        Weights of the objectives, the same for all scalarizations.
    orders : sequence of float
        Orders p of the COPA norm.
    baselines : sequence of str
        Scalarizations to compare with, from `BASELINES`.
    lenient : bool
        Whether to exclude scalarizations that cannot be computed, instead of raising an error.

    Returns
    -------
    ScalarizationComparison

    Raises
    ------
    InputError
        If a scalarization cannot be computed and `lenient` is False, or if there are fewer than two feasible
        models.
    """
    rankings = [rank_models(models, weights, p=p) for p in orders]
    names = [f"copa(p={p:g})" for p in orders]
    scores = [ranking.norm for ranking in rankings]
    # Ranks are used because tied norms have different ranks after tie-breaking.
    sort_keys = [ranking.rank.astype(np.float64) for ranking in rankings]
    oriented = values * np.where(larger_is_better, 1.0, -1.0)
    usual_p = max((p for p in orders if 1 < p < np.inf), default=_USUAL_P)
    scalarizations = Scalarizations(oriented, larger_is_better, weights, models.metrics)
    methods = {
        "average": scalarizations.weighted_sum,
        "delta": scalarizations.delta,
        "min-max": scalarizations.min_max,
        "p-norm": lambda: outer_weighted_norm(models.u, weights, usual_p),
        "saw": scalarizations.simple_additive_weighting,
        "ahp": scalarizations.analytic_hierarchy_process,
        "mew": scalarizations.multiplicative_exponent_weighting,
    }
    excluded = {}
    for name in baselines:
        try:
            score = methods[name]()
        except InputError as error:
            if not lenient:
                raise
            excluded[name] = error
            continue
        names.append(f"p-norm(p={usual_p:g})" if name == "p-norm" else name)
        scores.append(score)
        sort_keys.append(score)
    feasible = rankings[0].order
    return ScalarizationComparison(
        names=tuple(names),
        models=feasible,
        scores=np.stack(scores)[:, feasible],
        comparison=compare_rankings(np.stack(sort_keys)[:, feasible]),
        excluded=excluded,
    )
