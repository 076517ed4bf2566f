"""Relabellings of two models' data (permutations of the model labels), and the resulting optima.

All relabellings are used if there are few of them, otherwise a random sample. The tests solve only the linear
programs they need. :func:`null_optima` solves all of them, to plot the null distribution.
"""

from dataclasses import dataclass
from itertools import combinations, product
from math import comb

import numpy as np
from scipy.special import bdtrc

from riskrank.engine.family import Family
from riskrank.engine.gsd.polytope import UtilityPolytope
from riskrank.engine.gsd.preference_system import RESOLUTION
from riskrank.engine.gsd.relation import Utilities, sample_distributions
from riskrank.engine.types import Floats

# Relabellings that share a random stream.
_BLOCK = 1000


@dataclass(frozen=True, kw_only=True)
class Relabelling:
    """Settings of relabelling (permutation) tests.

    Attributes
    ----------
    pairs : {"dominant", "all", "none"}
        Ordered pairs to test: those with dominance in the sample, all, or none.
    resampling : {"swap", "pooled"}
        Swap the two labels within samples, or permute all vectors of both models.
    resamples : int
        Number of random relabellings; if at most this many exist, all are used.
    stops_early : bool
        Whether the test of a pair stops early for futility (method §4, rule 2). It then stops once it has
        more extreme relabellings than 95 % of the pairs that are just significant at level α.
    seed : int
        Entropy of the random streams.
    family : Family
        Level and correction, for all k(k - 1) ordered pairs whether or not they are tested.
    contamination : bool
        Whether to compute how many contaminated samples each significant result tolerates.
    """

    pairs: str = "dominant"
    resampling: str = "swap"
    resamples: int = 1000
    stops_early: bool = False
    seed: int = 0
    family: Family = Family()
    contamination: bool = False

    def continues_after_first(self, extreme: int, n_evaluated: int, samples: int) -> bool:
        """Return True if a pair's test continues after the first batch of relabellings.

        Parameters
        ----------
        extreme : int
            Number of evaluated relabellings at least as extreme as the observed labelling.
        n_evaluated : int
            Number of relabellings evaluated so far.
        samples : int
            Number of samples, s.
        """
        n_labellings = count_labellings(samples, self.resampling)
        if min(n_labellings, self.resamples) <= FIRST:
            return False
        looks_at_all = n_labellings <= self.resamples or not self.stops_early
        return looks_at_all or not is_futile(extreme, n_evaluated, self.family.interval_level(1))

    def unit_contributions(self, winner: Floats, loser: Floats) -> Floats:
        """Return the contribution of each resampling unit to the difference between two distributions.

        Parameters
        ----------
        winner, loser : ndarray, shape (s, d)
            Distribution of each sample over the d distinct quality vectors.

        Returns
        -------
        ndarray, shape (units, d)
        """
        units = winner - loser if self.resampling == "swap" else np.vstack([winner, loser])
        return units / len(winner)


@dataclass(frozen=True)
class Relabellings:
    """Relabellings of two models' data, as signs.

    Attributes
    ----------
    signs : ndarray, shape (N, units)
        +1 if a unit is assigned to the first model, -1 if to the second. With swaps, the units are the
        samples. When pooled, they are the first model's samples followed by the second's.
    exact : bool
        True if these are all relabellings, except the observed one.
    """

    signs: Floats
    exact: bool


def count_labellings(samples: int, resampling: str) -> int:
    """Return the number of ways to label the data, including the observed one."""
    return 2**samples if resampling == "swap" else comb(2 * samples, samples)


def draw_relabellings(samples: int, relabelling: Relabelling) -> Relabellings:
    """Draw random relabellings, or enumerate all if there are few.

    Parameters
    ----------
    samples : int
        Number of samples, s.
    relabelling : Relabelling
        Kind and number of relabellings, and the seed.

    Returns
    -------
    Relabellings
    """
    swap = relabelling.resampling == "swap"
    if count_labellings(samples, relabelling.resampling) <= relabelling.resamples:
        labellings = (
            np.array(list(product((1.0, -1.0), repeat=samples))) if swap else _all_pooled_signs(samples)
        )
        return Relabellings(signs=labellings[1:], exact=True)  # the first is the observed labelling
    starts = range(0, relabelling.resamples, _BLOCK)
    streams = np.random.SeedSequence(relabelling.seed).spawn(len(starts))
    blocks = []
    for start, stream in zip(starts, streams, strict=True):
        rng, count = np.random.default_rng(stream), min(_BLOCK, relabelling.resamples - start)
        if swap:
            blocks.append(rng.choice((1.0, -1.0), size=(count, samples)))
        else:
            blocks.append(rng.permuted(np.tile(np.repeat((1.0, -1.0), samples), (count, 1)), axis=1))
    return Relabellings(signs=np.concatenate(blocks), exact=False)


