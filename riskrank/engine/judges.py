"""Judge scores calibrated on human labels: prediction-powered inference with a tuned weight λ (method §12).

Humans scored a random subset of n samples, and a judge scored all N samples. The corrected distribution is F
= F_human,n + λ(F_judge,N − F_judge,n). The samples with both scores remove any constant bias of the judge. An
uninformative judge gets λ = 0. Each model has a separate λ, because a shared one could reverse the sign of a
difference if the judge favours a model.

The λ that is optimal for a model's own mean may be too large for a difference. The difficulty of a sample
cancels in differences of human scores. The judge's errors do not cancel, unless they are the same for all
models. All λ are therefore multiplied by a common factor in [0, 1], which is optimal for differences. It
minimises the sum over pairs of the variance relative to that from labels alone (method §12).

A judge may be less informative about the worst samples than about the mean. For a judge that mistakes good
answers for bad ones, the λ that is optimal for the mean is too large. Intervals for tail means are then wider
than those from labels alone. With Q the quantile function, the influence of a score x on the mean of the
worst proportion p is min(x, Q(p))/p, up to a constant. λ is therefore tuned for these values.

The module also compares a judge with human labels: agreement, bias, and the random selection of labelled
samples.

References
----------
A. N. Angelopoulos, J. C. Duchi, T. Zrnic (2023). PPI++: efficient prediction-powered inference.
arXiv:2311.01453.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from riskrank.engine import special
from riskrank.engine.family import Family
from riskrank.engine.numeric import Pool, relative_mid_ranks
from riskrank.engine.portfolio.quantiles import tail_value_at_risk
from riskrank.engine.sampling.degrees_of_freedom import satterthwaite
from riskrank.engine.sampling.design import ClusteredScores
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


# With more distinct values, identical scores are too rare to report.
_FEW_VALUES = 20
# Largest number of groups of a jackknife.
_MAX_GROUPS = 100


@dataclass(frozen=True)
class JudgeAgreement:
    """Agreement of two judges on the same answers, or of a judge with human labels (method §12).

    The value and its limits are None if they are undefined, as for constant scores.

    Attributes
    ----------
    first, second : str
        Names of the judges.
    statistic : {"weighted kappa", "rank correlation"}
        Cohen's κ with quadratic weights for at most 20 distinct scores on the same scale, otherwise
        Spearman's rank correlation.
    value, low, high : float or None
        Value of the statistic, and the limits of its 95 % interval.
    answers : int
        Number of answers that both judges scored.
    """

    first: str
    second: str
    statistic: str
    value: float | None
    low: float | None
    high: float | None
    answers: int

    @classmethod
    def measure(
        cls,
        names: tuple[str, str],
        scores: tuple[Floats, Floats],
        units: Integers,
        *,
        same_scale: bool = True,
    ) -> JudgeAgreement:
        """Measure the agreement of two judges.

        The interval is that of a jackknife over at most 100 groups of units, on the scale of atanh.

        Parameters
        ----------
        names : (str, str)
            Names of the judges.
        scores : (ndarray, ndarray), shapes (n,)
            Scores of both judges for the same answers.
        units : ndarray of int, shape (n,)
            Independent unit, such as the sample, of each answer.
        same_scale : bool
            False if the scores have different scales.
        """
        is_ordinal = same_scale and np.unique(np.concatenate(scores)).size <= _FEW_VALUES
        function = weighted_kappa if is_ordinal else _rank_correlation
        group = np.unique(units, return_inverse=True)[1] % _MAX_GROUPS
        kept = [np.ones(units.size, dtype=bool), *(group != g for g in range(int(group.max()) + 1))]
        values = np.array([function(*(part[rows] for part in scores)) for rows in kept])
        with np.errstate(divide="ignore", invalid="ignore"):
            z, count = np.arctanh(values), values.size - 1
            error = np.sqrt((count - 1) / count * ((z[1:] - z[1:].mean()) ** 2).sum())
            limits = np.tanh(z[0] + np.array([-1, 1]) * special.stdtrit(count - 1, 0.975) * error)
        value, *limits = [None if np.isnan(number) else float(number) for number in (values[0], *limits)]
        statistic = "weighted kappa" if is_ordinal else "rank correlation"
        return cls(*names, statistic, value, limits[0], limits[1], units.size)


def weighted_kappa(first: Floats, second: Floats) -> float:
    """Return Cohen's κ with quadratic weights, which equals Lin's concordance correlation coefficient.

    `first` and `second` are the scores of the two judges, shape (n,). The result is NaN if both give the same
    constant score.
    """
    covariance = 2 * float(((first - first.mean()) * (second - second.mean())).mean())
    total = covariance + float(((first - second) ** 2).mean())
    return covariance / total if total > 0 else np.nan


@dataclass(frozen=True)
class JudgeInspection:
    """Comparison of judge scores with human labels for k models.

    Attributes
    ----------
    agreement : ndarray, shape (k,)
        Spearman's rank correlation of human and judge scores on labelled samples; NaN if either is constant.
    identical : ndarray, shape (k,), or None
        Proportion of labelled samples with identical scores; None for judge scores on another scale, or if
        there are too many distinct values.
    bias, bias_low, bias_high : ndarray, shape (k,)
        Mean judge score minus mean human score on labelled samples, on the human scale, with the limits of
        simultaneous intervals.
    shift : ndarray, shape (k,)
        Mean judge score on labelled samples minus that on unlabelled samples.
    shift_p : ndarray, shape (k,)
        P-values for the null hypothesis of no shift (Welch's t test), adjusted by Holm's method.
    separated_by_labels, separated : int
        Number of pairs of models with significantly different means (Holm), based on labels alone, and with
        the judge.
    """

    agreement: Floats
    identical: Floats | None
    bias: Floats
    bias_low: Floats
    bias_high: Floats
    shift: Floats
    shift_p: Floats
    separated_by_labels: int
    separated: int


def inspect_judge(
    corrections: Sequence[Correction], raw: Sequence[Floats], *, mapped: bool, family: Family = Family()
) -> JudgeInspection:
    """Compare judge scores with human labels.

    Parameters
    ----------
    corrections : sequence of k Correction
        Human and judge scores of each model.
    raw : sequence of k ndarrays, shapes (N,)
        Original judge scores, labelled samples first.
    mapped : bool
        True if the corrections use judge scores mapped to the human scale.
    family : Family
        Level and correction for multiple tests.

    Returns
    -------
    JudgeInspection
    """
    n, k = corrections[0].n_labelled, len(corrections)
    errors = [model.judge[:n] - model.human for model in corrections]
    bias = np.array([error.mean() for error in errors])
    quantile = special.stdtrit(n - 1, family.interval_level(k) / 2)
    half = np.array([error.std(ddof=1) for error in errors]) / np.sqrt(n) * -quantile
    shift, shift_p = label_shifts(raw, n)
    identical = None
    values = np.unique(np.concatenate([np.append(model.human, model.judge) for model in corrections]))
    if not mapped and values.size <= _FEW_VALUES:
        identical = np.array([np.mean(model.human == model.judge[:n]) for model in corrections])
    return JudgeInspection(
        agreement=np.array(
            [_rank_correlation(fit.human, scores[:n]) for fit, scores in zip(corrections, raw, strict=True)]
        ),
        identical=identical,
        bias=bias,
        bias_low=bias - half,
        bias_high=bias + half,
        shift=shift,
        shift_p=shift_p,
        separated_by_labels=_count_separated([(model.human, None) for model in corrections], family),
        separated=_count_separated([model.parts for model in corrections], family),
    )


def label_shifts(raw: Sequence[Floats], n: int) -> tuple[Floats, Floats]:
    """Compare the judge's mean scores on labelled and unlabelled samples, for each model.

    Parameters
    ----------
    raw : sequence of k ndarrays, shapes (N,)
        Judge scores of each model, labelled samples first.
    n : int
        Number of labelled samples.

    Returns
    -------
    differences : ndarray, shape (k,)
        Mean on labelled samples minus mean on unlabelled samples.
    p_values : ndarray, shape (k,)
        P-values of Welch's t test, adjusted for the number of models.
    """
    parts = [(scores[:n], scores[n:]) for scores in raw]
    differences = [float(first.mean() - second.mean()) for first, second in parts]
    return np.array(differences), Family().adjust_p_values([*map(_two_sided_p_value, differences, parts)])


def _rank_correlation(first: Floats, second: Floats) -> float:
    """Return Spearman's rank correlation of two arrays; NaN if one of them is constant."""
    ranks = [relative_mid_ranks(values, [Pool(np.sort(values))]) for values in (first, second)]
    centred = [rank - rank.mean() for rank in ranks]
    scale = float(np.sqrt((centred[0] @ centred[0]) * (centred[1] @ centred[1])))
    return float(centred[0] @ centred[1]) / scale if scale > 0 else np.nan


def _two_sided_p_value(estimate: float, parts: Sequence[Floats], fitted: int = 0) -> float:
    """Return Welch's two-sided p-value for the null hypothesis that an estimate is 0.

    Parameters
    ----------
    estimate : float
        Sum or difference of independent means.
    parts : sequence of ndarrays
        Observations behind each mean.
    fitted : int
        Number of fitted parameters, by which Satterthwaite's degrees of freedom are reduced.
    """
    variances = np.array([part.var(ddof=1) / part.size for part in parts])
    error = float(np.sqrt(variances.sum()))
    if error == 0:
        return float(estimate == 0)
    df = float(satterthwaite(variances, np.array([part.size for part in parts])).df) - fitted
    return 2 * float(special.stdtr(df, -abs(estimate) / error))


def _count_separated(models: Sequence[tuple[Floats, Floats | None]], family: Family) -> int:
    """Count the pairs of models with significantly different means.

    Each model is given by two arrays, for its labelled and its unlabelled samples. The second one is None
    without a judge.
    """
    p_values = []
    for second, first in combinations(models, 2):
        parts = [a - b for a, b in zip(first, second, strict=True) if a is not None and b is not None]
        difference = float(sum(part.mean() for part in parts))
        p_values.append(_two_sided_p_value(difference, parts, fitted=len(parts) > 1))
    return int(np.count_nonzero(family.significant(family.adjust_p_values(p_values))))


@dataclass(frozen=True)
class JudgedRows:
    """Rows of one model in a column with judge scores, with the origin of each score.

    Attributes
    ----------
    values, signed : ndarray, shape (n,)
        Scores and their signed weights.
    labelled : ndarray of bool, shape (n,)
        True for scores of labelled samples, whether by humans or by the judge.
    human : ndarray of bool, shape (n,)
        True for human scores.
    """

    values: Floats
    signed: Floats
    labelled: Booleans
    human: Booleans

    @classmethod
    def from_scores(cls, scores: ClusteredScores, model: int) -> JudgedRows:
        """Extract the scores of the model with index `model`, with their signed weights."""
        labelled = scores.strata.cluster_tasks[model][scores.clusters[model]] == 0
        signed = scores.mean_weights[model]
        return cls(scores.values[model], signed, labelled, labelled & (signed > 0))


def tune_for_tail(scores: ClusteredScores, level: float) -> ClusteredScores:
    """Return the scores with judge weights tuned for the tail mean; without a judge, return them unchanged.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    level : float
        Proportion p of worst scores.
    """
    if not scores.judged:
        return scores
    models = [JudgedRows.from_scores(scores, model) for model in range(scores.models)]
    truncated = []
    for rows in models:
        human, labelled = rows.values[rows.human], rows.values[rows.labelled & ~rows.human]
        judge = np.concatenate((labelled, rows.values[~rows.labelled]))
        # The influence of a score on the tail mean is that of the score truncated at the quantile.
        edge = float(np.quantile(human, level, method="inverted_cdf"))
        truncated.append(Correction.fit(np.minimum(human, edge), np.minimum(judge, edge)))
    signed = []
    for rows, fit in zip(models, tune_for_differences(truncated), strict=True):
        n = int(rows.human.sum())
        total = rows.values.size - n
        weights = np.full(rows.values.size, fit.judge_weight / total)
        weights[rows.labelled] = fit.judge_weight * (1 / total - 1 / n)
        weights[rows.human] = 1 / n
        signed.append(weights)
    return replace(scores, strata=replace(scores.strata, signed=tuple(signed)))


def judged_tail_means(scores: ClusteredScores, levels: Floats) -> Floats:
    """Return the tail means of each model, with judge weights tuned for each tail proportion.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    levels : ndarray, shape (l,)
        Proportions of worst scores, in (0, 1].

    Returns
    -------
    ndarray, shape (k, l)
    """
    means = []
    for level in levels.tolist():
        tuned = tune_for_tail(scores, level)
        models = zip(tuned.values, tuned.weights, strict=True)
        means.append([tail_value_at_risk(values, level, weights) for values, weights in models])
    return np.array(means, dtype=np.float64).T
