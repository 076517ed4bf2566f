"""Entry point of ``mrm``: mean-risk models for all risks in the literature, their findings and sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.portfolio import mean_risk
from riskrank.engine.portfolio.risks import DEFAULT_LEVELS, RISKS, RiskColumn, risk_columns
from riskrank.engine.sampling.design import ClusteredScores, size_warnings
from riskrank.engine.types import Floats
from riskrank.errors import check_choice
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies import targets
from riskrank.studies.checks import require_distributions
from riskrank.studies.document import Provenance, attributes, computed, rows_from_records
from riskrank.studies.findings import Case, Finding, Sentences, better_mean_findings, sample_limits
from riskrank.studies.groups.study import GroupedDocument, Standing, study_by_group
from riskrank.studies.judge.section import JudgeAnalysis, JudgedEntry, drop_unlabelled_tails, judge_meta
from riskrank.studies.metric_means import MetricMeans, TailMeans, WorstShare, worst_everywhere
from riskrank.studies.mrm.options import MeanRiskSettings
from riskrank.studies.runtime import SERIAL, Runtime
from riskrank.studies.settings import alpha_entry, describe_aggregation, family_from_settings, provenance
from riskrank.studies.suites.section import SuiteOutline, suite_outline
from riskrank.studies.wording import format_number, format_percent, format_range, join_names, metrics_phrase


@dataclass(frozen=True, kw_only=True)
class MeanRiskCase(Case):
    """Results from which the findings and sentences are derived.

    Attributes
    ----------
    studies : dict of str to MeanRiskStudy
        Results by score column.
    aggregations : dict of str to Aggregation
        Aggregated rankings by method name.
    """

    studies: Mapping[str, mean_risk.MeanRiskStudy]
    aggregations: Mapping[str, Aggregation]


def mrm_findings(case: MeanRiskCase) -> list[Finding]:
    """Return the findings, at least one: the leader, and risk measures or means that disagree with it."""
    first, *other_columns = case.columns
    answer = case.identical_distributions or (
        _findings_across_columns(case) if other_columns else _leader_findings(case, first)
    )
    level = {"confidence": case.family.confidence}
    gains = [
        Finding("gain", tuple(model_order(study)[:2]), on=name, figures=_lead_figures(study) | level)
        for name, study in case.studies.items()
    ]
    return [*answer, *case.side_findings, *gains]


def model_order(study: mean_risk.MeanRiskStudy) -> list[int]:
    """Return the indices of the models in rank order.

    The ranking is aggregated over the risk measures consistent with second-order dominance. If there is only
    one risk measure, it determines the order.
    """
    order = study.models.order(0) if study.aggregation is None else study.aggregation.order
    return order.tolist()


def _findings_across_columns(case: MeanRiskCase) -> Iterator[Finding]:
    """Yield findings for several scores: the leader on each of them, and over all metrics."""
    firsts = tuple(dict.fromkeys(model_order(study)[0] for study in case.studies.values()))
    yield Finding("first-on-each" if len(firsts) == 1 else "first-here-and-there", firsts)
    overall = case.aggregations.get("RA(MRM@M)")
    if overall is not None:
        words = {"note": "" if overall.unique else " (other orders fit equally well)"}
        yield Finding("over-all-metrics", (int(overall.order[0]),), words=words)


def _leader_findings(case: MeanRiskCase, column: str) -> Iterator[Finding]:
    """Yield the finding about the leader on one metric or combined score, and means that contradict it.

    `column` is the name of the metric or score.
    """
    study = case.studies[column]
    first, rivals = model_order(study)[0], [i for i in _tied_leaders(study) if i != model_order(study)[0]]
    figures = {} if study.aggregation is None else {"measures": int(study.models.ssd_consistent.sum())}
    yield Finding("tie" if rivals else "first", (first, *rivals), on=column, figures=figures)
    if case.mean_of(column) is None and first in worst_everywhere(case.means) and len(case.means) > 1:
        words = {"metrics": metrics_phrase(len(case.means))}
        yield Finding("worst-on-every-metric", (first,), words=words)
    yield from better_mean_findings(case, column, first)


def _tied_leaders(study: mean_risk.MeanRiskStudy) -> list[int]:
    """Return the models that come first in at least one optimal aggregated ranking."""
    rank = study.models.rank
    if study.aggregation is None:
        return [int(i) for i in np.flatnonzero(rank[:, 0] == 1)]
    leader, optima = int(study.aggregation.order[0]), study.aggregation.optima or ()
    same = {int(i) for i in np.flatnonzero((rank == rank[leader]).all(axis=1))}
    return [leader, *sorted({optimum[0] for optimum in optima} | same - {leader})]


def _first_consistent_risk(study: mean_risk.MeanRiskStudy) -> int:
    """Return the index of the first risk measure that is consistent with second-order dominance, or 0."""
    return int(np.argmax(study.models.ssd_consistent))


def _lead_figures(study: mean_risk.MeanRiskStudy) -> dict[str, float]:
    """Return mean minus risk of the leader and of the runner-up by name, for one risk measure.

    The measure is the first one that is consistent with second-order dominance. The interval is the leader's.
    """
    measure, (leader, following) = _first_consistent_risk(study), model_order(study)[:2]
    value, against = study.models.value[[leader, following], measure]
    figures = {"value": value, "against": against, "difference": value - against}
    if study.value_low is not None and study.value_high is not None:
        bounds = (study.value_low[leader, measure], study.value_high[leader, measure])
        figures |= dict(zip(("value_low", "value_high"), bounds, strict=True))
    return {name: float(value) for name, value in figures.items()}


def _first_place_sentence(finding: Finding, case: MeanRiskCase) -> str:
    """Return a sentence that names the leaders by one score, and single risk measures that disagree."""
    study, models = case.studies[finding.on], case.models
    rank, columns = study.models.rank, study.models.columns
    count, aggregation = int(study.models.ssd_consistent.sum()), study.aggregation
    by = f"{count} risk measures combined" if count > 1 else columns[_first_consistent_risk(study)].risk.name
    also = "" if aggregation is None or aggregation.unique else " (other orders fit equally well)"
    # A model that only ties with one of these does not contradict it.
    not_first = (rank[[*finding.models]] > 1).all(axis=0)
    disagreeing = sorted(models[i] for i in np.flatnonzero((rank[:, not_first] == 1).any(axis=1)).tolist())
    agree = f"; single measures put {join_names(disagreeing)} first" if disagreeing else ""
    if not agree and finding.kind == "first" and len(columns) > 1:
        agree = ", and by every single measure"
    on = f"on {case.column_label(finding.on)} by mean minus risk"
    subject = join_names([models[i] for i in finding.models])
    comes = "comes first" if finding.kind == "first" else "tie for first place"
    return f"{subject} {comes} {on}, using {by}{also}{agree}."


def _columns_sentence(finding: Finding, case: MeanRiskCase) -> str:
    """Return a sentence that names the leader by each of several scores."""
    columns_by_leader: dict[int, list[str]] = {}
    for name, study in case.studies.items():
        columns_by_leader.setdefault(model_order(study)[0], []).append(case.column_label(name))
    if finding.kind == "first-on-each":
        names = join_names(columns_by_leader[finding.models[0]], 6)
        return f"By mean minus risk, {case.models[finding.models[0]]} comes first on each of {names}."
    parts = [f"{case.models[i]} on {join_names(on, 6)}" for i, on in columns_by_leader.items()]
    return f"By mean minus risk, no model comes first everywhere: {join_names(parts, 6)}."


def _gain_sentence(finding: Finding, case: MeanRiskCase) -> str:
    """Return the sentence that compares mean minus risk of the leader and of the runner-up."""
    study, models = case.studies[finding.on], case.models
    (leader, following), at = finding.models, _first_consistent_risk(study)
    value, lead = finding.figures["value"], finding.figures["value"] - finding.figures["against"]
    interval_text = ""
    if "value_low" in finding.figures:
        span = format_range(finding.figures["value_low"], finding.figures["value_high"])
        interval_text = f" ({format_percent(case.family.confidence)} interval {span})"
    amount = f"{format_number(abs(lead))} {'more' if lead >= 0 else 'less'} than" if lead else "the same as"
    column = study.models.columns[at]
    risk = column.risk.name if column.level is None else f"{column.risk.name} at {column.level:g}"
    gain = f"{models[leader]}'s mean minus risk by {risk} is {format_number(value)}{interval_text}"
    return f"{gain}, {amount} {models[following]}, the next model."


# Sentence of each kind of finding.
SENTENCES: Sentences[MeanRiskCase] = Sentences(
    {
        "first": _first_place_sentence,
        "tie": _first_place_sentence,
        "first-on-each": _columns_sentence,
        "first-here-and-there": _columns_sentence,
        "over-all-metrics": "Over all metrics, {0} comes first{note}.",
        "worst-on-every-metric": "But {0} has the worst mean on {metrics}.",
        "nothing-tested": "mrm does not test differences; use rank.",
        "gain": _gain_sentence,
    },
    # Statements on a single risk need its name.
    aside=("gain",),
)


# Synonyms of risks.
_SYNONYMS = {"negative-cvar": "negative-tvar"}
# Risk whose value is the negative tail mean.
TAIL = "negative-tvar"


def requested_risks(settings: MeanRiskSettings) -> tuple[RiskColumn, ...]:
    """Return the requested risk measures. Tail risks are repeated for each level.

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
    """One model and risk measure.

    ``value`` is mean minus risk. ``group`` is None for all samples together.
    """

    metric: str = computed(lambda metric: metric)
    model: str = computed(lambda models, i: models[i])
    risk: str = computed(lambda column: column.risk.name)
    level: float | None = computed(lambda column: column.level)
    mean: float = computed(lambda risks, i: risks.mean[i].item())
    risk_value: float = computed(lambda risks, at: risks.risk[at].item())
    value: float = computed(lambda risks, at: risks.value[at].item())
    value_low: float | None = computed(lambda low, at: None if low is None else low[at].item())
    value_high: float | None = computed(lambda high, at: None if high is None else high[at].item())
    rank: int = computed(lambda risks, at: risks.rank[at].item())
    ssd_consistent: bool = computed(lambda column: column.risk.ssd_consistent)
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

    studies: Mapping[str, mean_risk.MeanRiskStudy]
    tails: Mapping[str, TailMeans]
    means: tuple[MetricMeans, ...]
    scores: ClusteredScores
    aggregations: Mapping[str, Aggregation]
    judged: JudgeAnalysis | None = None
    suite: SuiteOutline | None = None

    def meta(self) -> Mapping[str, Any]:
        """Return results for the JSON object ``meta``: aggregated rankings, judge and groups."""
        models = self.provenance.models
        described = [describe_aggregation(*entry, models) for entry in self.aggregations.items()]
        return {"aggregations": described, **judge_meta(self.judged), **super().meta()}


