"""Score columns of a study, metric weights, scales of tasks, and conversion to the units of the file."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.effect_sizes import Differences
from riskrank.engine.numeric import normalised_weights
from riskrank.engine.portfolio.score_tables import (
    EMPIRICAL,
    INDEPENDENT,
    ScoreTables,
    portfolio,
    ranks_within_tasks,
)
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.types import Floats
from riskrank.errors import NumericalError, UsageError, listing, option
from riskrank.options.inference import BOUNDS, FIXED, NONE, RANDOM, RANK, SuiteSettings
from riskrank.options.option import Settings
from riskrank.options.values import contradict
from riskrank.scores.layouts.layout import EQUAL_WEIGHTS, READ, WarningText, warning_kind
from riskrank.scores.layouts.long_and_wide import MAX_SCALE_RATIO
from riskrank.scores.names.directions import looks_like_a_cost, looks_like_an_amount
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.metrics import oriented_bounds
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.suite import MIXED, Suite
from riskrank.studies.portfolio.options import PortfolioSettings
from riskrank.studies.wording import format_percent

# Smallest ratio of the largest to the smallest score for a note on differences that one sample dominates, and
# for a note on amounts.
_CONCENTRATED_SPAN, _WIDE_SPAN = 10.0, 100.0
# Unit of a portfolio score.
COMBINED = "combined score"


@dataclass(frozen=True)
class Units:
    """Direction and label of a metric or combined score.

    Attributes
    ----------
    sign : float
        −1 if lower values are better in the file, else 1.
    label : str
        Name of the quantity: a metric, its negative logarithm, or the combined score.
    relative : bool
        True if differences are differences of logarithms; they are shown as relative changes.
    """

    sign: float
    label: str
    relative: bool = False

    def to_file_units(self, values: np.ndarray) -> np.ndarray:
        """Convert oriented values or differences (larger is better) to the units of the input file."""
        # Adding zero turns −0 into 0.
        oriented = self.sign * values + 0.0
        return np.where(np.isfinite(oriented), np.expm1(oriented), oriented) if self.relative else oriented

    def interval_to_file_units(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Convert oriented interval limits to the units of the input file, the smaller one first."""
        limits = self.to_file_units(low), self.to_file_units(high)
        return limits if self.sign > 0 else limits[::-1]

    def interval(
        self, low: np.ndarray | None, high: np.ndarray | None
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Convert interval limits to the units of the input file. If a limit is None, return (None, None)."""
        return (None, None) if low is None or high is None else self.interval_to_file_units(low, high)

    def estimates(self, differences: Differences) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
        """Return estimates, lower limits and upper limits in the units of the input file.

        The limits are None without resampling.
        """
        return self.to_file_units(differences.estimate), *self.interval(differences.low, differences.high)

    def interval_figures(self, differences: Differences, index: int | tuple[int, int]) -> dict[str, float]:
        """Return the limits of one interval as ``low`` and ``high``; empty without resampling.

        `index` selects the difference.
        """
        low, high = self.interval(differences.low, differences.high)
        return {} if low is None or high is None else {"low": float(low[index]), "high": float(high[index])}

    def figures(self, differences: Differences, index: int | tuple[int, int]) -> dict[str, float]:
        """Return one difference and its interval limits by name, to store with a finding.

        `index` selects the difference.
        """
        return {
            "difference": float(self.to_file_units(differences.estimate)[index]),
            **self.interval_figures(differences, index),
        }


def column_units(column: str, metrics: Sequence[MetricSpec]) -> Units:
    """Return the units of a metric or of a combined score.

    Logarithms are not transformed back, because the exponential of a mean logarithm is not the mean score.
    """
    for metric in metrics:
        if metric.name == column:
            label = f"−log {metric.name}" if metric.transform == "neg_log" else metric.name
            return Units(metric.sign, label)
    return Units(1.0, COMBINED)


def has_weights(table: ScoreTable) -> bool:
    """Return True if the user gave a weight to any metric."""
    return any(metric.weight is not None for metric in table.metrics)


def equal_weight_warnings(table: ScoreTable) -> list[str]:
    """Warn about equal weights if metrics mix costs and benefits, or a direction was guessed."""
    names = [metric.name for metric in table.metrics]
    costs = [metric.name for metric in table.metrics if looks_like_a_cost(metric.name)]
    benefits = [name for name in names if name not in costs]
    doubtful = READ in map(warning_kind, table.warnings) or (costs and benefits)
    if len(names) < 2 or has_weights(table) or not doubtful:
        return []
    most = (benefits or costs)[0]
    text = (
        f"no weights given, so {listing(names)} are weighted equally: set {option('weight', f'{most}=5')}, "
        f"or {option('weight', 'equal')} to confirm"
    )
    return [WarningText(text, EQUAL_WEIGHTS)]


def portfolio_weights(table: ScoreTable) -> np.ndarray:
    """Return the weights of the m metrics in the combined score, shape (m,).

    Weights sum to 1 and are equal by default.

    Raises
    ------
    UsageError
        If a metrics file gives weights to only some of the metrics.
    """
    declared = [spec.weight for spec in table.metrics]
    lacking = [spec.name for spec in table.metrics if spec.weight is None]
    if lacking and table.options.weight:
        declared = [1.0 if weight is None else weight for weight in declared]
    elif lacking and len(lacking) < len(declared):
        raise UsageError(
            "some metrics have a weight, others do not",
            found=f"no weight for {listing(lacking)}",
            hint=f"set a weight for each metric: {option('weight', f'{lacking[0]}=1')} (0 excludes a metric "
            "from the combined score)",
        )
    weights = [weight for weight in declared if weight is not None] or None
    return normalised_weights(weights, [spec.name for spec in table.metrics])


# Most that a weighted sum of scores may reach, with a margin to the largest float.
_LARGEST_SUM = np.finfo(np.float64).max / 4


@dataclass(frozen=True)
class Target:
    """Scores to analyse: a metric or a combined score, with its name.

    Attributes
    ----------
    name : str
        Name in the results: a metric, or ``P(IC)`` or ``P(EC)`` for a combined score.
    scores : ClusteredScores
        Scores of k models.
    """

    name: str
    scores: ClusteredScores


def portfolio_name(settings: PortfolioSettings) -> str:
    """Return the name of the combined score: ``P(IC)`` (independent copula) or ``P(EC)`` (empirical)."""
    return INDEPENDENT if settings.copula == "independent" else EMPIRICAL


def target_columns(
    table: ScoreTable,
    settings: PortfolioSettings,
    *,
    per_metric: bool = False,
    suite_settings: SuiteSettings | None = None,
) -> list[Target]:
    """Return the scores to analyse: every metric, or the combined score of several metrics.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    settings : PortfolioSettings
        Options for combining metrics into one score.
    per_metric : bool
        True to return every metric instead of the combined score.
    suite_settings : SuiteSettings, optional
        Settings of the suite, if `settings` does not contain them.
    """
    suite = settings if suite_settings is None else suite_settings
    if per_metric or len(table.metrics) == 1:
        return [
            Target(metric.name, cluster_scores(table, table.column(number), suite))
            for number, metric in enumerate(table.metrics)
        ]
    return [Target(portfolio_name(settings), cluster_scores(table, combined_scores(table, settings), suite))]


def score_tables(table: ScoreTable, settings: PortfolioSettings) -> ScoreTables:
    """Return the scores on all metrics of a table with the weights of the metrics, as `ScoreTables`."""
    return ScoreTables.from_arrays(
        table.values,
        table.clusters,
        [metric.name for metric in table.metrics],
        samples=None if table.cluster_names is None else table.row_samples,
        weights=portfolio_weights(table),
        paired=table.paired,
        tasks=build_task_design(table, random=resamples_tasks(settings)),
    )


def resamples_tasks(settings: Settings) -> bool:
    """Return True if tasks are resampled, so that results generalise to similar tasks."""
    return getattr(settings, "tasks", FIXED) == RANDOM


def no_tasks_error(setting: str, alternative: str) -> UsageError:
    """Create the error for an option about tasks that is set although the table has no tasks.

    Parameters
    ----------
    setting : str
        Option, marked up for a message.
    alternative : str
        Alternative to name at the end of the hint.
    """
    hint = f"name the task column, {option('task', 'COL')}, or {alternative}"
    return UsageError(f"{setting} needs a suite of tasks", found="no tasks in the scores", hint=hint)


def build_task_design(table: ScoreTable, *, random: bool = False) -> TaskDesign | None:
    """Return the task and weight of each sample as a `TaskDesign`, or None without tasks.

    With a judge (method §12), samples with and without human labels take the place of tasks. The result is
    also None if tasks are pooled. If `random` is True, tasks are resampled.

    Raises
    ------
    UsageError
        If tasks are to be resampled but the table has none.
    """
    suite = table.suite
    if table.judged is not None and not random:
        of_row, signed = table.judged.strata
        counts = [len(table.judged.labelled), len(table.judged.unlabelled)]
        rows = [of_row] * len(table.models)
        design = TaskDesign.build(("labelled", "not labelled"), rows, weights=counts)
        return replace(design, signed=signed)
    if not suite or not table.options.weighs_tasks:
        if random:
            raise no_tasks_error(option("tasks", RANDOM), f"leave out {option('tasks')}")
        return None
    tasks = [suite.task_codes[samples] for samples in table.row_samples]
    return TaskDesign.build(suite.names, tasks, weights=suite.weights, random=random)


def combined_scores(table: ScoreTable, settings: PortfolioSettings) -> tuple[np.ndarray, ...]:
    """Combine the metrics into one score per row of the table. The result has one array per model."""
    weights = None
    if settings.copula == "independent":
        weights = portfolio_weights(table)
    else:
        refuse_weights(table)
    return portfolio(table.values, build_task_design(table), copula=settings.copula, weights=weights)


def refuse_weights(table: ScoreTable) -> None:
    """Raise an error if metrics have weights, which the empirical copula does not use.

    Raises
    ------
    UsageError
        If any metric has a weight.
    """
    named = [metric.name for metric in table.metrics if metric.weight is not None]
    if named:
        problem = "the empirical copula does not use weights"
        hint = f"leave out the weights, or use {option('copula', 'independent')}"
        raise UsageError(problem, found=f"{named[0]} has a weight", hint=hint)


def check_portfolio(table: ScoreTable, settings: PortfolioSettings, *, per_metric: bool = False) -> None:
    """Raise an error if weights or a copula are set but would have no effect.

    `per_metric` is True if metrics are analysed separately instead of being combined.

    Raises
    ------
    UsageError
        If weights are combined with the empirical copula, or either is combined with separate metrics.
    """
    weighted = list(table.options.weight)
    empirical = option("copula", "empirical") if settings.copula == "empirical" else ""
    if per_metric and (weighted or empirical):
        hint = "leave out one of the two, because no metrics are combined"
        contradict(option("per_metric", True), empirical or option("weight", weighted[0]), hint)
    if weighted and empirical:
        refuse_weights(table)


def check_range(column: str, scores: ClusteredScores, models: Sequence[str]) -> None:
    """Raise an error if scores are so large that their sum could overflow.

    `column` is the name of the scores.

    Raises
    ------
    NumericalError
    """
    sizes = [float(np.abs(values).max()) for values in scores.values]
    if error := too_large_error(column, max(sizes), max(scores.sizes), models[sizes.index(max(sizes))]):
        raise error


def too_large_error(
    column: str, largest: float, n_scores: int, source: str = "the scores"
) -> NumericalError | None:
    """Return the error for scores whose sum could overflow, or None if it cannot.

    Parameters
    ----------
    column : str
        Name of the scores.
    largest : float
        Largest absolute score.
    n_scores : int
        Number of scores in the sum.
    source : str
        Origin of the largest score, for the message.
    """
    if largest <= _LARGEST_SUM / n_scores:
        return None
    problem = f"scores of {column} are too large: a sum of {n_scores:,} scores can overflow"
    detail = f"{largest:g} as the largest absolute score of {source}"
    return NumericalError(problem, found=detail, hint=f"write {column} in a larger unit, such as thousands")


def cluster_scores(table: ScoreTable, columns: tuple[np.ndarray, ...], settings: Settings) -> ClusteredScores:
    """Return the scores of all models as `ClusteredScores`, with the table's clusters and tasks.

    `columns` has one array of scores per model.
    """
    samples = None if table.cluster_names is None else table.row_samples
    tasks = build_task_design(table, random=resamples_tasks(settings))
    return ClusteredScores.build(columns, table.clusters, samples=samples, paired=table.paired, tasks=tasks)


_NOTES = {
    RANK: "scores are replaced by ranks among all models of the task",
    BOUNDS: "scores are rescaled to 0–1 between the bounds of their metric",
}


def rescale_tasks(table: ScoreTable, settings: SuiteSettings) -> ScoreTable:
    """Convert the scores of all tasks to a common scale, if they are not comparable.

    Tasks with common metrics keep their units unless the options say otherwise. Tasks with different metrics
    are compared by ranks within each task, or relative to declared bounds (method §8). Tables without tasks
    are returned unchanged.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    settings : SuiteSettings
        Options for the tasks of a suite.

    Returns
    -------
    ScoreTable
        Rescaled table, with a note about the scale unless it is that of the file.

    Raises
    ------
    UsageError
        If a task option is set but the table has no tasks, or bounds are needed and a metric has none.
    """
    if not table.suite:
        for name in ("task_scale", "per_task"):
            value = getattr(settings, name, None)
            if value and table.options.group_by is None:  # a group may contain only one task
                raise no_tasks_error(option(name, value), f"leave out {option(name)}")
        return table
    scale = task_scale(table, settings)
    if scale == NONE:
        return _check_mixed_units(table, table.suite) if table.suite.specs else table
    if scale == RANK:
        tasks = build_task_design(table)
        assert tasks is not None
        values = ranks_within_tasks(table.values, tasks)
    else:
        values = _shares_of_bounds(table)
    suite = replace(table.suite, means=_task_means(table), scale=scale)
    if suite.specs:
        suite = replace(suite, specs=tuple(_to_unit_scale(spec) for spec in suite.specs))
    return replace(
        table,
        values=values,
        metrics=tuple(_to_unit_scale(spec) for spec in table.metrics),
        suite=suite,
        warnings=(*table.warnings, f"{option('task_scale', scale)}: {_NOTES[scale]}"),
    )


def _check_mixed_units(table: ScoreTable, suite: Suite) -> ScoreTable:
    """Return the table, with a warning if its tasks may have different units.

    Raises
    ------
    UsageError
        If the tasks' declared bounds differ.
    """
    assert suite.specs
    counted = [spec for spec, weight in zip(suite.specs, suite.weights, strict=True) if weight]
    specs = {spec.name: spec for spec in counted}
    if len(specs) < 2:
        return table
    bounds = {name: spec.bounds for name, spec in specs.items() if spec.bounds is not None}
    if len(set(bounds.values())) > 1:
        problem = f"{option('task_scale', NONE)} averages scores with different units"
        detail = "; ".join(f"{name} from {low:g} to {high:g}" for name, (low, high) in bounds.items())
        hint = f"use {option('task_scale', BOUNDS)}, or {option('task_scale', RANK)}"
        raise UsageError(problem, found=detail, hint=hint)
    if len(bounds) == len(specs):
        return table
    warning = (
        f"{option('task_scale', NONE)} averages scores of {listing(specs, 4)} without rescaling: if their "
        "units differ, the means have no unit, and the metric with the widest range dominates; "
        f"{option('task_scale', RANK)} makes them comparable"
    )
    return replace(table, suite=replace(suite, scale=MIXED), warnings=(*table.warnings, warning))


def task_scale(table: ScoreTable, settings: SuiteSettings) -> str:
    """Return the scale on which tasks are compared: ``none`` (units of the file), ``rank`` or ``bounds``."""
    if not table.suite:
        return NONE
    return settings.task_scale or (RANK if table.suite.specs else NONE)


def scale_notes(table: ScoreTable, names: Collection[str]) -> Iterator[str]:
    """Yield a note for each given metric whose mean a few large scores dominate.

    Only metrics with positive scores are checked.
    """
    ratios, suite = f"{option('on', 'geomean')} compares ratios", table.suite
    for number, spec in enumerate(table.metrics):
        columns = [spec.sign * values for values in table.column(number)]
        usable = spec.name in names and spec.transform == "none" and (not suite or suite.scale == NONE)
        if not usable or min(map(np.min, columns)) <= 0:
            continue
        if suite:
            means = np.nanmean(_task_means(table)[number], axis=0)
            if means.max() > MAX_SCALE_RATIO * means.min():
                yield (
                    f"{spec.name} is {means.max() / means.min():.0f} times as large on "
                    f"{suite.names[means.argmax()]} as on {suite.names[means.argmin()]}, so large tasks "
                    f"dominate the mean: {ratios}, {option('task_scale', RANK)} ranks within tasks"
                )
        elif table.paired:
            counts = [np.bincount(samples) for samples in table.row_samples]
            sums = map(np.bincount, table.row_samples, columns)
            means = np.array([total / count for total, count in zip(sums, counts, strict=True)])
            sizes, gaps = means.mean(axis=0), np.abs(means - means.mean(axis=0)).sum(axis=0)
            span, share = sizes.max() / sizes.min(), gaps.max() / max(gaps.sum(), np.finfo(float).tiny)
            if share > 0.5 and span > _CONCENTRATED_SPAN:
                head = f"{table.samples[gaps.argmax()]} makes up {format_percent(share)} of all differences"
                yield f"{head} in {spec.name}: {ratios}"
            elif span > _WIDE_SPAN and looks_like_an_amount(spec.name):
                yield f"{spec.name} spans a factor of {span:,.0f}, so large samples dominate: {ratios}"


def _to_unit_scale(spec: MetricSpec) -> MetricSpec:
    """Return the metric on a scale from 0 (worst) to 1 (best)."""
    return replace(spec, direction="higher", transform="none", bounds=(0.0, 1.0))


def _task_means(table: ScoreTable) -> Floats:
    """Return the means of m metrics, k models and T tasks in the units of the file, shape (m, k, T)."""
    suite = table.suite
    tasks = [suite.task_codes[samples] for samples in table.row_samples]
    task_signs = [metric.sign for metric in suite.specs]
    signs = [task_signs or [spec.sign] * len(suite.names) for spec in table.metrics]
    from riskrank.engine.suites import TaskScores  # only for suites

    columns = [TaskScores.build(table.column(number), tasks).mean for number in range(len(table.metrics))]
    return np.array(columns) * np.array(signs)[:, None] + 0.0


def _shares_of_bounds(table: ScoreTable) -> tuple[Floats, ...]:
    """Return scores rescaled from the bounds of their metric to [0, 1], as one array per model.

    Raises
    ------
    UsageError
        If a metric has no finite bounds.
    """
    suite = table.suite
    specs_by_task = [[spec] for spec in suite.specs] or [[*table.metrics]] * len(suite.names)
    ranges = np.array([[oriented_bounds(spec) for spec in specs] for specs in specs_by_task])
    for spec in (spec for specs in specs_by_task for spec in specs):
        if not np.isfinite(oriented_bounds(spec)).all():
            problem = f"{option('task_scale', BOUNDS)} needs the bounds of {spec.name}"
            detail = "no bounds" if spec.bounds is None else f"bounds {listing(map(str, spec.bounds))}"
            hint = f"declare bounds in {option('metrics_file')}, or use {option('task_scale', RANK)}"
            raise UsageError(problem, found=detail, hint=hint)
    shares = []
    for values, samples in zip(table.values, table.row_samples, strict=True):
        low, high = np.moveaxis(ranges[suite.task_codes[samples]], 2, 0)
        shares.append((values - low) / (high - low))
    return tuple(shares)
