"""Claims about two models, and the statistics they compare, such as ``mean``, ``tvar@0.05`` or ``fsd``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.inference import DIRECT, Claim
from riskrank.engine.evidence.mean_differences import MeanContrast
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, did_you_mean, listing, option
from riskrank.options.inference import RANDOM
from riskrank.options.values import number_or_nan
from riskrank.studies.costs import PER_SUCCESS, cost_and_success
from riskrank.studies.gate.columns import ScoreColumn
from riskrank.studies.targets import no_tasks_error

MEAN, TAIL = "mean", "tvar"
MACRO, TASK = "macro", "task"
# Prefix for the probability that all of k runs pass; pass@ is the probability that any of them does.
ALL_RUNS = "pass^"
# Synonyms: tail value at risk and conditional value at risk.
TAILS = (TAIL, "cvar")
ORDERS = {"fsd": 1, "ssd": 2}
_RUN_STATISTIC = re.compile(r"(pass[\^@])([1-9][0-9]{0,3})")
EXAMPLES = (MEAN, "tvar@0.05", *ORDERS, "pass^3", "pass@3", f"{PER_SUCCESS}:COST/SUCCESS")
SUITE_STATISTICS = (MACRO, TASK)
# Statistic of rows on failed calls; not available for claims.
FAILED = "failed"


@dataclass(frozen=True)
class Statistic:
    """A statistic to compare, and the metrics on which it is computed.

    Attributes
    ----------
    name : str
    metrics : tuple of str
    level : float or None
        Proportion of worst scores that a tail mean averages.
    dominance : Claim or None
        Dominance claim to test, instead of a difference.
    runs : (str, int) or None
        ``("pass^", k)`` if all of k runs of a sample must pass, ``("pass@", k)`` if at least one must. None
        if scores are compared as they are.
    """

    name: str
    metrics: tuple[str, ...]
    level: float | None = None
    dominance: Claim | None = None
    runs: tuple[str, int] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Metrics that have their own score column.

        A cost per success has one joint column.
        """
        return self.metrics[:1] if self.name == PER_SUCCESS else self.metrics

    @property
    def label(self) -> str:
        """Name of the metric, or of both metrics of a cost per success, such as ``usd/correct``."""
        return "/".join(self.metrics)


def parse_statistics(
    texts: Sequence[str], metrics: Sequence[str], *, suite: bool = False, random: bool = False
) -> list[Statistic]:
    """Parse the requested statistics.

    The default is the mean of every metric.

    Parameters
    ----------
    texts : sequence of str
        Values of the option ``on``.
    metrics : sequence of str
        Available metrics.
    suite : bool
        True if the samples belong to tasks.
    random : bool
        True if tasks are a random sample. At least one claim must then be about all tasks.

    Raises
    ------
    UsageError
        If a text is neither a statistic nor a metric, or needs tasks and there are none. Also if tasks are
        random and all statistics are about single tasks.
    """
    parsed = [_parse_statistic(text, metrics) for text in texts or (MEAN,)]
    suite_name = next((entry.name for entry in parsed if entry.name in SUITE_STATISTICS), None)
    if suite_name is not None and not suite:
        raise no_tasks_error(option("on", suite_name), f"claim {option('on', MEAN)}")
    if random and all(entry.name == TASK for entry in parsed):
        raise UsageError(
            f"{option('tasks', RANDOM)} is about means over tasks",
            found=f"{option('on', TASK)} alone, which is a claim about each single task",
            hint=f"claim {option('on', MACRO)} as well, or leave out {option('tasks')}",
        )
    if suite:
        parsed = [replace(entry, name=MACRO) if entry.name == MEAN else entry for entry in parsed]
    return list(dict.fromkeys(parsed))


def _parse_statistic(text: str, metrics: Sequence[str]) -> Statistic:
    """Parse a statistic of one or all metrics.

    A metric name alone means its mean.
    """
    if pair := cost_and_success("on", text, metrics):
        return Statistic(PER_SUCCESS, pair)
    head, separator, metric = text.partition(":")
    single = _statistic_by_name(head, (metric,)) if separator else None
    statistic = single or _statistic_by_name(text, tuple(metrics))
    name = metric if single else text
    if name not in metrics and (single or not statistic):
        raise _unknown_statistic(text, name, metrics)
    return statistic or Statistic(MEAN, (text,))


