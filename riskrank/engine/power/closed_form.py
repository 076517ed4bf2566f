"""Simulate a test's verdicts on many tables, with p-values in closed form.

A table is represented by the influence of its units on the statistics. With random tasks, the test of the
macro means must be significant too (method §8), and is computed exactly. P-values are corrected for
multiple testing as in the full test. Full tests of some tables check the approximation.

On a suitable scale, the statistic of a pair is normal with mean √n δ and variance 1 in tables of n samples.
So the p-value of the test is approximately Φ(−√n δ − ξ), where ξ is standard normal. The effect size δ is
estimated by simulation for any claim. If a proportion q of tables of m samples lies across the boundary, δ =
−Φ⁻¹(q)/√m. The joint distribution of ξ over several pairs, and the value of ξ for a given table, follow from
influence functions (method §4) of

    T = b ∫D₊² − (1 − b) ∫D₋².

The sign of T shows on which side of its boundary b a violation ratio lies; D is the difference of quantile
functions, or of integrated ones. T is homogeneous of degree 2 in D. So T divided by the standard deviation of
∫w dD, with the weight w = b D₊ + (1 − b) D₋, is δ itself to first order (Euler). This reduces the noise of
the simulation, which only counts how often a table and its linear statistic lie on different sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt

import numpy as np

from riskrank.engine.dominance.bootstrap import BootstrapColumn
from riskrank.engine.dominance.column_tests import sampled_task_means
from riskrank.engine.dominance.inference import RELATIVE, Claim
from riskrank.engine.dominance.pair_samples import fewest_samples, pair_samples
from riskrank.engine.dominance.sign_flips import mean_utility, standardised_differences
from riskrank.engine.dominance.stopping import TAIL_MARGIN
from riskrank.engine.dominance.violation import ViolationKernel
from riskrank.engine.evidence.mean_differences import sampled_task_p_values
from riskrank.engine.evidence.student import weighted_mean
from riskrank.engine.family import Family
from riskrank.engine.numeric import CommonScale
from riskrank.engine.power.planning import Plan, table_streams
from riskrank.engine.sampling.degrees_of_freedom import Dof, expanded_p_value, unexpanded_p_value
from riskrank.engine.sampling.design import MIN_SAMPLES, ClusteredScores
from riskrank.engine.sampling.pilot_sampler import PilotSampler
from riskrank.engine.sampling.resamples import unit_counts
from riskrank.engine.sampling.strata import MIN_TASKS
from riskrank.engine.sampling.weighted_resamples import MAX_UNITS, WeightedDesign
from riskrank.engine.special import ndtr, ndtri
from riskrank.engine.types import Booleans, Floats, Integers

Pairs = Sequence[tuple[int, int]]

# Number of levels at which quantile functions are compared.
_LEVELS = 1024

# Samples per simulated table: they increase until the statistic lies far enough from its boundary, in
# standard deviations. Smallest number of tables per size, and numbers in all tables and in one batch.
_SIZES, _FAR_ENOUGH = (10, 40, 160, 640), 1.2
_MIN_TABLES, _MAX_WORK, _BATCH_WORK = 1000, 1 << 20, 1 << 18

# A statistic this close to its boundary lies on it, and counts half.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Effects:
    """Effect sizes of all pairs of a family, and the influence of each unit on their statistics.

    Attributes
    ----------
    mean : ndarray, shape (m,)
        Effect size δ: distance of the statistic from its boundary, in standard deviations for n = 1.
    influences : tuple of ndarrays, shapes (units, m_i)
        Influence of each unit on the statistics, on the same scale. There is a single array if all models are
        resampled jointly, otherwise one per model. Their variances sum to 1 per pair, or to 0 if a statistic
        has no variance.
    columns : tuple of ndarrays of int, shapes (m_i,)
        Pair of each column of the influence arrays.
    counts : tuple of ndarrays, shapes (units,)
        Number of units in the stratum of each unit.
    """

    mean: Floats
    influences: tuple[Floats, ...]
    columns: tuple[Integers, ...]
    counts: tuple[Floats, ...]

    def unit_noise(self, draws: Sequence[Integers], size: int, tables: int = 1) -> Floats:
        """Return the sampling noise ξ of the statistics in simulated tables, shape (tables, m).

        `draws` holds the units of all tables, one table after the other. Each table has `size` units per
        stratum.
        """
        noise = np.zeros((tables, len(self.mean)))
        for part, columns, units in zip(self.influences, self.columns, draws, strict=True):
            noise[:, columns] += part[units.reshape(tables, -1)].sum(axis=1) / sqrt(size)
        return noise

    def simulate_noise(self, rng: np.random.Generator, tables: int) -> Floats:
        """Simulate the sampling noise ξ of the statistics in tables of any size, shape (tables, m)."""
        noise = np.zeros((tables, len(self.mean)))
        for part, columns, counts in zip(self.influences, self.columns, self.counts, strict=True):
            root = part / np.sqrt(counts)[:, None]
            if len(root) > len(columns):
                values, vectors = np.linalg.eigh(root.T @ root)
                root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
            noise[:, columns] += rng.standard_normal((tables, len(root))) @ root
        return noise


def estimate_effects(scores: ClusteredScores, claim: Claim, family: Pairs, seed: int) -> Effects:
    """Estimate the effect size of each pair in the population.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    claim : Claim
        Claim of dominance to test.
    family : sequence of m (int, int)
        Ordered pairs (winner, loser).
    seed : int
        Seed of the simulation.

    Returns
    -------
    Effects
    """
    scale = CommonScale.fit(scores.values)
    scores = replace(scores, values=scale.apply_all(scores.values))
    sampler = PilotSampler(scores)
    effects, distances = _influences(sampler, claim, family), Distances(sampler, claim, family)
    mean, near = effects.mean.copy(), np.ones(len(family), dtype=bool)
    for samples in _SIZES:
        size = max(round(samples / sampler.n_strata), 1)
        simulated = _simulate_effects(distances, effects, size, np.random.default_rng([seed, 0, size]))
        mean = np.where(near, simulated, mean)
        near &= np.abs(mean) * sqrt(size) < _FAR_ENOUGH
        if not near.any():
            break
    return replace(effects, mean=mean)


def _simulate_effects(distances: Distances, linear: Effects, size: int, rng: np.random.Generator) -> Floats:
    """Estimate the effect size δ of each pair by simulating tables with `size` units, shape (m,).

    It follows from the proportion of tables in which the statistic contradicts the claim. `distances`
    simulates the statistics. `linear` holds first-order effects, which reduce the noise of this proportion.
    """
    tables = max(_MAX_WORK // distances.work(size), _MIN_TABLES)
    across = np.zeros(len(linear.mean))
    for units, distance in distances.draw(rng, size, tables):
        across += np.where(np.abs(distance) <= _ROUNDING, 0.5, distance > 0).sum(axis=0)
        across -= (sqrt(size) * linear.mean + linear.unit_noise(units, size, len(distance)) < 0).sum(axis=0)
    share = np.clip(ndtr(-sqrt(size) * linear.mean) + across / tables, 0.5 / tables, 1 - 0.5 / tables)
    return -ndtri(share) / sqrt(size)


@dataclass(frozen=True)
class Distances:
    """Simulated distances of a claim's statistics from the boundary; negative if the claim holds.

    Attributes
    ----------
    sampler : PilotSampler
        Sampler of simulated tables from the pilot.
    claim : Claim
        Claim of dominance to test.
    family : sequence of m (int, int)
        Ordered pairs (winner, loser).
    """

    sampler: PilotSampler
    claim: Claim
    family: Pairs

    def draw(
        self, rng: np.random.Generator, size: int, tables: int
    ) -> Iterator[tuple[list[Integers], Floats]]:
        """Simulate tables with `size` units per stratum, and yield them in batches.

        Yields
        ------
        units : list of ndarrays of int
            Units of the tables in the batch, one table after the other.
        distances : ndarray, shape (tables, m)
            Distance of each pair's statistic from the boundary.
        """
        step = max(_BATCH_WORK // self.work(size), 1)
        for start in range(0, tables, step):
            count = min(step, tables - start)
            units = self.sampler.draw_units(rng, count * size)
            yield units, self.for_units(units, count)

    def for_units(self, draws: Sequence[Integers], tables: int) -> Floats:
        """Return the distances from the boundary in `tables` tables, shape (tables, m).

        `draws` holds the units of all tables, one table after the other.
        """
        sampler, kernel, design = self.sampler, self._kernel, self._design
        if design is None:
            ordered = [np.sort(values.reshape(tables, -1)) for values, _ in sampler.drawn_scores(draws)]
            ratios = kernel.ratios(ordered)
        else:
            both = zip(draws, sampler.unit_sizes, strict=False)
            counts = [unit_counts(units.reshape(tables, -1), len(sizes)) for units, sizes in both]
            cumulated = design.resample_weights(counts * (len(sampler.unit_sizes) // len(counts)))
            ratios = kernel.ratios_of_steps(design.values, cumulated, max(sampler.scores.sizes))
        statistic = self.claim.statistic(ratios[0].transpose(2, 0, 1))
        return statistic[:, *np.transpose(self.family)] - self.claim.boundary

    def work(self, size: int) -> int:
        """Return the cost of simulating one table with `size` units per stratum, as a number of scores.

        In a weighted design it is at least the total number of scores of the pilot.
        """
        n_scores = size * self.sampler.n_strata * self.sampler.scores.models
        return n_scores if self._design is None else max(n_scores, sum(self.sampler.scores.sizes))

    @cached_property
    def _kernel(self) -> ViolationKernel:
        """Kernel that computes the violation ratios of the pairs in the family."""
        pairs = None if self.claim.kind == RELATIVE else tuple(self.family)
        return ViolationKernel.for_models(self.sampler.scores.models, orders=(self.claim.order,), pairs=pairs)

    @cached_property
    def _design(self) -> WeightedDesign | None:
        """Weighted design of the pilot; None if all scores have equal weight."""
        scores = self.sampler.scores
        return None if scores.unweighted and scores.scores_per_unit() is not None else WeightedDesign(scores)


def _influences(sampler: PilotSampler, claim: Claim, family: Pairs) -> Effects:
    """Compute first-order effect sizes, and the influence of each unit on the statistic of every pair."""
    pairs = np.array(family)
    shares = sampler.scores.weights
    curves = [_Curve.from_scores(*column) for column in zip(sampler.scores.values, shares, strict=True)]
    difference = np.stack([curves[i].quantiles - curves[j].quantiles for i, j in family])
    if claim.order == 2:
        difference = np.cumsum(difference, axis=1) / _LEVELS
    boundary = 0.5 if claim.kind == RELATIVE else claim.boundary
    rate = boundary * np.maximum(difference, 0) + (1 - boundary) * np.maximum(-difference, 0)
    distance = (rate * difference).mean(axis=1)
    # Equal distributions have no first-order influence; use that of the means.
    rate[~rate.any(axis=1)] = 1.0
    if claim.order == 2:
        rate = np.cumsum(rate[:, ::-1], axis=1)[:, ::-1] / _LEVELS
    columns = [np.flatnonzero((pairs == model).any(axis=1)) for model in range(len(curves))]
    parts, counts = [], []
    for model, (curve, pair_columns) in enumerate(zip(curves, columns, strict=True)):
        influence = np.where(pairs[pair_columns, 0] == model, 1.0, -1.0) * curve.influence(rate[pair_columns])
        sizes = np.diff(sampler.stratum_bounds(model))
        counts.append(np.repeat(sizes, sizes).astype(np.float64))
        parts.append(_unit_sums(sampler, model, influence, shares[model]) * counts[model][:, None])
    if sampler.paired:
        joint = np.zeros((len(parts[0]), len(pairs)))
        for part, pair_columns in zip(parts, columns, strict=True):
            joint[:, pair_columns] += part
        parts, columns, counts = [joint], [np.arange(len(pairs))], counts[:1]
    variance = np.zeros(len(pairs))
    for part, pair_columns, count in zip(parts, columns, counts, strict=True):
        variance[pair_columns] += (part**2 / count[:, None]).sum(axis=0)
    spread = np.sqrt(np.where(variance > 0, variance, np.inf))
    # Without variance, the distance is the same in every table.
    mean = np.where(variance > 0, distance / spread, np.sign(distance) * 10.0)
    scaled = [part / spread[pair_columns] for part, pair_columns in zip(parts, columns, strict=True)]
    return Effects(mean, tuple(scaled), tuple(columns), tuple(counts))


@dataclass(frozen=True)
class _Curve:
    """Distribution of one model's scores.

    Attributes
    ----------
    ordered : ndarray, shape (n,)
        Sorted scores.
    sorting : ndarray of int, shape (n,)
        Original index of each sorted score.
    shares : ndarray, shape (n,)
        Cumulative weight up to each sorted score.
    quantiles : ndarray, shape (1024,)
        Quantiles on a regular grid of levels.
    """

    ordered: Floats
    sorting: Integers
    shares: Floats
    quantiles: Floats

    @classmethod
    def from_scores(cls, values: Floats, weights: Floats) -> _Curve:
        """Sort the scores (`values`) of one model; compute their cumulative weights and quantiles."""
        sorting = np.argsort(values, kind="stable")
        ordered, shares = values[sorting], np.cumsum(weights[sorting])
        levels = (np.arange(_LEVELS) + 0.5) / _LEVELS
        indices = np.minimum(np.searchsorted(shares, levels), len(ordered) - 1)
        return cls(ordered, sorting, shares, ordered[indices])

    def influence(self, rate: Floats) -> Floats:
        """Return the influence of each score on ∫ r(t) dQ(t), shape (n, rates).

        Q is the quantile function. `rate` holds one function r per row, on the grid of quantiles.
        """
        index = np.clip((self.shares[:-1] * _LEVELS).astype(np.int64), 0, _LEVELS - 1)
        result = np.zeros((len(self.ordered), len(rate)))
        gaps = np.cumsum(rate[:, index].T * np.diff(self.ordered)[:, None], axis=0)
        result[self.sorting[1:]] = gaps
        return result


def _unit_sums(sampler: PilotSampler, model: int, influence: Floats, weights: Floats) -> Floats:
    """Sum the weighted influences over each unit, and centre the sums within each stratum.

    Parameters
    ----------
    sampler : PilotSampler
        Sampler of simulated tables from the pilot.
    model : int
        Index of the model.
    influence : ndarray, shape (n, pairs)
        Influence of each score of the model on the statistics.
    weights : ndarray, shape (n,)
        Weight of each score.

    Returns
    -------
    ndarray, shape (units, pairs)
    """
    centred = influence - weights @ influence
    sums = np.add.reduceat(weights[:, None] * centred, sampler.first_rows(model), axis=0)
    starts = sampler.stratum_bounds(model)
    means = np.add.reduceat(sums, starts[:-1], axis=0) / np.diff(starts)[:, None]
    return sums - np.repeat(means, np.diff(starts), axis=0)


# Number of tables for the sign flips, and their number of samples.
_FLIP_TABLES, _FLIP_SAMPLES = 30, 500

# Cost of a test by the limit theorem, in resamples.
_LIMIT_THEOREM_COST = 200

# Number of parts that the tables are split into, and numbers per batch.
_PARTS, _CACHE = 40, 1 << 20


@dataclass(frozen=True)
class FullTest:
    """Effective sample sizes and cost of the full test of one simulated table.

    Attributes
    ----------
    effective_size : ndarray or Dof, shape (m,)
        Effective sample size of each pair, or its degrees of freedom.
    samples : float
        Smallest effective sample size of any model.
    resamples : int
        Largest number of resamples.
    work : float
        Cost of the test, as a number of draws and comparisons.
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
        Population and test of the power study.
    tables : int
        Number of simulated tables per size.
    """

    plan: Plan
    tables: int
    _tests: dict[tuple[int, int], FullTest] = field(default_factory=dict)

    def significant_pairs(self, size: int) -> Booleans:
        """Return a mask of the significant pairs in simulated tables, shape (tables, pairs).

        The tables have `size` units per stratum.
        """
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
            tests = [self.full_test(size, number * self._has_unequal_units) for number in range(_PARTS)]
            results = [self._verdicts(part, size, test, rng) for part, test in zip(parts, tests, strict=True)]
        return np.concatenate(results)[:, self.pair_indices]

    def significant_pairs_in(self, tables: Sequence[Sequence[Integers]], size: int) -> Booleans:
        """Return a mask of the significant pairs in each of the given tables, shape (tables, pairs).

        A table is given by its drawn units, as returned by :meth:`PilotSampler.draw_units`. It has `size`
        units per stratum.
        """
        error = self._distances(size).std(axis=0) if self.plan.inference.paper_exact else None
        results, sampler = [], self.plan.sampler
        for units in tables:
            if error is not None:
                results.append(self._paper_verdicts(self._simulator.for_units(units, 1), error, size))
            elif self.plan.needs_means_test:
                results.append(self._task_verdicts(units[0][None], size))
            else:
                test = self.full_test(size)
                if self._has_unequal_units:
                    test = self._describe_full_test(sampler.build_table(units))
                results.append(self._verdicts(self.effects.unit_noise(units, size), size, test))
        return np.concatenate(results)[:, self.pair_indices]

    @cached_property
    def pair_indices(self) -> Integers:
        """Positions of the plan's pairs among all ordered pairs of models."""
        return np.array([self.plan.family.index(pair) for pair in self.plan.pairs])

    @cached_property
    def effects(self) -> Effects:
        """Effect sizes of all ordered pairs in the population, with the influence of each unit."""
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
        """Return the distances from the boundary in simulated tables, shape (tables, m).

        The tables have `size` units per stratum.
        """
        rng = np.random.default_rng([self.plan.inference.seed, size])
        return np.concatenate([part for _, part in self._simulator.draw(rng, size, self.tables)])

    @cached_property
    def _simulator(self) -> Distances:
        """Simulator of the distances between the statistics and the boundary of the claim."""
        return Distances(self.plan.sampler, self.plan.claim, self.plan.family)

    @cached_property
    def _noise(self) -> Floats:
        """Simulated sampling noise of the statistics in all tables, shape (tables, m)."""
        rng = np.random.default_rng([self.plan.inference.seed, 0, 1])
        return self.effects.simulate_noise(rng, self.tables)

    @cached_property
    def _task_differences(self) -> Floats:
        """Differences of the task means of the pilot, winner minus loser, shape (m, T)."""
        winners, losers = self._pair_models
        means = sampled_task_means(self.plan.scores)
        return means[winners] - means[losers]

    def is_powerless(self, size: int) -> bool:
        """Return True if no claim can become significant with `size` tasks."""
        if self.plan.claim.kind != RELATIVE or self.plan.inference.resamples != "auto":
            return False
        test, level = self.full_test(size), self.plan.inference.family.interval_level(len(self.plan.family))
        smallest = float(size) ** -size if size <= MAX_UNITS else 1 / (test.resamples + 1)
        return float(unexpanded_p_value(level, fewest_samples(test.effective_size))) < smallest

    def _task_verdicts(self, draws: Integers, size: int, rng: np.random.Generator | None = None) -> Booleans:
        """Return a mask of the pairs that pass both the dominance test and the test of macro means.

        Parameters
        ----------
        draws : ndarray of int, shape (tables, size)
            Tasks of each simulated table.
        size : int
            Number of tasks per table.
        rng : Generator, optional
            See :meth:`_verdicts`.

        Returns
        -------
        ndarray of bool, shape (tables, m)
        """
        weights = self.plan.scores.strata.weights
        shares = weights[draws] / weights[draws].sum(axis=1, keepdims=True)
        p_value = weighted_mean(self._task_differences[:, draws], shares).p_above().T
        # Student's p-value is never larger, and suffices for pairs that it does not separate.
        for table, pairs in enumerate(p_value <= self.plan.inference.family.alpha):
            if pairs.any():
                drawn = self._task_differences[np.ix_(pairs, draws[table])]
                p_value[table, pairs] = sampled_task_p_values(drawn, shares[table])
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
            Quantities that determine the full test.
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
        lower = np.asarray(min_p)
        if self.plan.claim.boundary <= 0.5 and not self.plan.scores.n_random_tasks:
            # Lower bounds on the p-values from sign flips.
            flip_distance, slope, pilot_samples = self._flip_summary
            flipped = ndtr(-flip_distance * sqrt(test.samples / pilot_samples) - slope * noise)
            lower = np.maximum(flipped, min_p)
        p_values = np.empty(noise.shape)
        for pair, column in enumerate(np.transpose((1 + count) / (test.resamples + 1))):
            shares, codes = np.unique(column, return_inverse=True)
            p_values[:, pair] = expanded_p_value(shares, test.effective_size[pair])[codes]
        p_values = np.maximum(p_values, lower)
        significant = family.significant(family.adjust_rows(p_values))
        if self.plan.claim.kind == RELATIVE:
            # Claims far from the boundary are decided by the tail of their replicates.
            rare = count < 0.5
            tail = expanded_p_value(crossing[rare], test.effective_size[np.nonzero(rare)[1]])
            tail = np.maximum(tail, np.broadcast_to(lower, rare.shape)[rare])
            p_values[rare] = np.minimum(tail, p_values[rare])
            significant |= family.scaled(TAIL_MARGIN).significant(family.adjust_rows(p_values))
        return significant

    @cached_property
    def _flip_summary(self) -> tuple[Floats, float, float]:
        """Summary of the sign-flip test in some simulated tables.

        It consists of the mean standardised difference of each pair, shape (m,), its regression slope on the
        noise, and the effective sample size.
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
        """Indices of the winners and of the losers of all ordered pairs, shapes (m,)."""
        winners, losers = np.transpose(self.plan.family)
        return winners, losers

    @cached_property
    def _family(self) -> Family:
        """Level and correction with which the pairs are tested."""
        return self.plan.inference.claim_family(self.plan.claim, self._pair_models)

    @property
    def _has_unequal_units(self) -> bool:
        """True if units differ in size, so that the effective sample size depends on the drawn units."""
        return not self.plan.scores.strata.has_several_tasks and self.plan.scores.scores_per_unit() is None

    def full_test(self, size: int, number: int = 0) -> FullTest:
        """Return the effective sample sizes and the cost of the full test of a simulated table.

        The table has `size` units. Tables of the same size with different values of `number` come from
        different random streams.
        """
        if (size, number) not in self._tests:
            rng = np.random.default_rng([self.plan.inference.seed, size, *[number] * (number > 0)])
            self._tests[size, number] = self._describe_full_test(self.plan.sampler(rng, size))
        return self._tests[size, number]

    def _describe_full_test(self, scores: ClusteredScores) -> FullTest:
        """Return the effective sample sizes and the cost of the full test of a given table."""
        plan, inference = self.plan, self.plan.inference
        size = pair_samples(scores, plan.family)[self._pair_models]
        column, resamples = BootstrapColumn(scores, pairs=plan.family), _LIMIT_THEOREM_COST
        if inference.uses_resampling:
            resamples = inference.round_totals(len(plan.family), column.comparisons, fewest_samples(size))[-1]
        work = resamples * (column.comparisons + 4 * sum(scores.sizes))
        return FullTest(size, float(scores.effective_sizes.min()), resamples, work)
