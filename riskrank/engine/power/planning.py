"""Power of dominance tests: on a pilot, or between named distributions ([RAB] Fig. 6 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from riskrank.engine.dominance.claims import ABSOLUTE, RELATIVE, Claim
from riskrank.engine.dominance.column import Inference, study_dominance
from riskrank.engine.dominance.estimates import estimate
from riskrank.engine.dominance.tests import DominanceTests, compare
from riskrank.engine.power.between_tasks import shares_between_tasks
from riskrank.engine.power.decision import DominanceDecision
from riskrank.engine.power.distributions import Distribution
from riskrank.engine.power.drawn_tasks import Agreement, DrawnTasks
from riskrank.engine.power.required_size import RequiredSize, check_search, size_for_power
from riskrank.engine.power.samplers import DistributionSampler, PilotSampler, Sampler, pilot_sampler
from riskrank.engine.power.simulation import PowerCurve, Run, Simulation
from riskrank.engine.power.size_interval import SizeInterval, size_interval
from riskrank.engine.sampling.design import FEWEST_SAMPLES, ClusteredScores, require_testable
from riskrank.engine.sampling.processes import workers_for
from riskrank.engine.sampling.strata import FEWEST_IN_TASK, FEWEST_TASKS
from riskrank.engine.types import Floats
from riskrank.errors import InputError, UsageError, option

# The order a user knows from `dominance` is found with its default number of resamples at least.
_PILOT_RESAMPLES = 1000

# Quantiles that stand for a named distribution where its violation ratio is needed: four digits of it.
_REFERENCE_SIZE = 100_000

# What sizes count where tasks are drawn.
TASKS = "tasks"

# Sizes that are looked at, by what they count.
_SIZES = {"samples a model": (100, 500, 1000), "samples a task": (20, 50, 100), TASKS: (10, 20, 50)}

# Sizes at which data sets are tested whole, where they are not all.
_LOOKS = 2

# Weights that differ by less are equal.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Plan:
    """What to simulate, ready to run.

    Attributes
    ----------
    simulation : Simulation
    claim : Claim
    inference : Inference
    pairs : tuple of (int, int)
        Winner and loser of each claim.
    reference : DominanceTests
        The claim on the pilot, or on many quantiles of the distributions, without a test.
    paired : bool
        Whether the models of a data set share their samples.
    alone : bool
        Whether the pairs are a family of their own.
    between : ndarray, shape (pairs,), or None
        Where tasks are drawn: the share of each difference's variance that no number of samples takes away.
    """

    simulation: Simulation
    claim: Claim
    inference: Inference
    pairs: tuple[tuple[int, int], ...]
    reference: DominanceTests
    paired: bool
    alone: bool
    between: Floats | None = None

    @property
    def family(self) -> int:
        """Number of tests that are corrected for together."""
        k = len(self.reference.ratios)
        return len(self.pairs) if self.alone else k * (k - 1)

    @property
    def pilot(self) -> PilotSampler | None:
        """What data sets are drawn from, where these are scores."""
        sampler = self.simulation.sampler
        return sampler if isinstance(sampler, PilotSampler) else None

    @property
    def unit(self) -> str:
        """What the sizes count: ``samples a model``, of a suite ``samples a task``, or ``tasks``."""
        if self.pilot is None or self.pilot.weights is None:
            return "samples a model"
        return TASKS if self.pilot.bounds is None else "samples a task"

    @property
    def smallest(self) -> int:
        """The smallest size that can be tested."""
        if self.pilot is None or self.pilot.weights is None:
            return FEWEST_SAMPLES
        if self.pilot.bounds is None:
            return FEWEST_TASKS
        each = float((self.pilot.weights**2).sum())
        return max(FEWEST_IN_TASK, ceil(FEWEST_SAMPLES * each - 1e-9))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sizes to look at, where none are asked for."""
        return _SIZES[self.unit]

    @property
    def unattainable(self) -> tuple[tuple[int, int], ...]:
        """Pairs the reference itself does not order that way: no number of samples will."""
        return tuple(pair for pair in self.pairs if not self.reference.dominates[pair])


