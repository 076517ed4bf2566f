"""Quality vectors with mixed scales, and preference systems, which order the vectors and their differences.

A *quality vector* is a model's scores on all criteria for one sample, as exact integers. Differences of
cardinal scores are compared with each other, and 0.3 - 0.1 != 0.2 in floating point. Integers are compared
exactly.

A preference system orders the vectors (R1) and the exchanges of one vector for a better one (R2); method §6,
[GSD] eq. 1-3. Both are component-wise orders on integers. Only their covering relations are stored, which
imply all others.
"""

import itertools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, UsageError, option

MANY_LEVELS = 50

# Floats represent all integers exactly up to here.
_EXACT = 2**53
_MOST_DIGITS = 15
_SIGNIFICANT_DIGITS = 12


@dataclass(frozen=True)
class Scale:
    """Scale of one criterion: the mapping from integers to scores.

    Attributes
    ----------
    levels : ndarray or None
        Distinct values of an ordinal criterion, increasing, with integer codes 0, 1, ...; None for a cardinal
        criterion.
    digits : float
        Number of decimal places of a cardinal criterion: a score equals its integer divided by 10**digits. It
        is a whole number unless a tolerance is given.
    lower, upper : int or None
        Declared bounds as integers; None if the observed extremes are used.
    """

    levels: Floats | None
    digits: float
    lower: int | None
    upper: int | None

    @property
    def ordinal(self) -> bool:
        """True if only the order of the scores is meaningful."""
        return self.levels is not None

    def decode(self, integers: Integers) -> Floats:
        """Convert integers of this scale to scores, in the same shape."""
        return integers / 10.0**self.digits if self.levels is None else self.levels[integers]


@dataclass(frozen=True)
class QualityTable:
    """Quality vectors of all models, as exact integers.

    Attributes
    ----------
    vectors : ndarray of int, shape (d, n)
        The distinct quality vectors of all models, in lexicographic order.
    scales : tuple of Scale, length n
        Scale of each criterion.
    index : ndarray of int, shape (k, s, r)
        Row in ``vectors`` for each model, sample and repeat; 0 for an absent repeat.
    weight : ndarray, shape (k, s, r)
        Weight of each repeat within its sample, 1 / repeats; 0 for an absent repeat.
    """

    vectors: Integers
    scales: tuple[Scale, ...]
    index: Integers
    weight: Floats

    @property
    def models(self) -> int:
        """Number of models, k."""
        return self.index.shape[0]

    @property
    def samples(self) -> int:
        """Number of samples, s."""
        return self.index.shape[1]

    @property
    def ordinal(self) -> Booleans:
        """Mask of the ordinal criteria, shape (n,)."""
        return np.array([scale.ordinal for scale in self.scales])

    @property
    def models_are_identical(self) -> bool:
        """True if all models have the same distribution of quality vectors."""
        masses = [np.bincount(*map(np.ravel, mass)) for mass in zip(self.index, self.weight, strict=True)]
        return all(len(mass) == len(masses[0]) and np.allclose(mass, masses[0], atol=1e-9) for mass in masses)

    def decode(self, vectors: Integers) -> Floats:
        """Convert vectors of integers to vectors of scores, both of shape (m, n)."""
        return np.stack([scale.decode(vectors[:, j]) for j, scale in enumerate(self.scales)], axis=1)