def _statistic_by_name(text: str, metrics: tuple[str, ...]) -> Statistic | None:
    """Return the statistic with the given name, or None if there is none."""
    if text in (MEAN, *SUITE_STATISTICS):
        return Statistic(text, metrics)
    if text in ORDERS:
        return Statistic(text, metrics, dominance=Claim(ORDERS[text], DIRECT))
    if match := _RUN_STATISTIC.fullmatch(text):
        return Statistic(text, metrics, runs=(match[1], int(match[2])))
    kind, _, share = text.partition("@")
    if kind not in TAILS:
        return None
    level = number_or_nan(share)
    if not 0 < level < 1:
        raise UsageError(
            f"{option('on', text)} needs a share of the worst samples between 0 and 1",
            found=share or "no share",
            hint=f"write {option('on', 'tvar@0.05')} for the mean of the worst 5 %",
        )
    return Statistic(f"{TAIL}@{level:g}", metrics, level=level)


def _unknown_statistic(text: str, name: str, metrics: Sequence[str]) -> UsageError:
    """Return the error for a text that is neither a statistic nor a metric."""
    return UsageError(
        f"{option('on', text)} is neither a statistic nor a metric",
        found=f"the metrics are {listing(metrics)}; the statistics are {', '.join(EXAMPLES)}",
        hint=did_you_mean(
            name,
            [*metrics, *EXAMPLES],
            write=lambda near: text.removesuffix(name) + near,
            fallback="use one of these",
        ),
    )


BETTER, NOT_WORSE = "better", "not-worse"


@dataclass(frozen=True)
class GateClaim:
    """A claim about two models on one score column.

    Attributes
    ----------
    kind : {"better", "not-worse"}
    new, old : int
        Indices of the two models.
    column : ScoreColumn
    statistic : str
        ``mean``, ``tvar@0.05``, ``fsd``, ``ssd``.
    level : float or None
        Proportion of worst scores that a tail mean averages.
    dominance : Claim or None
        Dominance claim to test, if any.
    margin : float
        Margin in the units of the scores, even if it was given as a proportion.
    share : float or None
        Margin as a proportion of the old mean; the claim is then that the mean of new − `factor` · old
        exceeds 0.
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
    def compares_means(self) -> bool:
        """True if the claim compares means of all scores."""
        return self.dominance is None and self.level is None

    @property
    def mean_contrast(self) -> MeanContrast:
        """Difference of the means that are compared; a relative margin scales the old model's scores."""
        return MeanContrast.from_scores(self.scores, self.new, self.old, self.factor)

    @property
    def factor(self) -> float:
        """Factor applied to the old model's scores (method §17): 1 plus or minus the relative margin."""
        return 1.0 + (self.share or 0.0) * (1 if self.kind == BETTER else -1) * self.column.units.sign

    @property
    def scores(self) -> ClusteredScores:
        """Scores of all models on the column."""
        return self.column.scores

    @property
    def subset(self) -> str:
        """Task and group of the claim as a phrase, such as `` on gsm8k in hard``.

        The phrase is empty for all samples.
        """
        return describe_subset(self.column.task, self.column.group)

    @property
    def effective_size(self) -> int:
        """Effective number of independent samples."""
        return self.pair_scores.min_effective_size

    @property
    def independent_samples(self) -> int:
        """Number of independent samples of the model that has fewer of them.

        With a judge, this is the number of labels.
        """
        scores = self.scores
        return scores.n_labelled or min(scores.cluster_counts[self.new], scores.cluster_counts[self.old])

    @property
    def pair_scores(self) -> ClusteredScores:
        """Scores of the two models."""
        return self.scores.select_models([self.new, self.old])

    def to_file_units(self, estimate: np.ndarray) -> float:
        """Convert an estimate to the units of the file.

        Violation ratios are unchanged.
        """
        boundary = None if self.dominance is None else self.dominance.boundary
        return float(self.column.units.to_file_units(estimate) if boundary is None else boundary - estimate)

    def interval_to_file_units(self, low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
        """Convert interval limits to the units of the file."""
        if self.dominance is None:
            low, high = self.column.units.interval_to_file_units(low, high)
        return float(low), float(high)

    @property
    def boundary(self) -> float:
        """Value that new minus old must exceed for the claim to hold, with larger scores better."""
        if self.dominance is not None or self.share is not None:
            return 0.0
        return self.margin if self.kind == BETTER else -self.margin

    def with_scores_from(self, source: GateClaim, model: int) -> GateClaim:
        """Return the claim with one model's scores replaced by those of another claim on the same samples."""
        column, donor = self.column, source.column
        scores = replace(column.scores, values=_swap_in(column.scores.values, donor.scores.values, model))
        return replace(self, column=replace(column, scores=scores))


def _swap_in(values: tuple[Floats, ...], replacements: tuple[Floats, ...], model: int) -> tuple[Floats, ...]:
    """Return `values` with the array of one model taken from `replacements`."""
    return (*values[:model], replacements[model], *values[model + 1 :])


def describe_subset(task: str | None, group: str | None) -> str:
    """Return a task and a group as a phrase, such as `` on gsm8k in hard``.

    The phrase is empty if both are None.
    """
    return (f" on {task}" if task else "") + (f" in {group}" if group else "")