def _all_pooled_signs(samples: int) -> Floats:
    """Return the signs of all ways to assign 2s pooled units to two models of s samples each."""
    chosen = list(combinations(range(2 * samples), samples))
    signs = np.full((len(chosen), 2 * samples), -1.0)
    signs[np.arange(len(chosen))[:, None], chosen] = 1.0
    return signs


# Interim looks at a test, and the probability below which it stops for futility.
FIRST, _FUTILITY_LEVEL = 1000, 0.05
_LOOKS = (200, FIRST)


def is_futile(extreme: int, n_evaluated: int, level: float) -> bool:
    """Return True if a significant pair would rarely have so many extreme relabellings.

    Parameters
    ----------
    extreme : int
        Number of evaluated relabellings at least as extreme as the observed labelling.
    n_evaluated : int
        Number of relabellings evaluated so far.
    level : float
        Significance level α of the test.
    """
    return bool(bdtrc(extreme - 1, n_evaluated, level) < _FUTILITY_LEVEL)


class NullOptima:
    """Optima of relabelled data, computed from successively tightened bounds and linear programs.

    Parameters
    ----------
    polytope : UtilityPolytope
        The feasible utilities, which relabelling does not change.
    signs : ndarray, shape (N, units)
        The relabellings.
    contributions : ndarray, shape (units, d)
        Contribution of each unit to the objective when its sign is +1.
    """

    def __init__(self, polytope: UtilityPolytope, signs: Floats, contributions: Floats) -> None:
        self._polytope = polytope
        self._signs = signs
        self._contributions = contributions
        self._upper_bounds = np.full(len(signs), np.inf)
        for utility in polytope.utilities:
            np.minimum(self._upper_bounds, signs @ (contributions @ utility), out=self._upper_bounds)
        self._is_solved = np.zeros(len(signs), dtype=bool)

    def count_at_least(self, value: float) -> int:
        """Return the number of relabellings whose optimum is at least a value, ties included."""
        needed = value - RESOLUTION
        for b in range(len(self._signs)):
            if self._upper_bounds[b] >= needed and not self._is_solved[b]:
                self._solve(b)
        return int(np.sum(self._upper_bounds >= needed))

    def solve_all(self) -> Floats:
        """Return the exact optimum of every relabelling, shape (N,)."""
        self.count_at_least(-np.inf)
        return self._upper_bounds.copy()

    def _solve(self, b: int) -> None:
        """Solve the linear program of relabelling b, and use its utility to tighten other bounds."""
        optimum = self._polytope.minimise(self._signs[b] @ self._contributions)
        expected = self._signs @ (self._contributions @ optimum.utility)
        self._upper_bounds = np.where(
            self._is_solved, self._upper_bounds, np.minimum(self._upper_bounds, expected)
        )
        self._upper_bounds[b] = optimum.value
        self._is_solved[b] = True


def solve_until_futile(
    polytope: UtilityPolytope, signs: Floats, contributions: Floats, value: float, level: float | None
) -> tuple[NullOptima, int]:
    """Evaluate relabellings until the test is futile or all are evaluated.

    Parameters
    ----------
    polytope : UtilityPolytope
    signs : ndarray, shape (N, units)
        The relabellings.
    contributions : ndarray, shape (units, d)
        Contribution of each unit to the objective if its sign is +1.
    value : float
        Observed optimum.
    level : float or None
        Significance level used to judge futility; None to evaluate all relabellings.

    Returns
    -------
    null : NullOptima
    count : int
        Number of relabellings used.
    """
    for count in _LOOKS:
        if level is not None and count < len(signs):
            null = NullOptima(polytope, signs[:count], contributions)
            if is_futile(null.count_at_least(value), count, level):
                return null, count
    return NullOptima(polytope, signs, contributions), len(signs)


def null_optima(utilities: Utilities, winner: int, loser: int, relabelling: Relabelling) -> Floats:
    """Return the null distribution of a pair's test: the exact optimum of every relabelling.

    Parameters
    ----------
    utilities : Utilities
    winner, loser : int
        Models of the ordered pair.
    relabelling : Relabelling
        The same settings as in :func:`riskrank.engine.gsd.relabelling.run_relabelling_tests`.

    Returns
    -------
    ndarray, shape (N,)

    Raises
    ------
    InputError
        If δ exceeds δ_max.
    NumericalError
        If a linear program cannot be solved reliably.
    """
    table = utilities.table
    polytope, _, _ = utilities.polytope((winner, loser))
    contributions = relabelling.unit_contributions(
        *(sample_distributions(table, polytope.system, model) for model in (winner, loser))
    )
    return NullOptima(
        polytope, draw_relabellings(table.samples, relabelling).signs, contributions
    ).solve_all()
