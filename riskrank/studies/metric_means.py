"""Raw means and tail means of every metric in the units of the file, and minimum detectable differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskrank.engine.dominance.column_tests import DominanceStudy
from riskrank.engine.evidence.mean_differences import MeanContrast, task_column_means
from riskrank.engine.evidence.student import Student
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.variance_components import mean_intervals, proportion_intervals
from riskrank.engine.types import Floats, Integers
from riskrank.errors import option
from riskrank.options.reading import SHARED
from riskrank.scores.names.directions import looks_like_a_cost, looks_like_an_amount
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies import wording
from riskrank.studies.suites.section import SuiteAnalysis
from riskrank.studies.targets import build_task_design, column_units

# Number of models from which the best mean is corrected for its selection.
_MANY_MODELS = 8


@dataclass(frozen=True)
class MetricMeans:
    """Means of one metric for k models.

    Attributes
    ----------
    name : str
        Name of the metric.
    lower_is_better : bool
        True if lower values are better in the file.
    declared : bool
        True if the user declared the direction.
    is_proportion : bool
        True if the means are proportions; see :func:`is_share`.
    mean, error : ndarray, shape (k,)
        Means in the units of the file, and their cluster-robust standard errors.
    decimals : int
        Decimals of all displayed numbers.
    freedom : ndarray, shape (k,)
        Degrees of freedom of the standard errors: clusters minus tasks.
    limits : (ndarray, ndarray) or None
        Limits of intervals that are known exactly, instead of those from the standard errors.
    """

    name: str
    lower_is_better: bool
    declared: bool
    is_proportion: bool
    mean: Floats
    error: Floats
    decimals: int
    freedom: Floats
    limits: tuple[Floats, Floats] | None = None

    @cached_property
    def intervals(self) -> tuple[Floats, Floats]:
        """Lower and upper limits of the pointwise 95 % intervals of the means, both of shape (k,).

        Unknown limits are NaN.
        """
        if self.limits is not None:
            return self.limits
        intervals = proportion_intervals if self.is_proportion else mean_intervals
        return intervals(self.mean, self.error, self.freedom)

    def selection_note(self, first: int, errors: Floats, name: str) -> str:
        """Return a sentence about the selection bias of the best observed mean; empty if negligible.

        A model that comes first in the samples has a mean that is biased upwards. It is corrected by the
        James–Stein estimator, which shrinks all means towards their own mean (Efron and Morris 1973,
        doi:10.1080/01621459.1973.10481350).

        Parameters
        ----------
        first : int
            Index of the model that comes first.
        errors : ndarray, shape (k,)
            Standard errors of the differences from this model; its own error is ignored.
        name : str
            Name of the model.
        """
        k, gaps = len(self.mean), self.mean - self.mean.mean()
        noise = float(np.nanmedian(np.delete(errors, first)) ** 2 / 2)
        if k < _MANY_MODELS or not 0 < noise < np.inf or (gaps[first] > 0) == self.lower_is_better:
            return ""
        shrinkage = min(1.0, (k - 3) * noise / float(gaps @ gaps))
        mean = float(self.mean[first])
        before, after = self.format_value(mean), self.format_value(mean - shrinkage * float(gaps[first]))
        if before == after:
            return ""
        return (
            f"{name} was chosen from {k} models on the same samples, so its mean {self.name} is optimistic: "
            f"{before}, but {after} by the James–Stein estimator, which shrinks the means towards each other."
        )

    @cached_property
    def best(self) -> int:
        """Index of the model with the best mean."""
        return int(np.argmin(self.mean) if self.lower_is_better else np.argmax(self.mean))

    def format_value(self, value: float) -> str:
        """Format a mean or a difference of means with the metric's number of decimals."""
        return self._format(value, self.decimals)

    def _format(self, value: float, decimals: int) -> str:
        """Format a value with the given number of decimals, in percent if the means are proportions."""
        if self.is_proportion:
            return f"{wording.format_fixed(100 * value, decimals)} %"
        return wording.format_fixed(value, decimals)

    def format_interval(self, low: float, high: float) -> str:
        """Format an interval of a difference, in percentage points if the means are proportions.

        Nonzero limits get enough decimals to show their sign.
        """
        scale, unit = (100, " points") if self.is_proportion else (1, "")
        limits = (wording.format_limit(scale * end, self.decimals) for end in (low, high))
        return f"{' to '.join(limits)}{unit}"

    def format_mean(self, model: int) -> str:
        """Format the mean of a model."""
        return self.format_value(float(self.mean[model]))

    def format_gap(self, difference: float) -> str:
        """Format a difference of means, in percentage points if the means are proportions."""
        scale, unit = (100, " points") if self.is_proportion else (1, "")
        return wording.format_fixed(scale * difference, self.decimals) + unit

    def format_comparison(self, first: int, second: int) -> str:
        """Format two models' means with enough decimals to differ: ``97.52 % against 97.48 %``."""
        means = float(self.mean[first]), float(self.mean[second])
        return " against ".join(wording.distinct_pair(*means, self._format, self.decimals))


