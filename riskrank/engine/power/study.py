"""Power of a plan by size, and the size that a power needs: in closed form, and by tables tested whole."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, hypot, sqrt

import numpy as np
from scipy.special import ndtri

from riskrank.engine.dominance.task_mean_tests import means_of_tasks
from riskrank.engine.power.closed_form import PARTS, NormalTables, TaskTables
from riskrank.engine.power.effects import effects_of
from riskrank.engine.power.planning import TASKS, Plan
from riskrank.engine.power.required_size import (
    RequiredSize,
    SizeInterval,
    check_search,
    find_size,
    size_interval,
)
from riskrank.engine.power.simulation import PowerCurve, Test, streams, verdicts_of
from riskrank.engine.sampling.processes import Jobs, Workers, workers_for
from riskrank.engine.sampling.strata import FEWEST_TASKS
from riskrank.engine.types import Booleans, Integers

# For each simulation asked for: tables whose answers are known in closed form, and tested whole; and numbers
# drawn and compared for all of these, unless one table takes more.
_CLOSED, _WHOLE, _WORK = 40, 0.2, 8e6
_LEAST_WORK = 1e8
# Fewer whole tests could not say that the closed form is off, if all of them do.
_FEWEST_WHOLE = 10

# As many numbers take as long as a pair of a table in closed form, by the limit theorem or resamples.
_CLOSED_WORK = (25, 225)

# As many of them are worth processes, which take a second to start: six seconds of work.
_WORTH_PROCESSES = 1e9

# How high a test may stand, in standard errors, and how finely that is looked for.
_HEIGHTS = np.linspace(-5, 5, 201)


@dataclass(frozen=True)
class Agreement:
    """How often whole tests of tables gave the verdicts of the closed form.

    Attributes
    ----------
    size, tables : int
    verdicts, agreed : int
        Of all pairs on all tables.
    shift : int
        How many more of them the closed form shows.
    divided : float
        Mean of w(1 − w), of the shares w of tables in which whole tests show a pair.
    """

    size: int
    tables: int
    verdicts: int
    agreed: int
    shift: int
    divided: float

    @property
    def doubt(self) -> float:
        """Error of a share of these verdicts: by chance, and as far as they are others in one direction."""
        return hypot(sqrt(self.verdicts - self.agreed + 0.5), self.shift) / (self.verdicts + 1)


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
    agreement : Agreement
        Of the tables that were tested whole last.
    interval : SizeInterval or None
        Sizes that the pilot is compatible with; None where distributions or tasks were planned with.
    """

    plan: Plan
    curve: PowerCurve
    required: RequiredSize
    agreement: Agreement
    interval: SizeInterval | None = None

    @property
    def largest_error(self) -> float:
        """Largest error of a power, that of the size found among them."""
        return max(float(self.curve.standard_error.max()), self.required.standard_error)

    @property
    def endless(self) -> int | None:
        """Where tasks are drawn: how many it takes with endless samples on each, or more than that.

        The size needed is proportional to the variance, of which the hardest pair keeps the share between
        tasks; fewer than are tested say nothing of others.
        """
        if self.plan.between is None or self.plan.unattainable:
            return None
        size = self.required.sizes[-1] if self.required.size is None else self.required.size
        return max(FEWEST_TASKS, ceil(float(self.plan.between[self.curve.hardest_first[0]]) * int(size)))


def study_power(
    plan: Plan,
    sizes: Sequence[int] | None = None,
    *,
    target: float = 0.8,
    limit: int | None = None,
    repeats: int = 100,
    progress: Callable[[int, int], None] | None = None,
) -> PowerStudy:
    """Power of a plan at several sizes, in closed form, and the size that gives a power, by tests of tables.

    Parameters
    ----------
    plan : Plan
        Its inference also gives the seed and the number of processes.
    sizes : sequence of int
        In the units of the plan; its own, up to the limit, by default.
    target : float
        Power wanted for all pairs together.
    limit : int, optional
        Largest size tried; five times the largest of `sizes` by default.
    repeats : int
        For each, 40 tables a size in closed form, and up to a fifth of one tested whole at the size found.
    progress : callable, optional
        Called with the resamples of tables tested whole, or the tables, and what the closed form takes as
        long as; and with those planned so far.

    Returns
    -------
    PowerStudy
        Without a search where the reference contradicts a pair: its `required.size` is None.

    Raises
    ------
    UsageError
        If a size lies below what can be tested or above the limit, or the target outside (0, 1).
    """
    if sizes is None:
        sizes = [size for size in plan.sizes if limit is None or size <= limit] or [limit or plan.smallest]
    sizes = sorted(set(sizes))
    of = TASKS * (plan.unit == TASKS)
    limit = check_search(sizes, target=target, limit=limit, smallest=plan.smallest, of=of)
    with workers_for(plan.inference.jobs) as workers:
        search = _Search(plan, repeats, workers, progress)
        size, height, confirmed = None, 0.0, False
        if plan.unattainable:
            height = search.look(sizes[-1], height)
        else:
            search.foresee(sizes, (limit - plan.smallest).bit_length())
            ends = {"smallest": plan.smallest, "limit": limit, "otherwise": sizes[-1]}
            size, height, confirmed = find_size(search.power, search.look, target=target, **ends)
    assert search.agreement is not None
    at = size or (sizes[-1] if plan.unattainable else limit)
    every = search.curve(sorted({*sizes, at}), height)
    place = every.sizes.tolist().index(at)
    power, error = float(every.together[place]), float(every.together_error[place])
    confirmed = confirmed and 2 * search.agreement.agreed >= search.agreement.verdicts
    required = RequiredSize(size, target, power, error, confirmed, every.sizes, every.together)
    return PowerStudy(plan, every.at(sizes), required, search.agreement, search.interval(required, limit))