def quality_table(
    scores: ArrayLike,
    *,
    ordinal: ArrayLike,
    bounds: ArrayLike | None = None,
    digits: int | Sequence[int | None] | None = None,
    tolerance: float | Sequence[float | None] | None = None,
    names: Sequence[str] | None = None,
) -> QualityTable:
    """Convert scores to quality vectors of exact integers.

    R2 compares differences, which is exact with integers but not in floating point. A cardinal criterion
    with decimal scores is scaled by the power of ten that makes them integers. Other cardinal criteria are
    rounded to twelve significant digits of their largest value. ``digits`` or ``tolerance`` rounds more.

    Parameters
    ----------
    scores : ndarray, shape (k, s, n) or (k, s, r, n)
        Scores of k models on s samples for n criteria, larger is better. With r repeats per sample, an absent
        repeat is a row of NaN.
    ordinal : ndarray of bool, shape (n,)
        Mask of the ordinal criteria, whose scores are compared but never subtracted.
    bounds : ndarray, shape (n, 2), optional
        Smallest and largest possible score, oriented like the scores; NaN if not declared.
    digits : int or sequence, optional
        Number of significant decimal places, for all cardinal criteria or for each.
    tolerance : float or sequence, optional
        Rounding step, for all cardinal criteria or for each; cannot be combined with ``digits``.
    names : sequence of str, optional
        Names of the criteria, for error messages.

    Returns
    -------
    QualityTable

    Raises
    ------
    InputError
        If a score lies outside its declared bounds, or more digits are requested than floating point
        provides.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim == 3:
        scores = scores[:, :, None, :]
    n = scores.shape[3]
    present = ~np.isnan(scores).all(axis=3)
    limits = np.full((n, 2), np.nan) if bounds is None else np.asarray(bounds, dtype=np.float64)
    labels = names or [f"criterion {j + 1}" for j in range(n)]
    is_ordinal, decimals = np.asarray(ordinal, dtype=bool), _decimal_places(digits, tolerance, n)
    columns, scales = [], []
    for j, name in enumerate(labels):
        column = scores[..., j][present]
        worst, best = limits[j]
        outside = np.flatnonzero((column < worst) | (column > best))
        if outside.size:
            model, sample, _ = np.argwhere(present)[outside[0]] + 1
            problem = f"{name}: {outside.size} scores lie outside the declared bounds [{worst:g}, {best:g}]"
            detail = f"{column[outside[0]]:g} (larger is better) for model {model} on sample {sample}"
            hint = "correct the bounds of this criterion, or omit them to use the observed extremes"
            raise InputError(problem, found=detail, hint=hint)
        if is_ordinal[j]:
            levels = np.unique(np.concatenate([column, limits[j][np.isfinite(limits[j])]]))
            lower, upper = (int(np.searchsorted(levels, b)) if np.isfinite(b) else None for b in limits[j])
            scale = Scale(levels=levels, digits=0.0, lower=lower, upper=upper)
            integers = np.searchsorted(levels, column)
        else:
            integers, scale = _encode_cardinal(name, column, limits[j], decimals[j])
        columns.append(integers)
        scales.append(scale)
    vectors, inverse = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    index = np.zeros(present.shape, dtype=np.int64)
    index[present] = inverse.ravel()
    weight = present / present.sum(axis=2, keepdims=True)
    return QualityTable(vectors=vectors, scales=tuple(scales), index=index, weight=weight)


def suspicious_ordinal_criteria(table: QualityTable) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Find criteria that the user probably declared ordinal by mistake.

    Parameters
    ----------
    table : QualityTable
        The quality vectors of all models.

    Returns
    -------
    many_levels : list of (int, int)
        Criteria with more than 50 distinct values, as in a measurement, and the number of values.
    permuted_copies : list of (int, int)
        Pairs of ordinal criteria with the same values in another order.
    """
    cells = table.decode(table.vectors)[table.index[table.weight > 0]]
    ordinals = np.flatnonzero(table.ordinal).tolist()
    counts = [(j, len(np.unique(cells[:, j]))) for j in ordinals]
    ordered = np.sort(cells, axis=0)
    copies = [
        (i, j)
        for i, j in itertools.combinations(ordinals, 2)
        if np.array_equal(ordered[:, i], ordered[:, j]) and not np.array_equal(cells[:, i], cells[:, j])
    ]
    return [(j, levels) for j, levels in counts if levels > MANY_LEVELS], copies


def _decimal_places(
    digits: int | Sequence[int | None] | None, tolerance: float | Sequence[float | None] | None, n: int
) -> tuple[float | None, ...]:
    """Return the number of decimal places of each of n criteria; None where it is not set.

    `digits` and `tolerance` are those of `quality_table`. A tolerance can give a fractional number.
    """
    if tolerance is None:
        places = digits if isinstance(digits, Sequence) else (digits,) * n
        return tuple(None if place is None else float(place) for place in places)
    steps = tolerance if isinstance(tolerance, Sequence) else (tolerance,) * n
    return tuple(None if step is None else -math.log10(step) for step in steps)


