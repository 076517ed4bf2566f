"""A ranking by means alone, of tables that say nothing of single samples, and by costs (method §18)."""

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
from riskrank.studies.document import Document, rows_of
from riskrank.studies.findings import Said
from riskrank.studies.means_only import CountedAs, MeanColumn, components_of, mean_column, why_means
from riskrank.studies.metric_means import MetricMeans, assumed, doubtful, metric_means
from riskrank.studies.rank.document import PLACES, RankRow
from riskrank.studies.rank.mean_ranking import SENTENCES, MeanCase, MeanRanking, mean_findings, ranked_by_mean
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.sample_findings import blind_limit, limits_of_rows, warned
from riskrank.studies.settings import family_of, provenance
from riskrank.studies.targets import Units, units_of
from riskrank.studies.wording import decimals_of, rounded, rounded_beside_zero

# Decimals of a share of a cost.
_DECIMALS = 2
WHY = "Differences are shares of what a success of the first costs."


@dataclass(frozen=True)
class CostMeans(MetricMeans):
    """Costs per success of k models, with intervals of each alone; differences are shares."""

    costs: Sequence[Costs] = ()

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """Intervals of the costs per success, of each alone, at 95 %."""
        low, high = np.array([one.interval(0.05) for one in self.costs]).T
        return low, high

    def gap(self, difference: float) -> str:
        """A share."""
        return rounded(difference, _DECIMALS)

    def span(self, low: float, high: float) -> str:
        """Where a share lies."""
        return " to ".join(rounded_beside_zero(end, _DECIMALS) for end in (low, high))


def cost_column(table: ScoreTable, text: str) -> tuple[MeanColumn, CostMeans]:
    """Costs per success of every model, as ``cost-per-success:COST/SUCCESS`` names them, and all differences.

    Raises
    ------
    UsageError
        If it names something else, or metrics that are no costs or no successes.
    InputError
        If a model has too few successes.
    """
    names = [metric.name for metric in table.metrics]
    both = cost_and_success("on", text, names)
    if both is None:
        raise UsageError(
            f"{option('on', text)} is not what models are ranked by in the place of means",
            found=text,
            hint=f"write {option('on', f'{PER_SUCCESS}:COST/SUCCESS')}, or leave it out",
        )
    places = [names.index(name) for name in both]
    (cost, spent), (success, passed) = ((table.metrics[at], table.column(at)) for at in places)
    require_costs(
        ("on", text),
        (cost.direction == "lower" and cost.transform == "none", spent),
        (success.direction == "lower" or success.transform != "none", passed),
        alike=not table.suite and not table.means_only and table.units is None,
        paired=table.paired,
    )
    name = "/".join(both)
    units = [np.unique(own, return_inverse=True)[1] for own in table.clusters]
    costs = [Costs.of(-c, s, own) for c, s, own in zip(spent, passed, units, strict=True)]
    for model, one in zip(table.models, costs, strict=True):
        require_successes(one, model, name)
    theta, ratios = np.array([one.per_success for one in costs]), CostRatios.of_all(costs)
    error = np.array([one.error for one in costs])
    freedom = np.array([float(one.units[-1]) for one in costs])
    means = CostMeans(name, True, cost.declared, False, theta, error, decimals_of(error), freedom, costs)
    return MeanColumn(name, -theta, ratios, freedom.min() + 1, PER_SUCCESS), means


METHOD = "mean"


@dataclass(frozen=True, kw_only=True)
class MeanRankDocument(Document[RankRow], schema="rank-means"):
    """Rankings by means, one a metric.

    Attributes
    ----------
    rankings : sequence of MeanRanking
    family : Family
    why : str
        Why only means are compared.
    components : Components or None
        Where the noise of the difference of the first two comes from, where sources were named.
    """

    rankings: Sequence[MeanRanking]
    family: Family
    why: str
    components: Components | None = None

    @property
    def question(self) -> str:
        """Which model."""
        return f"Which of {len(self.about)} models?"

    def meta(self) -> Mapping[str, Any]:
        """What could have been found."""
        return {"smallest_visible": {one.column.name: one.visible for one in self.rankings}}