class _Search:
    """Verdicts of a plan: in closed form, and of tables that are tested whole."""

    def __init__(
        self, plan: Plan, repeats: int, workers: Workers, progress: Callable[[int, int], None] | None = None
    ) -> None:
        self._plan, self._repeats, self._workers, self._progress = plan, repeats, workers, progress
        self._done = self._planned = self._closed_cost = self._last = 0
        self._claimed = np.array([plan.family.index(pair) for pair in plan.pairs])
        self.agreement: Agreement | None = None
        scores, inference = plan.scores, plan.inference
        self.effects = effects_of(scores, plan.claim, plan.family, inference.seed)
        self._normal = NormalTables(plan, self.effects, _CLOSED * repeats)
        self._closed: NormalTables | TaskTables = self._normal
        if plan.by_means:
            winners, losers = np.transpose(plan.family)
            means = means_of_tasks(scores)
            self._closed = TaskTables(self._normal, means[winners] - means[losers])

    def shown(self, size: int, height: float) -> Booleans:
        """Whether the pairs of the plan are shown, in closed form, (tables, pairs)."""
        found, before = [], self._done
        for part in self._closed.shown(size, height):
            found.append(part[:, self._claimed])
            self._tell(min(before + self._closed_cost, self._done + ceil(self._closed_cost / PARTS)))
        self._tell(before + self._closed_cost)
        return np.concatenate(found)

    def power(self, size: int, height: float) -> float:
        """Share of tables in which all of them are."""
        return float(self.shown(size, height).all(axis=1).mean())

    def curve(self, sizes: Sequence[int], height: float) -> PowerCurve:
        """Powers at some sizes, with what whole tests leave in doubt."""
        found = self.agreement
        assert found is not None
        self._planned = self._done + len(sizes) * self._closed_cost
        shown = [self.shown(size, height) for size in sizes]
        return PowerCurve.of(sizes, shown, found.doubt, found.divided)

    def look(self, size: int, height: float) -> float:
        """Test tables whole; the height at which the closed form agrees best, if that given does not."""
        plan, seed = self._plan, self._plan.inference.seed
        work = self._normal.work(size)
        affordable = int(max(_WORK * self._repeats, _LEAST_WORK) / work)
        tables = max(min(affordable, max(ceil(_WHOLE * self._repeats), _FEWEST_WHOLE)), 1)
        # Processes of the caller's run already, and cost nothing to start.
        here = isinstance(plan.inference.jobs, int) and tables * work < _WORTH_PROCESSES
        each = self._normal.resamples(size)
        self._planned = self._done + tables * each + self._last * self._closed_cost
        test = self._watched(each, 1 if here else self._workers)
        whole = verdicts_of(test, size, tables, seed=seed)
        rngs = (np.random.default_rng(stream.spawn(1)[0]) for stream in streams(size, tables, seed))
        drawn = [plan.sampler.chosen(rng, size) for rng in rngs]

        closed = self._closed.answering(drawn, size)

        def apart(height: float) -> Integers:
            return closed(height)[:, self._claimed].astype(np.int64) - whole

        found = apart(height)
        if abs(int(found.sum())) > 2 * sqrt(max(int(np.abs(found).sum()), 1)):
            left = np.array([abs(int(apart(one).sum())) for one in _HEIGHTS])
            height = float(_HEIGHTS[left == left.min()].mean())
            found = apart(height)
        share = (whole.sum(axis=0) + 0.5) / (tables + 1)
        agreed, divided = int((found == 0).sum()), float((share * (1 - share)).mean())
        self.agreement = Agreement(size, tables, whole.size, agreed, int(found.sum()), divided)
        return height

    def foresee(self, sizes: Sequence[int], steps: int) -> None:
        """Plan a search of so many steps, whole tests and the curve, all in resamples of the largest size."""
        each = self._normal.work(sizes[-1]) / self._normal.resamples(sizes[-1])
        cells = self._normal.tables * len(self._plan.family)
        self._closed_cost = ceil(_CLOSED_WORK[self._plan.inference.resampled] * cells / each)
        self._last = len(sizes) + 1
        whole = max(_WORK * self._repeats, _LEAST_WORK, self._normal.work(sizes[-1])) / each
        self._planned = (1 + steps + self._last) * self._closed_cost + ceil(whole)

    def _watched(self, each: int, jobs: Jobs) -> Test:
        """The test of a table whose resamples are spread over processes, and counted."""

        def test(size: int, stream: np.random.SeedSequence) -> Sequence[bool]:
            before = self._done
            shown = self._plan(size, stream, jobs, lambda done, _: self._tell(before + min(done, each)))
            self._tell(before + each)
            return shown

        return test

    def _tell(self, done: int) -> None:
        self._done, self._planned = done, max(done, self._planned)
        if self._progress is not None:
            self._progress(done, self._planned)

    def interval(self, required: RequiredSize, limit: int) -> SizeInterval | None:
        """What else the pilot could have suggested."""
        plan = self._plan
        if plan.named or plan.unit == TASKS:
            return None
        nominal = float(-ndtri(plan.inference.family.level(len(plan.family))))
        ends = {"smallest": plan.smallest, "limit": limit, "seed": plan.inference.seed}
        return size_interval(plan.sampler, self.effects, self._claimed, required, nominal=nominal, **ends)
