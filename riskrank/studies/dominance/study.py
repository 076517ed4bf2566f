"""Entry point of ``dominance``: pairwise tests of stochastic dominance."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.column_tests import TopModel, study_dominance
from riskrank.engine.dominance.effect_sizes import mean_differences
from riskrank.engine.dominance.tests import significant_wins
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies import targets
from riskrank.studies.checks import require_distributions
from riskrank.studies.document import rows_from_columns
from riskrank.studies.dominance.findings import SENTENCES, DominanceCase, DominanceColumn, dominance_findings
from riskrank.studies.dominance.options import DominanceSettings
from riskrank.studies.groups.study import Standing, study_by_group
from riskrank.studies.judge.section import refuse_options_with_judge
from riskrank.studies.metric_means import TailMeans, worst_share
from riskrank.studies.runtime import SERIAL, Runtime
from riskrank.studies.settings import claims_from_settings, inference_from_settings
from riskrank.studies.suites.section import analyze_suite
from riskrank.studies.tested_document import TestedDocument, shared_fields


@dataclass(frozen=True, slots=True)
class DominanceRow:
    """Test whether the model ``winner`` dominates the model ``loser``.

    ``group`` is None for all samples together.
    """

    metric: str
    order: int
    test: str
    threshold: float
    winner: str
    loser: str
    violation_ratio: float
    statistic: float
    standard_error: float | None
    p_value: float | None
    p_adjusted: float | None
    extrapolated: bool
    decided: bool
    dominates: bool
    identical: bool
    mean_difference: float
    difference_low: float | None
    difference_high: float | None
    group: str | None = None


# Row fields copied from the arrays of the tests with the same names.
_TEST_FIELDS = (
    *("statistic", "standard_error", "p_value", "p_adjusted"),
    *("extrapolated", "decided", "dominates", "identical"),
)


@dataclass(frozen=True, kw_only=True)
class DominanceDocument(TestedDocument[DominanceRow], schema="dominance"):
    """Dominance tests of all ordered pairs.

    Attributes
    ----------
    by_column : tuple of DominanceColumn
        Tests by metric or combined score.
    pair : (int, int), optional
        Pair that a report describes, if the document is part of a report.
    """

    by_column: tuple[DominanceColumn, ...]
    pair: tuple[int, int] | None = None


def standings(document: DominanceDocument) -> dict[str, Standing]:
    """Return each test's model scores, significant wins and p-values, by test name.

    The score is the negative sum of a model's violation ratios. Second-order tests come first.
    """
    rankings, inference = dict[str, Standing](), document.inference
    for column in document.by_column:
        for tests in column.study.tests:
            name = f"{'FSD' if tests.claim.order == 1 else 'SSD'}@{column.name}"
            ratios = np.where(np.eye(len(tests.ratios), dtype=bool), 0.0, tests.ratios)
            beats, p = (tests.dominates, tests.p_value) if inference.test else (None, None)
            rankings.setdefault(name, Standing(-ratios.sum(axis=1), beats, p, inference.family))
    # Second order comes first because it is the default answer.
    return dict(sorted(rankings.items(), key=lambda entry: entry[0].startswith("FSD")))


def dominance(table: ScoreTable, settings: DominanceSettings, runtime: Runtime = SERIAL) -> DominanceDocument:
    """Test all pairs of models for stochastic dominance and compute their violation ratios.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    settings : DominanceSettings
        Options of ``dominance``.
    runtime : Runtime, optional
        Worker processes and progress display.

    Returns
    -------
    DominanceDocument

    Raises
    ------
    InputError
        If tests are requested with fewer than 10 samples.
    UsageError
        If the settings do not apply to the table.
    """
    if table.groups is not None:
        return study_by_group(dominance, standings, table, settings, runtime)
    refuse_options_with_judge(table, settings)
    require_distributions(table, "dominance")
    table = targets.rescale_tasks(table, settings)
    targets.check_portfolio(table, settings, per_metric=settings.per_metric)
    inference = inference_from_settings(settings, runtime.jobs)
    columns, top_models = [], dict[str, TopModel]()
    for target in targets.target_columns(table, settings, per_metric=settings.per_metric):
        targets.check_range(target.name, target.scores, table.models)
        with runtime.progress(f"resampling {target.name}") as progress:
            claims = claims_from_settings(settings)
            study = study_dominance(target.scores, claims, inference, progress=progress)
        units = targets.column_units(target.name, table.metrics)
        tail = TailMeans(target.name, worst_share(study), table.metrics)
        differences = mean_differences(target.scores, inference)
        column = DominanceColumn(target.name, target.scores, study, differences, units, tail)
        first, second = column.ranking[:2]
        ahead = significant_wins(column.tests_by_order.values())
        top_models[target.name] = TopModel(first, column.primary.claim.order, (first, second), ahead)
        columns.append(column)
    suite = analyze_suite(table, targets.score_tables(table, settings), top_models, inference, settings.tasks)
    case = DominanceCase(
        table=table,
        columns={column.name: column.scores for column in columns},
        suite=suite,
        tested=inference.test,
        results={column.name: column for column in columns},
        family=inference.family,
    )
    remarks, studies = (SENTENCES, dominance_findings(case)), [column.study for column in columns]
    return DominanceDocument(
        rows=[*_pair_rows(columns, table.models)],
        by_column=tuple(columns),
        **shared_fields("dominance", case, settings, inference, studies, remarks, {}),
    )


def _pair_rows(columns: Sequence[DominanceColumn], models: Sequence[str]) -> Iterator[DominanceRow]:
    """Yield one row per metric or combined score, test and ordered pair of models."""
    winner, loser = np.meshgrid(np.array(models, dtype=object), models, indexing="ij")
    for column in columns:
        difference, low, high = column.units.estimates(column.differences)
        for tests in column.study.tests:
            yield from rows_from_columns(
                DominanceRow,
                ~np.eye(len(models), dtype=bool),
                metric=column.name,
                order=tests.claim.order,
                test=tests.claim.kind,
                threshold=tests.claim.boundary,
                winner=winner,
                loser=loser,
                violation_ratio=tests.ratios,
                mean_difference=difference,
                difference_low=low,
                difference_high=high,
                **{name: getattr(tests, name) for name in _TEST_FIELDS},
            )