def rank_by_means(table: ScoreTable, settings: RankSettings) -> MeanRankDocument:
    """Rank models by the means of a metric, or of each, and test their differences.

    Parameters
    ----------
    table : ScoreTable
        Of which only means can be compared.
    settings : RankSettings

    Raises
    ------
    UsageError
        If something is asked that is about distributions.
    """
    _refuse(table, settings)
    family, tested = family_of(settings), not settings.no_test
    found = []
    for at, (column, means) in enumerate(_columns(table, settings)):
        found.append(ranked_by_mean(table, at, column, means, family, tested=tested))
    i, j = found[0].ranking.order[:2].tolist()
    case = MeanCase(table.models, found, family, _why(table, settings))
    rests_on = assumed(doubtful([one.means for one in found]))
    limits = _limits(table, settings, found)
    described = {"per_metric": settings.per_metric, "family": "pairs of models"} | family.settings
    return MeanRankDocument(
        provenance=provenance("rank", table, settings, described, warnings=warned(limits)),
        rows=[row for one in found for row in _rows(one, table, family, settings.top)],
        **SENTENCES.told(mean_findings(case), case, table.models, rests_on, limits=limits),
        named=[one.first for one in found[:1] if len(one.beaten(family)) == len(table.models) - 1],
        rankings=found,
        family=family,
        why=case.why.sentence,
        components=None if table.noise is None or table.noise.shared else components_of(table, (i, j)),
    )


def _columns(table: ScoreTable, settings: RankSettings) -> Iterator[tuple[MeanColumn, MetricMeans]]:
    """What models are ranked by: statistics that were asked for, or the mean of every metric."""
    if settings.on:
        yield from (cost_column(table, text) for text in settings.on)
        return
    for at, means in enumerate(metric_means(table)):
        column = mean_column(table, at)
        assert column is not None
        yield column, means


def _limits(table: ScoreTable, settings: RankSettings, found: Sequence[MeanRanking]) -> list[Said]:
    """What the samples leave open; folds are none: each is a mean of rows that nobody sees."""
    if settings.on:
        return limits_of_rows(table, tested=not settings.no_test)
    if table.noise is None:
        return []
    if table.noise.shared:
        return [blind_limit(int(min(one.column.worth for one in found)))]
    return [blind_limit(np.unique(table.noise.factors[ITEM]).size, "items")]


def _why(table: ScoreTable, settings: RankSettings) -> CountedAs:
    return CountedAs(WHY, {}) if settings.on else why_means(table)


def _refuse(table: ScoreTable, settings: RankSettings) -> None:
    asked = [option(name, True) for name in ("all_methods", "paper_exact") if getattr(settings, name)]
    asked += [option(name) for name in ("method", "stability", "aggregate") if getattr(settings, name)]
    asked += [option("group_by")] if table.groups is not None else []
    hint = f"leave out {' and '.join(asked)}"
    if len(table.metrics) > 1 and not settings.per_metric:
        each = f"rank each metric by its mean: {option('per_metric', True)}"
        hint = f"{hint}, and {each}" if asked else each
        asked.append("a combined score of several metrics")
    if asked:
        found = _why(table, settings).sentence.rstrip(".")
        raise UsageError(f"{asked[0]} looks at single samples", found=found, hint=hint)


def _rows(one: MeanRanking, table: ScoreTable, family: Family, top: int | None) -> list[RankRow]:
    ranking, of_mean = one.ranking, one.column.statistic == METHOD
    units = units_of(one.column.name, table.metrics) if of_mean else Units(-1.0, one.what)
    low, high = units.interval(one.low, one.high)
    found = {name: getattr(ranking, name) for name in PLACES} | {
        "model": np.array(table.models, dtype=object),
        "mean": units.of(one.column.means) if one.samples is None else one.means.mean,
        "difference": units.of(one.gaps),
        "difference_low": low,
        "difference_high": high,
    }
    return rows_of(
        RankRow,
        ranking.order[:top],
        method=f"{one.column.statistic}@{one.column.name}",
        decided=None if one.p_adjusted is None else True,
        **found,
    )
