"""A ranking by the methods asked for, and how sure it is: the study behind ``rank``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.method_rankings import MethodStudy, columns_needed, study_methods
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import rows_of
from riskrank.studies.groups.study import study_by_group
from riskrank.studies.judge.section import refuse_with_judge
from riskrank.studies.rank.context import RankCase, Tail, marks, worse_cases
from riskrank.studies.rank.document import PLACES, RankDocument, RankRow, standings
from riskrank.studies.rank.findings import rank_findings
from riskrank.studies.rank.leader import firsts, lead, named
from riskrank.studies.rank.methods import chosen_methods
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.rank.quotes import quoted
from riskrank.studies.rank.sentences import SENTENCES
from riskrank.studies.runtime import HERE, Runtime
from riskrank.studies.settings import inference_of
from riskrank.studies.suites.section import suite_chapter
from riskrank.studies.targets import Units, check_portfolio, check_range, score_tables, units_of, weighed
from riskrank.studies.task_scale import on_task_scale
from riskrank.studies.tested_document import of_tests

if TYPE_CHECKING:
    from riskrank.studies.rank.by_means import MeanRankDocument


def rank(
    table: ScoreTable, settings: RankSettings, runtime: Runtime = HERE
) -> RankDocument | MeanRankDocument:
    """Rank models by stochastic dominance, or by means alone where the table has no more to say.

    Parameters, errors and all else are those of :func:`rank_by_dominance`.
    """
    if table.means_only or settings.on:
        from riskrank.studies.rank.by_means import rank_by_means

        return rank_by_means(table, settings)
    return rank_by_dominance(table, settings, runtime)


def rank_by_dominance(table: ScoreTable, settings: RankSettings, runtime: Runtime = HERE) -> RankDocument:
    """Rank models by stochastic dominance, next to mean win rates, from one bootstrap.

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
        If a test is asked for on fewer than 10 samples.
    UsageError
        If a method does not fit the table.
    """
    if table.groups is not None:
        return study_by_group(rank_by_dominance, standings, table, settings, runtime)
    refuse_with_judge(table, settings)
    table = on_task_scale(table, settings)
    check_portfolio(table, settings, per_metric=not settings.folds_metrics)
    methods, tables = chosen_methods(settings, table), score_tables(table, settings)
    for name in columns_needed(methods, tables.metrics):
        if name in tables.metrics:  # portfolios lie between 0 and 1
            check_range(name, tables.column(name), table.models)
    inference = inference_of(settings, runtime.jobs)
    common: dict[str, Any] = {"names": table.models, "aggregator": settings.aggregator}
    common["by_wins"] = settings.rank_by == "wins"
    with runtime.progress("resampling") as progress:
        study = study_methods(tables, methods, inference, progress=progress, **common)
    steady = None
    if settings.stability:
        from riskrank.engine.dominance.method_rankings import stability

        if settings.stability_repeats is not None:
            common["repeats"] = settings.stability_repeats
        with runtime.progress("subsampling") as progress:
            common |= {"progress": progress, "sizes": settings.stability}
            steady = stability(tables, methods, inference, study, **common)
    units = {name: units_of(name, table.metrics) for name in [*study.studies, *tables.metrics]}
    case = _case(table, tables, study, inference, settings)
    leading, means = case.leading, case.means
    described = {"methods": list(study.rankings), "rank_by": settings.rank_by, "top": settings.top}
    described |= {"aggregate": settings.aggregator if study.aggregations else None}
    left_out = "of combined scores only P(IC) takes weights: methods of P(EC) are left out"
    return RankDocument(
        rows=[*_rows(study, table.models, units, settings.top)],
        named=named(leading),
        study=study,
        steady=steady,
        units=units,
        quotes=quoted(case),
        leading=leading,
        marks={name: marks(one, table, means) for name, one in leading.items()},
        worse_cases={name: worse_cases(one, table.metrics) for name, one in leading.items()},
        tails={name: Tail(one, table) for name, one in leading.items()},
        methods_asked=bool(settings.method or settings.all_methods or settings.aggregate),
        top=settings.top,
        **of_tests(
            "rank",
            case,
            settings,
            inference,
            [found.dominance for found in study.studies.values()],
            (SENTENCES, rank_findings(study, case)),
            described,
            [left_out] if settings.all_methods and weighed(table) else [],
        ),
    )


def _case(
    table: ScoreTable, tables: ScoreTables, study: MethodStudy, inference: Inference, settings: RankSettings
) -> RankCase:
    leading = lead(study, tables, inference, table)
    suite = suite_chapter(table, tables, firsts(leading, settings.rank_by), inference, settings.tasks)
    if suite is not None and not table.suite.weighed:
        turned = {name: suite.columns[name].reversed_by_a_task() for name in leading}
        leading = {name: replace(one, turned=turned[name]) for name, one in leading.items()}
    return RankCase(
        table=table,
        columns={name: one.scores for name, one in leading.items()},
        suite=suite,
        tested=inference.test,
        leading=leading,
        family=inference.family,
        unique=all(found.unique for found in study.aggregations.values()),
    )


def _rows(
    study: MethodStudy, models: Sequence[str], units: Mapping[str, Units], top: int | None
) -> Iterator[RankRow]:
    """One row a method and model, methods in the order asked for, models by rank."""
    for method, ranking in study.rankings.items():
        statistic, _, scope = method.partition("@")
        found = {name: getattr(ranking, name) for name in PLACES}
        if method not in study.aggregations:
            column, unit = study.studies[scope], units[scope]
            effects, tests = column.effects[statistic], column.tests_of(statistic)
            found |= {"mean": unit.of(effects.mean), "tvar": unit.of(effects.tail_mean)}
            ends = unit.told(effects.mean_difference)
            found |= dict(zip(("difference", "difference_low", "difference_high"), ends, strict=True))
            if tests is not None and tests.p_value is not None:  # whether every claim about a model is
                found["decided"] = tests.decided.all(axis=1) & tests.decided.all(axis=0)
        names = np.array(models, dtype=object)
        yield from rows_of(RankRow, ranking.order[:top], method=method, model=names, **found)
