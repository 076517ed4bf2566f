"""A ranking by means alone, of tables that say nothing of single samples: folds of cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.evidence.crossed import Components
from riskrank.engine.family import Family
from riskrank.errors import UsageError, option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Document, rows_of
from riskrank.studies.findings import assuming
from riskrank.studies.means_only import MeanColumn, components_of, mean_column, why_means
from riskrank.studies.metric_means import MetricMeans, metric_means
from riskrank.studies.provenance import provenance
from riskrank.studies.rank.costs import WHY, cost_column
from riskrank.studies.rank.document import PLACES, RankRow
from riskrank.studies.rank.mean_ranking import (
    SENTENCES,
    MeanCase,
    MeanRanking,
    mean_findings,
    ranked_by_mean,
    require_order,
)
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.settings import family_of
from riskrank.studies.units import Units, units_of

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
        require_order(table, column, family)
        samples = table.noise.counts(at) if table.noise is not None and table.noise.shared else None
        found.append(ranked_by_mean(column, samples, means, family, tested=tested))
    i, j = found[0].ranking.order[:2].tolist()
    case = MeanCase(table.models, found, family, _why(table, settings))
    rests_on = assuming([one.means for one in found])
    described = {"per_metric": settings.per_metric, "family": "pairs of models"} | family.settings
    return MeanRankDocument(
        provenance=provenance("rank", table, settings, described),
        rows=[row for one in found for row in _rows(one, table, family, settings.top)],
        **SENTENCES.told(mean_findings(case), case, table.models, rests_on),
        named=[one.first for one in found[:1] if len(one.beaten(family)) == len(table.models) - 1],
        rankings=found,
        family=family,
        why=case.why,
        components=None if table.noise is None or table.noise.shared else components_of(table, (i, j), 0),
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


def _why(table: ScoreTable, settings: RankSettings) -> str:
    return WHY if settings.on else why_means(table)


def _refuse(table: ScoreTable, settings: RankSettings) -> None:
    asked = [option(name, True) for name in ("all_methods", "paper_exact") if getattr(settings, name)]
    asked += [option(name) for name in ("method", "stability", "aggregate") if getattr(settings, name)]
    asked += [option("group_by")] if table.groups is not None else []
    if len(table.metrics) > 1 and not settings.per_metric:
        asked.append("a combined score of several metrics")
    if asked:
        hint = f"leave it out, or rank each metric by its mean: {option('per_metric', True)}"
        found = _why(table, settings).rstrip(".")
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
        method=f"{one.column.statistic}@{one.column.name}",
        tvar=None,
        decided=None if one.p_adjusted is None else True,
        **{name: None if of is None else of[ranking.order[:top]] for name, of in found.items()},
    )
