"""Simulate a test's verdicts on many tables, with p-values in closed form.

A table is represented by the influence of its units on the statistics (:mod:`riskrank.engine.power.effects`).
With random tasks, Student's test of the task means must be significant too (method §8), and is computed
exactly. P-values are corrected for multiple testing as in the full test. Full tests of some tables check the
approximation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt

import numpy as np
from scipy.special import ndtr

from riskrank.engine.dominance.inference import RELATIVE
from riskrank.engine.dominance.pair_samples import fewest_samples, pair_samples
from riskrank.engine.dominance.replicates import BootstrapColumn
from riskrank.engine.dominance.sign_flips import mean_utility, standardised_differences
from riskrank.engine.dominance.stopping import TAIL_MARGIN
from riskrank.engine.dominance.task_mean_tests import sampled_task_means
from riskrank.engine.evidence.student import weighted_mean
from riskrank.engine.family import Family
from riskrank.engine.power.effects import Distances, Effects, estimate_effects
from riskrank.engine.power.planning import Plan, table_streams
from riskrank.engine.sampling.degrees_of_freedom import Dof, expanded_p_value, unexpanded_p_value
from riskrank.engine.sampling.design import MIN_SAMPLES, ClusteredScores
from riskrank.engine.sampling.strata import MIN_TASKS
from riskrank.engine.sampling.weighted_resamples import MAX_UNITS
from riskrank.engine.types import Booleans, Floats, Integers

# Number of tables for the sign flips, and their number of samples.
_FLIP_TABLES, _FLIP_SAMPLES = 30, 500

# Cost of a test by the limit theorem, in resamples.
_LIMIT_THEOREM_COST = 200

# Number of parts that the tables are split into, and numbers per batch.
_PARTS, _CACHE = 40, 1 << 20


@dataclass(frozen=True)
class FullTest:
    """Quantities that determine the full test of one table.

    Attributes
    ----------
    effective_size : ndarray or Dof, shape (m,)
        Effective sample size of each pair, or its degrees of freedom.
    samples : float
        Smallest effective sample size of any model.
    resamples : int
        Largest number of resamples.
    work : float
        Amount of work: how many numbers are drawn and compared.
    """

    effective_size: Floats | Dof
    samples: float
    resamples: int
    work: float


@dataclass
class ClosedForm:
    """Closed-form approximation of a test on simulated tables, by a normal transformation.

    Attributes
    ----------
    plan : Plan
    tables : int
        Number of simulated tables per size.
    """

    plan: Plan
    tables: int
    _tests: dict[tuple[int, int], FullTest] = field(default_factory=dict)

    def significant_pairs(self, size: int) -> Booleans:
        """Return a mask of the significant pairs in each simulated table, shape (tables, pairs)."""
        seed = self.plan.inference.seed
        if self.plan.inference.paper_exact:
            distances = self._distances(size)
            results = [self._paper_verdicts(distances, distances.std(axis=0), size)]
        elif self.plan.needs_means_test:
            rng, (pairs, tasks) = np.random.default_rng([seed, size]), self._task_differences.shape
            draws, step = rng.integers(0, tasks, (self.tables, size)), max(_CACHE // (size * pairs), 1)
            rows = [slice(start, start + step) for start in range(0, self.tables, step)]
            results = [self._task_verdicts(draws[row], size, rng) for row in rows]
        else:
            rng, parts = np.random.default_rng([seed, 0, 2]), np.array_split(self._noise, _PARTS)
            # With clusters of unequal sizes the effective size depends on the draw.
            tests = [self.full_test(size, number * self._unequal_units) for number in range(_PARTS)]
            results = [self._verdicts(part, size, test, rng) for part, test in zip(parts, tests, strict=True)]
        return np.concatenate(results)[:, self.pair_indices]

    def significant_pairs_in(self, tables: Sequence[Sequence[Integers]], size: int) -> Booleans:
        """Return a mask of the significant pairs in each given table, shape (tables, pairs)."""
        error = self._distances(size).std(axis=0) if self.plan.inference.paper_exact else None
        results, sampler = [], self.plan.sampler
        for units in tables:
            if error is not None:
                results.append(self._paper_verdicts(self._simulator.for_units(units, 1), error, size))
            elif self.plan.needs_means_test:
                results.append(self._task_verdicts(units[0][None], size))
            else:
                test = (
                    self._full_test(sampler.build_table(units))
                    if self._unequal_units
                    else self.full_test(size)
                )
                results.append(self._verdicts(self.effects.unit_noise(units, size), size, test))
        return np.concatenate(results)[:, self.pair_indices]

    @cached_property
    def pair_indices(self) -> Integers:
        """Indices of the plan's pairs in the family."""
        return np.array([self.plan.family.index(pair) for pair in self.plan.pairs])

    @cached_property
    def effects(self) -> Effects:
        """Effect sizes in the population, with the influence of each unit."""
        plan = self.plan
        return estimate_effects(plan.scores, plan.claim, plan.family, plan.inference.seed)

    def _paper_verdicts(self, distances: Floats, error: Floats, size: int) -> Booleans:
        """Return a mask of the significant pairs by Algorithm 1 of [RAB], shape (tables, m).

        Parameters
        ----------
        distances : ndarray, shape (tables, m)
            Simulated distances from the boundary.
        error : ndarray, shape (m,)
            Standard deviation of the distances over simulated tables.
        size : int
            Number of units per table.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            p_value = np.where(distances == 0, 0.5, ndtr(distances * sqrt(size) / error))
        return self.plan.inference.family.significant(self.plan.scores.models**2 * p_value)

    def _distances(self, size: int) -> Floats:
        """Return the simulated distances from the boundary, shape (tables, m)."""
        rng = np.random.default_rng([self.plan.inference.seed, size])
        return np.concatenate([part for _, part in self._simulator.draw(rng, size, self.tables)])

    @cached_property
    def _simulator(self) -> Distances:
        """Simulator of the distances from the boundary."""
        return Distances(self.plan.sampler, self.plan.claim, self.plan.family)

    @cached_property
    def _noise(self) -> Floats:
        """Simulated noise of all tables, shape (tables, m)."""
        rng = np.random.default_rng([self.plan.inference.seed, 0, 1])
        return self.effects.simulate_noise(rng, self.tables)

    @cached_property
    def _task_differences(self) -> Floats:
        """Differences of the task means of the pilot, winner minus loser, shape (m, T)."""
        winners, losers = self._pair_models
        means = sampled_task_means(self.plan.scores)
        return means[winners] - means[losers]

    def is_powerless(self, size: int) -> bool:
        """Return True if no claim can become significant with this number of tasks."""
        if self.plan.claim.kind != RELATIVE or self.plan.inference.resamples != "auto":
            return False
        test, level = self.full_test(size), self.plan.inference.family.interval_level(len(self.plan.family))
        smallest = float(size) ** -size if size <= MAX_UNITS else 1 / (test.resamples + 1)
        return float(unexpanded_p_value(level, fewest_samples(test.effective_size))) < smallest

    def _task_verdicts(self, draws: Integers, size: int, rng: np.random.Generator | None = None) -> Booleans:
        """Return a mask of the pairs that are significant in both the claim and the t-test of task means."""
        weights = self.plan.scores.strata.weights
        shares = weights[draws] / weights[draws].sum(axis=1, keepdims=True)
        p_value = weighted_mean(self._task_differences[:, draws], shares).p_above().T
        if self.is_powerless(size):
            family = self._family
            verdicts = family.significant(family.adjust_rows(p_value))
        else:
            parts = self.effects.influences[0][draws]
            noise, spread = parts.sum(axis=1) / sqrt(size), np.maximum(parts.std(axis=1), 1e-9)
            verdicts = self._verdicts(noise, size, self.full_test(size), rng, p_value, spread)
        # The effective number of tasks must be large enough for a test.
        return verdicts & (1 / (shares**2).sum(axis=1) > MIN_TASKS - 1e-9)[:, None]

    def _verdicts(
        self,
        noise: Floats,
        size: int,
        test: FullTest,
        rng: np.random.Generator | None = None,
        min_p: Floats | float = 0.0,
        spread: Floats | float = 1.0,
    ) -> Booleans:
        """Return a mask of the significant pairs in tables with the given noise, shape (tables, m).

        Parameters
        ----------
        noise : ndarray, shape (tables, m)
            Simulated noise of each pair.
        size : int
            Number of units per table.
        test : FullTest
        rng : Generator, optional
            Generator that draws the number of resamples across the boundary; by default, the expected number
            is used.
        min_p : ndarray or float
            Lower bound on the p-values.
        spread : ndarray or float
            Standard deviation in each table, relative to that of the population.
        """
        family = self._family
        if test.samples < MIN_SAMPLES - 1e-9 and not self.plan.scores.strata.random:
            # The drawn clusters have too small an effective size for a test.
            return np.zeros(noise.shape, dtype=bool)
        distance = (sqrt(size) * self.effects.mean + noise) / spread
        if not self.plan.inference.uses_resampling:
            # The test is two-sided: it must also reject the equality of both distributions.
            return family.significant(family.adjust_rows(np.minimum(2 * ndtr(-distance), 1.0)))
        crossing = ndtr(-distance)
        count = crossing * test.resamples if rng is None else rng.binomial(test.resamples, crossing)
        lower = np.maximum(self._flip_p_values(noise, test.samples), min_p)
        p_values = np.maximum(_p_values((1 + count) / (test.resamples + 1), test.effective_size), lower)
        significant = family.significant(family.adjust_rows(p_values))
        if self.plan.claim.kind == RELATIVE:
            # Claims far from the boundary are decided by the tail of their replicates.
            rare = count < 0.5
            tail = expanded_p_value(crossing[rare], test.effective_size[np.nonzero(rare)[1]])
            tail = np.maximum(tail, np.broadcast_to(lower, rare.shape)[rare])
            p_values[rare] = np.minimum(tail, p_values[rare])
            significant |= family.scaled(TAIL_MARGIN).significant(family.adjust_rows(p_values))
        return significant

    def _flip_p_values(self, noise: Floats, samples: float) -> Floats | float:
        """Return the lower bounds on the p-values from sign flips."""
        if self.plan.claim.boundary > 0.5 or self.plan.scores.n_random_tasks:
            return 0.0
        distance, slope, pilot_samples = self._flip_summary
        return ndtr(-distance * sqrt(samples / pilot_samples) - slope * noise)

    @cached_property
    def _flip_summary(self) -> tuple[Floats, float, float]:
        """Summary of the sign flips in some simulated tables.

        It consists of the mean distance in standard errors, its regression slope on the noise, and the
        effective sample size.
        """
        size = max(_FLIP_SAMPLES // self.plan.sampler.n_strata, 2)
        distances, noise = [], []
        for stream in table_streams(size, _FLIP_TABLES, self.plan.inference.seed):
            units = self.plan.sampler.draw_units(np.random.default_rng(stream), size)
            scores = self.plan.sampler.build_table(units)
            utility = mean_utility(self.plan.claim.order)
            distances.append(standardised_differences(scores, self.plan.family, utility)[self._pair_models])
            noise.append(self.effects.unit_noise(units, size)[0])
        distance, noises = np.array(distances), np.array(noise)
        mean = distance.mean(axis=0)
        slope = float(((distance - mean) * noises).sum() / max(float((noises**2).sum()), 1e-9))
        return mean, min(max(slope, 0.0), 1.0), float(scores.effective_sizes.min())

    @cached_property
    def _pair_models(self) -> tuple[Integers, Integers]:
        """Indices of the winners and of the losers of all pairs."""
        winners, losers = np.transpose(self.plan.family)
        return winners, losers

    @cached_property
    def _family(self) -> Family:
        """Level and correction of the tests."""
        return self.plan.inference.claim_family(self.plan.claim, self._pair_models)

    @property
    def _unequal_units(self) -> bool:
        """True if units have unequal sizes, so that the effective size depends on the drawn units."""
        return not self.plan.scores.strata.has_several_tasks and self.plan.scores.scores_per_unit() is None

    def full_test(self, size: int, number: int = 0) -> FullTest:
        """Return the quantities that determine the full test of a simulated table of this size."""
        if (size, number) not in self._tests:
            rng = np.random.default_rng([self.plan.inference.seed, size, *[number] * (number > 0)])
            self._tests[size, number] = self._full_test(self.plan.sampler(rng, size))
        return self._tests[size, number]

    def _full_test(self, scores: ClusteredScores) -> FullTest:
        """Return the quantities that determine the full test of a table."""
        plan, inference = self.plan, self.plan.inference
        size = pair_samples(scores, plan.family)[self._pair_models]
        column, resamples = BootstrapColumn(scores, pairs=plan.family), _LIMIT_THEOREM_COST
        if inference.uses_resampling:
            resamples = inference.round_totals(len(plan.family), column.comparisons, fewest_samples(size))[-1]
        work = resamples * (column.comparisons + 4 * sum(scores.sizes))
        return FullTest(size, float(scores.effective_sizes.min()), resamples, work)


def _p_values(proportions: Floats, size: Floats | Dof) -> Floats:
    """Return p-values for proportions of resamples across the boundary, shape (tables, m)."""
    p_values = np.empty(proportions.shape)
    for pair, column in enumerate(proportions.T):
        values, codes = np.unique(column, return_inverse=True)
        p_values[:, pair] = expanded_p_value(values, size[pair])[codes]
    return p_values
