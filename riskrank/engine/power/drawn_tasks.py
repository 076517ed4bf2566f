"""Power where whole tasks are drawn: by Student's test of their means, and some data sets by the whole test.

Of tasks like these a claim needs Student's t of the macro means (method §8), whose data sets are task
numbers: thousands are drawn in no time. Only where it agrees do resamples matter, and they hardly ever
differ. So power is the share of data sets that Student's test passes, times the share of those that the
resamples pass as well, which a few data sets of the size needed tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from riskrank.engine.dominance.tests import family_of
from riskrank.engine.dominance.tests_of_task_means import means_of_tasks
from riskrank.engine.evidence.student import weighted_mean
from riskrank.engine.power.decision import DominanceDecision
from riskrank.engine.power.samplers import PilotSampler
from riskrank.engine.power.simulation import BLOCK, PowerCurve, Run, Simulation, share_error
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import FEWEST_TASKS
from riskrank.engine.types import Booleans, Floats, Integers

# Data sets tested by their means for each one asked for; of so many asked for one is tested whole.
_BY_MEANS, _WHOLE = 40, 5

# Fewest data sets that are tested whole, where so many pass.
_FEWEST = 10

# Numbers worked on at once.
_CACHE = 1 << 20


@dataclass(frozen=True)
class Agreement:
    """How often resamples agree with Student's test of the means.

    Attributes
    ----------
    size : int
        Tasks of the data sets.
    looked, agreed : ndarray of int, shape (pairs + 1,)
        Data sets that Student's test passed, and those of them that the resamples passed, too: of every
        pair, and of all at once.
    """

    size: int
    looked: Integers
    agreed: Integers

    @property
    def share(self) -> Floats:
        """Share of the data sets, shape (pairs + 1,); 1 where none was looked at."""
        return np.where(self.looked > 0, self.agreed / np.maximum(self.looked, 1), 1.0)

    @property
    def error(self) -> Floats:
        """Its Monte Carlo error, shape (pairs + 1,)."""
        return np.where(self.looked > 0, share_error(self.agreed, np.maximum(self.looked, 1)), 0.0)


@dataclass(frozen=True)
class DrawnTasks(Simulation):
    """Data sets of whole tasks of a pilot.

    Attributes
    ----------
    sampler : PilotSampler
    decide : DominanceDecision
        Of relative or direct claims, for which Student's test has to agree.
    apart : ndarray, shape (m, T)
        Differences of the tasks' means of every pair of the family, the winner's less the loser's.
    agreement : Agreement or None
        None before any data set was tested whole: powers are then those of Student's test.
    """

    sampler: PilotSampler
    decide: DominanceDecision
    apart: Floats
    agreement: Agreement | None = None

    @classmethod
    def of(cls, simulation: Simulation, scores: ClusteredScores) -> DrawnTasks:
        """Of a simulation whose pilot these scores are."""
        sampler, decide = simulation.sampler, simulation.decide
        assert isinstance(sampler, PilotSampler)
        assert isinstance(decide, DominanceDecision)
        winners, losers = family_of(scores.models, decide.pairs if decide.alone else None)
        means = means_of_tasks(scores)
        return cls(sampler, decide, means[winners] - means[losers])

    def curve(self, sizes: Sequence[int], *, repeats: int, seed: int, run: Run) -> PowerCurve:
        """Power at some sizes, of 40 times as many data sets as are asked for."""
        wanted, count = sorted(set(sizes)), _BY_MEANS * repeats
        passed = [_with_all(self.by_means(self._drawn(size, count, seed))) for size in wanted]
        hits = np.array([each.sum(axis=0) for each in passed])
        power, error = hits / count, share_error(hits, count)
        if self.agreement is not None:
            error = np.hypot(self.agreement.share * error, power * self.agreement.error)
            power = power * self.agreement.share
        return PowerCurve(np.array(wanted), power[:, :-1], error[:, :-1], power[:, -1], error[:, -1], count)

    def agreeing(self, size: int, *, repeats: int, seed: int, run: Run) -> DrawnTasks:
        """The same with resamples of some data sets that Student's test passes, a fifth of those asked."""
        drawn = self._drawn(size, _BY_MEANS * repeats, seed)
        passed = self.by_means(drawn)
        some = np.flatnonzero(passed.any(axis=1))[: max(ceil(repeats / _WHOLE), _FEWEST)]
        starts = range(0, some.size, BLOCK)
        streams = np.random.SeedSequence([seed, size, 1]).spawn(len(starts))
        blocks = [_Tables(drawn[some[at : at + BLOCK]], own) for at, own in zip(starts, streams, strict=True)]
        looked = _with_all(passed[some])
        whole = np.concatenate([passed[:0], *run(_tested_whole, self, blocks)])
        agreed = looked & _with_all(whole)
        return replace(self, agreement=Agreement(size, looked.sum(axis=0), agreed.sum(axis=0)))

    def by_means(self, drawn: Integers) -> Booleans:
        """Whether Student's test shows each pair looked at, of data sets of task numbers, (R, pairs)."""
        decide, weights = self.decide, self.sampler.weights
        assert weights is not None
        asked = decide.pairs if decide.alone else None
        winners, losers = (side.tolist() for side in family_of(len(self.sampler.values), asked))
        family = [*zip(winners, losers, strict=True)]
        at, claims = [family.index(pair) for pair in decide.pairs], decide.inference.family
        step = max(_CACHE // (drawn.shape[1] * len(self.apart)), 1)
        found = []
        for start in range(0, len(drawn), step):
            rows = drawn[start : start + step]
            share = weights[rows] / weights[rows].sum(axis=1, keepdims=True)
            p_values = weighted_mean(self.apart[:, rows], share).p_above().T
            shown = np.array([claims.significant(claims.adjusted(row))[at] for row in p_values])
            # Weights worth fewer tasks than a test takes show nothing.
            found.append(shown & (1 / (share**2).sum(axis=1) > FEWEST_TASKS - 1e-9)[:, None])
        return np.concatenate(found)

    def _drawn(self, size: int, count: int, seed: int) -> Integers:
        rng = np.random.default_rng([seed, size])
        return rng.integers(0, self.apart.shape[1], (count, size))


@dataclass(frozen=True)
class _Tables:
    """Some data sets as their task numbers, with a random stream of their own."""

    drawn: Integers
    stream: np.random.SeedSequence

    @property
    def count(self) -> int:
        """Data sets."""
        return len(self.drawn)


def _tested_whole(simulation: DrawnTasks, tables: _Tables) -> Booleans:
    streams = tables.stream.spawn(tables.count)
    draws = (simulation.sampler.of([row]) for row in tables.drawn)
    return np.array([simulation.decide(*each) for each in zip(draws, streams, strict=True)], dtype=bool)


def _with_all(shown: Booleans) -> Booleans:
    """Of every pair, and of all at once."""
    return np.column_stack([shown, shown.all(axis=1)])
