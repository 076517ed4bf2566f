"""How a test answers on tables nobody tested: its p-values in closed form, thousands at once.

A table enters with what its units move the statistics by (:mod:`riskrank.engine.power.effects`); of whole
tasks it is Student's test of their means itself, which has to agree with a claim (method §8). The family
decides as ever. Tables tested whole say how far this can be believed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from riskrank.engine.dominance.closing import TAIL_MARGIN
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
from riskrank.engine.dominance.tests_of_task_means import means_of_tasks
from riskrank.engine.evidence.student import weighted_mean
from riskrank.engine.power.effects import Distances, Effects, effects_of
from riskrank.engine.power.planning import Plan, streams
from riskrank.engine.sampling.design import FEWEST_SAMPLES, ClusteredScores
from riskrank.engine.sampling.freedom import Freedom, expanded_p_value, expanded_share
from riskrank.engine.sampling.strata import FEWEST_TASKS
from riskrank.engine.sampling.weighted_resamples import MOST_UNITS
from riskrank.engine.types import Booleans, Floats, Integers

# Tables whose ranks are looked at, and their samples.
_RANKED, _RANKED_SIZE = 30, 500

# Resamples that a test by the limit theorem costs as much as.
_OF_LIMIT_THEOREM = 200

# Parts that tables are answered in, and numbers worked on at once.
_PARTS, _CACHE = 40, 1 << 20


@dataclass(frozen=True)
class WholeTest:
    """What a test of one table rests on.

    Attributes
    ----------
    behind : ndarray or Freedom, shape (m,)
        Independent samples of each pair, or its degrees of freedom.
    samples : float
        Independent samples of the model with the fewest.
    resamples : int
        At most.
    work : float
        Numbers drawn and compared.
    """

    behind: Floats | Freedom
    samples: float
    resamples: int
    work: float


@dataclass
class ClosedForm:
    """Tables whose statistics are normal on the scale that counts.

    Attributes
    ----------
    plan : Plan
    tables : int
    """

    plan: Plan
    tables: int
    _tests: dict[tuple[int, int], WholeTest] = field(default_factory=dict)

    def shown(self, size: int) -> Booleans:
        """Whether each pair of the plan is shown, shape (tables, pairs); in the same draws for any size."""
        seed = self.plan.inference.seed
        if self.plan.inference.paper_exact:
            distances = self._distances(size)
            found = [self._by_paper(distances, distances.std(axis=0), size)]
        elif self.plan.by_means:
            rng, (pairs, tasks) = np.random.default_rng([seed, size]), self._task_differences.shape
            drawn, step = rng.integers(0, tasks, (self.tables, size)), max(_CACHE // (size * pairs), 1)
            rows = [slice(start, start + step) for start in range(0, self.tables, step)]
            found = [self._answers_of_tasks(drawn[some], size, rng) for some in rows]
        else:
            rng, parts = np.random.default_rng([seed, 0, 2]), np.array_split(self._noise, _PARTS)
            # Clusters of unequal sizes are worth more or less, depending on which are drawn.
            tests = [self.test(size, number * self._uneven) for number in range(_PARTS)]
            found = [self._answers(part, size, test, rng) for part, test in zip(parts, tests, strict=True)]
        return np.concatenate(found)[:, self.claimed]

    def shown_in(self, drawn: Sequence[Sequence[Integers]], size: int) -> Booleans:
        """Whether each pair of the plan is shown in tables of some units, shape (tables, pairs)."""
        error = self._distances(size).std(axis=0) if self.plan.inference.paper_exact else None
        found = []
        for units in drawn:
            if error is not None:
                found.append(self._by_paper(self._ratios.of(units, 1), error, size))
            elif self.plan.by_means:
                found.append(self._answers_of_tasks(units[0][None], size))
            else:
                test = self._whole_test(self.plan.sampler.table(units)) if self._uneven else self.test(size)
                found.append(self._answers(self.effects.noise_of(units, size), size, test))
        return np.concatenate(found)[:, self.claimed]

    @cached_property
    def claimed(self) -> Integers:
        """Places of the plan's pairs in the family."""
        return np.array([self.plan.family.index(pair) for pair in self.plan.pairs])

    @cached_property
    def effects(self) -> Effects:
        """Effects of the pilot."""
        plan = self.plan
        return effects_of(plan.scores, plan.claim, plan.family, plan.inference.seed)

    def _by_paper(self, distances: Floats, error: Floats, size: int) -> Booleans:
        """Whether [RAB] Algorithm 1 shows each pair; the error is the spread of distances in drawn tables."""
        with np.errstate(divide="ignore", invalid="ignore"):
            p_value = np.where(distances == 0, 0.5, ndtr(distances * sqrt(size) / error))
        return self.plan.inference.family.significant(self.plan.scores.models**2 * p_value)

    def _distances(self, size: int) -> Floats:
        rng = np.random.default_rng([self.plan.inference.seed, size])
        return np.concatenate([part for _, part in self._ratios.drawn(rng, size, self.tables)])

    @cached_property
    def _ratios(self) -> Distances:
        return Distances(self.plan.sampler, self.plan.claim, self.plan.family)

    @cached_property
    def _noise(self) -> Floats:
        return self.effects.noise(np.random.default_rng([self.plan.inference.seed, 0, 1]), self.tables)

    @cached_property
    def _task_differences(self) -> Floats:
        """Differences of the means of each task of the pilot, the winner's less the loser's, shape (m, T)."""
        winners, losers = self._at
        means = means_of_tasks(self.plan.scores)
        return means[winners] - means[losers]

    def blind(self, size: int) -> bool:
        """Whether no resamples of so many tasks could show a claim, so that their means stand in."""
        if self.plan.claim.kind != RELATIVE or self.plan.inference.resamples != "auto":
            return False
        test, level = self.test(size), self.plan.inference.family.level(len(self.plan.family))
        smallest = float(size) ** -size if size <= MOST_UNITS else 1 / (test.resamples + 1)
        return float(expanded_share(level, least(test.behind))) < smallest

    def _answers_of_tasks(
        self, drawn: Integers, size: int, rng: np.random.Generator | None = None
    ) -> Booleans:
        """Whether both the claim and Student's t of the task means show each pair."""
        weights = self.plan.scores.strata.weights
        share = weights[drawn] / weights[drawn].sum(axis=1, keepdims=True)
        p_value = weighted_mean(self._task_differences[:, drawn], share).p_above().T
        if self.blind(size):
            claims = self.plan.inference.family
            found = claims.significant(claims.each(p_value))
        else:
            parts = self.effects.parts[0][drawn]
            noise, spread = parts.sum(axis=1) / sqrt(size), np.maximum(parts.std(axis=1), 1e-9)
            found = self._answers(noise, size, self.test(size), rng, p_value, spread)
        # Weights worth fewer tasks than a test takes show nothing.
        return found & (1 / (share**2).sum(axis=1) > FEWEST_TASKS - 1e-9)[:, None]

    def _answers(
        self,
        noise: Floats,
        size: int,
        test: WholeTest,
        rng: np.random.Generator | None = None,
        beside: Floats | float = 0.0,
        spread: Floats | float = 1.0,
    ) -> Booleans:
        """Whether each pair is shown in tables with this noise, shape (tables, m).

        Without a generator as many resamples cross as are to be expected. No p-value is less than what stands
        beside; a table's own spread may differ from the population's.
        """
        claims = self.plan.inference.family
        if test.samples < FEWEST_SAMPLES - 1e-9 and not self.plan.scores.strata.random:
            # By chance the clusters drawn tell too little for a test.
            return np.zeros(noise.shape, dtype=bool)
        away = (sqrt(size) * self.effects.mean + noise) / spread
        if not self.plan.inference.resampled:
            # That both distributions are equal has to be refuted as well, whichever is ahead.
            return claims.significant(claims.each(np.minimum(2 * ndtr(-away), 1.0)))
        crossing = ndtr(-away)
        count = crossing * test.resamples if rng is None else rng.binomial(test.resamples, crossing)
        least_p = np.maximum(self._by_ranks(noise, test.samples), beside)
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

    @cached_property
    def _at(self) -> tuple[Integers, Integers]:
        winners, losers = np.transpose(self.plan.family)
        return winners, losers

    @property
    def _uneven(self) -> bool:
        return not self.plan.scores.strata.several and self.plan.scores.draws_per_sample() is None

    def test(self, size: int, number: int = 0) -> WholeTest:
        """What the test of one of the tables of a size rests on."""
        if (size, number) not in self._tests:
            rng = np.random.default_rng([self.plan.inference.seed, size, *[number] * (number > 0)])
            self._tests[size, number] = self._whole_test(self.plan.sampler(rng, size))
        return self._tests[size, number]

    def _whole_test(self, scores: ClusteredScores) -> WholeTest:
        plan, inference = self.plan, self.plan.inference
        behind = behind_pairs(scores, None if plan.claim.kind == RELATIVE else plan.family)[self._at]
        column, resamples = BootstrapColumn(scores, pairs=plan.family), _OF_LIMIT_THEOREM
        if inference.resampled:
            resamples = inference.rounds(len(plan.family), column.comparisons, least(behind))[-1]
        work = resamples * (column.comparisons + 4 * sum(scores.sizes))
        return WholeTest(behind, float(scores.independent.min()), resamples, work)


def _p_values(shares: Floats, behind: Floats | Freedom) -> Floats:
    """P-values of counted shares, shape (tables, m), many of which are equal."""
    found = np.empty(shares.shape)
    for pair, own in enumerate(shares.T):
        values, places = np.unique(own, return_inverse=True)
        found[:, pair] = expanded_p_value(values, behind[pair])[places]
    return found
