"""Power of dominance tests: on a pilot, or between named distributions ([RAB] Fig. 6 and 7).

How much of what makes differences of task means vary no number of samples takes away (method §8).

Of the variance of a difference of macro means over tasks, Σ w_t² e_t² comes from the samples within them.
Only the rest is of the tasks: with endless samples on each, fewer tasks would do by as much.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np

from riskrank.engine.dominance.column_tests import Inference, study_dominance
from riskrank.engine.dominance.inference import ABSOLUTE, Claim
from riskrank.engine.dominance.ranking import estimate
from riskrank.engine.dominance.tests import DominanceTests, compare, family_of
from riskrank.engine.power.distributions import Distribution
from riskrank.engine.power.simulation import PilotSampler
from riskrank.engine.sampling.design import FEWEST_SAMPLES, ClusteredScores, require_testable
from riskrank.engine.sampling.processes import Jobs
from riskrank.engine.sampling.strata import FEWEST_IN_TASK, FEWEST_TASKS
from riskrank.engine.suites.macro_means import RANDOM, macro_differences
from riskrank.engine.suites.task_differences import TaskScores, task_differences
from riskrank.engine.types import Floats
from riskrank.errors import InputError, UsageError, option

# The order a user knows from `dominance` is found with its default number of resamples at least.
_PILOT_RESAMPLES = 1000

# Quantiles that stand for a named distribution: four digits of a violation ratio.
_REFERENCE_SIZE = 100_000

# What sizes count where tasks are drawn.
TASKS = "tasks"

# Sizes that are looked at, by what they count.
_SIZES = {"samples a model": (100, 500, 1000), "samples a task": (20, 50, 100), TASKS: (10, 20, 50)}


@dataclass(frozen=True)
class Plan:
    """What to draw and to test.

    Attributes
    ----------
    claim : Claim
    inference : Inference
    pairs : tuple of (int, int)
        Winner and loser of each claim.
    reference : DominanceTests
        The claim on the pilot, or on many quantiles of the distributions, without a test.
    scores : ClusteredScores
        The pilot, or these quantiles.
    named : bool
        Whether tables are drawn from named distributions.
    between : ndarray, shape (pairs,), or None
        Where tasks are drawn: the share of each difference's variance that no number of samples takes away.
    """

    claim: Claim
    inference: Inference
    pairs: tuple[tuple[int, int], ...]
    reference: DominanceTests
    scores: ClusteredScores
    named: bool = False
    between: Floats | None = None

    def __call__(
        self,
        size: int,
        stream: np.random.SeedSequence,
        jobs: Jobs = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[bool]:
        """Draw a table, test it as a real one, with all its models, and say which pairs are shown."""
        data, test = stream.spawn(2)
        scores = self.sampler(np.random.default_rng(data), size)
        try:
            require_testable(scores)
        except InputError:
            # By chance the clusters drawn tell too little for a test.
            return [False] * len(self.pairs)
        number = int.from_bytes(test.generate_state(4).tobytes(), "little")
        inference = replace(self.inference, seed=number, jobs=jobs)
        study = study_dominance(scores, [self.claim], inference, progress=progress)
        return [bool(study.tests[0].dominates[pair]) for pair in self.pairs]

    @cached_property
    def sampler(self) -> PilotSampler:
        """Draws tables of any size from the pilot."""
        return PilotSampler(self.scores)

    @cached_property
    def family(self) -> tuple[tuple[int, int], ...]:
        """The pairs whose tests are corrected for together."""
        winners, losers = family_of(self.scores.models, None)
        return tuple(zip(winners.tolist(), losers.tolist(), strict=True))

    @property
    def by_means(self) -> bool:
        """Whether Student's test of the tasks' means has to agree."""
        return self.unit == TASKS and self.claim.kind != ABSOLUTE and not self.inference.paper_exact

    @property
    def unit(self) -> str:
        """What the sizes count: ``samples a model`` or ``a task``, clusters of them, or ``tasks``."""
        if self.scores.strata.random:
            return TASKS
        return f"{self.drawn} a task" if self.scores.strata.several else f"{self.drawn} a model"

    @property
    def drawn(self) -> str:
        """What is drawn of a model or task."""
        return "clusters of samples" if self.scores.nested else "samples"

    @property
    def smallest(self) -> int:
        """The smallest size that can be tested."""
        if self.unit == TASKS:
            return FEWEST_TASKS
        each = float((self.scores.strata.weights**2).sum())
        return max(FEWEST_IN_TASK, ceil(FEWEST_SAMPLES * each - 1e-9))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sizes to look at, where none are asked for."""
        return _SIZES[self.unit.removeprefix("clusters of ")]

    @property
    def unattainable(self) -> tuple[tuple[int, int], ...]:
        """Pairs the reference itself does not order that way: no number of samples will."""
        return tuple(pair for pair in self.pairs if not self.reference.dominates[pair])


def plan_from_pilot(
    scores: ClusteredScores,
    claim: Claim,
    inference: Inference,
    *,
    pair: tuple[int, int] | None = None,
    progress: Callable[[int, int], None] | None = None,
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
        Winner and loser; by default every dominance that is significant in the pilot. The family is all
        ordered pairs of the pilot's models either way.
    progress : callable, optional
        Called with the resamples of the pilot that are done, and those planned so far.

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
        found = study_dominance(scores, [claim], careful, progress=progress).tests[0].dominates
        pairs = tuple((int(i), int(j)) for i, j in zip(*np.nonzero(found), strict=True))
        if not pairs:
            raise InputError(
                "no dominance is significant in the pilot, so there is no order to find again",
                found=f"{scores.models} models, {scores.effective_size} {scores.unit}",
                hint=f"name the pair you hope to separate: {option('pair', 'BETTER:WORSE')}",
            )
    if scores.strata.several:
        require_testable(scores)
    elif scores.effective_size < FEWEST_SAMPLES:
        raise InputError(
            f"a pilot needs at least {FEWEST_SAMPLES} samples a model",
            found=f"{scores.effective_size}",
            hint="score more samples, or plan with distributions: normal:0.5,2 normal:0,1",
        )
    between = shares_between_tasks(scores, pairs) if scores.strata.random else None
    return Plan(claim, inference, pairs, reference, scores, between=between)


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
    middles = (np.arange(_REFERENCE_SIZE) + 0.5) / _REFERENCE_SIZE
    shapes = [distribution.quantile(middles) for distribution in distributions]
    scores = ClusteredScores.build(shapes, paired=False)
    reference = compare(estimate(scores), claim)
    pairs = tuple((i, j) for i in range(k) for j in range(i + 1, k)) if pair is None else (pair,)
    return Plan(claim, inference, pairs, reference, scores, named=True)


def shares_between_tasks(scores: ClusteredScores, pairs: Sequence[tuple[int, int]]) -> Floats:
    """Share of the variance of two models' difference of macro means that lies between tasks.

    Parameters
    ----------
    scores : ClusteredScores
        Whose tasks are drawn.
    pairs : sequence of m (int, int)

    Returns
    -------
    ndarray, shape (m,)
        0 where nothing varies.
    """
    weights = scores.strata.weights
    tasks = TaskScores.build(
        scores.values, scores.clusters, units=scores.samples, weights=weights, paired=scores.paired
    )
    differences = task_differences(tasks)
    whole = macro_differences(tasks, differences, RANDOM).error ** 2
    within = ((weights * differences.error) ** 2).sum(axis=-1)
    share = np.where(whole > 0, 1 - within / np.where(whole > 0, whole, 1.0), 0.0)
    return np.array([max(float(share[pair]), 0.0) for pair in pairs])
