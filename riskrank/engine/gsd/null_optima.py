"""Optima of relabelled data, found only as exactly and as many as a question needs.

Other ways to label the data of two models: all of them if they are few, else a random sample.

The whole null distribution of a relabelling test, for a picture: the tests need only part of it.
"""

from dataclasses import dataclass
from itertools import combinations, product
from math import comb

import numpy as np
from scipy.special import bdtrc

from riskrank.engine.family import Family
from riskrank.engine.gsd.polytope import UtilityPolytope
from riskrank.engine.gsd.preference_system import RESOLUTION
from riskrank.engine.gsd.relation import Utilities, sample_masses
from riskrank.engine.types import Floats

# Relabellings that share a random stream.
_BLOCK = 1000


@dataclass(frozen=True, kw_only=True)
class Relabelling:
    """How to test.

    Attributes
    ----------
    pairs : {"dominant", "all", "none"}
        Ordered pairs to test: those with dominance in the sample, all of them, or none.
    resampling : {"swap", "pooled"}
        Swaps of the two labels within samples, or all vectors dealt out anew.
    resamples : int
        Random relabellings; all of them are looked at if they are no more.
    closing : bool
        Whether a pair is closed as not significant before the last of them (method §4, rule 2): it has more
        extreme ones than a pair significant at the family's own level would show in 95 % of cases.
    seed : int
        Entropy of the random streams.
    family : Family
        The k(k - 1) ordered pairs, tested or not: which ones are tested depends on the data.
    contamination : bool
        Whether to find how many arbitrary samples each significant result survives, at the same level.
    """

    pairs: str = "dominant"
    resampling: str = "swap"
    resamples: int = 1000
    closing: bool = False
    seed: int = 0
    family: Family = Family()
    contamination: bool = False

    def goes_on(self, extreme: int, looked_at: int, samples: int) -> bool:
        """Whether others are looked at after the first relabellings of a pair."""
        every = possible_labellings(samples, self.resampling)
        if min(every, self.resamples) <= FIRST:
            return False
        whole = every <= self.resamples or not self.closing
        return whole or not closes(extreme, looked_at, self.family.level(1))

    def parts(self, winner: Floats, loser: Floats) -> Floats:
        """What each label of the data adds to the difference of two models' distributions."""
        units = winner - loser if self.resampling == "swap" else np.vstack([winner, loser])
        return units / len(winner)


@dataclass(frozen=True)
class Relabellings:
    """Other ways to label the data.

    Attributes
    ----------
    signs : ndarray, shape (N, units)
        +1 where a unit counts for the first model, -1 for the second. Units are samples when labels are
        swapped within samples, and the first model's samples followed by the second's when pooled.
    exact : bool
        Whether these are all there are; the observed labelling is never among them when they are.
    """

    signs: Floats
    exact: bool


def possible_labellings(samples: int, resampling: str) -> int:
    """Number of ways to label the data, the observed one among them."""
    return 2**samples if resampling == "swap" else comb(2 * samples, samples)


def relabellings(samples: int, how: Relabelling) -> Relabellings:
    """Draw relabellings, or list them all if they are few.

    Parameters
    ----------
    samples : int
        Number of samples, s.
    resampling : {"swap", "pooled"}
        Swaps within samples, or all 2s units dealt out anew.
    resamples : int
        How many to draw; all are listed if they are at most that many.
    seed : int
        Entropy of the random streams.

    Returns
    -------
    Relabellings
    """
    swap = how.resampling == "swap"
    if possible_labellings(samples, how.resampling) <= how.resamples:
        every = np.array(list(product((1.0, -1.0), repeat=samples))) if swap else _all_deals(samples)
        return Relabellings(signs=every[1:], exact=True)  # the first is the observed one
    starts = range(0, how.resamples, _BLOCK)
    streams = np.random.SeedSequence(how.seed).spawn(len(starts))
    blocks = []
    for start, stream in zip(starts, streams, strict=True):
        rng, count = np.random.default_rng(stream), min(_BLOCK, how.resamples - start)
        if swap:
            blocks.append(rng.choice((1.0, -1.0), size=(count, samples)))
        else:
            blocks.append(rng.permuted(np.tile(np.repeat((1.0, -1.0), samples), (count, 1)), axis=1))
    return Relabellings(signs=np.concatenate(blocks), exact=False)