def _encode_cardinal(
    name: str, column: Floats, bounds: Floats, digits: float | None
) -> tuple[Integers, Scale]:
    """Convert the scores of a cardinal criterion to integers; return the integers and their scale.

    Parameters
    ----------
    name : str
        Name of the criterion, for error messages.
    column : ndarray
        Scores.
    bounds : ndarray, shape (2,)
        Smallest and largest possible score; NaN if not declared.
    digits : float or None
        Number of decimal places; None to use as many as the scores need.

    Raises
    ------
    InputError
        If the integers would be too large for exact floating-point numbers.
    """
    values = np.concatenate([column, bounds[np.isfinite(bounds)]])
    if digits is None:
        digits = _sufficient_digits(values)
    if digits > sys.float_info.max_10_exp:
        detail = f"scores up to {np.abs(values).max():g}, which need {digits:g} decimal places"
        hint = "give the scores in a smaller unit, or declare the criterion ordinal"
        raise InputError(f"{name}: the scores are too small for exact comparison", found=detail, hint=hint)
    factor = 10.0**digits
    if np.abs(values).max() >= _EXACT / factor:
        problem = f"{name}: the scores have too many digits for floating-point numbers"
        detail = f"scores up to {np.abs(values).max():g} with {digits:g} decimal places"
        hint = f"round more coarsely ({option('digits')}, {option('tolerance')})"
        raise InputError(problem, found=detail, hint=hint)
    lower, upper = (int(np.rint(b * factor)) if np.isfinite(b) else None for b in bounds)
    scale = Scale(levels=None, digits=digits, lower=lower, upper=upper)
    return np.rint(column * factor).astype(np.int64), scale


def _sufficient_digits(values: Floats) -> float:
    """Return the smallest number of decimal places that represents all values exactly.

    It is limited to twelve significant digits.
    """
    largest = np.abs(values).max()
    for digits in range(_MOST_DIGITS + 1):
        factor = 10.0**digits
        if largest >= _EXACT / factor:
            break
        # Division rounds correctly, so this holds exactly for the floats nearest to such decimals.
        if np.array_equal(np.rint(values * factor) / factor, values):
            return float(digits)
    return float(_SIGNIFICANT_DIGITS - math.ceil(math.log10(largest)))


# Optima closer than this are equal, and values above -RESOLUTION count as nonnegative.
RESOLUTION = 1e-9


@dataclass(frozen=True)
class Threshold:
    """Slack required for the strict relations of a preference system.

    Attributes
    ----------
    delta : float
        The slack itself ([GSD] Definition 3).
    share : float or None
        Instead of ``delta``: the slack as a proportion of the largest feasible common slack.
    slack_on : {"r1", "r1+r2"}
        Strict relations that have the slack; always both if ``share`` is given.

    Raises
    ------
    UsageError
        If the slack is negative or the share lies outside [0, 1].
    """

    delta: float = 0.0
    share: float | None = None
    slack_on: str = "r1"

    def __post_init__(self) -> None:
        """Raise a UsageError unless the slack is valid."""
        if self.share is not None and not 0 <= self.share <= 1:
            problem = "the regularization must be a share of the largest possible delta"
            raise UsageError(problem, found=f"{self.share:g}", hint="give a number from 0 to 1")
        if not self.delta >= 0:
            hint = "give a number from 0 to delta_max, the largest threshold that gsd reports"
            raise UsageError("the threshold delta must not be negative", found=f"{self.delta:g}", hint=hint)

    def __str__(self) -> str:
        """Return the slack as written in captions, such as ``δ = 0.1`` or ``δ = 0.5 ξ``."""
        return f"δ = {self.delta:g}" if self.share is None else f"δ = {self.share:g} ξ"

    @property
    def rows(self) -> str:
        """Strict relations to which the slack is applied: "r1" or "r1+r2"."""
        return self.slack_on if self.share is None else "r1+r2"

    def resolve(self, largest: float) -> float:
        """Return the slack as a number, given the largest feasible slack.

        Raises
        ------
        InputError
            If the slack exceeds the largest feasible slack.
        """
        if self.share is not None:
            return self.share * largest
        if self.delta > largest + RESOLUTION:
            problem = "the threshold delta is too large: no utility function satisfies it"
            detail = f"delta {self.delta:g}, delta_max {largest:.6g}"
            raise InputError(problem, found=detail, hint=f"choose delta from 0 to {largest:.6g}")
        return min(self.delta, largest)


