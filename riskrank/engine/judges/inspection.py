"""Comparison of a judge with human labels: agreement, bias, and the random selection of labelled samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from riskrank.engine import special
from riskrank.engine.family import Family
from riskrank.engine.judges.correction import Correction
from riskrank.engine.sampling.degrees_of_freedom import satterthwaite
from riskrank.engine.ties import Pool, relative_mid_ranks
from riskrank.engine.types import Floats, Integers

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
