"""One claim about two models, and what it is about: ``mean``, ``tvar@0.05``, ``fsd``, of a metric or all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.inference import DIRECT, Claim
from riskrank.engine.evidence.series import worth_in_order
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, did_you_mean, listing, option
from riskrank.options.suites import RANDOM
from riskrank.options.values import number_or_nan
from riskrank.studies.costs import PER_SUCCESS, cost_and_success
from riskrank.studies.gate.columns import ScoreColumn
from riskrank.studies.targets import no_tasks

MEAN, TAIL = "mean", "tvar"
MACRO, TASK = "macro", "task"
# The chance that all of k runs of a sample pass, where that of pass@ is that one of them does.
ALL_OF = "pass^"
# Two names of one statistic: Tail Value at Risk and Conditional Value at Risk.
TAILS = (TAIL, "cvar")
ORDERS = {"fsd": 1, "ssd": 2}
_RUNS = re.compile(r"(pass[\^@])([1-9][0-9]{0,3})")
EXAMPLES = (MEAN, "tvar@0.05", *ORDERS, "pass^3", "pass@3", f"{PER_SUCCESS}:COST/SUCCESS")
OF_SUITES = (MACRO, TASK)
# The share of calls that gave no score, which nobody claims anything of.
FAILED = "failed"


@dataclass(frozen=True)
class Statistic:
    """A statistic of some metrics.

    Attributes
    ----------
    name : str
    metrics : tuple of str
    level : float or None
        Share of the worst scores of a tail mean.
    dominance : Claim or None
        Dominance to test instead of a difference.
    runs : (str, int), or None
        Whether all or one of how many runs of a sample must pass, instead of its mean.
    """

    name: str
    metrics: tuple[str, ...]
    level: float | None = None
    dominance: Claim | None = None
    runs: tuple[str, int] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Metrics that have a column each; the cost per success has one of both."""
        return self.metrics[:1] if self.name == PER_SUCCESS else self.metrics

    @property
    def label(self) -> str:
        """Of the cost per success both metrics: ``usd/correct``."""
        return "/".join(self.metrics)


def statistics(
    texts: Sequence[str], metrics: Sequence[str], *, suite: bool = False, drawn: bool = False
) -> list[Statistic]:
    """Statistics asked for; the mean of every metric by default.

    Parameters
    ----------
    texts : sequence of str
    metrics : sequence of str
        Those there are.
    suite : bool
        Whether samples belong to tasks.
    drawn : bool
        Whether tasks are what is drawn, of which a claim on one of them says nothing.

    Raises
    ------
    UsageError
        If a text is neither a statistic nor a metric, or is about tasks and there are none, or all
        are about single tasks and tasks like these are asked for.
    """
    found = [_statistic(text, metrics) for text in texts or (MEAN,)]
    of_tasks = next((one.name for one in found if one.name in OF_SUITES), None)
    if of_tasks is not None and not suite:
        raise no_tasks(option("on", of_tasks), f"claim {option('on', MEAN)}")
    if drawn and all(one.name == TASK for one in found):
        raise UsageError(
            f"{option('tasks', RANDOM)} is about means over tasks",
            found=f"{option('on', TASK)} alone, which claims something of each of these tasks",
            hint=f"claim {option('on', MACRO)} as well, or leave out {option('tasks')}",
        )
    if suite:
        found = [replace(one, name=MACRO) if one.name == MEAN else one for one in found]
    return list(dict.fromkeys(found))


def _statistic(text: str, metrics: Sequence[str]) -> Statistic:
    """What a text names: a statistic of one metric or of all, or a metric, of which it is the mean."""
    if both := cost_and_success("on", text, metrics):
        return Statistic(PER_SUCCESS, both)
    head, separator, metric = text.partition(":")
    of_one = _of_kind(head, (metric,)) if separator else None
    found = of_one or _of_kind(text, tuple(metrics))
    named = metric if of_one else text
    if named not in metrics and (of_one or not found):
        raise _unknown(text, named, metrics)
    return found or Statistic(MEAN, (text,))


def _of_kind(text: str, metrics: tuple[str, ...]) -> Statistic | None:
    """The statistic of a name; None where it is none."""
    if text in (MEAN, *OF_SUITES):
        return Statistic(text, metrics)
    if text in ORDERS:
        return Statistic(text, metrics, dominance=Claim(ORDERS[text], DIRECT))
    if passing := _RUNS.fullmatch(text):
        return Statistic(text, metrics, runs=(passing[1], int(passing[2])))
    kind, _, share = text.partition("@")
    if kind not in TAILS:
        return None
    level = number_or_nan(share)
    if not 0 < level < 1:
        raise UsageError(
            f"{option('on', text)} names no share of the worst samples between 0 and 1",
            found=share or "no share",
            hint=f"write {option('on', 'tvar@0.05')} for the mean of the worst 5 %",
        )
    return Statistic(f"{TAIL}@{level:g}", metrics, level=level)


