"""Quality vectors: the scores of one sample on all criteria, as exact integers with scales.

Differences of cardinal scores are compared with each other, and 0.3 - 0.1 != 0.2 in floating point. Integers
are compared exactly.
"""

import itertools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, option

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
        """Convert integers of this scale to scores."""
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
        """Convert integer vectors of shape (m, n) to scores."""
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
    is_ordinal, decimals = (
        np.broadcast_to(np.asarray(ordinal, dtype=bool), (n,)),
        _decimal_places(digits, tolerance, n),
    )
    columns, scales = [], []
    for j, name in enumerate(labels):
        column = scores[..., j][present]
        _require_within_bounds(name, column, limits[j], present)
        if is_ordinal[j]:
            integers, scale = _encode_ordinal(column, limits[j])
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
    """Return criteria that were probably declared ordinal by mistake.

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
    """Return the number of decimal places per criterion; it may be fractional if a tolerance is given."""
    if tolerance is None:
        places = digits if isinstance(digits, Sequence) else (digits,) * n
        return tuple(None if place is None else float(place) for place in places)
    steps = tolerance if isinstance(tolerance, Sequence) else (tolerance,) * n
    return tuple(None if step is None else -math.log10(step) for step in steps)


def _require_within_bounds(name: str, column: Floats, bounds: Floats, present: Booleans) -> None:
    """Raise an InputError if a score lies outside the declared bounds of its criterion."""
    outside = np.flatnonzero((column < bounds[0]) | (column > bounds[1]))
    if len(outside) == 0:
        return
    model, sample, _ = np.argwhere(present)[outside[0]]
    raise InputError(
        f"{name}: {len(outside)} scores lie outside the declared bounds [{bounds[0]:g}, {bounds[1]:g}]",
        found=f"{column[outside[0]]:g} (larger is better) for model {model + 1} on sample {sample + 1}",
        hint="correct the bounds of this criterion, or omit them to use the observed extremes",
    )


def _encode_ordinal(column: Floats, bounds: Floats) -> tuple[Integers, Scale]:
    """Encode an ordinal criterion as the ranks of its distinct values."""
    levels = np.unique(np.concatenate([column, bounds[np.isfinite(bounds)]]))
    lower, upper = (int(np.searchsorted(levels, b)) if np.isfinite(b) else None for b in bounds)
    scale = Scale(levels=levels, digits=0.0, lower=lower, upper=upper)
    return np.searchsorted(levels, column), scale


def _encode_cardinal(
    name: str, column: Floats, bounds: Floats, digits: float | None
) -> tuple[Integers, Scale]:
    """Encode a cardinal criterion as multiples of its rounding step."""
    values = np.concatenate([column, bounds[np.isfinite(bounds)]])
    if digits is None:
        digits = _sufficient_digits(values)
    if digits > sys.float_info.max_10_exp:
        raise InputError(
            f"{name}: the scores are too small for exact comparison",
            found=f"scores up to {np.abs(values).max():g}, which need {digits:g} decimal places",
            hint="give the scores in a smaller unit, or declare the criterion ordinal",
        )
    factor = 10.0**digits
    if np.abs(values).max() >= _EXACT / factor:
        raise InputError(
            f"{name}: the scores have too many digits for floating-point numbers",
            found=f"scores up to {np.abs(values).max():g} with {digits:g} decimal places",
            hint=f"round more coarsely ({option('digits')}, {option('tolerance')})",
        )
    lower, upper = (int(np.rint(b * factor)) if np.isfinite(b) else None for b in bounds)
    scale = Scale(levels=None, digits=digits, lower=lower, upper=upper)
    return np.rint(column * factor).astype(np.int64), scale


def _sufficient_digits(values: Floats) -> float:
    """Return the smallest lossless number of decimal places, at most twelve significant digits."""
    largest = np.abs(values).max()
    for digits in range(_MOST_DIGITS + 1):
        factor = 10.0**digits
        if largest >= _EXACT / factor:
            break
        # Division rounds correctly, so this holds exactly for the floats nearest to such decimals.
        if np.array_equal(np.rint(values * factor) / factor, values):
            return float(digits)
    return float(_SIGNIFICANT_DIGITS - math.ceil(math.log10(largest)))