# For more exchanges, the covers of R2 would need more than half a gigabyte.
MOST_EXCHANGES = 100_000


@dataclass(frozen=True)
class PreferenceSystem:
    """Relations R1 and R2 on a set of quality vectors, stored as covers.

    Attributes
    ----------
    vectors : ndarray of int, shape (d, n)
        Distinct vectors in lexicographic order, the worst first and the best last.
    table_rows : ndarray of int, shape (d,)
        Row in ``QualityTable.vectors``; -1 for an extreme vector that no model attains.
    improvements : ndarray of int, shape (m1, 2)
        Covers of R1 as (x, y): x is better than y, and no vector lies in between.
    exchanges : ndarray of int, shape (m2, 4)
        Covers of R2 as (x, y, x', y'), meaning u(x) - u(y) >= u(x') - u(y'); without those implied by R1.
    ties : ndarray of int, shape (m3, 4)
        Exchanges of equal strength: u(x) - u(y) = u(x') - u(y').
    """

    vectors: Integers
    table_rows: Integers
    improvements: Integers
    exchanges: Integers
    ties: Integers

    @property
    def size(self) -> int:
        """Number of vectors, d."""
        return len(self.vectors)


def preference_system(table: QualityTable, models: Sequence[int] | None = None) -> PreferenceSystem:
    """Build the preference system on the vectors of some models.

    R1 is the component-wise order. R2 orders the strict R1 pairs: by their differences on cardinal criteria,
    and by nesting on ordinal criteria (method §6; [GSD] eq. 2 if all are cardinal). The worst and the best
    possible vectors are added. They consist of the declared bounds or, without bounds, of the extreme scores
    of these models.

    Parameters
    ----------
    table : QualityTable
        The quality vectors of all models.
    models : sequence of int, optional
        Models whose vectors are included; all by default.

    Returns
    -------
    PreferenceSystem

    Raises
    ------
    InputError
        If there are too many comparable pairs to compute the covers of R2.
    """
    chosen = slice(None) if models is None else list(models)
    used = np.unique(table.index[chosen][table.weight[chosen] > 0])
    observed = table.vectors[used]
    worst, best = observed.min(axis=0), observed.max(axis=0)
    for j, scale in enumerate(table.scales):
        worst[j] = worst[j] if scale.lower is None else scale.lower
        best[j] = best[j] if scale.upper is None else scale.upper
    vectors, first = np.unique(np.vstack([observed, worst, best]), axis=0, return_index=True)
    table_rows = np.where(first < len(used), used[np.minimum(first, len(used) - 1)], -1)
    above = np.all(vectors[:, None, :] >= vectors[None, :, :], axis=2)
    np.fill_diagonal(above, False)
    better, worse = np.nonzero(above)
    lower, upper = covering_pairs(vectors)
    exchanges, ties = _exchange_covers(vectors, table.ordinal, above, better, worse)
    return PreferenceSystem(vectors, table_rows, np.stack([upper, lower], axis=1), exchanges, ties)


