"""Power of a plan by size, and the size that a power needs: in closed form, and by tables tested whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, hypot, sqrt

import numpy as np
from scipy.special import ndtri

from riskrank.engine.bisection import least_size
from riskrank.engine.power.closed_form import ClosedForm
from riskrank.engine.power.planning import TASKS, Plan, streams
from riskrank.engine.power.required_size import SizeInterval, check_search, height_of_test, interval_ends
from riskrank.engine.sampling.freedom import satterthwaite
from riskrank.engine.sampling.processes import workers_for
from riskrank.engine.sampling.strata import FEWEST_TASKS
from riskrank.engine.types import Booleans, Floats, Integers

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


@dataclass(frozen=True)
class PowerCurve:
    """Share of tables in which claims are shown.

    Attributes
    ----------
    sizes : ndarray of int, shape (s,)
        Samples per model, increasing.
    power, standard_error : ndarray, shape (s, c + 1)
        Share of the tables in which each claim is shown, then all of them together, and its error.
    repeats : int
        Tables per size, R.
    """

    sizes: Integers
    power: Floats
    standard_error: Floats
    repeats: int

    @classmethod
    def of(
        cls, sizes: Sequence[int], shown: Sequence[Booleans], doubt: float = 0.0, divided: float = 0.25
    ) -> PowerCurve:
        """Count verdicts, of shape (R, c) for each size.

        A doubt is the error that whole tests leave where verdicts are divided as told; it weighs more where
        they may be divided more evenly.
        """
        hits = np.array([np.append(own.sum(axis=0), own.all(axis=1).sum()) for own in shown])
        repeats = len(shown[0])
        share = hits / repeats
        turned = share + doubt * (1 - 2 * share)
        beside = np.minimum(turned * (1 - turned) / divided * doubt, np.maximum(share, 1 - share))
        # From (x + ½)/(R + 1), so that 0 and 1 have an error too.
        counted = (hits + 0.5) / (repeats + 1)
        error = np.hypot(np.sqrt(counted * (1 - counted) / repeats), beside)
        return cls(np.array(sizes), share, error, repeats)

    def at(self, sizes: Sequence[int]) -> PowerCurve:
        """The same at some of its sizes."""
        kept = np.isin(self.sizes, sizes)
        return PowerCurve(self.sizes[kept], self.power[kept], self.standard_error[kept], self.repeats)

    @property
    def hardest_first(self) -> Integers:
        """Claims by their power at the largest size, the least first; smaller sizes settle ties."""
        return np.lexsort(self.power[:, :-1])

    @property
    def easiest_first(self) -> Integers:
        """Claims by their mean power over all sizes, the largest first."""
        return np.argsort(-self.power[:, :-1].mean(axis=0), kind="stable")


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
    power, standard_error : float
        Power of all pairs together at the size found, or at the largest one tried, and its error.
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
    power: float
    standard_error: float
    target: float
    agreement: Agreement
    interval: SizeInterval | None = None

    @property
    def confirmed(self) -> bool:
        """Whether tables tested whole confirm it."""
        return not self.plan.unattainable and self.agreement.confirms

    @property
    def endless(self) -> int | None:
        """Where tasks are drawn: how many it takes with endless samples on each, or more than that.

        The size needed is proportional to the variance, of which the hardest pair keeps the share between
        tasks; fewer than are tested say nothing of others.
        """
        if self.plan.between is None or self.plan.unattainable:
            return None
        share = float(self.plan.between[self.curve.hardest_first[0]])
        return max(FEWEST_TASKS, ceil(share * int(self.size or self.tried.sizes[-1])))


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
    closed, size, tried = ClosedForm(plan, _CLOSED * repeats), None, sizes

    def enough(size: int) -> bool:
        return float(closed.shown(size).all(axis=1).mean()) >= target

    if not plan.unattainable:
        size = least_size(enough, plan.smallest, limit)
        tried = sorted({*sizes, size or limit})
    agreement = _check(closed, size or sizes[-1], repeats, progress)
    curve = PowerCurve.of(tried, [*map(closed.shown, tried)], agreement.error, agreement.divided)
    at = tried.index(size or tried[-1])
    power, error = curve.power[at, -1].item(), curve.standard_error[at, -1].item()
    study = PowerStudy(plan, curve.at(sizes), curve, size, power, error, target, agreement)
    if plan.named or plan.unit == TASKS:
        return study
    return replace(study, interval=_interval(study, closed, limit))


def _interval(study: PowerStudy, closed: ClosedForm, limit: int) -> SizeInterval:
    """The sizes that resamples of the pilot suggest, and the size found among them."""
    plan, rng = study.plan, np.random.default_rng([study.plan.inference.seed, 0, 3])
    own = closed.effects.mean[closed.claimed]
    noise = closed.effects.noise(rng, _RESAMPLES)[:, closed.claimed]
    # Samples of a task, if all had as many and told as much; and what stands behind the spread of all.
    squares, available = plan.scores.strata.weights**2, plan.sampler.units
    spread = squares / available
    units, behind = float(squares.sum() / spread.sum()), satterthwaite(spread, available)
    height = -float(ndtri(plan.inference.family.level(len(plan.family))))
    if own.min() > 0:
        height = height_of_test(own, int(study.size or study.tried.sizes[-1]), study.power)
    ends = interval_ends(np.vstack([own, own + noise / sqrt(units)]), height, study.target, behind)
    if study.size is not None:
        ends = min(ends[0], study.size), max(ends[1], study.size)
    low, high = (None if end >= limit + 0.5 else max(round(end), plan.smallest) for end in ends)
    return SizeInterval(low, high, limit)


def _check(closed: ClosedForm, size: int, repeats: int, progress: Progress | None) -> Agreement:
    """Test some tables of a size whole, and compare the verdicts of the closed form on the same tables."""
    plan, test = closed.plan, closed.test(size)
    affordable = int(max(_WORK * repeats, _LEAST_WORK) / test.work)
    tables = max(min(affordable, max(ceil(_WHOLE * repeats), _FEWEST_WHOLE)), 1)
    each, whole, drawn = test.resamples, np.empty((tables, len(plan.pairs)), dtype=bool), []

    def watch(number: int) -> Progress | None:
        if progress is None:
            return None
        return lambda done, _: progress(number * each + min(done, each), tables * each)

    # Processes of the caller's run are there already; others take a second to start.
    here = isinstance(plan.inference.jobs, int) and tables * test.work < _WORTH_PROCESSES
    with workers_for(1 if here else plan.inference.jobs) as workers:
        for number, stream in enumerate(streams(size, tables, plan.inference.seed)):
            data, rest = stream.spawn(2)
            drawn.append(plan.sampler.chosen(np.random.default_rng(data), size))
            whole[number] = plan.test(drawn[-1], rest, workers, watch(number))
    return Agreement.of(size, closed.shown_in(drawn, size), whole)
