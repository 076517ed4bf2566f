"""Who is ahead of whom by stochastic dominance, pair by pair: the study behind ``dominance``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.column_tests import DominanceStudy, First, study_dominance
from riskrank.engine.dominance.effect_sizes import Differences, pairwise_differences
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.rank_guard import behind_pairs
from riskrank.engine.dominance.sign_tests import sign_tests
from riskrank.engine.dominance.tests import better_by
from riskrank.engine.sampling.degrees_of_freedom import Freedom
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.directions import refuse_distributions
from riskrank.studies.document import rows_of
from riskrank.studies.dominance.findings import DominanceCase, DominanceColumn, dominance_findings
from riskrank.studies.dominance.options import DominanceSettings
from riskrank.studies.dominance.sentences import SENTENCES
from riskrank.studies.groups.study import Standing, study_by_group
from riskrank.studies.judge.section import refuse_with_judge
from riskrank.studies.metric_means import TailMeans, worst_of
from riskrank.studies.runtime import HERE, Runtime
from riskrank.studies.settings import claims_of, inference_of
from riskrank.studies.suites.section import suite_chapter
from riskrank.studies.targets import check_portfolio, check_range, score_tables, targets, units_of
from riskrank.studies.task_scale import on_task_scale
from riskrank.studies.tested_document import TestedDocument, of_tests


@dataclass(frozen=True, slots=True)
class DominanceRow:
    """One ordered pair under one test; ``winner`` is the model whose dominance is tested.

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


# Fields of a row that are entries of the tests' arrays of the same name.
_OF_TESTS = (
    *("statistic", "standard_error", "p_value", "p_adjusted"),
    *("extrapolated", "decided", "dominates", "identical"),
)


@dataclass(frozen=True, kw_only=True)
class DominanceDocument(TestedDocument[DominanceRow], schema="dominance"):
    """Tests of all ordered pairs.

    Attributes
    ----------
    by_column : tuple of DominanceColumn
    ratios : bool
        Whether the matrices of ratios are shown as well.
    pair : (int, int), optional
        The two that a report speaks of, of which this is a part.
    """

    by_column: tuple[DominanceColumn, ...]
    ratios: bool
    pair: tuple[int, int] | None = None


def standings(document: DominanceDocument) -> dict[str, Standing]:
    """How mean violation ratios against the others rank the models, and the first claim's tests."""
    found, inference = dict[str, Standing](), document.inference
    for column in document.by_column:
        for tests in column.study.tests:
            name = f"{'FSD' if tests.claim.order == 1 else 'SSD'}@{column.name}"
            ratios = np.where(np.eye(len(tests.ratios), dtype=bool), 0.0, tests.ratios)
            beats, p = (tests.dominates, tests.p_value) if inference.test else (None, None)
            found.setdefault(name, Standing(-ratios.sum(axis=1), beats, p, inference.family))
    # Second order, what a careful reader asks for, first.
    return dict(sorted(found.items(), key=lambda entry: entry[0].startswith("FSD")))


def dominance(table: ScoreTable, settings: DominanceSettings, runtime: Runtime = HERE) -> DominanceDocument:
    """Test by stochastic dominance which model is ahead of which, with exact violation ratios.

    Parameters
    ----------
    table : ScoreTable
    settings : DominanceSettings
    runtime : Runtime, optional

    Returns
    -------
    DominanceDocument

    Raises
    ------
    InputError
        If a test is asked for on fewer than 10 samples.
    UsageError
        If settings do not fit the table.
    """
    if table.groups is not None:
        return study_by_group(dominance, standings, table, settings, runtime)
    refuse_with_judge(table, settings)
    refuse_distributions(table, "dominance")
    table = on_task_scale(table, settings)
    check_portfolio(table, settings, per_metric=settings.per_metric)
    inference = inference_of(settings, runtime.jobs)
    found, leaders = [], dict[str, First]()
    for target in targets(table, settings, per_metric=settings.per_metric):
        check_range(target.name, target.scores, table.models)
        with runtime.progress(f"resampling {target.name}") as progress:
            study = study_dominance(target.scores, claims_of(settings), inference, progress=progress)
        units = units_of(target.name, table.metrics)
        tail = TailMeans(target.name, worst_of(study), table.metrics)
        differences = _differences(target.scores, study, inference)
        column = DominanceColumn(target.name, target.scores, study, differences, units, tail)
        first, second = column.standing[:2]
        ahead = better_by(column.orders.values())
        leaders[target.name] = First(first, column.leading.claim.order, (first, second), ahead)
        found.append(column)
    suite = suite_chapter(table, score_tables(table, settings), leaders, inference, settings.tasks)
    case = DominanceCase(
        table=table,
        columns={column.name: column.scores for column in found},
        suite=suite,
        tested=inference.test,
        tests={column.name: column for column in found},
        family=inference.family,
    )
    said, studies = (SENTENCES, dominance_findings(case)), [column.study for column in found]
    return DominanceDocument(
        rows=[*_rows(found, table.models)],
        by_column=tuple(found),
        ratios=settings.ratios,
        **of_tests("dominance", case, settings, inference, studies, said, {}),
    )


def _differences(scores: ClusteredScores, study: DominanceStudy, inference: Inference) -> Differences:
    """Differences of the means of all pairs, larger is better."""
    behind = behind_pairs(scores)
    return pairwise_differences(
        study.estimates.means,
        samples=behind if isinstance(behind, Freedom) else study.estimates.samples,
        replicates=None if study.replicates is None else study.replicates.means,
        confidence=inference.family.confidence,
    ).beside(sign_tests(scores), inference.family.confidence)


def _rows(columns: Sequence[DominanceColumn], models: Sequence[str]) -> Iterator[DominanceRow]:
    """All ordered pairs, column by column and test by test."""
    winner, loser = np.meshgrid(np.array(models, dtype=object), models, indexing="ij")
    for column in columns:
        difference, low, high = column.units.told(column.differences)
        for tests in column.study.tests:
            yield from rows_of(
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
                **{name: getattr(tests, name) for name in _OF_TESTS},
            )
