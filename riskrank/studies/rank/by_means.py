"""Rankings by means only, for tables without independent samples, and by cost per success (method §18)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from riskrank.engine.evidence.cost_per_success import CostRatios, Costs
from riskrank.engine.evidence.crossed import Components
from riskrank.engine.family import Family
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, option
from riskrank.scores.table.designs import ITEM
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.costs import PER_SUCCESS, cost_and_success, require_costs, require_successes
from riskrank.studies.document import Document, rows_from_columns
from riskrank.studies.findings import Remark
from riskrank.studies.means_only import (
    DesignNote,
    MeanColumn,
    design_note,
    difference_components,
    mean_column,
)
from riskrank.studies.metric_means import MetricMeans, assumed_costs, assumption_prefix, metric_means
from riskrank.studies.rank.document import PLACES, RankRow
from riskrank.studies.rank.mean_ranking import SENTENCES, MeanCase, MeanRanking, mean_findings, rank_by_metric
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.sample_findings import detection_limit_remark, limit_warnings, table_limits
from riskrank.studies.settings import family_from_settings, provenance
from riskrank.studies.targets import Units, column_units
from riskrank.studies.wording import decimals_from_errors, format_fixed, format_limit

# Decimals of a relative cost difference.
_DECIMALS = 2
COST_NOTE = "Differences are shares of the first model's cost per success."


@dataclass(frozen=True)
class CostMeans(MetricMeans):
    """Costs per success of k models with pointwise intervals. Differences are relative."""

    costs: Sequence[Costs] = ()

    @cached_property
    def intervals(self) -> tuple[Floats, Floats]:
        """Lower and upper limits of the pointwise 95 % intervals of the costs, both of shape (k,)."""
        low, high = np.array([cost.interval(0.05) for cost in self.costs]).T
        return low, high

    def format_gap(self, difference: float) -> str:
        """Format a relative difference as a percentage."""
        return format_fixed(difference, _DECIMALS)

    def format_interval(self, low: float, high: float) -> str:
        """Format the interval of a relative difference as percentages."""
        return " to ".join(format_limit(limit, _DECIMALS) for limit in (low, high))


def cost_column(table: ScoreTable, text: str) -> tuple[MeanColumn, CostMeans]:
    """Return the costs per success of all models, and their differences.

    Parameters
    ----------
    table : ScoreTable
    text : str
        Statistic in the syntax ``cost-per-success:COST/SUCCESS``.

    Raises
    ------
    UsageError
        If the text has another form, or its metrics are not a cost and a success.
    InputError
        If a model has too few successes.
    """
    names = [metric.name for metric in table.metrics]
    pair = cost_and_success("on", text, names)
    if pair is None:
        raise UsageError(
            f"{option('on', text)} is not a valid statistic to rank by",
            found=text,
            hint=f"write {option('on', f'{PER_SUCCESS}:COST/SUCCESS')}, or leave out {option('on')}",
        )
    places = [names.index(name) for name in pair]
    (cost, spent), (success, passed) = ((table.metrics[at], table.column(at)) for at in places)
    require_costs(
        ("on", text),
        (cost.direction == "lower" and cost.transform == "none", spent),
        (success.direction == "lower" or success.transform != "none", passed),
        independent=not table.suite and not table.means_only and table.units is None,
        paired=table.paired,
    )
    name = "/".join(pair)
    units = [np.unique(clusters, return_inverse=True)[1] for clusters in table.clusters]
    costs = [Costs.from_rows(-c, s, clusters) for c, s, clusters in zip(spent, passed, units, strict=True)]
    for model, model_costs in zip(table.models, costs, strict=True):
        require_successes(model_costs, model, name)
    theta, ratios = np.array([c.per_success for c in costs]), CostRatios.all_pairs(costs)
    error = np.array([c.error for c in costs])
    freedom = np.array([float(c.units[-1]) for c in costs])
    means = CostMeans(
        name, True, cost.declared, False, theta, error, decimals_from_errors(error), freedom, costs
    )
    return MeanColumn(name, -theta, ratios, freedom.min() + 1, PER_SUCCESS), means


METHOD = "mean"


@dataclass(frozen=True, kw_only=True)
class MeanRankDocument(Document[RankRow], schema="rank-means"):
    """Rankings of the models by their means, one per metric.

    Attributes
    ----------
    rankings : sequence of MeanRanking
    family : Family
    reason : str
        Reason why only means are compared.
    components : Components or None
        Variance components of the difference between the first two models, or None without named sources of
        noise.
    """

    rankings: Sequence[MeanRanking]
    family: Family
    reason: str
    components: Components | None = None

    @property
    def question(self) -> str:
        """Question that the document answers."""
        return f"Which of {len(self.about)} models is best?"

    def meta(self) -> Mapping[str, Any]:
        """Return the minimum detectable difference of each metric, and win rates of fitted strengths."""
        rates, models = self.rankings[0].column.win_rates, self.provenance.models
        wins = {} if rates is None else {"win_rates": dict(zip(models, rates.tolist(), strict=True))}
        detectable = {result.column.name: result.detectable for result in self.rankings}
        return {"smallest_visible": detectable, **wins}


def rank_by_means(table: ScoreTable, settings: RankSettings) -> MeanRankDocument:
    """Rank models by their mean on each metric, and test the differences.

    Parameters
    ----------
    table : ScoreTable
        Table that allows only comparisons of means.
    settings : RankSettings

    Raises
    ------
    UsageError
        If an option needs the score distributions of single samples.
    """
    _refuse_options(table, settings)
    family, tested = family_from_settings(settings), not settings.no_test
    results = []
    for at, (column, means) in enumerate(_mean_columns(table, settings)):
        results.append(rank_by_metric(table, at, column, means, family, tested=tested))
    i, j = results[0].ranking.order[:2].tolist()
    case = MeanCase(table, results, family, _counting_note(table, settings))
    assumption = assumption_prefix(assumed_costs([result.means for result in results]))
    limits = _sample_limits(table, settings, results)
    method_entries = {"per_metric": settings.per_metric, "family": "pairs of models"} | family.settings
    return MeanRankDocument(
        provenance=provenance("rank", table, settings, method_entries, warnings=limit_warnings(limits)),
        rows=[row for result in results for row in _mean_rows(result, table, family, settings.top)],
        **SENTENCES.fields(mean_findings(case), case, table.models, assumption, limits=limits),
        named=[result.first for result in results[:1] if len(result.beaten(family)) == len(table.models) - 1],
        rankings=results,
        family=family,
        reason=case.reason.sentence,
        components=None
        if table.noise is None or table.noise.samples_only
        else difference_components(table, (i, j)),
    )


def _mean_columns(table: ScoreTable, settings: RankSettings) -> Iterator[tuple[MeanColumn, MetricMeans]]:
    """Yield the column of each requested statistic with its means.

    The default statistic is the mean of every metric.
    """
    if settings.on:
        yield from (cost_column(table, text) for text in settings.on)
        return
    for at, means in enumerate(metric_means(table)):
        column = mean_column(table, at)
        assert column is not None
        yield column, means


def _sample_limits(table: ScoreTable, settings: RankSettings, results: Sequence[MeanRanking]) -> list[Remark]:
    """Return the limitations of the samples.

    The result is empty for folds, because their rows are not samples.
    """
    if settings.on:
        return table_limits(table, tested=not settings.no_test)
    if table.noise is None or results[0].column.win_rates is not None:
        return []
    if table.noise.samples_only:
        return [detection_limit_remark(int(min(result.column.effective_size for result in results)))]
    return [detection_limit_remark(np.unique(table.noise.factors[ITEM]).size, "items")]


def _counting_note(table: ScoreTable, settings: RankSettings) -> DesignNote:
    """Return the note on how rows count.

    Costs per success have a fixed note.
    """
    return DesignNote(COST_NOTE, {}) if settings.on else design_note(table)


def _refuse_options(table: ScoreTable, settings: RankSettings) -> None:
    """Raise a UsageError if an option needs the score distributions of single samples."""
    options = [option(name, True) for name in ("all_methods", "paper_exact") if getattr(settings, name)]
    options += [option(name) for name in ("method", "stability", "aggregate") if getattr(settings, name)]
    options += [option("group_by")] if table.groups is not None else []
    hint = f"leave out {' and '.join(options)}"
    if len(table.metrics) > 1 and not settings.per_metric:
        suggestion = f"rank each metric by its mean: {option('per_metric', True)}"
        hint = f"{hint}, and {suggestion}" if options else suggestion
        options.append("a combined score of several metrics")
    if options:
        reason = _counting_note(table, settings).sentence.rstrip(".")
        ways = [(option("per_metric", True), None)] if hint.startswith("rank each") else []
        raise UsageError(f"{options[0]} needs single samples", found=reason, hint=hint, suggestions=ways)


def _mean_rows(result: MeanRanking, table: ScoreTable, family: Family, top: int | None) -> list[RankRow]:
    """Return the rows of one ranking, in the units of the file."""
    ranking, of_mean = result.ranking, result.column.statistic == METHOD
    units = column_units(result.column.name, table.metrics) if of_mean else Units(-1.0, result.label)
    low, high = units.interval(result.low, result.high)
    fields = {name: getattr(ranking, name) for name in PLACES} | {
        "model": np.array(table.models, dtype=object),
        "mean": units.to_file_units(result.column.means) if result.shared is None else result.means.mean,
        "difference": units.to_file_units(result.differences_from_first),
        "difference_low": low,
        "difference_high": high,
    }
    return rows_from_columns(
        RankRow,
        ranking.order[:top],
        method=f"{result.column.statistic}@{result.column.name}",
        decided=None if result.p_adjusted is None else True,
        **fields,
    )