@dataclass(frozen=True)
class PowerStudy:
    """Power by size, and the size a power needs.

    Attributes
    ----------
    plan : Plan
    curve : PowerCurve
        One claim a pair of the plan.
    required : RequiredSize
        Of all pairs together.
    interval : SizeInterval or None
        Sizes that the pilot is compatible with; None where distributions were planned with.
    agreement : Agreement or None
        Where tasks are drawn: how often resamples passed what Student's test of the means did, at the size
        needed; None where no data set was tested whole, as none was needed to say that no size will do.
    """

    plan: Plan
    curve: PowerCurve
    required: RequiredSize
    interval: SizeInterval | None = None
    agreement: Agreement | None = None

    @property
    def by_means(self) -> bool:
        """Whether powers are those of Student's test of the tasks' means, times what resamples leave."""
        return isinstance(self.plan.simulation, DrawnTasks)

    @property
    def endless(self) -> int | None:
        """Where tasks are drawn: how many it takes with endless samples on each, or more than that.

        The size needed is proportional to the variance, of which the hardest pair keeps the share between
        tasks.
        """
        if self.plan.between is None or self.plan.unattainable:
            return None
        size = self.required.sizes[-1] if self.required.size is None else self.required.size
        return ceil(float(self.plan.between[self.curve.hardest_first[0]]) * int(size))


def plan_from_pilot(
    scores: ClusteredScores, claim: Claim, inference: Inference, *, pair: tuple[int, int] | None = None
) -> Plan:
    """Plan with the pilot as the population, to see how often its order comes out again.

    Parameters
    ----------
    scores : ClusteredScores
        The pilot; whole samples are drawn from it, the same ones for all models if it is paired. Of a suite
        samples are drawn within each task, or whole tasks.
    claim : Claim
        The test.
    inference : Inference
        How to test.
    pair : (int, int), optional
        Winner and loser, a family of their own but for relative claims, which need the field; by default
        every dominance that is significant in the pilot.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        If no dominance is significant in the pilot and no pair is named, or the pilot has fewer than 10
        samples; of a suite, if a task has fewer than 2, or fewer than 6 tasks are drawn.
    """
    reference = compare(estimate(scores), claim)
    pairs: tuple[tuple[int, int], ...] = () if pair is None else (pair,)
    if pair is None:
        careful = inference
        if inference.resamples != "auto":
            careful = replace(inference, resamples=max(inference.resamples, _PILOT_RESAMPLES))
        found = study_dominance(scores, [claim], careful).tests[0].dominates
        pairs = tuple((int(i), int(j)) for i, j in zip(*np.nonzero(found), strict=True))
        if not pairs:
            raise InputError(
                "no dominance is significant in the pilot, so there is no order to find again",
                found=f"{scores.models} models, {scores.effective_size} {scores.unit}",
                hint=f"name the pair you hope to separate: {option('pair', 'BETTER:WORSE')}",
            )
    if scores.strata is not None:
        require_testable(scores)
    elif scores.effective_size < FEWEST_SAMPLES:
        raise InputError(
            f"a pilot needs at least {FEWEST_SAMPLES} samples a model",
            found=f"{scores.effective_size}",
            hint="score more samples, or plan with distributions: normal:0.5,2 normal:0,1",
        )
    strata = scores.strata
    clusters = None if scores.draws_per_sample() == 1 else scores.clusters
    sampler = pilot_sampler(scores.values, clusters=clusters, paired=scores.paired, strata=strata)
    plan = _plan(sampler, claim, inference, pairs, reference, paired=scores.paired, named=pair is not None)
    if strata is None or not strata.random:
        return plan
    between = shares_between_tasks(scores, pairs)
    if claim.kind == ABSOLUTE or inference.paper_exact:
        return replace(plan, between=between)
    return replace(plan, between=between, simulation=DrawnTasks.of(plan.simulation, scores))


def plan_from_distributions(
    distributions: Sequence[Distribution],
    claim: Claim,
    inference: Inference,
    *,
    pair: tuple[int, int] | None = None,
) -> Plan:
    """Plan with independent models of known distributions.

    Parameters
    ----------
    distributions : sequence of Distribution
        One a model, the better ones first.
    claim, inference, pair
        As in `plan_from_pilot`; by default every model is to dominate those after it.

    Returns
    -------
    Plan

    Raises
    ------
    UsageError
        If there are fewer than two distributions.
    """
    k = len(distributions)
    if k < 2:
        raise UsageError(
            "planning needs at least two distributions",
            found=str(k),
            hint="add the one to compare with: normal:0.5,2 normal:0,1",
        )
    sampler = DistributionSampler(tuple(distributions))
    middles = (np.arange(_REFERENCE_SIZE) + 0.5) / _REFERENCE_SIZE
    shapes = [distribution.quantile(middles) for distribution in distributions]
    reference = compare(estimate(ClusteredScores.build(shapes, paired=False)), claim)
    pairs = tuple((i, j) for i in range(k) for j in range(i + 1, k)) if pair is None else (pair,)
    return _plan(sampler, claim, inference, pairs, reference, paired=False, named=pair is not None)


