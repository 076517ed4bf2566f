"""Entry point of ``mrm``: mean-risk models for all risks in the literature."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.portfolio.mean_risk_intervals import (
    MeanRiskStudy,
    aggregate_over_metrics,
    study_mean_risk,
)
from riskrank.engine.portfolio.risks import DEFAULT_LEVELS, RISKS, RiskColumn, risk_columns
from riskrank.engine.sampling.design import ClusteredScores, size_warnings
from riskrank.engine.types import Floats
from riskrank.errors import check_choice
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.directions import refuse_distributions
from riskrank.studies.document import Provenance, attributes, rows_from_columns
from riskrank.studies.groups.study import GroupedDocument, Standing, study_by_group
from riskrank.studies.judge.section import JudgeAnalysis, JudgedEntry, drop_unlabelled_tails, judge_meta
from riskrank.studies.metric_means import MetricMeans, TailMeans, WorstShare
from riskrank.studies.mrm.findings import SENTENCES, MeanRiskCase, mrm_findings
from riskrank.studies.mrm.options import MeanRiskSettings
from riskrank.studies.runtime import SERIAL, Runtime
from riskrank.studies.sample_findings import sample_findings
from riskrank.studies.settings import alpha_entry, describe_aggregation, family_from_settings, provenance
from riskrank.studies.suites.section import SuiteOutline, suite_outline
from riskrank.studies.targets import Target, check_portfolio, check_range, portfolio_weights, targets
from riskrank.studies.task_scale import rescale_tasks

# Synonyms of risks.
_SYNONYMS = {"negative-cvar": "negative-tvar"}
# Risk whose value is the negative tail mean.
TAIL = "negative-tvar"


def requested_risks(settings: MeanRiskSettings) -> tuple[RiskColumn, ...]:
    """Return the requested risks, each at its tail levels.

    Raises
    ------
    UsageError
        If a risk is unknown or a level is not valid.
    """
    names = [_SYNONYMS.get(name, name) for name in settings.risk]
    for name in names:
        check_choice("risk", name, tuple(RISKS))
    return risk_columns(tuple(dict.fromkeys(names)), settings.level or DEFAULT_LEVELS)


@dataclass(frozen=True, slots=True)
class MeanRiskRow:
    """One model under one risk; ``value`` is mean minus risk, and ``group`` is None for all samples."""

    metric: str
    model: str
    risk: str
    level: float | None
    mean: float
    risk_value: float
    value: float
    value_low: float | None
    value_high: float | None
    rank: int
    ssd_consistent: bool
    group: str | None = None


@dataclass(frozen=True, kw_only=True)
class MeanRiskDocument(GroupedDocument[MeanRiskRow], schema="mrm"):
    """Rankings by mean minus risk under every risk.

    Attributes
    ----------
    studies : dict of str to MeanRiskStudy
        Results by score column.
    tails : dict of str to TailMeans
        Tail means by score column, if a tail risk was requested.
    means : tuple of MetricMeans
        Raw means of every metric.
    scores : ClusteredScores
        Scores of one score column; all columns have the same samples.
    aggregations : dict of str to Aggregation
        Aggregated rankings by method name, over the risks consistent with second-order dominance.
    judged : JudgeAnalysis or None
        Results of calibrating a judge on human labels.
    suite : SuiteOutline or None
        Tasks of the suite.
    """

    entries: ClassVar[Mapping[str, type]] = {"judge": JudgedEntry}

    studies: Mapping[str, MeanRiskStudy]
    tails: Mapping[str, TailMeans]
    means: tuple[MetricMeans, ...]
    scores: ClusteredScores
    aggregations: Mapping[str, Aggregation]
    judged: JudgeAnalysis | None = None
    suite: SuiteOutline | None = None

    def meta(self) -> Mapping[str, Any]:
        """Return the ``meta`` entries on aggregations, judge and groups."""
        models = self.provenance.models
        aggregations = [
            describe_aggregation(name, aggregations, models)
            for name, aggregations in self.aggregations.items()
        ]
        return {"aggregations": aggregations, **judge_meta(self.judged), **super().meta()}


def standings(document: MeanRiskDocument) -> dict[str, Standing]:
    """Return the standings under the aggregated risks and under each risk and level, without tests."""
    standings_by_method = {
        name: Standing(-aggregation.ranks) for name, aggregation in document.aggregations.items()
    }
    for metric, study in document.studies.items():
        for at, column in enumerate(study.models.columns):
            level = "" if column.level is None else f"({column.level:g})"
            standings_by_method[f"{column.risk.name}{level}@{metric}"] = Standing(-study.models.rank[:, at])
    return standings_by_method


def mrm(table: ScoreTable, settings: MeanRiskSettings, runtime: Runtime = SERIAL) -> MeanRiskDocument:
    """Rank models by mean minus risk under every risk, with bootstrap intervals.

    Parameters
    ----------
    table : ScoreTable
    settings : MeanRiskSettings
    runtime : Runtime, optional

    Returns
    -------
    MeanRiskDocument

    Raises
    ------
    UsageError
        If the settings do not apply to the table.
    """
    refuse_distributions(table, "mrm")
    if table.groups is not None:
        return study_by_group(mrm, standings, table, settings, runtime)
    table = rescale_tasks(table, settings)
    check_portfolio(table, settings, per_metric=settings.per_metric and not settings.with_portfolio)
    chosen = targets(table, settings, per_metric=settings.per_metric)
    if settings.with_portfolio and len(table.metrics) > 1:
        chosen = targets(table, settings) + chosen
    studies = {target.name: _study_column(target, table.models, settings, runtime) for target in chosen}
    case = MeanRiskCase(
        table=table,
        columns={target.name: target.scores for target in chosen},
        studies=studies,
        aggregations=dict(_aggregations(table, settings, studies)),
        tested=False,
        family=family_from_settings(settings),
    )
    limits = sample_findings([target.scores for target in chosen], tested=not settings.no_test)
    return MeanRiskDocument(
        provenance=_provenance(table, settings, chosen),
        rows=[*_rows(studies, table.models)],
        **SENTENCES.fields(mrm_findings(case), case, table.models, case.assumption, limits=limits),
        means=case.means,
        scores=chosen[0].scores,
        tails={
            name: TailMeans(name, worst, table.metrics)
            for name, study in studies.items()
            if (worst := _worst_means(study)) is not None
        },
        studies=studies,
        aggregations=case.aggregations,
        judged=case.judged,
        suite=suite_outline(table),
    )


def _worst_means(study: MeanRiskStudy) -> WorstShare | None:
    """Return the level of the smallest tail, its tail means, shape (k,), and their standard errors.

    The result is None if no tail risk was requested.
    """
    columns = enumerate(study.models.columns)
    tails = [
        (column.level, at) for at, column in columns if column.risk.name == TAIL and column.level is not None
    ]
    if not tails:
        return None
    level, at = min(tails)
    error: Sequence[float] | Floats = ()
    if study.value_low is not None and study.value_high is not None:
        error = (study.value_high[:, at] - study.value_low[:, at]) / 4
    return level, -study.models.risk[:, at], error


def _study_column(
    target: Target, models: Sequence[str], settings: MeanRiskSettings, runtime: Runtime
) -> MeanRiskStudy:
    """Run the mean-risk study of one score column."""
    check_range(target.name, target.scores, models)
    if not settings.no_test and target.scores.strata.has_several_tasks:
        target.scores.strata.require_testable()
    with runtime.progress(f"resampling {target.name}") as progress:
        return study_mean_risk(
            target.scores,
            drop_unlabelled_tails(requested_risks(settings), target.scores)[0],
            names=models,
            resamples=0 if settings.no_test else settings.resamples,
            level=family_from_settings(settings).interval_level(1),
            seed=settings.seed,
            jobs=runtime.jobs,
            aggregator=settings.aggregate,
            progress=progress,
        )


def _aggregations(
    table: ScoreTable, settings: MeanRiskSettings, studies: Mapping[str, MeanRiskStudy]
) -> Iterator[tuple[str, Aggregation]]:
    """Yield the aggregate rankings: one per score column, and one over all metrics."""
    for name, study in studies.items():
        if study.aggregation is not None:
            yield f"RA(MRM@{name})", study.aggregation
    if settings.per_metric and len(table.metrics) > 1:
        single = [*studies.values()][-len(table.metrics) :]
        together = aggregate_over_metrics(
            single, portfolio_weights(table), names=table.models, aggregator=settings.aggregate
        )
        if together is not None:
            yield "RA(MRM@M)", together


def _provenance(table: ScoreTable, settings: MeanRiskSettings, chosen: Sequence[Target]) -> Provenance:
    """Build the provenance of the document."""
    least = min((target.scores for target in chosen), key=lambda scores: scores.min_effective_size)
    advice = [] if settings.no_test else [*size_warnings(least).values()]
    columns, left_out = drop_unlabelled_tails(requested_risks(settings), least)
    described = {
        "risks": list(dict.fromkeys(column.risk.name for column in columns)),
        "levels": sorted({column.level for column in columns if column.level is not None}),
        "aggregate": settings.aggregate,
        **alpha_entry(settings),
        **attributes(settings, "no_test", "per_metric", "with_portfolio"),
    }
    return provenance(
        "mrm",
        table,
        settings,
        described,
        folded=settings.with_portfolio or not settings.per_metric,
        seed=None if settings.no_test else settings.seed,
        resamples=None if settings.no_test else settings.resamples,
        warnings=[*advice, *left_out],
    )


def _rows(studies: Mapping[str, MeanRiskStudy], models: Sequence[str]) -> Iterator[MeanRiskRow]:
    """Yield one row per score column, risk and model, with models in rank order."""
    names = np.array(models, dtype=object)
    for metric, study in studies.items():
        risks, intervals = study.models, {"value_low": study.value_low, "value_high": study.value_high}
        for at, column in enumerate(risks.columns):
            of_risk = {"risk_value": risks.risk, "value": risks.value, "rank": risks.rank} | intervals
            yield from rows_from_columns(
                MeanRiskRow,
                risks.order(at),
                metric=metric,
                model=names,
                risk=column.risk.name,
                level=column.level,
                mean=risks.mean,
                ssd_consistent=column.risk.ssd_consistent,
                **{name: of[:, at] for name, of in of_risk.items() if of is not None},
            )
