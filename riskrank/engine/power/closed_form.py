"""How a test answers on tables nobody tested: its p-values in closed form, thousands at once.

A table enters with what its units move the statistics by (:mod:`riskrank.engine.power.effects`); of whole
tasks it is Student's test of their means itself, which has to agree with a claim (method §8). The family
decides as ever. Tables tested whole say how far this can be believed, and how much higher the test stands.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from riskrank.engine.dominance.inference import RELATIVE
from riskrank.engine.dominance.rank_guard import (
    behind_pairs,
    direct_guard,
    guard_share,
    least,
    powers,
    relative_guard,
)
from riskrank.engine.dominance.replicates import BootstrapColumn
from riskrank.engine.dominance.sign_tests import by_signs
from riskrank.engine.dominance.stopping import TAIL_MARGIN
from riskrank.engine.dominance.task_mean_tests import is_blind
from riskrank.engine.evidence.student import weighted_mean
from riskrank.engine.power.effects import Effects
from riskrank.engine.power.planning import Plan
from riskrank.engine.power.simulation import streams
from riskrank.engine.sampling.degrees_of_freedom import Freedom, expanded_p_value
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import FEWEST_TASKS
from riskrank.engine.sampling.weighted_resamples import MOST_UNITS
from riskrank.engine.types import Booleans, Floats, Integers

# Tables whose ranks are looked at, and their samples.
_RANKED, _RANKED_SIZE = 30, 500

# Resamples that a test by the limit theorem costs as much as.
_OF_LIMIT_THEOREM = 200

# How many parts all tables are looked at in.
PARTS = 10

# Numbers worked on at once.
_CACHE = 1 << 20


@dataclass(frozen=True)
class _Test:
    """What a test of tables of one size rests on: one of them, what is behind each pair, resamples, work."""

    scores: ClusteredScores
    behind: Floats | Freedom
    resamples: int
    work: float


@dataclass
class NormalTables:
    """Tables whose statistics are normal on the scale that counts.

    Attributes
    ----------
    plan : Plan
    effects : Effects
    tables : int
    """

    plan: Plan
    effects: Effects
    tables: int
    _tests: dict[int, _Test] = field(default_factory=dict)

    def shown(self, size: int, height: float = 0.0) -> Iterator[Booleans]:
        """Whether each pair is shown, in the same draws whatever the size, of some tables after others."""
        rng = np.random.default_rng([self.plan.inference.seed, 0, 2])
        for noise in np.array_split(self._noise, PARTS):
            yield self.answers(noise, size, height, rng)

    def answering(self, drawn: Sequence[Sequence[Integers]], size: int) -> Callable[[float], Booleans]:
        """The same of tables of some units by height."""
        noise = np.concatenate([self.effects.noise_of(units, size) for units in drawn])
        return partial(self.answers, noise, size)

    def work(self, size: int) -> float:
        """Numbers that a whole test of a table draws and compares."""
        return self._test(size).work

    def resamples(self, size: int) -> int:
        """Resamples of such a test at most; 1 by the limit theorem."""
        return self._test(size).resamples if self.plan.inference.resampled else 1

    @cached_property
    def _noise(self) -> Floats:
        return self.effects.noise(np.random.default_rng([self.plan.inference.seed, 0, 1]), self.tables)

    def blind(self, size: int) -> bool:
        """Whether no resamples of so many tasks could show a claim, so that their means stand in."""
        if self.plan.claim.kind != RELATIVE or self.plan.inference.resamples != "auto":
            return False
        test = self._test(size)
        smallest = float(size) ** -size if size <= MOST_UNITS else 1 / (test.resamples + 1)
        return is_blind(test.scores, self.plan.inference, len(self.plan.family), smallest)

    def answers(
        self,
        noise: Floats,
        size: int,
        height: float,
        rng: np.random.Generator | None = None,
        beside: Floats | float = 0.0,
        spread: Floats | float = 1.0,
    ) -> Booleans:
        """Of tables with this noise; without a generator as many resamples cross as are to be expected.

        No p-value is less than what stands beside; a table's own spread may differ from the population's.
        """
        claims = self.plan.inference.family
        away = (sqrt(size) * self.effects.mean + noise) / spread - height
        if self.plan.inference.paper_exact:
            return claims.significant(self.plan.scores.models**2 * ndtr(-sqrt(size) * away))
        if not self.plan.inference.resampled:
            # That both distributions are equal has to be refuted as well, whichever is ahead.
            return claims.significant(claims.each(np.minimum(2 * ndtr(-away), 1.0)))
        test, crossing = self._test(size), ndtr(-away)
        count = crossing * test.resamples if rng is None else rng.binomial(test.resamples, crossing)
        least_p = np.maximum(self._by_ranks(noise, float(test.scores.independent.min())), beside)
        counted = np.maximum(_p_values((1 + count) / (test.resamples + 1), test.behind), least_p)
        found = claims.significant(claims.each(counted))
        if self.plan.claim.kind == RELATIVE:
            # Far beyond doubt a claim is closed by the tail of its replicates.
            rare = count < 0.5
            tail = expanded_p_value(crossing[rare], test.behind[np.nonzero(rare)[1]])
            tail = np.maximum(tail, np.broadcast_to(least_p, rare.shape)[rare])
            counted[rare] = np.minimum(tail, counted[rare])
            found |= claims.at(TAIL_MARGIN).significant(claims.each(counted))
        return found

    def _by_ranks(self, noise: Floats, samples: float) -> Floats | float:
        """The least p-value that ranks, and signs of 0/1 scores, leave, as far as the population's tell."""
        if self.plan.claim.boundary > 0.5:
            return 0.0
        distance, slope, there, changed = self._ranks
        away = distance * sqrt(samples / there)
        found = np.minimum(len(powers(samples)) * ndtr(-away - slope * noise), 1.0)
        found /= guard_share(paired=self.plan.sampler.paired)
        if not changed.all():
            return found
        # The exact test counts the sample at which it stands, half a step of two; its noise is that of means.
        return np.maximum(found, ndtr(1 / np.sqrt(changed * samples) - away - noise))

    @cached_property
    def _ranks(self) -> tuple[Floats, float, float, Floats]:
        """How far ranks lie apart in some tables, in standard errors; how they go with the noise; samples.

        And which share of 0/1 scores of the same samples differ, pair by pair; 0 of other scores.
        """
        size = max(_RANKED_SIZE // self.plan.sampler.width, 2)
        distances, noise, changed = [], [], []
        for stream in streams(size, _RANKED, self.plan.inference.seed):
            drawn = self.plan.sampler.chosen(np.random.default_rng(stream), size)
            scores = self.plan.sampler.table(drawn)
            relative = self.plan.claim.kind == RELATIVE
            guard = relative_guard(scores) if relative else direct_guard(scores, self.plan.family)
            samples = float(scores.independent.min())
            distances.append(-ndtri(np.minimum(guard[self._at] / len(powers(samples)), 0.999)))
            noise.append(self.effects.noise_of(drawn, size)[0])
            signs, values = by_signs(scores), scores.values
            changed.append([signs and np.mean(values[i] != values[j]) for i, j in self.plan.family])
        apart, about = np.array(distances), np.array(noise)
        mean = apart.mean(axis=0)
        slope = float(((apart - mean) * about).sum() / max(float((about**2).sum()), 1e-9))
        return mean, min(max(slope, 0.0), 1.0), samples, np.mean(changed, axis=0)

    @property
    def _at(self) -> tuple[Integers, Integers]:
        winners, losers = np.transpose(self.plan.family)
        return winners, losers

    def _test(self, size: int) -> _Test:
        if size not in self._tests:
            plan, inference = self.plan, self.plan.inference
            scores = plan.sampler(np.random.default_rng([inference.seed, size]), size)
            behind = behind_pairs(scores, None if plan.claim.kind == RELATIVE else plan.family)[self._at]
            column = BootstrapColumn(scores, pairs=plan.family)
            resamples = _OF_LIMIT_THEOREM
            if inference.resampled:
                resamples = inference.rounds(len(plan.family), column.comparisons, least(behind))[-1]
            work = resamples * (column.comparisons + 4 * sum(scores.sizes))
            self._tests[size] = _Test(scores, behind, resamples, work)
        return self._tests[size]


def _p_values(shares: Floats, behind: Floats | Freedom) -> Floats:
    """P-values of counted shares, shape (tables, m), many of which are equal."""
    found = np.empty(shares.shape)
    for pair, own in enumerate(shares.T):
        values, places = np.unique(own, return_inverse=True)
        found[:, pair] = expanded_p_value(values, behind[pair])[places]
    return found


@dataclass
class TaskTables:
    """Tables of whole tasks, for which Student's t of the differences of their means has to agree.

    Attributes
    ----------
    normal : NormalTables
    apart : ndarray, shape (m, T)
        Differences of the means of each task of the pilot: of every pair of the family, the winner's less the
        loser's.
    """

    normal: NormalTables
    apart: Floats

    def shown(self, size: int, height: float = 0.0) -> Iterator[Booleans]:
        """Whether both tests show each pair."""
        rng = np.random.default_rng([self.normal.plan.inference.seed, size])
        tables, tasks = self.normal.tables, self.apart.shape[1]
        drawn = rng.integers(0, tasks, (tables, size))
        step = max(_CACHE // (size * len(self.apart)), 1)
        for at in range(0, tables, step):
            yield self._answers(drawn[at : at + step], size, height, rng)

    def answering(self, drawn: Sequence[Sequence[Integers]], size: int) -> Callable[[float], Booleans]:
        """The same of tables of some tasks by height."""
        return partial(self._answers, np.stack([units[0] for units in drawn]), size)

    def _answers(
        self, drawn: Integers, size: int, height: float, rng: np.random.Generator | None = None
    ) -> Booleans:
        weights = self.normal.plan.sampler.scores.strata.weights
        share = weights[drawn] / weights[drawn].sum(axis=1, keepdims=True)
        p_value = weighted_mean(self.apart[:, drawn], share).p_above().T
        if self.normal.blind(size):
            claims = self.normal.plan.inference.family
            found = claims.significant(claims.each(ndtr(ndtri(p_value) + height)))
        else:
            parts = self.normal.effects.parts[0][drawn]
            noise, spread = parts.sum(axis=1) / sqrt(size), np.maximum(parts.std(axis=1), 1e-9)
            found = self.normal.answers(noise, size, height, rng, p_value, spread)
        # Weights worth fewer tasks than a test takes show nothing.
        return found & (1 / (share**2).sum(axis=1) > FEWEST_TASKS - 1e-9)[:, None]