def _plan(
    sampler: Sampler,
    claim: Claim,
    inference: Inference,
    pairs: tuple[tuple[int, int], ...],
    reference: DominanceTests,
    *,
    paired: bool,
    named: bool,
) -> Plan:
    """Make a plan; a pair that was named is a family of its own, but a relative claim needs the field."""
    alone = named and claim.kind != RELATIVE
    decide = DominanceDecision(claim, inference, paired, pairs, alone)
    return Plan(Simulation(sampler, decide), claim, inference, pairs, reference, paired, alone)


def study_power(
    plan: Plan,
    sizes: Sequence[int] | None = None,
    *,
    target: float = 0.8,
    limit: int | None = None,
    repeats: int = 100,
    progress: Callable[[int, int], None] | None = None,
) -> PowerStudy:
    """Simulate a plan at several sizes and search the size that gives a power.

    Parameters
    ----------
    plan : Plan
        Its inference also gives the seed and the number of processes.
    sizes : sequence of int
        In the units of the plan; its own by default.
    target : float
        Power wanted for all pairs together.
    limit : int, optional
        Largest size tried; five times the largest of `sizes` by default.
    repeats : int
        Data sets per size.
    progress : callable, optional
        Called with the data sets done and those planned so far.

    Returns
    -------
    PowerStudy
        Without a search where the reference contradicts a pair: its `required.size` is None.

    Raises
    ------
    UsageError
        If a size lies below what can be tested or above the limit, or the target outside (0, 1).
    """
    sizes = sorted(set(plan.sizes if sizes is None else sizes))
    of = TASKS if plan.unit == TASKS else ""
    limit = check_search(sizes, target=target, limit=limit, smallest=plan.smallest, of=of)
    seed = plan.inference.seed
    with workers_for(plan.inference.jobs) as workers:
        run = _counted(workers.run, progress)

        def searched(simulation: Simulation) -> tuple[PowerCurve, RequiredSize]:
            curve = simulation.curve(sizes, repeats=repeats, seed=seed, run=run)
            if plan.unattainable:
                return curve, _unattained(curve, target)
            return curve, size_for_power(
                simulation,
                target=target,
                start=sizes[0],
                smallest=plan.smallest,
                limit=limit,
                known=curve,
                repeats=repeats,
                seed=seed,
                run=run,
            )

        simulation = plan.simulation
        curve, required = searched(simulation)
        tried = set[int]()
        while isinstance(simulation, DrawnTasks) and required.size is not None and len(tried) < _LOOKS:
            # Where resamples disagree more are needed, at which they are asked again.
            if required.size in tried:
                break
            tried.add(required.size)
            simulation = simulation.agreeing(required.size, repeats=repeats, seed=seed, run=run)
            curve, required = searched(simulation)
        interval = _interval(plan, required, limit=limit, repeats=repeats, run=run)
    agreement = simulation.agreement if isinstance(simulation, DrawnTasks) else None
    return PowerStudy(plan, curve, required, interval, agreement)


def _unattained(curve: PowerCurve, target: float) -> RequiredSize:
    """No size, as none will do."""
    return RequiredSize(
        size=None,
        target=target,
        power=float(curve.together[-1]),
        standard_error=float(curve.together_error[-1]),
        confirmed=False,
        sizes=curve.sizes,
        powers=curve.together,
    )


def _interval(
    plan: Plan, required: RequiredSize, *, limit: int, repeats: int, run: Run
) -> SizeInterval | None:
    """What else the pilot could have suggested; None without one, or where data sets have weights."""
    inference = plan.inference
    if plan.pilot is None or plan.unit == TASKS:
        return None
    if plan.pilot.weights is not None and np.ptp(plan.pilot.weights) > _ROUNDING:
        return None
    return size_interval(
        plan.pilot,
        plan.claim,
        plan.pairs,
        required,
        tests=plan.family,
        level=inference.family.level(1),
        repeats=repeats,
        smallest=plan.smallest,
        limit=limit,
        seed=inference.seed,
        run=run,
    )


def _counted(run: Run, progress: Callable[[int, int], None] | None) -> Run:
    """Let a runner report the data sets it has finished, of all it was given so far."""
    done = planned = 0

    def counting(function: Callable, shared: Any, tasks: Sequence[Any]) -> Iterator[Any]:
        nonlocal done, planned
        planned += sum(task.count for task in tasks)
        for task, result in zip(tasks, run(function, shared, tasks), strict=True):
            done += task.count
            if progress is not None:
                progress(done, planned)
            yield result

    return counting
