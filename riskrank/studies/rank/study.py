"""Entry point of ``rank``: rankings by the requested methods, and their certainty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.method_rankings import MethodStudy, required_columns, study_methods
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import rows_from_columns
from riskrank.studies.groups.study import study_by_group
from riskrank.studies.judge.section import refuse_options_with_judge
from riskrank.studies.rank.context import ColumnTails, RankCase, marked_models, tail_warning
from riskrank.studies.rank.document import PLACES, RankDocument, RankRow, standings
from riskrank.studies.rank.findings import rank_findings
from riskrank.studies.rank.leader import column_leaders, first_models, recommended_models
from riskrank.studies.rank.methods import chosen_methods
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.rank.quotes import rank_quotes
from riskrank.studies.rank.sentences import SENTENCES
from riskrank.studies.runtime import SERIAL, Runtime
from riskrank.studies.settings import inference_from_settings
from riskrank.studies.suites.section import analyze_suite
from riskrank.studies.targets import (
    Units,
    check_portfolio,
    check_range,
    column_units,
    has_weights,
    score_tables,
)
from riskrank.studies.task_scale import rescale_tasks
from riskrank.studies.tested_document import shared_fields

if TYPE_CHECKING:
    from riskrank.studies.rank.by_means import MeanRankDocument


def rank(
    table: ScoreTable, settings: RankSettings, runtime: Runtime = SERIAL
) -> RankDocument | MeanRankDocument:
    """Rank models by stochastic dominance, or by means if the table allows nothing else.

    See :func:`rank_by_dominance` for the parameters and errors.
    """
    if table.means_only or settings.on:
        from riskrank.studies.rank.by_means import rank_by_means

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
    table = rescale_tasks(table, settings)
    check_portfolio(table, settings, per_metric=not settings.folds_metrics)
    methods, tables = chosen_methods(settings, table), score_tables(table, settings)
    for name in required_columns(methods, tables.metrics):
        if name in tables.metrics:  # portfolios are bounded by 0 and 1
            check_range(name, tables.clustered_column(name), table.models)
    inference = inference_from_settings(settings, runtime.jobs)
    common: dict[str, Any] = {"names": table.models, "aggregator": settings.aggregator}
    common["by_wins"] = settings.rank_by == "wins"
    with runtime.progress("resampling") as progress:
        study = study_methods(tables, methods, inference, progress=progress, **common)
    steady = None
    if settings.stability:
        from riskrank.engine.dominance.method_rankings import assess_stability

        with runtime.progress("subsampling") as progress:
            common |= {"progress": progress, "sizes": settings.stability}
            steady = assess_stability(tables, methods, inference, study, **common)
    units = {name: column_units(name, table.metrics) for name in [*study.studies, *tables.metrics]}
    case = _build_case(table, tables, study, inference, settings)
    leaders, means = case.leaders, case.means
    method_entries = {"methods": list(study.rankings), "rank_by": settings.rank_by, "top": settings.top}
    method_entries |= {"aggregate": settings.aggregator if study.aggregations else None}
    weights_warning = "only the combined score P(IC) supports weights: the methods on P(EC) are excluded"
    return RankDocument(
        rows=[*_rank_rows(study, table.models, units, settings.top)],
        named=recommended_models(leaders),
        study=study,
        stability=steady,
        units=units,
        quotes=rank_quotes(case),
        leaders=leaders,
        marks={name: marked_models(leader, table, means) for name, leader in leaders.items()},
        tail_warnings={name: tail_warning(leader, table.metrics) for name, leader in leaders.items()},
        tails={name: ColumnTails(leader, table) for name, leader in leaders.items()},
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
            [weights_warning] if settings.all_methods and has_weights(table) else [],
        ),
    )


def _build_case(
    table: ScoreTable, tables: ScoreTables, study: MethodStudy, inference: Inference, settings: RankSettings
) -> RankCase:
    """Collect the leaders, the suite analysis and the other results for the sentences."""
    leaders = column_leaders(study, tables, inference, table)
    suite = analyze_suite(table, tables, first_models(leaders, settings.rank_by), inference, settings.tasks)
    if suite is not None and not table.suite.weighted:
        reversed_models = {name: suite.columns[name].leaders_without_a_task() for name in leaders}
        leaders = {
            name: replace(leader, task_dependent=reversed_models[name]) for name, leader in leaders.items()
        }
    return RankCase(
        table=table,
        columns={name: leader.scores for name, leader in leaders.items()},
        suite=suite,
        tested=inference.test,
        leaders=leaders,
        family=inference.family,
        unique=all(order.unique for order in study.aggregations.values()),
    )


def _rank_rows(
    study: MethodStudy, models: Sequence[str], units: Mapping[str, Units], top: int | None
) -> Iterator[RankRow]:
    """Yield one row per method and model, with methods as requested and models in rank order."""
    for method, ranking in study.rankings.items():
        statistic, _, scope = method.partition("@")
        fields = {name: getattr(ranking, name) for name in PLACES}
        if method not in study.aggregations:
            column, unit = study.studies[scope], units[scope]
            effects, tests = column.effects[statistic], column.tests_for(statistic)
            fields |= {
                "mean": unit.to_file_units(effects.mean),
                "tvar": unit.to_file_units(effects.tail_mean),
            }
            difference = unit.estimates(effects.mean_difference)
            fields |= dict(zip(("difference", "difference_low", "difference_high"), difference, strict=True))
            if tests is not None and tests.p_value is not None:  # a model needs all its tests decided
                fields["decided"] = tests.decided.all(axis=1) & tests.decided.all(axis=0)
        names = np.array(models, dtype=object)
        yield from rows_from_columns(RankRow, ranking.order[:top], method=method, model=names, **fields)