def standings(document: MeanRiskDocument) -> dict[str, Standing]:
    """Return the models' scores by ranking method: aggregated rankings first, then single risk measures."""
    aggregations = document.aggregations.items()
    standings_by_method = {name: Standing(-aggregation.ranks) for name, aggregation in aggregations}
    for metric, study in document.studies.items():
        for at, column in enumerate(study.models.columns):
            level = "" if column.level is None else f"({column.level:g})"
            standings_by_method[f"{column.risk.name}{level}@{metric}"] = Standing(-study.models.rank[:, at])
    return standings_by_method


def mrm(table: ScoreTable, settings: MeanRiskSettings, runtime: Runtime = SERIAL) -> MeanRiskDocument:
    """Rank models by mean minus risk, for every risk measure, with bootstrap intervals.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    settings : MeanRiskSettings
        Options of ``mrm``.
    runtime : Runtime, optional
        Worker processes and progress display.

    Returns
    -------
    MeanRiskDocument

    Raises
    ------
    UsageError
        If the settings do not apply to the table.
    """
    require_distributions(table, "mrm")
    if table.groups is not None:
        return study_by_group(mrm, standings, table, settings, runtime)
    table = targets.rescale_tasks(table, settings)
    targets.check_portfolio(table, settings, per_metric=settings.per_metric and not settings.with_portfolio)
    chosen = targets.target_columns(table, settings, per_metric=settings.per_metric)
    if settings.with_portfolio and len(table.metrics) > 1:
        chosen = targets.target_columns(table, settings) + chosen
    studies = {target.name: _study_column(target, table.models, settings, runtime) for target in chosen}
    case = MeanRiskCase(
        table=table,
        columns={target.name: target.scores for target in chosen},
        studies=studies,
        aggregations=dict(_aggregate_rankings(table, settings, studies)),
        tested=False,
        family=family_from_settings(settings),
    )
    limits = sample_limits([target.scores for target in chosen], tested=not settings.no_test)
    return MeanRiskDocument(
        provenance=_provenance(table, settings, chosen),
        rows=_mean_risk_rows(studies, table.models),
        **SENTENCES.fields(mrm_findings(case), case, table.models, case.assumption, limits=limits),
        means=case.means,
        scores=chosen[0].scores,
        tails={
            name: TailMeans(name, worst, table.metrics)
            for name, study in studies.items()
            if (worst := _smallest_tail(study)) is not None
        },
        studies=studies,
        aggregations=case.aggregations,
        judged=case.judged,
        suite=suite_outline(table),
    )


