"""Differences of means whose noise comes from several sources: items, wordings, judges (method §15).

Items are always a sample of items like these; so are the levels of the factors that are named. With N rows
and d̄ the mean difference, a factor f of L_f levels adds V_f = L/(L − 1) · Σ_levels (Σ_rows (d − d̄))²/N² to
the variance; the residual is counted once too often, which costs two per cent of an interval.

References
----------
C. R. Henderson (1953). Estimation of variance and covariance components. Biometrics 9(2), 226-252.
doi:10.2307/3001853
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from math import ceil, inf, prod

import numpy as np

from riskrank.engine.evidence.student import Student, sum_of
from riskrank.engine.sampling.design import FEWEST_LEVELS
from riskrank.engine.types import Floats, Integers

# Levels of a factor that a plan considers.
_MOST_LEVELS = 40


def crossed_difference(differences: Floats, factors: Sequence[Integers]) -> Student:
    """The mean of differences, with what every factor adds to its error.

    Parameters
    ----------
    differences : ndarray, shape (N,)
        A row a combination of levels that both models have.
    factors : sequence of F ndarrays of int, shapes (N,)
        Level of each row, the items first: within another factor they are its sample, and add nothing to it.

    Returns
    -------
    Student
        Of one estimate, with Satterthwaite's degrees of freedom.
    """
    mean, n = float(differences.mean()), differences.size
    items, *others = factors
    if any(is_within(items, other) for other in others):
        factors = others
    away, errors, df = differences - mean, [], []
    for levels in factors:
        _, numbers = np.unique(levels, return_inverse=True)
        count = int(numbers.max()) + 1
        sums = np.bincount(numbers, away)
        errors.append(np.sqrt(count / max(count - 1, 1) * float((sums**2).sum())) / n)
        df.append(max(count - 1, 1))
    value = np.zeros(len(errors))
    value[0] = mean
    return sum_of(value, np.array(errors), np.array(df, dtype=np.float64), float(df[0]))


def is_within(items: Integers, levels: Integers) -> bool:
    """Whether each item has one level."""
    return len(np.unique(items)) == len(np.unique(np.stack([items, levels]), axis=1).T)


@dataclass(frozen=True)
class Components:
    """Where the variance of a difference comes from.

    Attributes
    ----------
    names : tuple of F str
        Factors, the items first.
    levels : tuple of F int
    variances : dict of frozenset of str to float
        σ² of every factor and of factors together; the empty set is what is left.
    """

    names: tuple[str, ...]
    levels: tuple[int, ...]
    variances: Mapping[frozenset[str], float]

    @classmethod
    def of(cls, differences: Floats, factors: Mapping[str, Integers]) -> Components:
        """Henderson's method 1: sums of squares of all subsets of factors, solved for their variances."""
        names, n = tuple(factors), differences.size
        codes = {name: np.unique(own, return_inverse=True)[1] for name, own in factors.items()}
        every = chain.from_iterable(combinations(names, count) for count in range(len(names) + 1))
        subsets = [frozenset(some) for some in every]
        groups = {some: _numbered([codes[name] for name in names if name in some], n) for some in subsets}
        rows = np.arange(n)
        if int(groups[frozenset(names)].max()) == n - 1:  # a row a combination, which is what is left
            subsets.remove(frozenset(names))
        # What is left varies by row.
        unknown, sources = [*subsets[1:], frozenset()], [*(groups[some] for some in subsets[1:]), rows]
        equations = [np.zeros(n, dtype=np.int64), *sources]
        sums = np.array([_squares(differences, own) for own in equations])
        shares = np.array([[n, *(_overlap(own, other) for other in sources)] for own in equations])
        found = np.linalg.lstsq(shares, sums, rcond=None)[0][1:]
        levels = tuple(int(own.max()) + 1 for own in codes.values())
        return cls(names, levels, dict(zip(unknown, np.maximum(found, 0.0).tolist(), strict=True)))

    def variance(self, counts: Sequence[float]) -> float:
        """Variance of the mean difference over so many levels of each factor, one row a combination."""
        return sum(self._parts(counts).values())

    @property
    def shares(self) -> dict[frozenset[str], float]:
        """Share of the variance of the mean that each source has."""
        parts = self._parts(self.levels)
        whole = sum(parts.values())
        return {some: part / whole if whole else 0.0 for some, part in parts.items()}

    def _parts(self, counts: Sequence[float]) -> dict[frozenset[str], float]:
        size, rows = dict(zip(self.names, counts, strict=True)), prod(counts)
        return {
            some: value / (prod(size[name] for name in some) if some else rows)
            for some, value in self.variances.items()
        }

    @property
    def floor(self) -> float:
        """Standard error that no number of items passes."""
        return float(np.sqrt(self.variance([inf, *self.levels[1:]])))

    def cheapest(self, costs: Mapping[str, float], kept: float = 0.25) -> tuple[int, ...] | None:
        """The cheapest levels of each factor whose variance is a share of today's; None where there are none.

        Parameters
        ----------
        costs : mapping of str to float
            Of one level of each factor.
        kept : float
            Share of the variance that may be left.
        """
        wanted, best = kept * self.variance(self.levels), None
        most = [range(FEWEST_LEVELS, _MOST_LEVELS + 1) for _ in self.names[1:]]
        for others in product(*most):
            floor = self.variance([inf, *others])
            if floor >= wanted:
                continue
            items = ceil((self.variance([1, *others]) - floor) / (wanted - floor))
            plan = (max(items, 1), *others)
            cost = sum(costs[name] * count for name, count in zip(self.names, plan, strict=True))
            if best is None or cost < best[0]:
                best = cost, plan
        return None if best is None else best[1]


def _numbered(codes: Sequence[Integers], n: int) -> Integers:
    found = np.zeros(n, dtype=np.int64)
    for own in codes:
        found = np.unique(found * (int(own.max()) + 1) + own, return_inverse=True)[1]
    return found


def _squares(values: Floats, groups: Integers) -> float:
    return float((np.bincount(groups, values) ** 2 / np.bincount(groups)).sum())


def _overlap(groups: Integers, levels: Integers) -> float:
    """Σ n_su²/n_s over groups s and levels u."""
    both = groups * (int(levels.max()) + 1) + levels
    pairs, counts = np.unique(both, return_counts=True)
    return float((counts**2 / np.bincount(groups)[pairs // (int(levels.max()) + 1)]).sum())
