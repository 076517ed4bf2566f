"""Cases behind a gate that did not pass: the first question that is asked of it."""

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.engine.changes.cases import sign_test
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.diff.changes import (
    compare_cases,
    group_or_task_of_samples,
    groups_of_model,
    case_rows,
    tasks_of_samples,
    add_texts,
)
from riskrank.studies.diff.document import BETTER, WORSE
from riskrank.studies.gate.document import GateRow, Lost
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.verdicts import PASS
from riskrank.studies.settings import family_of


def lost_cases(tables: Sequence[ScoreTable], rows: Sequence[GateRow], settings: ClaimSettings) -> list[Lost]:
    """The cases that lost most, of every pair, metric, group and task of which a claim did not pass.

    A comment on a pull request tells them of all claims on all samples, whether these pass or not.

    Parameters
    ----------
    tables : sequence of ScoreTable
        In the units of the file.
    rows : sequence of GateRow
    settings : ClaimSettings
        How many cases to list.
    """
    asked, shared = tables[0].options, settings.cases is not None
    if not settings.listed or (not shared and (asked.unpaired or asked.judge is not None)):
        return []
    wanted = {
        (row.new, row.old, row.metric, row.group, row.task): row
        for row in rows
        if row.verdict != PASS or (settings.comment and row.task is None and row.group is None)
    }
    return [found for row in wanted.values() for found in _lost(tables, row, settings)]


def _lost(tables: Sequence[ScoreTable], row: GateRow, settings: ClaimSettings) -> Iterator[Lost]:
    """Cases that lost, the most lost first, of a claim's two models, metric, group and task; None is all."""
    for table in tables:
        for number in _columns(table, row.metric, row.task):
            models = table.index(row.new), table.index(row.old)
            cases = compare_cases(table, *models, number, family_of(settings))
            places = zip(groups_of_model(table, models[0]), tasks_of_samples(table), strict=True)
            kept = np.array([row.group in (None, own[0]) and row.task in (None, own[1]) for own in places])
            names = {table.samples[at] for at in np.flatnonzero(kept)}
            here = [
                one
                for one in case_rows(table, cases, group_or_task_of_samples(table, models[0]))
                if one.sample in names
            ]
            own = kept[cases.samples]
            lost = [one for one in here if one.change == WORSE]
            better = sum(one.change == BETTER for one in here)
            p_value = sign_test(cases.gain[own], cases.units[own])
            yield Lost(
                row.new,
                row.old,
                row.metric,
                add_texts(table, lost[: settings.listed], row.new, row.old),
                row.group,
                row.task,
                worse=len(lost),
                better=better,
                of=len(here),
                p_value=p_value,
                by_chance=not family_of(settings).significant(p_value),
            )


def _columns(table: ScoreTable, metric: str, task: str | None) -> list[int]:
    """Columns that hold the scores of a metric; tasks with metrics of their own share one."""
    suite = table.suite
    if task is not None and suite.specs:
        own = dict(zip(suite.names, suite.specs, strict=True))
        return [0] if task in own and own[task].name == metric else []
    return [number for number, spec in enumerate(table.metrics) if spec.name == metric]