@dataclass(frozen=True)
class RatioMeans(MetricMeans):
    """Positive statistics of k models, such as ratios. Their differences are relative changes."""

    def format_gap(self, difference: float) -> str:
        """Format a relative change in percent."""
        return wording.typeset(f"{100 * difference:.2g}%")

    def format_interval(self, low: float, high: float) -> str:
        """Format the interval of a relative change in percent."""
        return " to ".join(map(self.format_gap, (low, high)))


def pair_figures(means: Sequence[MetricMeans], first: int, second: int) -> dict[str, float]:
    """Return the means of models `first` and `second` with the keys ``mean`` and ``against``.

    With several metrics, each key starts with the name of the metric.
    """
    return {
        f"{mean.name}.{name}" if len(means) > 1 else name: float(mean.mean[model])
        for mean in means
        for name, model in (("mean", first), ("against", second))
    }


def metric_means(table: ScoreTable) -> tuple[MetricMeans, ...]:
    """Return the means and standard errors of all models on every metric.

    If the samples belong to tasks, the means are weighted by task.
    """
    raw, tasks = [table.raw(model) for model in range(len(table.models))], build_task_design(table)
    clusters = units = [_cluster_codes(labels) for labels in table.clusters]
    strata = 1 if tasks is None else len(tasks.names)
    result = []
    for at, spec in enumerate(table.metrics):
        columns = [scores[:, at] for scores in raw]
        if table.options.missing == SHARED:
            masks = [np.isfinite(column) for column in columns]
            columns = [column[mask] for column, mask in zip(columns, masks, strict=True)]
            units = [_cluster_codes(cluster[mask]) for cluster, mask in zip(clusters, masks, strict=True)]
        stats = [
            task_column_means(column[:, None], cluster, tasks, model)
            for model, (column, cluster) in enumerate(zip(columns, units, strict=True))
        ]
        freedom = np.array([float(cluster.max() + 1 - strata) for cluster in units])
        mean, error = (np.array([float(getattr(s, name)[0]) for s in stats]) for name in ("mean", "error"))
        if table.published is not None:
            error, freedom = table.published, np.full(len(error), np.inf)
        share = has_proportion_means(spec, columns)
        lower = (spec.direction == "lower") != (spec.transform == "neg_log")
        decimals = wording.decimals_from_errors((100 if share else 1) * error)
        result.append(MetricMeans(spec.name, lower, spec.declared, share, mean, error, decimals, freedom))
    return tuple(result)


def _cluster_codes(clusters: Integers) -> Integers:
    """Return the cluster labels of n samples as consecutive integers from 0, shape (n,)."""
    return np.asarray(np.unique(clusters, return_inverse=True)[1])