def covering_pairs(keys: Integers) -> tuple[Integers, Integers]:
    """Return the covering pairs of the component-wise order on integer vectors (keys).

    A key q covers p if q >= p in every component and no third key lies in between. The down-set of each key
    (all keys below it) is stored as the bits of a Python integer. The highest remaining bit is a cover, whose
    down-set is then removed. This takes one pass over a few hundred bytes per cover, whereas a boolean matrix
    product would need one pass per pair.

    Parameters
    ----------
    keys : ndarray of int, shape (P, m)
        Distinct rows in lexicographic order.

    Returns
    -------
    lower, upper : ndarray of int, shape (c,)
        Row indices of the covered and of the covering key of each pair.
    """
    down = _down_sets(keys)
    lower, upper = [], []
    for p in range(len(keys)):
        remaining = down[p] ^ (1 << p)
        while remaining:
            q = remaining.bit_length() - 1
            lower.append(q)
            upper.append(p)
            remaining ^= remaining & down[q]
    return np.array(lower, dtype=np.int64), np.array(upper, dtype=np.int64)


def _down_sets(keys: Integers, block: int = 256) -> list[int]:
    """Return the down-set of every key: all keys at most as large in every component, including itself.

    A down-set is an integer whose bit q is set if it contains key q. `keys` has shape (P, m) and is in
    lexicographic order. `block` keys are compared at a time.
    """
    # Ranks in the smallest integer type: the comparison below is bound by memory traffic.
    kind: type[np.signedinteger] = np.int16 if len(keys) < 2**15 else np.int32
    ranks = [np.unique(column, return_inverse=True)[1].astype(kind) for column in keys.T]
    down: list[int] = []
    for start in range(0, len(keys), block):
        stop = min(start + block, len(keys))
        # In lexicographic order nothing after a key lies below it.
        below = np.ones((stop - start, stop), dtype=bool)
        for rank in ranks:
            below &= rank[start:stop, None] >= rank[None, :stop]
        packed = np.packbits(below, axis=1, bitorder="little")
        down.extend(int.from_bytes(row.tobytes(), "little") for row in packed)
    return down


def _exchange_covers(
    vectors: Integers, ordinal: Booleans, above: Booleans, better: Integers, worse: Integers
) -> tuple[Integers, Integers]:
    """Return the covers of R2 that R1 does not imply, and the ties of R2.

    The exchange (x, y) is at least as strong as (x', y') if and only if its key is at least as large in every
    component. The key is x - y on the cardinal criteria, and x and -y on the ordinal ones.

    Parameters
    ----------
    vectors : (n, q) ndarray
        Distinct quality vectors, one per row.
    ordinal : (q,) ndarray of bool
        Mask of the ordinal criteria.
    above : (n, n) ndarray of bool
        True where R1 places the vector of the row above that of the column.
    better, worse : (m,) ndarray of int
        Vectors of each pair of R1.

    Returns
    -------
    covers, ties : (·, 4) ndarray of int
        Vectors x, y, x', y' of each pair of exchanges.
    """
    if ordinal.all() or len(better) < 2:
        none = np.empty((0, 4), dtype=np.int64)
        return none, none  # ordinal pairs are nested, and R1 implies u(x) >= u(x') >= u(y') >= u(y)
    if len(better) > MOST_EXCHANGES:
        raise InputError(
            f"{len(vectors):,} different combinations of scores have too many comparable pairs",
            found=f"{len(better):,} pairs, more than {MOST_EXCHANGES:,}",
            hint=f"compare two models at a time ({option('system', 'pair')}), "
            f"or round the scores ({option('digits')})",
        )
    x, y = vectors[better], vectors[worse]
    keys = np.hstack([x[:, ~ordinal] - y[:, ~ordinal], x[:, ordinal], -y[:, ordinal]])
    distinct, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    lower, upper = covering_pairs(distinct)
    p, q = first[upper], first[lower]
    rows = np.stack([better[p], worse[p], better[q], worse[q]], axis=1)
    reaches = above | np.eye(len(vectors), dtype=bool)
    nested = reaches[rows[:, 0], rows[:, 2]] & reaches[rows[:, 3], rows[:, 1]]
    same = first[inverse.ravel()]
    tied = np.flatnonzero(same != np.arange(len(better)))
    ties = np.stack([better[tied], worse[tied], better[same[tied]], worse[same[tied]]], axis=1)
    return rows[~nested], ties