def _all_deals(samples: int) -> Floats:
    chosen = list(combinations(range(2 * samples), samples))
    signs = np.full((len(chosen), 2 * samples), -1.0)
    signs[np.arange(len(chosen))[:, None], chosen] = 1.0
    return signs


# Where a pair is looked at before the last relabelling, and when it is closed there.
FIRST, _SURPRISE = 1000, 0.05
_LOOKS = (200, FIRST)


def closes(extreme: int, looked_at: int, level: float) -> bool:
    """Whether so many extreme ones are more than a pair at the edge of a level shows in 95 % of cases."""
    return bool(bdtrc(extreme - 1, looked_at, level) < _SURPRISE)


class NullOptima:
    """Optima of relabelled data, found only as exactly as a question needs.

    Parameters
    ----------
    polytope : UtilityPolytope
        Fixed under relabelling.
    signs : ndarray, shape (N, units)
        The relabellings.
    contributions : ndarray, shape (units, d)
        What each unit adds to the objective when its sign is +1.
    """

    def __init__(self, polytope: UtilityPolytope, signs: Floats, contributions: Floats) -> None:
        self._polytope = polytope
        self._signs = signs
        self._contributions = contributions
        self._above = np.full(len(signs), np.inf)
        for utility in polytope.utilities:
            np.minimum(self._above, signs @ (contributions @ utility), out=self._above)
        self._known = np.zeros(len(signs), dtype=bool)

    def at_least(self, value: float) -> int:
        """Number of relabellings whose optimum is at least a value, ties included."""
        needed = value - RESOLUTION
        for b in range(len(self._signs)):
            if self._above[b] >= needed and not self._known[b]:
                self._solve(b)
        return int(np.sum(self._above >= needed))

    def all(self) -> Floats:
        """Optimum of every relabelling, exactly, shape (N,)."""
        self.at_least(-np.inf)
        return self._above.copy()

    def _solve(self, b: int) -> None:
        optimum = self._polytope.minimise(self._signs[b] @ self._contributions)
        expected = self._signs @ (self._contributions @ optimum.utility)
        self._above = np.where(self._known, self._above, np.minimum(self._above, expected))
        self._above[b] = optimum.value
        self._known[b] = True


def closed_early(
    polytope: UtilityPolytope, signs: Floats, contributions: Floats, value: float, closing: float | None
) -> tuple[NullOptima, int]:
    """Relabellings until a pair is beyond being significant, or all of them, and how many these are."""
    for count in _LOOKS:
        if closing is not None and count < len(signs):
            null = NullOptima(polytope, signs[:count], contributions)
            if closes(null.at_least(value), count, closing):
                return null, count
    return NullOptima(polytope, signs, contributions), len(signs)


def null_optima(utilities: Utilities, winner: int, loser: int, how: Relabelling) -> Floats:
    """Optimum of every relabelling that the test of a pair looks at, each solved for.

    Parameters
    ----------
    utilities : Utilities
    winner, loser : int
        The models: optima are those of the winner over the loser.
    how
        As in :func:`riskrank.engine.gsd.relabelling.relabelling_tests`: the same relabellings.

    Returns
    -------
    ndarray, shape (N,)

    Raises
    ------
    InputError
        If δ exceeds δ_max.
    NumericalError
        If a program cannot be solved for certain.
    """
    table = utilities.table
    polytope, _, _ = utilities.polytope((winner, loser))
    parts = how.parts(*(sample_masses(table, polytope.system, model) for model in (winner, loser)))
    return NullOptima(polytope, relabellings(table.samples, how).signs, parts).all()
