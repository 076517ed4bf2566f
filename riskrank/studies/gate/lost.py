"""Cases behind a gate that did not pass: the first question that is asked of it."""

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.engine.changes.cases import sign_test
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.diff.changes import cases_of, groups_of, named_groups, rows_of, tasks_of, with_texts
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
    wanted = dict.fromkeys(
        (row.new, row.old, row.metric, row.group, row.task)
        for row in rows
        if row.verdict != PASS or (settings.comment and row.task is None and row.group is None)
    )
    return [found for key in wanted for found in _lost(tables, key, settings)]


def _lost(
    tables: Sequence[ScoreTable], key: tuple[str, str, str, str | None, str | None], settings: ClaimSettings
) -> Iterator[Lost]:
    """Cases that lost, the most lost first, of two models, a metric, a group and a task; None is all."""
    new, old, metric, group, task = key
    for table in tables:
        for number in _columns(table, metric, task):
            models = table.index(new), table.index(old)
            cases = cases_of(table, *models, number, family_of(settings))
            groups, tasks = (
                dict(zip(table.samples, own, strict=True))
                for own in (named_groups(table, models[0]), tasks_of(table))
            )
            kept = {
                sample
                for sample in groups
                if group in (None, groups[sample]) and task in (None, tasks[sample])
            }
            here = [row for row in rows_of(table, cases, groups_of(table, models[0])) if row.sample in kept]
            own = np.array([table.samples[at] in kept for at in cases.samples.tolist()])
            lost = [row for row in here if row.change == WORSE]
            better = sum(row.change == BETTER for row in here)
            p_value = sign_test(cases.gain[own], cases.units[own])
            yield Lost(
                new,
                old,
                metric,
                with_texts(table, lost[: settings.listed], new, old),
                group,
                task,
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
