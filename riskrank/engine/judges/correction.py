"""Judge scores calibrated on human labels: prediction-powered inference with a tuned weight λ (method §12).

Humans scored a random subset of n samples, and a judge scored all N samples. The corrected distribution is F
= F_human,n + λ(F_judge,N − F_judge,n). The samples with both scores remove any constant bias of the judge. An
uninformative judge gets λ = 0. Each model has a separate λ, because a shared one could reverse the sign of a
difference if the judge favours a model.

The λ that is optimal for a model's own mean may be too large for a difference. The difficulty of a sample
cancels in differences of human scores. The judge's errors do not cancel, unless they are the same for all
models. All λ are therefore multiplied by a common factor in [0, 1], which is optimal for differences. It
minimises the sum over pairs of the variance relative to that from labels alone (method §12).

References
----------
A. N. Angelopoulos, J. C. Duchi, T. Zrnic (2023). PPI++: efficient prediction-powered inference.
arXiv:2311.01453.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine import special
from riskrank.engine.sampling.degrees_of_freedom import satterthwaite
from riskrank.engine.types import Booleans, Floats, Integers

# Smallest number of samples scored only by the judge; fewer have no variance.
MIN_UNLABELLED = 2

# Family-wise level of the test for a non-random choice of labels, which more labels do not fix.
LABELS_ALPHA = 0.01

# Number of folds for cross-fitting.
FOLDS = 5


@dataclass(frozen=True)
class Correction:
    """Human and judge scores of one model, with the weight λ of the judge.

    Attributes
    ----------
    human : ndarray, shape (n,)
        Human scores of the labelled samples.
    judge : ndarray, shape (N,)
        Judge scores of all samples, the labelled ones first.
    judge_weight : float
        Weight λ of the judge, in [0, 1].
    unclipped_weight : float
        λ before clipping to [0, 1]; negative if judge scores and labels are negatively correlated.
    """

    human: Floats
    judge: Floats
    judge_weight: float
    unclipped_weight: float

    @classmethod
    def fit(cls, human: Floats, judge: Floats) -> Correction:
        """Choose the λ that minimises the variance of the corrected mean, Cov(h, j)/Var(j).

        `human` holds the labels h, shape (n,), and `judge` the judge scores j, shape (N,), labelled samples
        first. F_judge,N includes the labelled samples, so this λ equals that of PPI++, which uses only the
        other samples, times N/(N − n).
        """
        human, judge, n = np.ascontiguousarray(human), np.ascontiguousarray(judge), len(human)
        unit = float(np.abs(judge).max()) or 1.0
        scaled = judge / unit
        centred, variance = scaled[:n] - scaled[:n].mean(), float(scaled.var(ddof=1))
        slope = float((human - human.mean()) @ centred / n / variance / unit) if variance > 0 else 0.0
        return cls(human, judge, min(max(slope, 0.0), 1.0), slope)

    @property
    def n_labelled(self) -> int:
        """Number of labelled samples, n."""
        return len(self.human)

    @property
    def mean(self) -> float:
        """Mean score, estimated from the labels and corrected by the judge scores of all samples."""
        n = self.n_labelled
        return float(self.human.mean() + self.judge_weight * (self.judge.mean() - self.judge[:n].mean()))

    @property
    def parts(self) -> tuple[Floats, Floats]:
        """Two independent terms whose means add up to the corrected mean.

        They are the residuals of the labelled samples, shape (n,), and the weighted judge scores of the other
        samples, shape (N − n,). Judge scores are centred at their mean over the labelled samples and
        multiplied by λ' = λ(N − n)/N. The centring cancels.
        """
        n = self.n_labelled
        scaled = self.judge_weight * (1 - n / len(self.judge)) * (self.judge - self.judge[:n].mean())
        return self.human - scaled[:n], scaled[n:]

    @property
    def variance(self) -> float:
        """Variance of the corrected mean; estimating λ costs one degree of freedom."""
        errors, unlabelled = self.parts
        n = self.n_labelled
        return float(errors.var() / max(n - 2, 1) + unlabelled.var(ddof=1) / len(unlabelled))

    def interval(self, level: float = 0.05) -> tuple[float, float]:
        """Return the limits of the corrected mean's confidence interval at a two-sided level.

        It is Student's interval, with Satterthwaite's degrees of freedom minus one for the estimate of λ.
        """
        n = self.n_labelled
        errors, unlabelled = (part.var(ddof=1) / len(part) for part in self.parts)
        dof = satterthwaite(np.array([errors, unlabelled]), np.array([n, len(self.judge) - n]))
        quantile = special.stdtrit(max(float(dof.df) - 1, 1.0), level / 2)
        half = -float(quantile) * float(np.sqrt(self.variance))
        return self.mean - half, self.mean + half

    @property
    def effective_labels(self) -> float:
        """Number of labels that would give the mean the same variance without the judge, between n and N.

        The optimal λ ≥ 0 cannot increase the variance, so an apparent increase is estimation noise.
        """
        labels_only, with_judge = float(self.human.var(ddof=1)), self.variance
        if not with_judge > 0:
            return float(len(self.judge)) if labels_only > 0 else float(self.n_labelled)
        return min(max(labels_only / with_judge, float(self.n_labelled)), float(len(self.judge)))

    def weighted_rows(self) -> tuple[Floats, Floats]:
        """Return all scores of the model and their signed weights in the corrected mean, shapes (n + N,).

        Human scores come first, then judge scores of labelled samples, then other judge scores.
        """
        n, total = self.n_labelled, len(self.judge)
        weights = 1 / n, self.judge_weight * (1 / total - 1 / n), self.judge_weight / total
        return np.concatenate((self.human, self.judge)), np.repeat(weights, [n, n, total - n])


def map_to_human_scale(human: Floats, judge: Floats) -> Floats:
    """Map judge scores to the human scale by cross-fitted isotonic regression (method §12).

    A labelled sample is mapped by the regression that is fitted to the other folds, so its own label is not
    used. Unlabelled samples are mapped by the average of all fits.

    Parameters
    ----------
    human : ndarray, shape (n,)
        Human scores of the labelled samples.
    judge : ndarray, shape (N,)
        Judge scores, labelled samples first.

    Returns
    -------
    ndarray, shape (N,)
        Mapped judge scores.
    """
    from scipy.optimize import isotonic_regression  # a tenth of a second to import

    n = len(human)
    # Random folds avoid patterns in the order of the samples; the seed makes them reproducible.
    fold: Integers = np.random.default_rng(n).permutation(n) % FOLDS
    mapped = np.zeros(len(judge))
    for i in range(FOLDS):
        in_fit, test = fold != i, np.flatnonzero(fold == i)
        points, codes, counts = np.unique(judge[:n][in_fit], return_inverse=True, return_counts=True)
        means = np.bincount(codes, human[in_fit]) / counts
        values = isotonic_regression(means, weights=counts.astype(np.float64)).x
        mapped[test] = np.interp(judge[test], points, values)
        mapped[n:] += np.interp(judge[n:], points, values) / FOLDS
    return mapped


# Variances of differences below this share of the models' variances are rounding errors.
_ROUNDING = 1e-9


def tune_for_differences(corrections: Sequence[Correction]) -> tuple[Correction, ...]:
    """Multiply all λ by a common factor that is optimal for differences between models.

    Let h be a pair's difference in human scores and j its λ-weighted difference in judge scores, with n
    labels among N samples. With a = cov(h, j)/var(h) and b = var(j)/var(h), the factor t changes the pair's
    variance relative to that from labels alone by (t²b − 2ta)(N − n)/N. The sum over all pairs has its
    minimum at t = Σa/Σb.

    Parameters
    ----------
    corrections : sequence of k Correction
        Corrections of models with shared samples.

    Returns
    -------
    tuple of k Correction
    """
    n = corrections[0].n_labelled
    human = np.array([model.human - model.human.mean() for model in corrections])
    weighted = np.array([model.judge_weight * (model.judge - model.judge.mean()) for model in corrections])
    units = [float(np.abs(scores).max()) or 1.0 for scores in (human, weighted)]
    human, weighted = human / units[0], weighted / units[1]
    centred = weighted[:, :n] - weighted[:, :n].mean(axis=1, keepdims=True)
    base, usable = _difference_variances(human @ human.T / n)
    judged, varies = _difference_variances(weighted @ weighted.T / (weighted.shape[1] - 1))
    usable &= varies
    if not usable.any():
        return tuple(corrections)
    covariance = human @ centred.T / n
    joint, _ = _difference_variances((covariance + covariance.T) / 2)
    optimum = np.sum(joint[usable] / base[usable]) / np.sum(judged[usable] / base[usable])
    factor = min(max(float(optimum) * units[0] / units[1], 0.0), 1.0)
    return tuple(replace(model, judge_weight=model.judge_weight * factor) for model in corrections)


def labels_for_differences(corrections: Sequence[Correction]) -> Floats:
    """Return the number of labels that would give each difference the same variance without the judge.

    There is one number per pair of models (i < j), in the order of ``np.triu_indices``. The number is less
    than n if the judge makes a difference less precise. It equals n if a difference has no variance over the
    labels, and N if the corrected difference has no variance.
    """
    n, total = corrections[0].n_labelled, len(corrections[0].judge)
    errors, unlabelled = (np.array(part) for part in zip(*(fit.parts for fit in corrections), strict=True))
    variances = np.cov(errors) * (n - 1) / n / max(n - 2, 1) + np.cov(unlabelled) / (total - n)
    labels_only, differ = _difference_variances(np.cov([model.human for model in corrections]))
    corrected, varies = _difference_variances(variances)
    with np.errstate(divide="ignore", invalid="ignore"):
        labels = np.where(varies, np.minimum(labels_only / corrected, total), total)
    upper = np.triu_indices(len(corrections), 1)
    return np.where(differ, labels, n)[upper]


def _difference_variances(covariances: Floats) -> tuple[Floats, Booleans]:
    """Return the variance of every pairwise difference, given the k × k covariance matrix of the models.

    Also return a mask of the variances that exceed rounding errors. Both have shape (k, k).
    """
    variances = np.diagonal(covariances)
    differences = variances[:, None] + variances[None, :] - covariances - covariances.T
    return differences, differences > _ROUNDING * (variances[:, None] + variances[None, :])
