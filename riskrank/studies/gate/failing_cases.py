"""Cases that contribute most to claims that did not pass."""

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.engine.changes.cases import sign_test
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.diff.document import BETTER, WORSE
from riskrank.studies.diff.study import (
    add_texts,
    case_rows,
    compare_cases,
    group_or_task_of_samples,
    groups_of_model,
    tasks_of_samples,
)
from riskrank.studies.gate.document import GateRow, LostCases
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.verdicts import PASS
from riskrank.studies.settings import family_from_settings


def lost_cases(
    tables: Sequence[ScoreTable], rows: Sequence[GateRow], settings: ClaimSettings
) -> list[LostCases]:
    """Return the cases with the largest losses for each claim that did not pass.

    A pull-request comment also lists those of passed claims on all samples.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Scores in the units of the file.
    rows : sequence of GateRow
    settings : ClaimSettings
        Includes the number of cases to list.
    """
    options, requested = tables[0].options, settings.cases is not None
    if not settings.listed_cases or (not requested and (options.unpaired or options.judge is not None)):
        return []
    selected = {
        (row.new, row.old, row.metric, row.group, row.task): row
        for row in rows
        if row.old and (row.verdict != PASS or (settings.comment and row.task is None and row.group is None))
    }
    return [lost for row in selected.values() for lost in _claim_losses(tables, row, settings)]


def _claim_losses(tables: Sequence[ScoreTable], row: GateRow, settings: ClaimSettings) -> Iterator[LostCases]:
    """Yield the lost cases of one claim, the largest loss first, once per table that has its metric."""
    for table in tables:
        for number in _metric_columns(table, row.metric, row.task):
            models = table.index(row.new), table.index(row.old)
            cases = compare_cases(table, *models, number, family_from_settings(settings))
            keys = zip(groups_of_model(table, models[0]), tasks_of_samples(table), strict=True)
            mask = np.array([row.group in (None, group) and row.task in (None, task) for group, task in keys])
            names = {table.samples[at] for at in np.flatnonzero(mask)}
            rows = [
                case
                for case in case_rows(table, cases, group_or_task_of_samples(table, models[0]))
                if case.sample in names
            ]
            selected = mask[cases.samples]
            lost = [case for case in rows if case.change == WORSE]
            better = sum(case.change == BETTER for case in rows)
            p_value = sign_test(cases.gain[selected], cases.units[selected])
            yield LostCases(
                row.new,
                row.old,
                row.metric,
                add_texts(table, lost[: settings.listed_cases], row.new, row.old),
                row.group,
                row.task,
                worse=len(lost),
                better=better,
                of=len(rows),
                p_value=p_value,
                by_chance=not family_from_settings(settings).significant(p_value),
            )


def _metric_columns(table: ScoreTable, metric: str, task: str | None) -> list[int]:
    """Return the indices of a metric in a table.

    If tasks have different metrics, all metrics share index 0.
    """
    suite = table.suite
    if task is not None and suite.specs:
        spec_by_task = dict(zip(suite.names, suite.specs, strict=True))
        return [0] if task in spec_by_task and spec_by_task[task].name == metric else []
    return [number for number, spec in enumerate(table.metrics) if spec.name == metric]