def _smallest_tail(study: mean_risk.MeanRiskStudy) -> WorstShare | None:
    """Return the smallest tail level, all models' tail means at this level, and their standard errors.

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
    target: targets.Target, models: Sequence[str], settings: MeanRiskSettings, runtime: Runtime
) -> mean_risk.MeanRiskStudy:
    """Compute means and risks of all models on one metric or combined score."""
    targets.check_range(target.name, target.scores, models)
    if not settings.no_test and target.scores.strata.has_several_tasks:
        target.scores.strata.require_testable()
    with runtime.progress(f"resampling {target.name}") as progress:
        return mean_risk.study_mean_risk(
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


def _aggregate_rankings(
    table: ScoreTable, settings: MeanRiskSettings, studies: Mapping[str, mean_risk.MeanRiskStudy]
) -> Iterator[tuple[str, Aggregation]]:
    """Yield the name and result of each aggregated ranking: one per score, and one over all metrics."""
    for name, study in studies.items():
        if study.aggregation is not None:
            yield f"RA(MRM@{name})", study.aggregation
    if settings.per_metric and len(table.metrics) > 1:
        single = [*studies.values()][-len(table.metrics) :]
        together = mean_risk.aggregate_over_metrics(
            single, targets.portfolio_weights(table), names=table.models, aggregator=settings.aggregate
        )
        if together is not None:
            yield "RA(MRM@M)", together


def _provenance(
    table: ScoreTable, settings: MeanRiskSettings, chosen: Sequence[targets.Target]
) -> Provenance:
    """Return the provenance: settings, inputs and warnings."""
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
        combined=settings.with_portfolio or not settings.per_metric,
        seed=None if settings.no_test else settings.seed,
        resamples=None if settings.no_test else settings.resamples,
        warnings=[*advice, *left_out],
    )


def _mean_risk_rows(
    studies: Mapping[str, mean_risk.MeanRiskStudy], models: Sequence[str]
) -> list[MeanRiskRow]:
    """Return one row per score, risk measure and model. Models are in rank order."""
    records = (
        (metric, models, study.models, column, study.value_low, study.value_high, i, (i, k))
        for metric, study in studies.items()
        for k, column in enumerate(study.models.columns)
        for i in study.models.order(k).tolist()
    )
    return rows_from_records(MeanRiskRow, "metric models risks column low high i at", records)