def _unknown(text: str, name: str, metrics: Sequence[str]) -> UsageError:
    return UsageError(
        f"{option('on', text)} is neither a statistic nor a metric",
        found=f"the metrics are {listing(metrics)}; the statistics are {', '.join(EXAMPLES)}",
        hint=did_you_mean(
            name,
            [*metrics, *EXAMPLES],
            write=lambda near: text.removesuffix(name) + near,
            otherwise="name one of these",
        ),
    )


BETTER, NOT_WORSE = "better", "not-worse"


@dataclass(frozen=True)
class GateClaim:
    """One claim about two models on one column.

    Attributes
    ----------
    kind : {"better", "not-worse"}
    new, old : int
        Models by number.
    column : ScoreColumn
    statistic : str
        ``mean``, ``tvar@0.05``, ``fsd``, ``ssd``.
    level : float or None
        Share of the worst scores of a tail mean.
    dominance : Claim or None
        The dominance that is tested, if it is.
    margin : float
        In the units of the scores; of a share what it comes to.
    share : float or None
        The margin as a share of the old mean: the claim is that the mean of new − `times` · old lies above 0.
    tier : {"critical", "supporting", "advisory"} or None
    """

    kind: str
    new: int
    old: int
    column: ScoreColumn
    statistic: str
    level: float | None = None
    dominance: Claim | None = None
    margin: float = 0.0
    share: float | None = None
    tier: str | None = None

    @property
    def of_means(self) -> bool:
        """Whether it is about means of all scores."""
        return self.dominance is None and self.level is None

    @property
    def in_order(self) -> Floats | None:
        """Of a claim on means the differences in the order of time, shape (n,); None where there is none."""
        series = self.column.in_order
        return (
            None if series is None or not self.of_means else series[self.new] - self.times * series[self.old]
        )

    @property
    def times(self) -> float:
        """What the old model's scores are multiplied by (method §17): one more, or less, the share."""
        return 1.0 + (self.share or 0.0) * (1 if self.kind == BETTER else -1) * self.column.units.sign

    @property
    def scores(self) -> ClusteredScores:
        """The scores it is tested on."""
        alone = self.column.one_by_one
        scores = self.column.scores if alone is None or not self.of_means else alone
        if self.share is None:
            return scores
        scaled = tuple(self.times * one if at == self.old else one for at, one in enumerate(scores.values))
        return replace(scores, values=scaled)

    @property
    def where(self) -> str:
        """The task and the group it is about, as a sentence goes on."""
        return place_of(self.column.task, self.column.group)

    @property
    def worth(self) -> int:
        """Independent samples it rests on."""
        if self.in_order is not None:
            return int(worth_in_order(self.in_order))
        return self.pair_scores.effective_size

    @property
    def pair_scores(self) -> ClusteredScores:
        """The scores of its two models."""
        return self.scores.of_models([self.new, self.old])

    def in_units(self, estimate: np.ndarray) -> float:
        """A difference in the units of the file, or a violation ratio."""
        boundary = None if self.dominance is None else self.dominance.boundary
        return float(self.column.units.of(estimate) if boundary is None else boundary - estimate)

    def ends(self, low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
        """An interval in the units of the file."""
        if self.dominance is None:
            low, high = self.column.units.ends(low, high)
        return float(low), float(high)

    @property
    def boundary(self) -> float:
        """The claim is that new minus old, larger is better, lies above it."""
        if self.dominance is not None or self.share is not None:
            return 0.0
        return self.margin if self.kind == BETTER else -self.margin

    def with_scores_of(self, other: GateClaim, model: int) -> GateClaim:
        """The claim with one model's scores of another, on the same samples."""
        column, best = self.column, other.column
        scores = replace(column.scores, values=_with_one(column.scores.values, best.scores.values, model))
        series, alone = None, column.one_by_one
        if alone is not None and best.one_by_one is not None:
            alone = replace(alone, values=_with_one(alone.values, best.one_by_one.values, model))
        if column.in_order is not None and best.in_order is not None:
            series = _with_one(column.in_order, best.in_order, model)
        return replace(self, column=replace(column, scores=scores, in_order=series, one_by_one=alone))


def _with_one(own: tuple[Floats, ...], others: tuple[Floats, ...], model: int) -> tuple[Floats, ...]:
    return (*own[:model], others[model], *own[model + 1 :])


def place_of(task: str | None, group: str | None) -> str:
    """The task and the group, as a sentence goes on."""
    return (f" on {task}" if task else "") + (f" in {group}" if group else "")