def has_proportion_means(spec: MetricSpec, columns: Sequence[Floats]) -> bool:
    """Return True if the scores are binary and their mean is a proportion, to be displayed in percent.

    Declared bounds take precedence. A constant price of 1 is not a proportion, because its name suggests an
    amount and its scores do not vary.

    Parameters
    ----------
    spec : MetricSpec
        Name, direction and bounds of the metric.
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
    """Return the models with the worst mean on every metric.

    On at least one metric, no other model must be equally bad.
    """
    oriented = np.array([-mean.mean if mean.lower_is_better else mean.mean for mean in means])
    worst = oriented == oriented.min(axis=1, keepdims=True)
    alone = worst & (worst.sum(axis=1, keepdims=True) == 1)
    return np.flatnonzero(worst.all(axis=0) & alone.any(axis=0)).tolist()


# Largest share of the scores that counts as bad cases.
_BAD_CASES = 0.5


def is_bad_case_level(level: float) -> bool:
    """Return True if a tail contains at most half of the scores, so that it can be called "bad cases"."""
    return level <= _BAD_CASES


# Tail level, tail means of k models (larger is better), and their errors, empty if unknown.
WorstShare = tuple[float, Floats, Sequence[float] | Floats]


def robust_standard_error(resampled: Floats) -> Floats:
    """Return half the distance between the 16 % and 84 % quantiles of B resampled estimates of k models.

    The estimates have shape (B, k), and the result has shape (k,).
    """
    return np.ptp(np.quantile(resampled, [0.16, 0.84], axis=0), axis=0) / 2


def worst_share(study: DominanceStudy) -> WorstShare:
    """Return the tail level of a study, and all models' tail means with their standard errors."""
    estimates, replicates = study.estimates, study.replicates
    error = () if replicates is None else robust_standard_error(replicates.tails)
    return estimates.tail_level, estimates.tails, error


class TailMeans:
    """Tail means of all models on one metric or combined score, in the units of the input file.

    Parameters
    ----------
    column : str
        Metric or combined score.
    worst : (float, ndarray, sequence of float)
        Tail level, tail means and their standard errors.
    metrics : sequence of MetricSpec
        Names, directions and bounds of the metrics.
    """

    def __init__(self, column: str, worst: WorstShare, metrics: Sequence[MetricSpec]) -> None:
        """Convert the tail means to the units of the input file."""
        self._metric = any(spec.name == column for spec in metrics)
        self.level, mean, error = worst
        self.values = column_units(column, metrics).to_file_units(mean)
        self.decimals = wording.decimals_from_errors(error)

    @property
    def is_informative(self) -> bool:
        """True if the tail means differ and the tail is small enough to be called "bad cases"."""
        return is_bad_case_level(self.level) and bool(np.ptp(self.values) > 0)

    @property
    def tail_label(self) -> str:
        """Description of the tail, such as "5 %"."""
        return f"{wording.format_percent(self.level)}{'' if self._metric else ' of the combined score'}"

    def figures(self, first: int, second: int, against: str = "against") -> dict[str, float]:
        """Return the tail level and two models' tail means by name, to store with a finding.

        `against` is the key for the second model.
        """
        return {"level": self.level, "tail": float(self.values[first]), against: float(self.values[second])}

    def format_mean(self, model: int) -> str:
        """Format a model's tail mean."""
        return wording.format_fixed(float(self.values[model]), self.decimals)

    def format_comparison(self, first: int, second: int) -> str:
        """Format two models' tail means with enough decimals to differ: ``−4.7 against −1.0``."""
        tails = float(self.values[first]), float(self.values[second])
        return " against ".join(wording.distinct_pair(*tails, wording.format_fixed, self.decimals))


def assumed_costs(means: Sequence[MetricMeans]) -> list[str]:
    """Return the metrics whose names suggest a cost although no direction was declared."""
    return [m.name for m in means if not m.declared and not m.lower_is_better and looks_like_a_cost(m.name)]


def assumption_prefix(costs: Sequence[str], extra: str = "") -> str:
    """Return the start of a sentence that states which directions are assumed.

    `costs` has metrics without a declared direction that look like costs. `extra` is a further assumption.
    """
    flag = option("lower", ",".join(costs[:3]))
    text = f"that higher {wording.join_names(costs)} is better (undeclared; {flag} if lower is better)"
    assumptions = ", and ".join(filter(None, (text if costs else "", extra)))
    return f"Assuming {assumptions}: " if assumptions else ""


