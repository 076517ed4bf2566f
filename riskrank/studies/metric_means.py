"""Raw means of every metric, and means of the worst share of scores, in the units of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from riskrank.engine.sampling.cluster_means import mean_intervals, share_intervals, task_column_means
from riskrank.engine.types import Floats, Integers
from riskrank.errors import option
from riskrank.options.reading import SHARED
from riskrank.scores.names.directions import looks_like_a_cost, looks_like_an_amount
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.targets import tasks_of, units_of
from riskrank.studies.wording import decimals_of, names, percent, rounded, rounded_beside_zero, told_apart

if TYPE_CHECKING:
    from riskrank.engine.dominance.column_tests import DominanceStudy


@dataclass(frozen=True)
class MetricMeans:
    """One metric of k models.

    Attributes
    ----------
    name : str
    lower : bool
        Whether less is better in the file.
    declared : bool
        Whether anybody said so.
    share : bool
        Whether a mean is a share (:func:`is_share`).
    mean, error : ndarray, shape (k,)
        As the file has them; standard errors of whole clusters.
    decimals : int
        Digits that all numbers of this metric are shown with.
    freedom : ndarray, shape (k,)
        Degrees of freedom of the standard errors: independent clusters less the tasks they are of.
    """

    name: str
    lower: bool
    declared: bool
    share: bool
    mean: Floats
    error: Floats
    decimals: int
    freedom: Floats

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """Intervals of the means, of each alone, at 95 %; NaN where nothing is known."""
        intervals = share_intervals if self.share else mean_intervals
        return intervals(self.mean, self.error, self.freedom)

    @cached_property
    def best(self) -> int:
        """The model with the best mean."""
        return int(np.argmin(self.mean) if self.lower else np.argmax(self.mean))

    def said(self, value: float) -> str:
        """A mean or a difference of means of this metric, as it is shown everywhere."""
        return self._with(value, self.decimals)

    def _with(self, value: float, decimals: int) -> str:
        return f"{rounded(100 * value, decimals)} %" if self.share else rounded(value, decimals)

    def span(self, low: float, high: float) -> str:
        """Where a difference of means lies, in points if means are shares; what is not 0 is not shown so."""
        scale, unit = (100, " points") if self.share else (1, "")
        ends = (rounded_beside_zero(scale * end, self.decimals) for end in (low, high))
        return f"{' to '.join(ends)}{unit}"

    def of(self, model: int) -> str:
        """The mean of a model."""
        return self.said(float(self.mean[model]))

    def gap(self, difference: float) -> str:
        """A difference of means, in points if they are shares."""
        scale, unit = (100, " points") if self.share else (1, "")
        return rounded(scale * difference, self.decimals) + unit

    def against(self, one: int, other: int) -> str:
        """The means of two models, with digits that tell them apart: ``97.5 % against 82.3 %``."""
        means = float(self.mean[one]), float(self.mean[other])
        return " against ".join(told_apart(*means, self._with, self.decimals))


def means_of_two(means: Sequence[MetricMeans], one: int, other: int) -> dict[str, float]:
    """Figures of a sentence: ``mean`` and ``against``, of several metrics each with its name before."""
    return {
        f"{mean.name}.{name}" if len(means) > 1 else name: float(mean.mean[model])
        for mean in means
        for name, model in (("mean", one), ("against", other))
    }


def metric_means(table: ScoreTable) -> tuple[MetricMeans, ...]:
    """Means and standard errors of all metrics; of a suite weighted over its tasks.

    Parameters
    ----------
    table : ScoreTable

    Returns
    -------
    tuple of MetricMeans
        In the order of the table's metrics.
    """
    raw, tasks = [table.raw(model) for model in range(len(table.models))], tasks_of(table)
    clusters = units = [_numbered(own) for own in table.clusters]
    strata = 1 if tasks is None else len(tasks.names)
    found = []
    for at, spec in enumerate(table.metrics):
        columns = [scores[:, at] for scores in raw]
        if table.options.missing == SHARED:
            there = [np.isfinite(column) for column in columns]
            columns = [column[own] for column, own in zip(columns, there, strict=True)]
            units = [_numbered(cluster[own]) for cluster, own in zip(clusters, there, strict=True)]
        each = [
            task_column_means(column[:, None], cluster, tasks, model)
            for model, (column, cluster) in enumerate(zip(columns, units, strict=True))
        ]
        freedom = np.array([float(cluster.max() + 1 - strata) for cluster in units])
        mean, error = (np.array([float(getattr(one, name)[0]) for one in each]) for name in ("mean", "error"))
        share = is_share(spec, columns)
        lower = (spec.direction == "lower") != (spec.transform == "neg_log")
        decimals = decimals_of((100 if share else 1) * error)
        found.append(MetricMeans(spec.name, lower, spec.declared, share, mean, error, decimals, freedom))
    return tuple(found)


def _numbered(clusters: Integers) -> Integers:
    return np.asarray(np.unique(clusters, return_inverse=True)[1])


def is_share(spec: MetricSpec, columns: Sequence[Floats]) -> bool:
    """Whether the mean of scores that are all 0 or 1 is a share, which is written in percent.

    A price of 1 is none: an amount by its name that varies with no sample. Bounds say it for sure.

    Parameters
    ----------
    spec : MetricSpec
    columns : sequence of ndarray
        Scores of every model, in the units of the file.
    """
    if not all(np.isin(column, (0.0, 1.0)).all() for column in columns):
        return False
    if spec.bounds is not None:
        return spec.bounds == (0.0, 1.0)
    varies = any(column.size and np.ptp(column) > 0 for column in columns)
    return varies or not looks_like_an_amount(spec.name)


def worst_everywhere(means: Sequence[MetricMeans]) -> list[int]:
    """Models whose mean is the worst of all on every metric, by itself on one of them at least."""
    oriented = np.array([-one.mean if one.lower else one.mean for one in means])
    worst = oriented == oriented.min(axis=1, keepdims=True)
    alone = worst & (worst.sum(axis=1, keepdims=True) == 1)
    return np.flatnonzero(worst.all(axis=0) & alone.any(axis=0)).tolist()


def better_elsewhere(means: Sequence[MetricMeans], model: int, models: Sequence[str]) -> str:
    """What raw means say against a model that a combined score favours: others with a better one."""
    best = [(mean, mean.best) for mean in means if mean.of(mean.best) != mean.of(model)]
    told = [f"{models[i]} has the best mean {mean.name}, {mean.against(i, model)}" for mean, i in best]
    rest = f", and others are best on {len(told) - 2} more" if len(told) > 2 else ""
    return f"In these samples {', and '.join(told[:2])}{rest}."


# More of the scores than this are no bad cases: what is worse there is worse altogether.
_BAD_CASES = 0.5


def bad_cases(level: float) -> bool:
    """Whether the worst share of the scores is small enough to be called bad cases."""
    return level <= _BAD_CASES


# The worst share of k models' scores: how large, its means, larger is better, and their errors where known.
Worst = tuple[float, Floats, Sequence[float] | Floats]


def spread_of(resampled: Floats) -> Floats:
    """Half of what two thirds of the resamples span: a standard error that no outlier sways."""
    return np.ptp(np.quantile(resampled, [0.16, 0.84], axis=0), axis=0) / 2


def worst_of(study: DominanceStudy) -> Worst:
    """What a study of dominance measured on the way."""
    found, replicates = study.estimates, study.replicates
    return found.tail_level, found.tails, () if replicates is None else spread_of(replicates.tails)


class TailMeans:
    """Means of the worst share of one column of scores, by model, in the units of the file.

    Parameters
    ----------
    column : str
        A metric or a portfolio.
    worst : Worst
    metrics : sequence of MetricSpec
    """

    def __init__(self, column: str, worst: Worst, metrics: Sequence[MetricSpec]) -> None:
        self._metric = any(spec.name == column for spec in metrics)
        self.level, mean, error = worst
        self.values = units_of(column, metrics).of(mean)
        self.decimals = decimals_of(error)

    @property
    def says_something(self) -> bool:
        """Whether the worst shares differ, and are of bad cases."""
        return bad_cases(self.level) and bool(np.ptp(self.values) > 0)

    @property
    def words(self) -> str:
        """The share, and of what."""
        return f"{percent(self.level)}{'' if self._metric else ' of the combined score'}"

    def figures(self, one: int, other: int, against: str = "against") -> dict[str, float]:
        """Those of two models, as findings have them."""
        return {"level": self.level, "tail": float(self.values[one]), against: float(self.values[other])}

    def of(self, model: int) -> str:
        """A model's mean of its worst share."""
        return rounded(float(self.values[model]), self.decimals)

    def against(self, one: int, other: int) -> str:
        """Those of two models, with digits that tell them apart: ``−4.7 against −1.0``."""
        tails = float(self.values[one]), float(self.values[other])
        return " against ".join(told_apart(*tails, rounded, self.decimals))


def doubtful(means: Sequence[MetricMeans]) -> list[str]:
    """Metrics that sound as if less were better, and of which nobody said so."""
    return [one.name for one in means if not one.declared and not one.lower and looks_like_a_cost(one.name)]


def assumed(unsaid: Sequence[str], more: str = "") -> str:
    """What the sentence after it rests on: directions that nobody declared, and one thing more."""
    flag = option("lower", ",".join(unsaid[:3]))
    directions = (
        f"more {names(unsaid)} as better, which nobody declared ({flag} if less is)" if unsaid else ""
    )
    taken = ", and ".join(filter(None, (directions, more)))
    return f"Taking {taken}: " if taken else ""
