"""Differences in means with several crossed sources of variation: items, prompts, judges (method §15).

Items are always treated as a random sample, and so are the levels of the named factors. With N rows and mean
difference d̄, a factor f with L levels adds V_f = L/(L − 1) · Σ_levels (Σ_rows (d − d̄))²/N² to the variance.
The residual variance is counted once too often, which widens intervals by two per cent.

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

from riskrank.engine.evidence.student import Student, safe_norm
from riskrank.engine.sampling.design import MIN_LEVELS
from riskrank.engine.types import Floats, Integers

# Largest number of levels per factor in a plan.
_MAX_LEVELS = 40


def crossed_difference(differences: Floats, factors: Sequence[Integers]) -> Student:
    """Return the mean difference between two models whose scores vary with several crossed factors.

    The standard error includes the variation of all factors.

    Parameters
    ----------
    differences : ndarray, shape (N,)
        One row per combination of levels for which both models have a score.
    factors : sequence of F ndarrays of int, shapes (N,)
        Factor level of each row; items come first. Items nested within another factor are dropped.

    Returns
    -------
    Student
        A single estimate. The reciprocal of its degrees of freedom is the mean of the factors' reciprocals,
        weighted by their variances. Satterthwaite's formula, with squared weights, is liberal if a factor
        with few levels has a small variance by chance.
    """
    mean, n = float(differences.mean()), differences.size
    items, *crossed = factors
    if any(is_nested(items, factor) for factor in crossed):
        factors = crossed
    centred, errors, df = differences - mean, [], []
    for levels in factors:
        _, codes = np.unique(levels, return_inverse=True)
        count, sums = int(codes.max()) + 1, np.bincount(codes, centred)
        errors.append(np.sqrt(count / max(count - 1, 1) * float((sums**2).sum())) / n)
        df.append(max(count - 1, 1))
    total = safe_norm(np.array(errors))
    shares = np.array(errors) / total if total > 0 else np.eye(len(errors))[0]
    return Student(np.array(mean), total, 1 / (shares**2 / df).sum())


def is_nested(items: Integers, levels: Integers) -> bool:
    """Return True if each item occurs at only one level of a factor."""
    return len(np.unique(items)) == len(np.unique(np.stack([items, levels]), axis=1).T)


@dataclass(frozen=True)
class Components:
    """Variance components of a difference, by factor.

    Attributes
    ----------
    names : tuple of F str
        Names of the factors, items first.
    levels : tuple of F int
        Number of levels of each factor.
    variances : dict of frozenset of str to float
        Variance component of each factor and interaction; the empty set stands for the residual.
    """

    names: tuple[str, ...]
    levels: tuple[int, ...]
    variances: Mapping[frozenset[str], float]

    @classmethod
    def estimate(cls, differences: Floats, factors: Mapping[str, Integers]) -> Components:
        """Estimate the components by Henderson's method 1.

        The estimates are based on the sums of squares for all subsets of factors.

        Parameters
        ----------
        differences : ndarray, shape (N,)
            Difference between the two models for each combination of levels.
        factors : mapping of str to ndarray of int, shape (N,)
            Level of each row, by factor; items come first.
        """
        names, n = tuple(factors), differences.size
        codes = {name: np.unique(labels, return_inverse=True)[1] for name, labels in factors.items()}
        combos = chain.from_iterable(combinations(names, count) for count in range(len(names) + 1))
        subsets = [frozenset(subset) for subset in combos]
        groups = {s: _number_cells([codes[name] for name in names if name in s], n) for s in subsets}
        rows = np.arange(n)
        if int(groups[frozenset(names)].max()) == n - 1:  # the highest interaction is the residual
            subsets.remove(frozenset(names))
        # The residual has one level per row.
        unknown, sources = [*subsets[1:], frozenset()], [*(groups[subset] for subset in subsets[1:]), rows]
        equations = [np.zeros(n, dtype=np.int64), *sources]
        # Σ (group sum)²/(group size).
        sums = [(np.bincount(group, differences) ** 2 / np.bincount(group)).sum() for group in equations]
        shares = [[n, *(_overlap_sum(labels, source) for source in sources)] for labels in equations]
        solution = np.linalg.lstsq(shares, sums, rcond=None)[0][1:]
        levels = tuple(int(labels.max()) + 1 for labels in codes.values())
        return cls(names, levels, dict(zip(unknown, np.maximum(solution, 0.0).tolist(), strict=True)))

    def variance(self, counts: Sequence[float]) -> float:
        """Return the variance of the mean in a design with one row per combination of levels.

        `counts` holds the number of levels of each factor.
        """
        return sum(self._contributions(counts).values())

    @property
    def shares(self) -> dict[frozenset[str], float]:
        """Proportion of the mean's variance due to each source: a factor or an interaction of factors."""
        parts = self._contributions(self.levels)
        total = sum(parts.values())
        return {source: part / total if total else 0.0 for source, part in parts.items()}

    def _contributions(self, counts: Sequence[float]) -> dict[frozenset[str], float]:
        """Return the part of the mean's variance that each source contributes.

        `counts` holds the number of levels of each factor.
        """
        size, rows = dict(zip(self.names, counts, strict=True)), prod(counts)
        return {
            source: value / (prod(size[name] for name in source) if source else rows)
            for source, value in self.variances.items()
        }

    @property
    def minimum_error(self) -> float:
        """Standard error of the mean in the limit of infinitely many items."""
        return float(np.sqrt(self.variance([inf, *self.levels[1:]])))

    def cheapest_plan(self, costs: Mapping[str, float], share: float = 0.25) -> tuple[int, ...] | None:
        """Find the cheapest design that reduces the variance of the mean to a given proportion.

        A design is the number of levels of each factor.

        Parameters
        ----------
        costs : mapping of str to float
            Cost of one level of each factor.
        share : float
            Target variance as a fraction of the current variance.

        Returns
        -------
        tuple of int or None
            Number of levels of each factor; None if no plan reaches the target.
        """
        target, best = share * self.variance(self.levels), None
        ranges = [range(MIN_LEVELS, _MAX_LEVELS + 1) for _ in self.names[1:]]
        for levels in product(*ranges):
            floor = self.variance([inf, *levels])
            if floor >= target:
                continue
            items = ceil((self.variance([1, *levels]) - floor) / (target - floor))
            plan = (max(items, 1), *levels)
            cost = sum(costs[name] * count for name, count in zip(self.names, plan, strict=True))
            if best is None or cost < best[0]:
                best = cost, plan
        return None if best is None else best[1]


def _number_cells(codes: Sequence[Integers], n: int) -> Integers:
    """Number the combinations of factor levels; return the number of each row's combination, shape (n,).

    `codes` holds the level of each row, one array per factor.
    """
    cells = np.zeros(n, dtype=np.int64)
    for code in codes:
        cells = np.unique(cells * (int(code.max()) + 1) + code, return_inverse=True)[1]
    return cells


def _overlap_sum(groups: Integers, levels: Integers) -> float:
    """Return Σ n_su²/n_s over groups s and levels u.

    Here n_su is the number of rows of group s at level u, and n_s the number of rows of group s.
    """
    cells = groups * (int(levels.max()) + 1) + levels
    distinct, counts = np.unique(cells, return_counts=True)
    return float((counts**2 / np.bincount(groups)[distinct // (int(levels.max()) + 1)]).sum())
