"""Entry point of ``rank``: rankings by the requested methods, and their certainty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from riskrank.engine.dominance.column_ranking import PAIRWISE_WIN_RATE, SAMPLE_WIN_RATE
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.method_rankings import (
    METRICS,
    Method,
    MethodStudy,
    methods_for_scope,
    parse_method,
    required_columns,
    study_methods,
)
from riskrank.engine.portfolio.score_tables import EMPIRICAL, INDEPENDENT, ScoreTables
from riskrank.errors import UsageError, option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies import targets
from riskrank.studies.document import rows_from_columns
from riskrank.studies.groups.study import study_by_group
from riskrank.studies.judge.section import refuse_options_with_judge
from riskrank.studies.rank.document import PLACES, RankDocument, RankRow, standings
from riskrank.studies.rank.findings import rank_findings, rank_quotes
from riskrank.studies.rank.leader import RankCase, column_leaders, decide, recommended_models, top_models
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.rank.sentences import SENTENCES
from riskrank.studies.runtime import SERIAL, Runtime
from riskrank.studies.settings import claims_from_settings, inference_from_settings
from riskrank.studies.suites.section import analyze_suite
from riskrank.studies.tested_document import shared_fields

if TYPE_CHECKING:
    from riskrank.studies.rank.means import MeanRankDocument


def rank(
    table: ScoreTable, settings: RankSettings, runtime: Runtime = SERIAL
) -> RankDocument | MeanRankDocument:
    """Rank models by stochastic dominance, or by means if the table allows nothing else.

    See :func:`rank_by_dominance` for the parameters and errors.
    """
    if table.means_only or settings.on:
        from riskrank.studies.rank.means import rank_by_means

        return rank_by_means(table, settings)
    return rank_by_dominance(table, settings, runtime)


def rank_by_dominance(table: ScoreTable, settings: RankSettings, runtime: Runtime = SERIAL) -> RankDocument:
    """Rank models by stochastic dominance and by mean win rates, all from the same bootstrap.

    Parameters
    ----------
    table : ScoreTable
    settings : RankSettings
    runtime : Runtime, optional

    Returns
    -------
    RankDocument

    Raises
    ------
    InputError
        If tests are requested with fewer than 10 samples.
    UsageError
        If a method does not apply to the table.
    """
    if table.groups is not None:
        return study_by_group(rank_by_dominance, standings, table, settings, runtime)
    refuse_options_with_judge(table, settings)
    table = targets.rescale_tasks(table, settings)
    names = [metric.name for metric in table.metrics]
    if len(names) == 1 or settings.per_metric:
        table = replace(table, warnings=(*table.warnings, *targets.scale_notes(table, names)))
    targets.check_portfolio(table, settings, per_metric=not settings.combines_metrics)
    methods, tables = select_methods(settings, table), targets.score_tables(table, settings)
    for name in required_columns(methods, tables.metrics):
        if name in tables.metrics:  # portfolios are bounded by 0 and 1
            targets.check_range(name, tables.clustered_column(name), table.models)
    inference = inference_from_settings(settings, runtime.jobs)
    common: dict[str, Any] = {"names": table.models, "aggregator": settings.aggregator}
    common["by_wins"] = settings.rank_by == "wins"
    with runtime.progress("resampling") as progress:
        study = study_methods(tables, methods, inference, progress=progress, **common)
    stability = None
    if settings.stability:
        from riskrank.engine.dominance.method_rankings import assess_stability

        with runtime.progress("subsampling") as progress:
            common |= {"progress": progress, "sizes": settings.stability}
            stability = assess_stability(tables, methods, inference, study, **common)
    units = {name: targets.column_units(name, table.metrics) for name in [*study.studies, *tables.metrics]}
    case = _build_case(table, tables, study, inference, settings)
    leaders = case.leaders
    method_entries = {"methods": list(study.rankings), "rank_by": settings.rank_by, "top": settings.top}
    method_entries |= {"aggregate": settings.aggregator if study.aggregations else None}
    weights_warning = "only the combined score P(IC) supports weights: the methods on P(EC) are excluded"
    return RankDocument(
        rows=[*_rank_rows(study, table.models, units, settings.top)],
        named=recommended_models(leaders),
        study=study,
        stability=stability,
        units=units,
        quotes=rank_quotes(case),
        leaders=leaders,
        methods_chosen=bool(settings.method or settings.all_methods or settings.aggregate),
        top=settings.top,
        **shared_fields(
            "rank",
            case,
            settings,
            inference,
            [column.dominance for column in study.studies.values()],
            (SENTENCES, rank_findings(study, case)),
            method_entries,
            [weights_warning] if settings.all_methods and targets.has_weights(table) else [],
        ),
    )


def _build_case(
    table: ScoreTable, tables: ScoreTables, study: MethodStudy, inference: Inference, settings: RankSettings
) -> RankCase:
    """Collect the results that the findings and sentences need: leaders and suite analysis."""
    leaders = column_leaders(study, tables, inference, table)
    suite = analyze_suite(table, tables, top_models(leaders, settings.rank_by), inference, settings.tasks)
    if suite is not None and not table.suite.weighted:
        for name, leader in leaders.items():
            reversed_models = suite.columns[name].leaders_without_a_task()
            decided = decide(replace(leader, task_dependent=reversed_models))
            leaders[name] = replace(decided, worse_tails=leader.worse_tails)
    return RankCase(
        table=table,
        columns={name: leader.scores for name, leader in leaders.items()},
        suite=suite,
        tested=inference.test,
        leaders=leaders,
        family=inference.family,
    )


def _rank_rows(
    study: MethodStudy, models: Sequence[str], units: Mapping[str, targets.Units], top: int | None
) -> Iterator[RankRow]:
    """Yield the result rows: for each method, its first `top` models in rank order.

    `units` has the units by ranked score.
    """
    for method, ranking in study.rankings.items():
        statistic, _, scope = method.partition("@")
        fields = {name: getattr(ranking, name) for name in PLACES}
        if method not in study.aggregations:
            column, unit = study.studies[scope], units[scope]
            effects, tests = column.effects[statistic], column.tests_for(statistic)
            fields["mean"] = unit.to_file_units(effects.mean)
            fields["tvar"] = unit.to_file_units(effects.tail_mean)
            difference = unit.estimates(effects.mean_difference)
            fields |= dict(zip(("difference", "difference_low", "difference_high"), difference, strict=True))
            if tests is not None and tests.p_value is not None:  # a model needs all its tests decided
                fields["decided"] = tests.decided.all(axis=1) & tests.decided.all(axis=0)
        names = np.array(models, dtype=object)
        yield from rows_from_columns(RankRow, ranking.order[:top], method=method, model=names, **fields)


def select_methods(settings: RankSettings, table: ScoreTable) -> list[Method]:
    """Return the methods to run on a table.

    Raises
    ------
    UsageError
        If a method is unknown or does not apply to the table.
    """
    metrics = [metric.name for metric in table.metrics]
    # Most judged samples have no human label, so single samples have no winner.
    by_sample = table.paired and table.judged is None
    claims, methods = claims_from_settings(settings), list[Method]()
    scope = targets.portfolio_name(settings) if len(metrics) > 1 else metrics[0]
    if settings.all_methods and len(metrics) < 2:
        problem = f"{option('all_methods', True)} needs several metrics"
        hint = f"leave out {option('all_methods')}, which combines metrics"
        raise UsageError(problem, found=f"one metric, {metrics[0]}", hint=hint)
    if settings.method:
        methods = [parse_method(text, default_scope=scope, metrics=metrics) for text in settings.method]
    elif settings.all_methods:
        scopes = (INDEPENDENT, METRICS) if targets.has_weights(table) else (INDEPENDENT, EMPIRICAL, METRICS)
        for portfolio in scopes:
            methods += methods_for_scope(
                portfolio, claims, paired=table.paired, mean_risk=portfolio != EMPIRICAL
            )
    elif settings.per_metric:
        methods = [method for name in metrics for method in methods_for_scope(name, claims, paired=by_sample)]
        if settings.aggregate:
            methods += methods_for_scope(METRICS, claims, paired=table.paired)
    else:
        methods = methods_for_scope(scope, claims, paired=by_sample)
    several = () if len(metrics) > 1 else {METRICS, INDEPENDENT, EMPIRICAL} - set(metrics)
    for method in methods:
        if method.scope in several:
            requested = bool(settings.method)
            hint = f"use {method.statistic}" if requested else f"leave out {option('aggregate')}"
            raise UsageError(f"{method.name} needs several metrics", found=metrics[0], hint=hint)
        if method.scope == EMPIRICAL:
            targets.refuse_weights(table)
        if method.statistic in (SAMPLE_WIN_RATE, PAIRWISE_WIN_RATE) and not by_sample:
            labels = "human scores for only some of the samples"
            problem = f"{method.name} needs a winner on each sample"
            detail = labels if table.judged is not None else option("unpaired", True)
            raise UsageError(problem, found=detail, hint="use MWR, which compares means")
    return methods
