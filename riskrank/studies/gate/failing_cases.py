"""Cases that contribute most to claims that did not pass."""

from collections.abc import Sequence

import numpy as np

from riskrank.engine.changes.cases import sign_test
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.diff.document import BETTER, WORSE
from riskrank.studies.diff.study import add_texts, case_rows, compare_cases, sample_groups, sample_tasks
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
    return [
        _lost_cases_of_claim(table, number, row, settings)
        for row in selected.values()
        for table in tables
        for number in _metric_columns(table, row.metric, row.task)
    ]


def _lost_cases_of_claim(table: ScoreTable, metric: int, row: GateRow, settings: ClaimSettings) -> LostCases:
    """Return the lost cases of one claim on one metric of a table, the largest loss first."""
    new, old, family = table.index(row.new), table.index(row.old), family_from_settings(settings)
    cases = compare_cases(table, new, old, metric, family)
    groups, tasks = sample_groups(table, new), sample_tasks(table)
    keys = zip(groups, tasks, strict=True)
    mask = np.array([row.group in (None, group) and row.task in (None, task) for group, task in keys])
    names = {table.samples[at] for at in np.flatnonzero(mask)}
    all_cases = case_rows(table, cases, tasks if table.groups is None else groups)
    claim_cases = [case for case in all_cases if case.sample in names]
    lost = [case for case in claim_cases if case.change == WORSE]
    in_claim = mask[cases.samples]
    p_value = sign_test(cases.gain[in_claim], cases.units[in_claim])
    return LostCases(
        row.new,
        row.old,
        row.metric,
        add_texts(table, lost[: settings.listed_cases], row.new, row.old),
        row.group,
        row.task,
        worse=len(lost),
        better=sum(case.change == BETTER for case in claim_cases),
        of=len(claim_cases),
        p_value=p_value,
        by_chance=not family.significant(p_value),
    )


def _metric_columns(table: ScoreTable, metric: str, task: str | None) -> list[int]:
    """Return the columns of a table with the scores of a metric: one, or none if the table lacks the metric.

    If the tasks of a suite have different metrics, column 0 contains all of them.
    """
    suite = table.suite
    if task is not None and suite.specs:
        spec_by_task = dict(zip(suite.names, suite.specs, strict=True))
        return [0] if task in spec_by_task and spec_by_task[task].name == metric else []
    return [number for number, spec in enumerate(table.metrics) if spec.name == metric]