# Maximum number of models for which all pairs count. With more, only pairs with the best model count.
_ALL_PAIRS = 8


def detectable_differences(
    table: ScoreTable, suite: SuiteAnalysis | None, family: Family
) -> dict[str, float]:
    """Return each metric's minimum detectable difference (power 80 %), as the median over pairs of models.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    suite : SuiteAnalysis or None
        Results of a suite by task.
    family : Family
        Family of tests of all pairs.

    Returns
    -------
    dict of str to float
        Minimum detectable difference by metric. Metrics scored by a judge and aggregated suite metrics are
        omitted, because their minimum detectable difference is unknown.
    """
    k, result = len(table.models), {}
    level = family.interval_level(k * (k - 1) // 2)
    for at, metric in enumerate(table.metrics):
        if suite is not None and metric.name in suite.columns:
            differences = suite.columns[metric.name].scopes[suite.scope].differences
            visible = differences.detectable_difference(level)[np.triu_indices(k, 1)]
            result[metric.name] = float(np.median(visible))
        elif table.judged is None and build_task_design(table) is None:
            result[metric.name] = _median_detectable(table, at, level)
    return {name: value for name, value in result.items() if 0 < value < math.inf}


def _median_detectable(table: ScoreTable, metric: int, level: float) -> float:
    """Return the minimum detectable difference on one metric, as the median over pairs of models.

    `level` is the significance level of each test.
    """
    columns, k = table.column(metric), len(table.models)
    rows = range(k) if k <= _ALL_PAIRS else [int(np.argmax([values.mean() for values in columns]))]
    pairs = [(i, j) for i in rows for j in range(k) if (i < j or len(rows) == 1) and i != j]
    scores = ClusteredScores.build(columns, table.clusters, paired=table.paired)
    error, df = np.array([MeanContrast.from_scores(scores, *pair).error_and_df for pair in pairs]).T
    with np.errstate(over="ignore"):
        return float(np.median(Student(np.zeros(error.size), error, df).detectable_difference(level)))


def format_detectable(difference: float, is_proportion: bool) -> str:
    """Format a minimum detectable difference, rounded up to one significant digit.

    Differences of proportions are in percentage points. Half steps are kept after a leading 1, such as 1.5.
    The text is empty unless the difference is finite and positive.
    """
    scaled = 100 * difference if is_proportion else difference
    if not math.isfinite(scaled) or scaled <= 0:
        return ""
    unit = 10.0 ** math.floor(math.log10(scaled))
    step = unit / 2 if scaled / unit < 2 else unit
    value = math.ceil(scaled / step - 1e-9) * step
    text = f"{value:.1e}"
    if 1e-6 <= value < 1e7:
        text = f"{value:,.10f}".rstrip("0").rstrip(".")
    return f"{wording.typeset(text)} points" if is_proportion else wording.typeset(text)


def detectable_sentence(difference: float, is_proportion: bool) -> str:
    """Return a sentence with the minimum detectable difference, or an empty string if it is unknown."""
    words = format_detectable(difference, is_proportion)
    return f"Smallest detectable difference: {words} (power 80 %)." if words else ""


def detectable_suffix(means: Sequence[MetricMeans], detectable: Mapping[str, float]) -> str:
    """Return a clause with the minimum detectable difference, if there is a single metric.

    The clause is empty if the difference is unknown.
    """
    if len(means) != 1 or means[0].name not in detectable:
        return ""
    words = format_detectable(detectable[means[0].name], means[0].is_proportion)
    return f"; smallest detectable difference: {words} (power 80 %)" if words else ""


def detectable_by_metric(means: Sequence[MetricMeans], detectable: Mapping[str, float]) -> str:
    """Return a phrase with the minimum detectable difference of each metric.

    The phrase is empty if no difference is known.
    """
    parts = [
        f"{words} on {mean.name}"
        for mean in means
        if mean.name in detectable and (words := format_detectable(detectable[mean.name], mean.is_proportion))
    ]
    return f"differences of means of at least {wording.join_names(parts, len(parts))}." if parts else ""
