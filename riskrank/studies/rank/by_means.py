"""A ranking by means alone, of tables that say nothing of single samples: folds of cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from riskrank.engine.dominance.ranking import Ranking, rank_by_ratio
from riskrank.engine.evidence.crossed import Components
from riskrank.engine.evidence.shared import (
    FEWEST_SHARED,
    groups_apart,
    order_of_wins,
    wins_in_a_circle,
)
from riskrank.engine.family import Family, Side
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, UsageError, listing, option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Document
from riskrank.studies.findings import Finding, Sentences
from riskrank.studies.means_only import MeanColumn, components_of, mean_column, visible_of, why_means
from riskrank.studies.metric_means import MetricMeans, metric_means
from riskrank.studies.provenance import provenance
from riskrank.studies.rank.document import RankRow
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.said import assuming
from riskrank.studies.settings import family_of
from riskrank.studies.units import units_of
from riskrank.studies.visible import visible_sentence
from riskrank.studies.wording import all_others, names

METHOD = "mean"


@dataclass(frozen=True, eq=False)
class MeanRanking:
    """Models by their means on a metric.

    Attributes
    ----------
    column : MeanColumn
    samples : Integers or None
        Samples that both models of each pair have, shape (k, k); None where all models have all.
    means : MetricMeans
        As the file has them.
    ranking : Ranking
    p_adjusted : ndarray, shape (k, k), or None
        Of "the mean of i lies above that of j"; None where nothing was tested.
    low, high : ndarray, shape (k,), or None
        Intervals of the differences to the first, larger is better; they hold together for all pairs.
    visible : float or None
        The smallest difference these could have shown.
    """

    column: MeanColumn
    samples: Integers | None
    means: MetricMeans
    ranking: Ranking
    p_adjusted: Floats | None
    low: Floats | None
    high: Floats | None
    visible: float | None

    @property
    def first(self) -> int:
        """The model with the best mean."""
        return int(self.ranking.order[0])

    def beaten(self, family: Family) -> list[int]:
        """Models shown to have a lower mean than the first, in their order."""
        if self.p_adjusted is None:
            return []
        shown = family.significant(self.p_adjusted[self.first])
        return [i for i in self.ranking.order[1:].tolist() if shown[i]]

    @property
    def not_compared(self) -> list[int]:
        """Models that share too few samples with the first."""
        return [i for i in self.ranking.order[1:].tolist() if not self.column.compared[self.first, i]]


@dataclass(frozen=True, kw_only=True)
class MeanRankDocument(Document[RankRow]):
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

    schema: ClassVar[str] = "rank-means"
    row_type: ClassVar[type] = RankRow

    rankings: Sequence[MeanRanking]
    family: Family
    why: str
    components: Components | None = None

    @property
    def question(self) -> str:
        """Which model."""
        return f"Which of {len(self.about)} models?"

    def meta(self) -> Mapping[str, Any]:
        """What was found, and what could have been."""
        visible = {one.column.name: one.visible for one in self.rankings}
        return {"findings": [vars(one) for one in self.findings], "smallest_visible": visible}


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
    for at, means in enumerate(metric_means(table)):
        column = mean_column(table, at)
        assert column is not None
        _require_order(table, column, family)
        samples = table.noise.counts(at) if table.noise is not None and table.noise.shared else None
        found.append(_ranked(column, samples, means, family, tested=tested))
    case = MeanCase(table.models, found, family, why_means(table))
    findings = [*_findings(case)]
    said = SENTENCES.verdict(findings, case, assuming([one.means for one in found]))
    described = {"per_metric": settings.per_metric, "family": "pairs of models"} | family.settings
    return MeanRankDocument(
        provenance=provenance("rank", table, settings, described),
        rows=[row for one in found for row in _rows(one, table, family, settings.top)],
        verdict=said.verdict,
        more=said.more,
        findings=SENTENCES.entries(findings, case, table.models),
        named=[one.first for one in found[:1] if len(one.beaten(family)) == len(table.models) - 1],
        rankings=found,
        family=family,
        why=case.why,
        components=None
        if table.noise is None or table.noise.shared
        else components_of(table, _first_two(found[0]), 0),
    )


def _first_two(one: MeanRanking) -> tuple[int, int]:
    first, second = one.ranking.order[:2].tolist()
    return first, second


def _refuse(table: ScoreTable, settings: RankSettings) -> None:
    asked = [option(name, True) for name in ("all_methods", "paper_exact") if getattr(settings, name)]
    asked += [option(name) for name in ("method", "stability", "aggregate") if getattr(settings, name)]
    asked += [option("group_by")] if table.groups is not None else []
    if len(table.metrics) > 1 and not settings.per_metric:
        asked.append("a combined score of several metrics")
    if asked:
        hint = f"leave it out, or rank each metric by its mean: {option('per_metric', True)}"
        raise UsageError(f"{asked[0]} looks at single samples", found=why_means(table).rstrip("."), hint=hint)


def _require_order(table: ScoreTable, column: MeanColumn, family: Family) -> None:
    """Refuse models that nothing compares, and wins that lead back to where they start (method §20).

    Raises
    ------
    InputError
        With the groups, or with the pairs of the circle.
    """
    groups = [[table.models[i] for i in group] for group in groups_apart(column.compared)]
    if len(groups) > 1:
        raise InputError(
            f"models that share fewer than {FEWEST_SHARED} samples with any other group have no common order",
            found=f"{len(groups)} groups: {'; '.join(listing(group, 4) for group in groups[:4])}",
            hint="rank one of them" + (f": {option('models', ','.join(groups[0]))}" if groups[0][1:] else ""),
            ways=[
                (option("models", ",".join(group)), {"models": tuple(group)}) for group in groups if group[1:]
            ],
        )
    circle = wins_in_a_circle(family.significant(column.p_pairs(family)))
    if circle:
        wins = [f"{table.models[i]} is shown to be better than {table.models[j]}" for i, j in circle]
        raise InputError(
            f"there is no common order by the mean of {column.name}: wins lead back to where they start",
            found=listing(wins, 6),
            hint="compare two: " + option("models", ",".join(table.models[i] for i in circle[0])),
        )


def _ranked(
    column: MeanColumn, samples: Integers | None, means: MetricMeans, family: Family, *, tested: bool
) -> MeanRanking:
    k, pairs = len(column.means), int(column.compared.sum()) // 2
    p_adjusted = column.p_pairs(family) if tested else None
    shown: Booleans = np.zeros((k, k), dtype=bool) if p_adjusted is None else family.significant(p_adjusted)
    score = -column.means
    if samples is not None:
        score = np.argsort(order_of_wins(shown, column.means)).astype(np.float64)
    ranking = replace(rank_by_ratio(shown, score, tested=tested), score=column.means)
    if not tested:
        return MeanRanking(column, samples, means, ranking, None, None, None, None)
    low, high = column.differences.interval(family.level(pairs))
    first = int(ranking.order[0])
    visible = visible_of(column, pairs, family.alpha)
    return MeanRanking(column, samples, means, ranking, p_adjusted, low[:, first], high[:, first], visible)


def _rows(one: MeanRanking, table: ScoreTable, family: Family, top: int | None) -> list[RankRow]:
    units, ranking = units_of(one.column.name, table.metrics), one.ranking
    means = units.of(one.column.means) if one.samples is None else one.means.mean
    gap = units.of(one.column.differences.value[:, one.first])
    low, high = units.interval(one.low, one.high)
    return [
        RankRow(
            method=f"{METHOD}@{one.column.name}",
            model=table.models[i],
            rank=int(ranking.rank[i]),
            rank_low=_place(ranking.rank_low, i),
            rank_high=_place(ranking.rank_high, i),
            wins=_place(ranking.wins, i),
            losses=_place(ranking.losses, i),
            tier=_place(ranking.tier, i),
            score=float(ranking.score[i]),
            mean=float(means[i]),
            tvar=None,
            difference=_known(gap, i),
            difference_low=_known(low, i),
            difference_high=_known(high, i),
            decided=None if one.p_adjusted is None else True,
        )
        for i in ranking.order[:top].tolist()
    ]


def _known(values: Floats | None, model: int) -> float | None:
    return None if values is None or np.isnan(values[model]) else float(values[model])


def _place(values: Integers | None, model: int) -> int | None:
    return None if values is None else int(values[model])


@dataclass(frozen=True, eq=False)
class MeanCase:
    """What sentences on a ranking by means are made of."""

    models: Sequence[str]
    rankings: Sequence[MeanRanking]
    family: Family
    why: str

    def of(self, metric: str) -> MeanRanking:
        """The ranking by a metric."""
        return next(one for one in self.rankings if one.column.name == metric)


def _findings(case: MeanCase) -> list[Finding]:
    """The first on each metric, what it gains, what the rows count as, and what could have been seen."""
    found = []
    for one in case.rankings:
        beaten, order = one.beaten(case.family), one.ranking.order.tolist()
        kind, answer = "level", None if one.p_adjusted is None else Side.OPEN
        apart = one.not_compared
        compared = tuple(i for i in order if i not in apart)
        if len(beaten) == len(compared) - 1:
            kind, answer = "ahead-of-those-compared" if apart else "ahead", Side.SHOWN
        kind = kind if one.p_adjusted is not None else "not-tested"
        named = tuple(i for i in compared if i not in beaten) if kind == "level" else compared
        found.append(Finding(kind=kind, models=named, on=one.column.name, answer=answer))
        if len(case.rankings) == 1:
            found.append(Finding(kind="gain", models=compared[:2], on=one.column.name))
        if apart:
            found.append(Finding(kind="not-compared", models=(order[0], *apart), on=one.column.name))
    found.append(Finding(kind="counted-as", figures={"worth": case.rankings[0].column.worth}))
    if len(case.rankings) == 1 and case.rankings[0].visible is not None:
        found.append(Finding(kind="visible", figures={"difference": case.rankings[0].visible}))
    return found


def _ahead(finding: Finding, case: MeanCase) -> str:
    first, *others = (case.models[i] for i in finding.models)
    assumed = assuming([one.means for one in case.rankings])
    if assumed:
        return f"{first} has a significantly better mean {finding.on} than {all_others(others)}."
    return f"Ship {first}: its mean {finding.on} is significantly better than that of {all_others(others)}."


def _ahead_of_some(finding: Finding, case: MeanCase) -> str:
    first, *others = (case.models[i] for i in finding.models)
    better = f"{first} has a significantly better mean {finding.on} than {names(others)}"
    return f"{better}, and was not compared with all others: nobody is to ship from this alone."


def _not_compared(finding: Finding, case: MeanCase) -> str:
    first, *others = (case.models[i] for i in finding.models)
    return (
        f"{first} is not compared with {listing(others, 4)}: they share fewer than {FEWEST_SHARED} samples."
    )


def _level(finding: Finding, case: MeanCase) -> str:
    level = [case.models[i] for i in finding.models]
    one, k = case.of(finding.on), len(finding.models) + len(case.of(finding.on).beaten(case.family))
    beats = len(one.beaten(case.family))
    beaten = f"; {level[0]}'s is shown to be better than {beats} of {k - 1} others'" if beats else ""
    if len(level) == k and k > 2:
        return (
            f"No test tells {level[0]}, first in these samples by its mean {finding.on}, from any of the "
            f"{k - 1} others."
        )
    whom = names(level).replace(" and ", " or ")
    return f"{whom}: no test separates their means of {finding.on}{beaten}."


def _not_tested(finding: Finding, case: MeanCase) -> str:
    return f"{case.models[finding.models[0]]} has the best mean {finding.on}; nothing was tested."


def _gain(finding: Finding, case: MeanCase) -> str:
    one, (first, following) = case.of(finding.on), finding.models
    span = ""
    if one.low is not None and one.high is not None:
        ends = (-one.high[following], -one.low[following])
        ends = (-ends[1], -ends[0]) if one.means.lower else ends
        span = f" (difference {one.means.span(float(ends[0]), float(ends[1]))})"
    shared = one.samples
    if shared is not None and shared[first, following] < max(
        shared[first, first], shared[following, following]
    ):
        gap = float(one.column.differences.value[first, following])
        way, other = "better" if gap >= 0 else "worse", case.models[following]
        return (
            f"On the {shared[first, following]:,} samples both have, the mean {finding.on} of "
            f"{case.models[first]} is {one.means.gap(abs(gap))} {way} than that of {other}{span}."
        )
    against = one.means.against(first, following)
    return f"{case.models[first]}'s mean {finding.on} is {against} of {case.models[following]}{span}."


SENTENCES: Sentences[MeanCase] = Sentences(
    {
        "ahead": _ahead,
        "ahead-of-those-compared": _ahead_of_some,
        "not-compared": _not_compared,
        "level": _level,
        "not-tested": _not_tested,
        "gain": _gain,
        "counted-as": lambda _, case: case.why,
        "visible": lambda finding, case: visible_sentence(
            finding.figures["difference"], case.rankings[0].means.share
        ),
    }
)
"""How each kind of finding on a ranking by means is said."""
