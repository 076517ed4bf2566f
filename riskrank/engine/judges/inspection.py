"""What people's scores say of a judge: agreement, bias, whether the labels were chosen by chance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # loads its functions when they are first used

from riskrank.engine.family import Family
from riskrank.engine.judges.correction import Correction
from riskrank.engine.sampling.degrees_of_freedom import satterthwaite
from riskrank.engine.ties import Pool, mid_rank_shares
from riskrank.engine.types import Floats

# Scores of so few different values may be the very same ones.
_FEW_VALUES = 20


@dataclass(frozen=True)
class JudgeInspection:
    """A judge of k models.

    Attributes
    ----------
    agreement : ndarray, shape (k,)
        Spearman's rank correlation of people's scores and the judge's on the labelled samples; NaN of
        constants.
    same : ndarray, shape (k,), or None
        Share of them with the same score, where both count in few whole steps on one scale.
    bias, bias_low, bias_high : ndarray, shape (k,)
        Judge's mean less people's on the labelled samples, on people's scale; intervals hold together.
    shift : ndarray, shape (k,)
        The judge's mean on labelled samples less that on the others.
    shift_p : ndarray, shape (k,)
        P-values of no such shift (Welch's t), adjusted by Holm.
    told_by_labels, told : int
        Pairs of models whose means differ significantly by the labels alone, and with the judge (Holm).
    """

    agreement: Floats
    same: Floats | None
    bias: Floats
    bias_low: Floats
    bias_high: Floats
    shift: Floats
    shift_p: Floats
    told_by_labels: int
    told: int


def inspect_judge(
    corrections: Sequence[Correction], raw: Sequence[Floats], *, mapped: bool, family: Family = Family()
) -> JudgeInspection:
    """Look at a judge.

    Parameters
    ----------
    corrections : sequence of k Correction
    raw : sequence of k ndarrays, shapes (N,)
        The judge's own scores, labelled samples first.
    mapped : bool
        Whether the corrections hold the judge's scores on another scale than its own.
    family : Family

    Returns
    -------
    JudgeInspection
    """
    n, k = corrections[0].labelled, len(corrections)
    errors = [one.judge[:n] - one.human for one in corrections]
    bias = np.array([own.mean() for own in errors])
    quantile = scipy.special.stdtrit(n - 1, family.level(k) / 2)
    half = np.array([_standard_error(own) for own in errors]) * -quantile
    shift, shift_p = shifts(raw, n)
    return JudgeInspection(
        agreement=np.array(
            [_rank_correlation(one.human, own[:n]) for one, own in zip(corrections, raw, strict=True)]
        ),
        same=None if mapped else _same(corrections),
        bias=bias,
        bias_low=bias - half,
        bias_high=bias + half,
        shift=shift,
        shift_p=shift_p,
        told_by_labels=_told([(one.human, None) for one in corrections], family),
        told=_told([one.parts for one in corrections], family),
    )


def shifts(raw: Sequence[Floats], n: int) -> tuple[Floats, Floats]:
    """Judge's means on the first n samples less those on the others, and Welch's p-values (Holm)."""
    parts = [(own[:n], own[n:]) for own in raw]
    apart = [float(first.mean() - second.mean()) for first, second in parts]
    return np.array(apart), Family().adjusted([*map(_two_sided, apart, parts)])


def _standard_error(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(values.size))


def _rank_correlation(first: Floats, second: Floats) -> float:
    places = [mid_rank_shares(values, [Pool(np.sort(values))]) for values in (first, second)]
    away = [own - own.mean() for own in places]
    size = float(np.sqrt((away[0] @ away[0]) * (away[1] @ away[1])))
    return float(away[0] @ away[1]) / size if size > 0 else np.nan


def _same(corrections: Sequence[Correction]) -> Floats | None:
    values = np.unique(np.concatenate([np.append(one.human, one.judge) for one in corrections]))
    if values.size > _FEW_VALUES:
        return None
    return np.array([np.mean(one.human == one.judge[: one.labelled]) for one in corrections])


def _two_sided(estimate: float, parts: Sequence[Floats], fitted: int = 0) -> float:
    """Two-sided, of a sum or difference of means; Satterthwaite's degrees of freedom, less those of a fit."""
    variances = np.array([part.var(ddof=1) / part.size for part in parts])
    error = float(np.sqrt(variances.sum()))
    if error == 0:
        return float(estimate == 0)
    df = float(satterthwaite(variances, np.array([part.size for part in parts])).df) - fitted
    return 2 * float(scipy.special.stdtr(df, -abs(estimate) / error))


def _told(models: Sequence[tuple[Floats, Floats | None]], family: Family) -> int:
    """Pairs whose means differ: of labelled samples, and of the others where they add something."""
    p_values = [_p_value(one, other) for i, one in enumerate(models) for other in models[:i]]
    return int(np.count_nonzero(family.significant(family.adjusted(p_values))))


def _p_value(first: tuple[Floats, Floats | None], second: tuple[Floats, Floats | None]) -> float:
    """Two-sided, of the difference of two models' sums of means; one degree of freedom goes for λ."""
    both = zip(first, second, strict=True)
    parts = [own - other for own, other in both if own is not None and other is not None]
    return _two_sided(float(sum(part.mean() for part in parts)), parts, fitted=len(parts) > 1)
