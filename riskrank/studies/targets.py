"""The columns of scores a study works on, what each metric weighs in them, and the units of the file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.effect_sizes import Differences
from riskrank.engine.portfolio.folding import portfolio
from riskrank.engine.portfolio.score_tables import EMPIRICAL, INDEPENDENT, ScoreTables
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.weights import normalised_weights
from riskrank.errors import NumericalError, UsageError, listing, option
from riskrank.options.option import Settings
from riskrank.options.suites import FIXED, RANDOM, SuiteSettings
from riskrank.options.values import contradict
from riskrank.scores.layouts.layout import ALIKE, READ, Warned, kind_of
from riskrank.scores.names.directions import looks_like_a_cost
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.portfolio.options import PortfolioSettings

COMBINED = "combined score"
"""What a number of a portfolio counts."""


@dataclass(frozen=True)
class Units:
    """Units of one column of scores.

    Attributes
    ----------
    sign : float
        −1 where less is better in the file.
    label : str
        What a number counts: the metric, its negative logarithm, or the portfolio.
    """

    sign: float
    label: str

    def of(self, values: np.ndarray) -> np.ndarray:
        """Oriented values or differences as the file has them."""
        # Adding zero turns −0 into 0.
        return self.sign * values + 0.0

    def ends(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ends of oriented intervals as the file has them, the smaller one first."""
        return (self.of(low), self.of(high)) if self.sign > 0 else (self.of(high), self.of(low))

    def interval(
        self, low: np.ndarray | None, high: np.ndarray | None
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """The same, where there are intervals."""
        return (None, None) if low is None or high is None else self.ends(low, high)

    def told(self, found: Differences) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
        """Differences as the file has them, with their intervals where there are some."""
        return self.of(found.estimate), *self.interval(found.low, found.high)

    def span(self, found: Differences, at: int | tuple[int, int]) -> dict[str, float]:
        """Both ends of one interval as the file has them; none without resampling."""
        low, high = self.interval(found.low, found.high)
        return {} if low is None or high is None else {"low": float(low[at]), "high": float(high[at])}

    def figures(self, found: Differences, at: int | tuple[int, int]) -> dict[str, float]:
        """A difference with its interval, as findings have them."""
        return {"difference": float(self.of(found.estimate)[at]), **self.span(found, at)}


def units_of(column: str, metrics: Sequence[MetricSpec]) -> Units:
    """Units of a metric or a portfolio.

    A logarithm stays one: the exponential of a mean of logarithms is no mean of the file's scores.
    """
    for metric in metrics:
        if metric.name == column:
            label = f"−log {metric.name}" if metric.transform == "neg_log" else metric.name
            return Units(metric.sign, label)
    return Units(1.0, COMBINED)


def weighed(table: ScoreTable) -> bool:
    """Whether somebody said how much a metric counts."""
    return any(metric.weight is not None for metric in table.metrics)


def counted_alike(table: ScoreTable) -> list[str]:
    """Say that nobody weighed metrics that are folded, where some are costs or nobody said what they are."""
    names = [metric.name for metric in table.metrics]
    costs = [metric.name for metric in table.metrics if looks_like_a_cost(metric.name)]
    others = [name for name in names if name not in costs]
    guessed = READ in map(kind_of, table.warnings)
    if len(names) < 2 or weighed(table) or not (guessed or (costs and others)):
        return []
    most = (others or costs)[0]
    text = (
        f"{listing(names)} count alike, as no weights were given: {option('weight', f'{most}=5')} weighs "
        f"one, {option('weight', 'equal')} says that they should"
    )
    return [Warned(text, ALIKE)]


def portfolio_weights(table: ScoreTable) -> np.ndarray:
    """The weights of the metrics in a portfolio, shape (m,), summing to 1; uniform if none were given.

    Raises
    ------
    UsageError
        If a file gives some metrics a weight and others none.
    """
    given = [spec.weight for spec in table.metrics]
    lacking = [spec.name for spec in table.metrics if spec.weight is None]
    if lacking and table.options.weight:
        given = [1.0 if weight is None else weight for weight in given]
    elif lacking and len(lacking) < len(given):
        raise UsageError(
            "some metrics have a weight and others have none",
            found=f"no weight for {listing(lacking)}",
            hint=f"give each metric a weight: {option('weight', f'{lacking[0]}=1')} "
            "(0 leaves it out of the portfolio)",
        )
    weights = [weight for weight in given if weight is not None] or None
    return normalised_weights(weights, [spec.name for spec in table.metrics])


# Weighted sums of scores stay below the largest number with room to spare.
_LARGEST_SUM = np.finfo(np.float64).max / 4


@dataclass(frozen=True)
class Target:
    """One column of scores.

    Attributes
    ----------
    name : str
        Metric it is reported under: a metric's name, ``P(IC)`` or ``P(EC)``.
    scores : ClusteredScores
    """

    name: str
    scores: ClusteredScores


def portfolio_name(settings: PortfolioSettings) -> str:
    """Name of the portfolio in method names: ``P(IC)`` or ``P(EC)``."""
    return INDEPENDENT if settings.copula == "independent" else EMPIRICAL


def targets(
    table: ScoreTable,
    settings: PortfolioSettings,
    *,
    per_metric: bool = False,
    asked: SuiteSettings | None = None,
) -> list[Target]:
    """Score columns to work on; one metric alone is itself. What is asked of tasks may stand elsewhere."""
    suite = settings if asked is None else asked
    if per_metric or len(table.metrics) == 1:
        return [
            Target(metric.name, clustered(table, table.column(number), suite))
            for number, metric in enumerate(table.metrics)
        ]
    return [Target(portfolio_name(settings), clustered(table, fold(table, settings), suite))]


def score_tables(table: ScoreTable, settings: PortfolioSettings) -> ScoreTables:
    """All metrics of a table as the engine takes them, with the weights of the metrics."""
    return ScoreTables.build(
        table.values,
        table.clusters,
        [metric.name for metric in table.metrics],
        samples=None if table.cluster_names is None else table.row_samples,
        weights=portfolio_weights(table),
        paired=table.paired,
        per_model=settings.copula_scope == "model",
        tasks=tasks_of(table, random=draws_tasks(settings)),
    )


def draws_tasks(settings: Settings) -> bool:
    """Whether the question is one of tasks like these."""
    return getattr(settings, "tasks", FIXED) == RANDOM


def no_tasks(asked: str, otherwise: str) -> UsageError:
    """What is said of an option about tasks where there are none."""
    return UsageError(
        f"{asked} is about the tasks of a suite",
        found="scores whose samples belong to no task",
        hint=f"name the column of tasks, {option('task', 'COL')}, or {otherwise}",
    )


def tasks_of(table: ScoreTable, *, random: bool = False) -> TaskDesign | None:
    """The tasks of a suite as the engine takes them; None of other tables, and where they are pooled.

    With a judge's scores and people's (method §12): samples with human scores, and those without.

    Raises
    ------
    UsageError
        If tasks are to be drawn and there are none.
    """
    suite = table.suite
    if table.judged is not None and not random:
        of_row, signed = table.judged.strata
        counts = [len(table.judged.labelled), len(table.judged.others)]
        rows = [of_row] * len(table.models)
        found = TaskDesign.build(("labelled", "not labelled"), rows, weights=counts)
        return replace(found, signed=signed)
    if not suite or not table.options.weighs_tasks:
        if random:
            raise no_tasks(option("tasks", RANDOM), f"leave out {option('tasks')}")
        return None
    tasks = [suite.of_sample[samples] for samples in table.row_samples]
    return TaskDesign.build(suite.names, tasks, weights=suite.weights, random=random)


def fold(table: ScoreTable, settings: PortfolioSettings) -> tuple[np.ndarray, ...]:
    """Portfolio score of every row of every model."""
    independent = settings.copula == "independent"
    if not independent:
        refuse_weights(table)
    return portfolio(
        table.values,
        tasks_of(table),
        copula=settings.copula,
        weights=portfolio_weights(table) if independent else None,
        per_model=settings.copula_scope == "model",
    )


def refuse_weights(table: ScoreTable) -> None:
    """Refuse weights where the empirical copula has no use for them.

    Raises
    ------
    UsageError
    """
    named = [metric.name for metric in table.metrics if metric.weight is not None]
    if named:
        raise UsageError(
            "weights have no meaning for the empirical copula",
            found=f"{named[0]} has a weight",
            hint=f"leave the weights out, or use {option('copula', 'independent')}",
        )


def check_portfolio(table: ScoreTable, settings: PortfolioSettings, *, per_metric: bool = False) -> None:
    """Refuse weights and copulas that would have no effect.

    Raises
    ------
    UsageError
    """
    weighted = list(table.options.weight)
    empirical = option("copula", "empirical") if settings.copula == "empirical" else ""
    if per_metric and (weighted or empirical):
        hint = "leave out one of the two: nothing is folded"
        contradict(option("per_metric", True), empirical or option("weight", weighted[0]), hint)
    if weighted and empirical:
        refuse_weights(table)


def check_range(column: str, scores: ClusteredScores, models: Sequence[str]) -> None:
    """Refuse scores of which a sum may be too large for a number, and so the difference of two means.

    Raises
    ------
    NumericalError
    """
    sizes = [float(np.abs(values).max()) for values in scores.values]
    if error := too_large(column, max(sizes), max(scores.sizes), models[sizes.index(max(sizes))]):
        raise error


def too_large(column: str, largest: float, many: int, of: str = "the scores") -> NumericalError | None:
    """What refuses scores of which a sum may be too large for a number."""
    if largest <= _LARGEST_SUM / many:
        return None
    return NumericalError(
        f"scores of {column} are so large that sums of {many:,} would be too large for a number",
        found=f"{largest:g} of {of}, in size",
        hint=f"give {column} in a larger unit, such as thousands",
    )


def clustered(table: ScoreTable, columns: tuple[np.ndarray, ...], settings: Settings) -> ClusteredScores:
    """Columns of scores by model as the engine resamples them."""
    samples = None if table.cluster_names is None else table.row_samples
    return ClusteredScores.build(
        columns,
        table.clusters,
        samples=samples,
        paired=table.paired,
        tasks=tasks_of(table, random=draws_tasks(settings)),
    )
