"""Power of dominance tests: on a pilot, or between named distributions ([RAB] Fig. 6 and 7)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, permutations
from math import ceil

import numpy as np

from riskrank.engine.dominance.column import Inference, study_dominance
from riskrank.engine.dominance.inference import ABSOLUTE, Claim
from riskrank.engine.dominance.ranking import estimate
from riskrank.engine.dominance.tests import DominanceTests, compare
from riskrank.engine.power.distributions import Distribution
from riskrank.engine.sampling.design import FEWEST_SAMPLES, ClusteredScores, require_testable
from riskrank.engine.sampling.pilot_sampler import PilotSampler
from riskrank.engine.sampling.processes import Jobs
from riskrank.engine.sampling.strata import FEWEST_IN_TASK, FEWEST_TASKS
from riskrank.engine.suites.macro_means import shares_between_tasks
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, UsageError, option

# The order a user knows from `dominance` is found with its default number of resamples at least.
_PILOT_RESAMPLES = 1000

# Quantiles that stand for a named distribution: four digits of a violation ratio.
_REFERENCE_SIZE = 100_000

# Tables whose random streams have one origin.
_BLOCK = 5

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

    def test(
        self,
        drawn: Sequence[Integers],
        stream: np.random.SeedSequence,
        jobs: Jobs = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[bool]:
        """Test the table of some units as a real one, with all its models, and say which pairs are shown."""
        scores = self.sampler.table(drawn)
        try:
            require_testable(scores)
        except InputError:
            # By chance the clusters drawn tell too little for a test.
            return [False] * len(self.pairs)
        number = int.from_bytes(stream.generate_state(4).tobytes(), "little")
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
        return tuple(permutations(range(self.scores.models), 2))

    @property
    def by_means(self) -> bool:
        """Whether Student's test of the tasks' means has to agree."""
        return self.unit == TASKS and self.claim.kind != ABSOLUTE and not self.inference.paper_exact

    @property
    def unit(self) -> str:
        """What the sizes count: ``samples a model`` or ``a task``, clusters of them, or ``tasks``."""
        if self.scores.strata.random:
            return TASKS
        drawn = "clusters of samples" if self.scores.nested else "samples"
        return f"{drawn} a task" if self.scores.strata.several else f"{drawn} a model"

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


def streams(size: int, tables: int, seed: int) -> list[np.random.SeedSequence]:
    """The streams of these tables, one after another; every size has its own."""
    found: list[np.random.SeedSequence] = []
    for number, start in enumerate(range(0, tables, _BLOCK), start=1):
        found += np.random.SeedSequence((seed, size, number)).spawn(min(_BLOCK, tables - start))
    return found


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
    require_testable(scores)
    between = shares_between_tasks(scores)[*np.transpose(pairs)] if scores.strata.random else None
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
    pairs = tuple(combinations(range(k), 2)) if pair is None else (pair,)
    return Plan(claim, inference, pairs, reference, scores, named=True)
