"""Power planning for dominance tests, from a pilot study or from named distributions ([RAB] Fig. 6 and 7)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature
from itertools import combinations, permutations
from math import ceil, inf, isfinite

import numpy as np

from riskrank.engine.dominance.column_tests import Inference, study_dominance
from riskrank.engine.dominance.inference import ABSOLUTE, Claim
from riskrank.engine.dominance.ranking import estimate_violation
from riskrank.engine.dominance.tests import DominanceTests, sample_dominance
from riskrank.engine.sampling.design import MIN_SAMPLES, ClusteredScores, require_testable
from riskrank.engine.sampling.pilot_sampler import PilotSampler
from riskrank.engine.sampling.processes import Jobs
from riskrank.engine.sampling.strata import MIN_TASK_UNITS, MIN_TASKS
from riskrank.engine.special import betaincinv, ndtri
from riskrank.engine.suites import between_task_shares
from riskrank.engine.types import Floats, Integers, Progress
from riskrank.errors import InputError, UsageError, did_you_mean, listing, option

# Quantile functions by name; arguments are probabilities in (0, 1) and the parameters ([RAB] Fig. 7).
FAMILIES: dict[str, Callable[..., Floats]] = {
    "normal": lambda probability, mean=0.0, sd=1.0: np.asarray(mean + sd * ndtri(probability)),
    "lognormal": lambda probability, mu=0.0, sigma=1.0: np.exp(mu + sigma * ndtri(probability)),
    "beta": lambda probability, a, b: np.asarray(betaincinv(a, b, probability)),
    "bernoulli": lambda probability, p: (np.asarray(probability) > 1 - p).astype(np.float64),
}

# Parameters without limits, and parameters with a largest value; all others must be above 0.
_UNBOUNDED, _MAXIMA = ("mean", "mu"), {"p": 1.0}


@dataclass(frozen=True)
class Distribution:
    """A named distribution of scores.

    Attributes
    ----------
    name : str
        Key of `FAMILIES`.
    parameters : tuple of float
        All parameters, including those left at their defaults.
    """

    name: str
    parameters: tuple[float, ...]

    def __str__(self) -> str:
        """Return the description that `parse_distribution` reads, such as ``normal:0,1``."""
        return f"{self.name}:{','.join(f'{value:g}' for value in self.parameters)}"

    def quantile(self, probability: Floats) -> Floats:
        """Return the quantiles at the given probabilities in (0, 1), in the same shape."""
        return FAMILIES[self.name](probability, *self.parameters)


def parse_distribution(text: str) -> Distribution:
    """Parse the description of a distribution, such as "normal:0.5,2".

    Parameters
    ----------
    text : str
        Name of a family, a colon, and its parameters separated by commas. Trailing parameters with defaults
        may be omitted ("normal" is "normal:0,1").

    Returns
    -------
    Distribution

    Raises
    ------
    UsageError
        If the family is unknown, or parameters are too few, too many, not numeric or out of range.
    """
    name, _, arguments = text.strip().partition(":")
    name = name.strip().casefold()
    if name not in FAMILIES:
        hint = did_you_mean(name, FAMILIES, fallback=f"choose among {listing(FAMILIES)}")
        raise UsageError(f"unknown distribution {text!r}", found=repr(name), hint=hint)
    _, *allowed = signature(FAMILIES[name]).parameters.values()
    form = f"write {name}:{','.join(item.name for item in allowed)}"
    try:
        values = [float(part) for part in arguments.split(",")] if arguments.strip() else []
    except ValueError:
        values = [inf]
    if not all(map(isfinite, values)):
        hint = "write numbers with a point, separated by commas: normal:0.5,2"
        raise UsageError(f"a parameter of {text!r} is not a number", found=repr(arguments.strip()), hint=hint)
    values += [item.default for item in allowed[len(values) :] if item.default is not item.empty]
    if len(values) != len(allowed):
        raise UsageError(f"wrong number of parameters in {text!r}", found=str(len(values)), hint=form)
    for item, value in zip(allowed, values, strict=True):
        maximum = _MAXIMA.get(item.name, inf)
        if item.name not in _UNBOUNDED and not 0 < value <= maximum:
            above = "" if maximum == inf else f" and at most {maximum:g}"
            raise UsageError(f"{item.name} of {text!r} must be above 0{above}", found=f"{value:g}", hint=form)
    return Distribution(name, tuple(values))


# At least the default number of resamples of `dominance`, so that the pilot has the same order there.
_PILOT_RESAMPLES = 1000

# Quantiles that represent a named distribution; they give four digits of a violation ratio.
_REFERENCE_SIZE = 100_000

# Number of tables per parent random stream.
_BLOCK = 5

# Unit of the sizes if tasks are random.
TASKS = "tasks"

# Default sizes by unit.
_SIZES = {"samples per model": (100, 500, 1000), "samples per task": (20, 50, 100), TASKS: (10, 20, 50)}


@dataclass(frozen=True)
class Plan:
    """Population and test for a power study.

    Attributes
    ----------
    claim : Claim
        Claim of dominance to test.
    inference : Inference
        Test settings: level, correction, resamples and seed.
    pairs : tuple of (int, int)
        Winner and loser of each claim.
    reference : DominanceTests
        The claim in the population, without a test.
    scores : ClusteredScores
        Scores of the population: the pilot, or many quantiles of the distributions.
    uses_distributions : bool
        True if the population consists of named distributions instead of a pilot.
    between_shares : ndarray, shape (pairs,), or None
        With random tasks, the proportion of each difference's variance that lies between tasks.
    """

    claim: Claim
    inference: Inference
    pairs: tuple[tuple[int, int], ...]
    reference: DominanceTests
    scores: ClusteredScores
    uses_distributions: bool = False
    between_shares: Floats | None = None

    def test(
        self,
        units: Sequence[Integers],
        stream: np.random.SeedSequence,
        jobs: Jobs = 1,
        progress: Progress | None = None,
    ) -> list[bool]:
        """Run the full test on a simulated table; return for each pair whether it is significant.

        Parameters
        ----------
        units : sequence of ndarrays of int
            Drawn units of the table, as returned by :meth:`PilotSampler.draw_units`.
        stream : SeedSequence
            Random stream of the test's resamples.
        jobs : int or Workers
            Number of processes, or existing workers.
        progress : callable, optional
            Called with the number of finished resamples, and the number planned so far.
        """
        scores = self.sampler.build_table(units)
        try:
            require_testable(scores)
        except InputError:
            # The drawn clusters may have too small an effective size for a test.
            return [False] * len(self.pairs)
        number = int.from_bytes(stream.generate_state(4).tobytes(), "little")
        inference = replace(self.inference, seed=number, jobs=jobs)
        study = study_dominance(scores, [self.claim], inference, progress=progress)
        return [bool(study.tests[0].dominates[pair]) for pair in self.pairs]

    @cached_property
    def sampler(self) -> PilotSampler:
        """Sampler that simulates tables from the population."""
        return PilotSampler(self.scores)

    @cached_property
    def family(self) -> tuple[tuple[int, int], ...]:
        """All ordered pairs of models, whose tests are corrected together."""
        return tuple(permutations(range(self.scores.models), 2))

    @property
    def needs_means_test(self) -> bool:
        """True if the test of the macro means must be significant as well as the claim."""
        return self.unit == TASKS and self.claim.kind != ABSOLUTE and not self.inference.paper_exact

    @property
    def unit(self) -> str:
        """Unit in which the size of a table is counted, such as ``samples per model`` or ``tasks``."""
        if self.scores.strata.random:
            return TASKS
        noun = "clusters of samples" if self.scores.has_nested_samples else "samples"
        return f"{noun} per task" if self.scores.strata.has_several_tasks else f"{noun} per model"

    @property
    def min_size(self) -> int:
        """Smallest number of samples or tasks (see `unit`) with which the claims can be tested."""
        if self.unit == TASKS:
            return MIN_TASKS
        concentration = float((self.scores.strata.weights**2).sum())
        return max(MIN_TASK_UNITS, ceil(MIN_SAMPLES * concentration - 1e-9))

    @property
    def default_sizes(self) -> tuple[int, ...]:
        """Numbers of samples or tasks (see `unit`) at which power is computed if none are requested."""
        return _SIZES[self.unit.removeprefix("clusters of ")]

    @property
    def unattainable_pairs(self) -> tuple[tuple[int, int], ...]:
        """Pairs whose claim is false in the population, so that no sample size is sufficient."""
        return tuple(pair for pair in self.pairs if not self.reference.dominates[pair])


def table_streams(size: int, tables: int, seed: int) -> list[np.random.SeedSequence]:
    """Return one random stream per simulated table.

    Streams depend on the number of units per table (`size`), so tables of different sizes are independent.
    """
    streams: list[np.random.SeedSequence] = []
    for number, start in enumerate(range(0, tables, _BLOCK), start=1):
        streams += np.random.SeedSequence((seed, size, number)).spawn(min(_BLOCK, tables - start))
    return streams


def plan_from_pilot(
    scores: ClusteredScores,
    claim: Claim,
    inference: Inference,
    *,
    pair: tuple[int, int] | None = None,
    suggested: str = "BETTER:WORSE",
    progress: Progress | None = None,
) -> Plan:
    """Create a plan for a power study with a pilot as the population.

    Power is then the probability of reproducing the dominance found in the pilot.

    Parameters
    ----------
    scores : ClusteredScores
        The pilot. Samples are drawn from it with all their scores, jointly for all models if paired. In a
        suite, samples are drawn within each task, or whole tasks are drawn.
    claim : Claim
        The test.
    inference : Inference
        Settings of the test.
    pair : (int, int), optional
        Winner and loser; by default every dominance that is significant in the pilot. The family is always
        all ordered pairs of the pilot's models.
    suggested : str
        Pair that the error suggests if no dominance is significant.
    progress : callable, optional
        Called with the number of finished resamples of the pilot, and the number planned so far.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        If no dominance is significant in the pilot and no pair is given. If the pilot has fewer than 10
        samples, a task of a suite fewer than 2, or a suite with random tasks fewer than 6 tasks.
    """
    reference = sample_dominance(estimate_violation(scores), claim)
    pairs: tuple[tuple[int, int], ...] = () if pair is None else (pair,)
    if pair is None:
        settings = inference
        if inference.resamples != "auto":
            settings = replace(inference, resamples=max(inference.resamples, _PILOT_RESAMPLES))
        dominates = study_dominance(scores, [claim], settings, progress=progress).tests[0].dominates
        pairs = tuple((int(i), int(j)) for i, j in zip(*np.nonzero(dominates), strict=True))
        if not pairs:
            problem = "no dominance is significant in the pilot, so there is no claim to plan for"
            detail = f"{scores.models} models, {scores.min_effective_size} {scores.unit_name}"
            hint = f"name the pair to test: {option('pair', suggested)}"
            raise InputError(problem, found=detail, hint=hint)
    require_testable(scores)
    between = between_task_shares(scores)[*np.transpose(pairs)] if scores.strata.random else None
    return Plan(claim, inference, pairs, reference, scores, between_shares=between)


def plan_from_distributions(
    distributions: Sequence[Distribution],
    claim: Claim,
    inference: Inference,
    *,
    pair: tuple[int, int] | None = None,
) -> Plan:
    """Create a plan for independent models with known score distributions.

    Parameters
    ----------
    distributions : sequence of Distribution
        One per model, the better ones first.
    claim, inference, pair
        As in `plan_from_pilot`; by default, the claim is that every model dominates all later ones.

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
        hint = "add a distribution to compare with: normal:0.5,2 normal:0,1"
        raise UsageError("planning needs at least two distributions", found=str(k), hint=hint)
    levels = (np.arange(_REFERENCE_SIZE) + 0.5) / _REFERENCE_SIZE
    quantiles = [distribution.quantile(levels) for distribution in distributions]
    scores = ClusteredScores.build(quantiles, paired=False)
    reference = sample_dominance(estimate_violation(scores), claim)
    pairs = tuple(combinations(range(k), 2)) if pair is None else (pair,)
    return Plan(claim, inference, pairs, reference, scores, uses_distributions=True)
