"""Power of a plan by size, and the size that a power needs: in closed form, and by tables tested whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, hypot, sqrt

import numpy as np
from scipy.special import ndtri

from riskrank.engine.bisection import least_size
from riskrank.engine.power.closed_form import ClosedForm
from riskrank.engine.power.planning import TASKS, Plan
from riskrank.engine.power.required_size import SizeInterval, check_search, height_of_test, interval_ends
from riskrank.engine.power.simulation import PowerCurve, streams
from riskrank.engine.sampling.freedom import satterthwaite
from riskrank.engine.sampling.processes import workers_for
from riskrank.engine.sampling.strata import FEWEST_TASKS
from riskrank.engine.types import Booleans, Integers

# For each simulation asked for: tables whose answers are known in closed form, and tested whole; and numbers
# drawn and compared for all of these, unless one table takes more.
_CLOSED, _WHOLE, _WORK = 40, 0.2, 8e6
_LEAST_WORK = 1e8
# Fewer whole tests could not say that the closed form is off, if all of them do.
_FEWEST_WHOLE = 10

# Resamples of the pilot, of which each suggests a size.
_RESAMPLES = 4000

# As many of them are worth processes, which take a second to start: six seconds of work.
_WORTH_PROCESSES = 1e9


Progress = Callable[[int, int], None]
"""Called with the work done and all of it."""


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

    @classmethod
    def of(cls, size: int, closed: Booleans, whole: Booleans) -> Agreement:
        """Count the verdicts of both, of shape (tables, pairs)."""
        share = (whole.sum(axis=0) + 0.5) / (len(whole) + 1)
        agreed, shift = int((closed == whole).sum()), int(closed.sum()) - int(whole.sum())
        return cls(size, len(whole), whole.size, agreed, shift, float((share * (1 - share)).mean()))

    @property
    def error(self) -> float:
        """Error of a share of these verdicts: by chance, and as far as they differ in one direction."""
        return hypot(sqrt(self.verdicts - self.agreed + 0.5), self.shift) / (self.verdicts + 1)

    @property
    def confirms(self) -> bool:
        """Whether most verdicts are the same, and the others go to one side no more than by chance."""
        others = self.verdicts - self.agreed
        return others <= self.agreed and abs(self.shift) <= 2 * sqrt(max(others, 1))


@dataclass(frozen=True)
class PowerStudy:
    """Power by size, and the size a power needs.

    Attributes
    ----------
    plan : Plan
    curve, tried : PowerCurve
        One claim a pair of the plan, at the sizes asked for, and at these and the size found, or the limit.
    size : int or None
        Size at which all pairs together reach the target; None if that is not within the limit.
    target : float
    agreement : Agreement
        Of some tables that were tested whole.
    interval : SizeInterval or None
        Sizes that the pilot is compatible with; None where distributions or tasks were planned with.
    """

    plan: Plan
    curve: PowerCurve
    tried: PowerCurve
    size: int | None
    target: float
    agreement: Agreement
    interval: SizeInterval | None = None

    @property
    def at(self) -> int:
        """Place of the size found among those tried, or of the largest one."""
        sizes = self.tried.sizes.tolist()
        return len(sizes) - 1 if self.size is None else sizes.index(self.size)

    @property
    def power(self) -> float:
        """Power of all pairs together at the size found, or at the largest one tried."""
        return float(self.tried.power[self.at, -1])

    @property
    def standard_error(self) -> float:
        """Error of that power."""
        return float(self.tried.standard_error[self.at, -1])

    @property
    def confirmed(self) -> bool:
        """Whether tables tested whole confirm it."""
        return not self.plan.unattainable and self.agreement.confirms

    @property
    def largest_error(self) -> float:
        """Largest error of a power of one pair, or of that at the size found."""
        return max(float(self.curve.standard_error[:, :-1].max()), self.standard_error)

    @property
    def endless(self) -> int | None:
        """Where tasks are drawn: how many it takes with endless samples on each, or more than that.

        The size needed is proportional to the variance, of which the hardest pair keeps the share between
        tasks; fewer than are tested say nothing of others.
        """
        if self.plan.between is None or self.plan.unattainable:
            return None
        share = float(self.plan.between[self.curve.hardest_first[0]])
        return max(FEWEST_TASKS, ceil(share * int(self.tried.sizes[self.at])))


def study_power(
    plan: Plan,
    sizes: Sequence[int] | None = None,
    *,
    target: float = 0.8,
    limit: int | None = None,
    repeats: int = 100,
    progress: Progress | None = None,
) -> PowerStudy:
    """Power of a plan at several sizes, and the size that gives a power.

    Powers are those of a closed form, which some tables that are tested whole have to confirm.

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
        Called with the resamples of tables tested whole that are done, and all of them.

    Returns
    -------
    PowerStudy
        Without a search where the reference contradicts a pair: its size is None.

    Raises
    ------
    UsageError
        If a size lies below what can be tested or above the limit.
    """
    if sizes is None:
        sizes = [size for size in plan.sizes if limit is None or size <= limit] or [limit or plan.smallest]
    sizes = sorted(set(sizes))
    of = TASKS * (plan.unit == TASKS)
    limit = check_search(sizes, limit=limit, smallest=plan.smallest, of=of)
    closed = ClosedForm(plan, _CLOSED * repeats)
    claimed = np.array([plan.family.index(pair) for pair in plan.pairs])

    def enough(size: int) -> bool:
        return float(closed.shown(size)[:, claimed].all(axis=1).mean()) >= target

    size, tried = None, sizes
    if not plan.unattainable:
        size = least_size(enough, plan.smallest, limit)
        tried = sorted({*sizes, size or limit})
    agreement = _check(closed, claimed, size or sizes[-1], repeats, progress)
    shown = [closed.shown(size)[:, claimed] for size in tried]
    curve = PowerCurve.of(tried, shown, agreement.error, agreement.divided)
    study = PowerStudy(plan, curve.at(sizes), curve, size, target, agreement)
    if plan.named or plan.unit == TASKS:
        return study
    return replace(study, interval=_interval(study, closed, claimed, limit))


def _interval(study: PowerStudy, closed: ClosedForm, claimed: Integers, limit: int) -> SizeInterval:
    """The sizes that resamples of the pilot suggest, and the size found among them."""
    plan, rng = study.plan, np.random.default_rng([study.plan.inference.seed, 0, 3])
    own, noise = closed.effects.mean[claimed], closed.effects.noise(rng, _RESAMPLES)[:, claimed]
    # Samples of a task, if all had as many and told as much; and what stands behind the spread of all.
    squares, available = plan.scores.strata.weights**2, plan.sampler.units
    spread = squares / available
    units, behind = float(squares.sum() / spread.sum()), satterthwaite(spread, available)
    height = -float(ndtri(plan.inference.family.level(len(plan.family))))
    if own.min() > 0:
        height = height_of_test(own, int(study.tried.sizes[study.at]), study.power)
    ends = interval_ends(np.vstack([own, own + noise / sqrt(units)]), height, study.target, behind)
    if study.size is not None:
        ends = min(ends[0], study.size), max(ends[1], study.size)
    low, high = (None if end >= limit + 0.5 else max(round(end), plan.smallest) for end in ends)
    return SizeInterval(low, high, limit)


def _check(
    closed: ClosedForm, claimed: Integers, size: int, repeats: int, progress: Progress | None
) -> Agreement:
    """Test some tables of a size whole, and compare the verdicts of the closed form on the same tables."""
    plan, seed, test = closed.plan, closed.plan.inference.seed, closed.test(size)
    affordable = int(max(_WORK * repeats, _LEAST_WORK) / test.work)
    tables = max(min(affordable, max(ceil(_WHOLE * repeats), _FEWEST_WHOLE)), 1)
    each = test.resamples

    def watch(number: int) -> Progress | None:
        if progress is None:
            return None
        return lambda done, _: progress(number * each + min(done, each), tables * each)

    # Processes of the caller's run are there already; others take a second to start.
    here = isinstance(plan.inference.jobs, int) and tables * test.work < _WORTH_PROCESSES
    whole: list[list[bool]] = []
    drawn = []
    with workers_for(1 if here else plan.inference.jobs) as workers:
        for stream, twin in zip(streams(size, tables, seed), streams(size, tables, seed), strict=True):
            whole.append(plan(size, stream, workers, watch(len(whole))))
            drawn.append(plan.sampler.chosen(np.random.default_rng(twin.spawn(1)[0]), size))
    return Agreement.of(size, closed.shown_in(drawn, size)[:, claimed], np.array(whole, dtype=bool))
