"""Power of a plan at several sizes, and the sizes required for a target power ([RAB] Fig. 6, 7).

Required sizes are numbers of samples, with a confidence interval, or of human labels.

Each resample of the pilot implies a required size. With n samples, a claim is significant with a probability
of about Φ(√n δ − c), with the effect size δ and the critical value c, as explained in
:mod:`riskrank.engine.power.closed_form`.
Resamples of a pilot of N samples have effects δ + ξ/√N. The critical value follows from the power at the
required size, so it accounts for the correction, the rank tests and the resampling of the full test. Several
pairs are treated as independent: their powers are multiplied.

The quantiles of these sizes are bias-corrected (Efron 1987), because the hardest of several pairs is even
harder in most resamples. They are also widened for small samples.

References
----------
B. Efron (1987). Better bootstrap confidence intervals. Journal of the American Statistical Association
82(397), 171-185. doi:10.1080/01621459.1987.10478410
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, hypot, sqrt

import numpy as np

from riskrank.engine.judges import Correction
from riskrank.engine.numeric import bisect, smallest_size
from riskrank.engine.power.closed_form import ClosedForm
from riskrank.engine.power.planning import TASKS, Plan, table_streams
from riskrank.engine.sampling.degrees_of_freedom import SampleSize, satterthwaite, unexpanded_p_value
from riskrank.engine.sampling.design import MIN_LABELS
from riskrank.engine.sampling.processes import workers_for
from riskrank.engine.sampling.strata import MIN_TASKS
from riskrank.engine.special import ndtr, ndtri, stdtrit
from riskrank.engine.types import Booleans, Floats, Integers, Progress
from riskrank.errors import UsageError, option

# Default limit of the search, as a multiple of the largest requested size.
_LIMIT_FACTOR = 5


def check_search(sizes: Sequence[int], *, limit: int | None, smallest: int, unit: str = "") -> int:
    """Check the sizes at which power is requested, and return the largest size to evaluate.

    Parameters
    ----------
    sizes : sequence of int
        Sizes at which the power is requested.
    limit : int or None
        Largest size to evaluate; by default five times the largest of `sizes`.
    smallest : int
        Smallest size that can be tested.
    unit : str
        Unit of the sizes, for messages.

    Raises
    ------
    UsageError
        If a size lies below the smallest or above the limit.
    """
    if not sizes or min(sizes) < smallest:
        problem = f"sizes must be at least {f'{smallest} {unit}'.rstrip()}"
        hint = f"give sizes such as {option('sizes', '10,20,50' if smallest < 10 else '20,50,100')}"
        raise UsageError(problem, found=f"{min(sizes)}" if sizes else "none", hint=hint)
    largest = max(sizes)
    if limit is not None and limit < largest:
        problem = f"{option('limit', limit)} is below the largest of {option('sizes')}"
        detail = f"sizes up to {largest}"
        raise UsageError(problem, found=detail, hint=f"leave out {option('limit')}, or increase the limit")
    return _LIMIT_FACTOR * largest if limit is None else limit


# Nominal coverage of the interval of sizes.
LEVEL = 0.95

# Larger sizes count as infinite.
_MAX_SIZE = 1e12


@dataclass(frozen=True)
class SizeInterval:
    """Confidence interval for the required size, from a pilot.

    Attributes
    ----------
    low, high : int or None
        Limits, in samples per model; None if above `limit`.
    limit : int
        Largest size of the search.
    level : float
        Nominal coverage.
    """

    low: int | None
    high: int | None
    limit: int
    level: float = LEVEL


def size_interval(effects: Floats, critical: float, power: float, samples: SampleSize) -> tuple[float, float]:
    """Return the confidence interval of the size required for all pairs together.

    All pairs together need at least as many samples as any single pair. The pair that needs the most samples
    in the pilot does so partly by chance, and in nearly all resamples some pair needs even more. Therefore
    the lower limit is at most that of this pair alone.

    Parameters
    ----------
    effects : ndarray, shape (1 + B, p)
        Effects of the pilot, followed by those of its resamples.
    critical : float
        Critical value of the test.
    power : float
        Required power.
    samples : float or Dof
        Effective sample size of the pilot, or its degrees of freedom.
    """
    hardest = effects[:, [effects[0].argmin()]]
    sizes = [_required_sizes(pairs, critical, power) for pairs in (effects, hardest)]
    joint, single = (corrected_quantiles(size[1:], float(size[0]), samples) for size in sizes)
    return min(joint[0], single[0]), joint[1]


def _joint_power(effects: Floats, roots: Floats, critical: Floats | float) -> Floats:
    """Return the probability that all p pairs are significant at given sizes.

    Parameters
    ----------
    effects : ndarray, shape (..., p)
        Effect size of each pair.
    roots : ndarray, shape (...)
        Square roots of the sizes.
    critical : float or ndarray, shape (...)
        Critical value of the test.

    Returns
    -------
    ndarray
        Same shape as `roots`.
    """
    return ndtr(roots[..., None] * effects - np.asarray(critical)[..., None]).prod(axis=-1)


def critical_value(effects: Floats, size: int, power: float) -> float:
    """Return the critical value at which all pairs together have a given power at a given size.

    `effects` holds the effect size of each pair, shape (p,).
    """
    root, power = np.array(sqrt(size)), min(max(power, 1e-4), 1 - 1e-4)
    return bisect(lambda critical: bool(_joint_power(effects, root, critical) > power), -1e4, 1e4, 100)[1]


def _required_sizes(effects: Floats, critical: float, target: float) -> Floats:
    """Return the size at which all pairs together reach the target power; infinite if never reached.

    `effects` has one row per pilot or resample and one column per pair. There is one size per row. `critical`
    is the critical value of the test.
    """
    low, high = np.zeros(len(effects)), np.full(len(effects), sqrt(_MAX_SIZE))
    for _ in range(100):
        middle = (low + high) / 2
        enough = _joint_power(effects, middle, critical) >= target
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    is_finite = (effects.min(axis=1) > 0) & (_joint_power(effects, high, critical) >= target)
    return np.where(is_finite, high**2, np.inf)


def corrected_quantiles(resampled: Floats, size: float, samples: SampleSize) -> tuple[float, float]:
    """Return the limits of a bias-corrected bootstrap interval for the required size.

    Parameters
    ----------
    resampled : ndarray, shape (B,)
        Required sizes of the resamples.
    size : float
        Required size of the pilot.
    samples : float or Dof
        Effective sample size of the pilot, or its degrees of freedom.
    """
    count = len(resampled)
    below = (resampled < size).sum() + 0.5 * (resampled == size).sum()
    shift = float(ndtri((below + 0.5) / (count + 1)))
    tail = float(ndtri(unexpanded_p_value((1 - LEVEL) / 2, samples)))
    shares = ndtr([2 * shift + tail, 2 * shift - tail])
    # Sizes may be infinite, so quantiles must not be interpolated.
    low, high = np.quantile(resampled, shares, method="inverted_cdf")
    return float(low), float(high)


# Larger numbers of labels count as infinite.
_MAX_LABELS = 10**9


@dataclass(frozen=True)
class LabelNeed:
    """Quantities that determine the power of a claim about the difference of two models' means.

    Let A be the variance of the human score difference, and G the part of it that the judge explains. With n
    labels among N samples, the corrected difference has the variance V = (A − G)/n + G/N. A gate tests it by
    Student's t, after adding one sample against the claim. This sample lies a distance g below the mean, so
    it shifts the estimate by h = g/(n + 1) and adds h² to its variance. For an effect δ, the gate passes with
    a probability of about Φ((δ − h − c √(V + h²))/√V), where c is the quantile of Student's t.

    Attributes
    ----------
    effect : float
        Distance δ of the difference above the boundary of the claim.
    variance : float
        Variance A of the human score difference per sample.
    gain : float
        Part G of this variance that the judge explains.
    judge_variance : float
        Variance of the judge's score difference, with scores multiplied by λ.
    samples : float
        Number N of samples that the judge scored.
    level : float
        Two-sided significance level α.
    """

    effect: float
    variance: float
    gain: float
    judge_variance: float
    samples: float
    level: float

    @classmethod
    def from_pilot(cls, new: Correction, old: Correction, *, boundary: float, level: float) -> LabelNeed:
        """Estimate the quantities that determine power from a pilot with human and judge scores.

        Parameters
        ----------
        new, old : Correction
            Corrected scores of both models; with λ = 0 the judge is ignored.
        boundary : float
            Claimed lower limit of the mean of `new` minus the mean of `old`.
        level : float
            Two-sided significance level α.
        """
        n = new.n_labelled
        human = new.human - old.human
        judge = new.judge_weight * new.judge[:n] - old.judge_weight * old.judge[:n]
        # Two degrees of freedom less, for the mean and for λ.
        covariance = np.cov(human, judge) * (n - 1) / (n - 2)
        variance, judged = np.diagonal(covariance).tolist()
        gain = min(max(float(2 * covariance[0, 1]) - judged, 0.0), variance)
        effect = new.mean - old.mean - boundary
        return cls(effect, variance, gain, judged, len(new.judge), level)

    def power(self, labels: int) -> float:
        """Return the probability that a gate passes with `labels` human labels."""
        share = max(1 - labels / self.samples, 0.0)
        variance = (self.variance - share * self.gain) / labels
        judged = share * self.judge_variance / self.samples
        spread, df = sqrt(variance), labels - 2.0
        if share > 0 and spread > 0:
            # Satterthwaite's degrees of freedom, for samples with and without labels; one less for λ.
            squares = (variance - judged) ** 2 / (labels - 1) + judged**2 / max(self.samples - labels - 1, 1)
            df = variance**2 / squares - 1
        above = self.effect + float(stdtrit(df, self.level / 2)) * spread
        return float(ndtr(above / spread)) if spread > 0 else float(above > 0)

    def required_labels(self, target: float, limit: int = _MAX_LABELS) -> int | None:
        """Return the smallest number of labels that reaches the target power; None if above the limit."""
        if self.effect <= 0:
            return None
        return smallest_size(lambda labels: self.power(labels) >= target, MIN_LABELS, limit)


# Per repeat: tables in closed form, full tests, and numbers drawn and compared in the full
# tests, unless one table needs more.
_CLOSED_TABLES, _FULL_TESTS, _FULL_WORK = 40, 0.2, 8e6
_MIN_WORK = 1e8
# Tables per repeat if each of them is resampled by a test of macro means.
_RESAMPLED_TABLES = 10
# With fewer full tests, even complete disagreement would not be significant.
_MIN_FULL_TESTS = 10

# Resamples of the pilot; each implies a required size.
_RESAMPLES = 4000

# Amount of work above which processes are started: six seconds, because starting them takes one second.
_PARALLEL_WORK = 1e9


@dataclass(frozen=True)
class PowerCurve:
    """Estimated power of each claim at several sizes.

    Attributes
    ----------
    sizes : ndarray of int, shape (s,)
        Samples per model, increasing.
    power, standard_error : ndarray, shape (s, c + 1)
        Proportion of simulated tables in which each claim, and last all claims together, are significant.
    repeats : int
        Number of simulated tables per size, R.
    """

    sizes: Integers
    power: Floats
    standard_error: Floats
    repeats: int

    @classmethod
    def from_verdicts(
        cls, sizes: Sequence[int], verdicts: Sequence[Booleans], bias: float = 0.0, variance: float = 0.25
    ) -> PowerCurve:
        """Compute the power from the verdicts on simulated tables.

        Parameters
        ----------
        sizes : sequence of int
            Samples per model, increasing.
        verdicts : sequence of ndarrays of bool, shape (R, c)
            Whether each claim is significant in each table, for each size.
        bias : float
            Error of the closed form at the checked size, estimated from full tests.
        variance : float
            Mean variance of a single verdict.
        """
        hits = np.array([np.append(table.sum(axis=0), table.all(axis=1).sum()) for table in verdicts])
        repeats = len(verdicts[0])
        share = hits / repeats
        shifted = share + bias * (1 - 2 * share)
        largest = np.maximum(share, 1 - share)
        model_part = np.minimum(shifted * (1 - shifted) / variance * bias, largest)
        # (x + ½)/(R + 1) gives shares of 0 and 1 a positive error.
        smoothed = (hits + 0.5) / (repeats + 1)
        error = np.hypot(np.sqrt(smoothed * (1 - smoothed) / repeats), model_part)
        return cls(np.array(sizes), share, error, repeats)

    def select(self, sizes: Sequence[int]) -> PowerCurve:
        """Return the curve at those of its sizes that are in `sizes`."""
        mask = np.isin(self.sizes, sizes)
        return PowerCurve(self.sizes[mask], self.power[mask], self.standard_error[mask], self.repeats)

    @property
    def hardest_first(self) -> Integers:
        """Indices of the claims, in increasing order of power at the largest size.

        Power at smaller sizes breaks ties.
        """
        return np.lexsort(self.power[:, :-1])

    @property
    def easiest_first(self) -> Integers:
        """Indices of the claims, in decreasing order of their power averaged over all sizes."""
        return np.argsort(-self.power[:, :-1].mean(axis=0), kind="stable")


@dataclass(frozen=True)
class Agreement:
    """Agreement of the closed form with full tests of the same tables.

    Attributes
    ----------
    size, tables : int
        Size of the tables, and number of tables.
    verdicts, agreed : int
        Number of verdicts over all pairs and tables, and number of those that agree.
    shift : int
        Number of significant pairs in the closed form minus that in full tests.
    verdict_variance : float
        Mean of w(1 − w) over pairs, where w is the proportion of significant full tests of a pair.
    """

    size: int
    tables: int
    verdicts: int
    agreed: int
    shift: int
    verdict_variance: float

    @classmethod
    def from_verdicts(cls, size: int, closed: Booleans, full: Booleans) -> Agreement:
        """Count how often the closed form agrees with the full tests of tables with `size` units.

        Both arrays of verdicts have shape (tables, pairs) and are True for significant pairs.
        """
        share = (full.sum(axis=0) + 0.5) / (len(full) + 1)
        agreed, shift = int((closed == full).sum()), int(closed.sum()) - int(full.sum())
        return cls(size, len(full), full.size, agreed, shift, float((share * (1 - share)).mean()))

    @property
    def error(self) -> float:
        """Root-mean-square error of a proportion of verdicts, due to random disagreement and bias."""
        return hypot(sqrt(self.verdicts - self.agreed + 0.5), self.shift) / (self.verdicts + 1)

    @property
    def confirms(self) -> bool:
        """True if most verdicts agree and the disagreements show no significant bias."""
        differing = self.verdicts - self.agreed
        return differing <= self.agreed and abs(self.shift) <= 2 * sqrt(max(differing, 1))


@dataclass(frozen=True)
class PowerStudy:
    """Power at several sizes, and the size required for a target power.

    Attributes
    ----------
    plan : Plan
        Population and test of the power study.
    curve, full_curve : PowerCurve
        Power at the requested sizes; `full_curve` also includes the required size (or the limit). Each pair
        of the plan is one claim.
    size : int or None
        Size at which all pairs together reach the target; None if it exceeds the limit.
    power, standard_error : float
        Joint power of all pairs at the required size (or the largest size evaluated), and its standard error.
    target : float
        Target power.
    agreement : Agreement
        Comparison with full tests of some tables.
    interval : SizeInterval or None
        Confidence interval for the required size; None for named distributions and random tasks.
    """

    plan: Plan
    curve: PowerCurve
    full_curve: PowerCurve
    size: int | None
    power: float
    standard_error: float
    target: float
    agreement: Agreement
    interval: SizeInterval | None = None

    @property
    def confirmed(self) -> bool:
        """True if the full tests of simulated tables confirm the computed power."""
        return not self.plan.unattainable_pairs and self.agreement.confirms

    @property
    def tasks_needed(self) -> int | None:
        """Number of random tasks required if each task had an unlimited number of samples.

        Unlimited samples leave only the variance between tasks, and the required number of tasks is
        proportional to the variance. The number is computed for the pair with the least power. It is a lower
        bound if `size` is None. The result is None without random tasks, or if a claim is false in the
        population.
        """
        if self.plan.between_shares is None or self.plan.unattainable_pairs:
            return None
        share = float(self.plan.between_shares[self.curve.hardest_first[0]])
        return max(MIN_TASKS, ceil(share * int(self.size or self.full_curve.sizes[-1])))


def study_power(
    plan: Plan,
    sizes: Sequence[int] | None = None,
    *,
    target: float = 0.8,
    limit: int | None = None,
    repeats: int = 100,
    progress: Progress | None = None,
) -> PowerStudy:
    """Compute the power of a plan at several sizes, and the size required for the target power.

    Power is computed in closed form, and checked by full tests of some tables.

    Parameters
    ----------
    plan : Plan
        Its inference also sets the seed and the number of processes.
    sizes : sequence of int
        Sizes in the unit of the plan; by default its `default_sizes` up to the limit.
    target : float
        Required power for all pairs together.
    limit : int, optional
        Largest size to evaluate; five times the largest of `sizes` by default.
    repeats : int
        Number of simulations. The closed form uses 40 tables per repeat and size, or 10 with sampled
        tasks. Full tests use at most one table per five repeats.
    progress : callable, optional
        Called with the number of finished resamples of full tests, and their total number.

    Returns
    -------
    PowerStudy
        Its required size is None if some pair's claim does not hold in the population.

    Raises
    ------
    UsageError
        If a size lies below the smallest testable size or above the limit.
    """
    if sizes is None:
        sizes = [n for n in plan.default_sizes if limit is None or n <= limit] or [limit or plan.min_size]
    sizes = sorted(set(sizes))
    noun = TASKS * (plan.unit == TASKS)
    limit = check_search(sizes, limit=limit, smallest=plan.min_size, unit=noun)
    tables = (_RESAMPLED_TABLES if plan.needs_means_test else _CLOSED_TABLES) * repeats
    closed, size, grid = ClosedForm(plan, tables), None, sizes

    def reaches_target(size: int) -> bool:
        """Return True if all pairs together reach the target power in tables with `size` units."""
        return float(closed.significant_pairs(size).all(axis=1).mean()) >= target

    if not plan.unattainable_pairs:
        size = smallest_size(reaches_target, plan.min_size, limit)
        grid = sorted({*sizes, size or limit})
    agreement = _measure_agreement(closed, size or sizes[-1], repeats, progress)
    verdicts = [*map(closed.significant_pairs, grid)]
    curve = PowerCurve.from_verdicts(grid, verdicts, agreement.error, agreement.verdict_variance)
    index = grid.index(size or grid[-1])
    power, error = curve.power[index, -1].item(), curve.standard_error[index, -1].item()
    study = PowerStudy(plan, curve.select(sizes), curve, size, power, error, target, agreement)
    if plan.uses_distributions or plan.unit == TASKS:
        return study
    return replace(study, interval=_required_size_interval(study, closed, limit))


def _required_size_interval(study: PowerStudy, closed: ClosedForm, limit: int) -> SizeInterval:
    """Return the confidence interval for the required size, extended to include the estimated size.

    `study` holds the estimate, `closed` the effects and their noise, and `limit` is the largest size that was
    searched.
    """
    plan, rng = study.plan, np.random.default_rng([study.plan.inference.seed, 0, 3])
    effects = closed.effects.mean[closed.pair_indices]
    noise = closed.effects.simulate_noise(rng, _RESAMPLES)[:, closed.pair_indices]
    # Equivalent number of samples per task, and the degrees of freedom of the variance.
    squares, available = plan.scores.strata.weights**2, plan.sampler.stratum_sizes
    variances = squares / available
    units, samples = float(squares.sum() / variances.sum()), satterthwaite(variances, available)
    critical = -float(ndtri(plan.inference.family.interval_level(len(plan.family))))
    if effects.min() > 0:
        critical = critical_value(effects, int(study.size or study.full_curve.sizes[-1]), study.power)
    resampled = np.vstack([effects, effects + noise / sqrt(units)])
    limits = size_interval(resampled, critical, study.target, samples)
    if study.size is not None:
        limits = min(limits[0], study.size), max(limits[1], study.size)
    low, high = (None if bound >= limit + 0.5 else max(round(bound), plan.min_size) for bound in limits)
    return SizeInterval(low, high, limit)


def _measure_agreement(closed: ClosedForm, size: int, repeats: int, progress: Progress | None) -> Agreement:
    """Run full tests of some simulated tables, and compare their verdicts with the closed form.

    Tables have `size` units. Their number is limited by their cost, and increases with `repeats`.
    """
    plan, test = closed.plan, closed.full_test(size)
    affordable = int(max(_FULL_WORK * repeats, _MIN_WORK) / test.work)
    tables = max(min(affordable, max(ceil(_FULL_TESTS * repeats), _MIN_FULL_TESTS)), 1)
    resamples, full, draws = test.resamples, np.empty((tables, len(plan.pairs)), dtype=bool), []

    def table_progress(number: int) -> Progress | None:
        """Return a progress callback for table `number`, which adds the work on all earlier tables."""
        if progress is None:
            return None
        return lambda done, _: progress(number * resamples + min(done, resamples), tables * resamples)

    # Existing workers are used; starting new ones takes a second.
    is_small = isinstance(plan.inference.jobs, int) and tables * test.work < _PARALLEL_WORK
    with workers_for(1 if is_small else plan.inference.jobs) as workers:
        for number, stream in enumerate(table_streams(size, tables, plan.inference.seed)):
            data, test_stream = stream.spawn(2)
            draws.append(plan.sampler.draw_units(np.random.default_rng(data), size))
            full[number] = plan.test(draws[-1], test_stream, workers, table_progress(number))
    return Agreement.from_verdicts(size, closed.significant_pairs_in(draws, size), full)
