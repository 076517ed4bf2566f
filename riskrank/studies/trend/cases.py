"""Cases over all runs of a model: those that flip though nothing changed, and those lost for good."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from riskrank.engine.changes.cases import Runs as Repeats
from riskrank.engine.changes.cases import flips, lost_for_good
from riskrank.engine.family import Family
from riskrank.studies.trend.compared import Key, RunColumn
from riskrank.studies.trend.document import BETTER, WORSE, TrendCase, TrendLine

# A case that flips so often came back, so that it is not one change for good.
_FLAKY = 2


def with_cases(
    line: TrendLine, columns: Mapping[str, Mapping[Key, RunColumn]], family: Family
) -> tuple[TrendLine, list[TrendCase]]:
    """A line with what its cases do, and those that flip or were lost; nothing of scores but 0 and 1."""
    key = line.metric, line.model
    passed = {row.run: _passed(columns[row.run][key]) for row in line.rows}
    known = {run: one for run, one in passed.items() if one is not None}
    if len(known) < len(passed):
        return line, []
    changed = {row.run for row in line.rows if row.against_last_answer in (WORSE, BETTER)}
    names = sorted({name for one in known.values() for name in one})
    own = [
        _history(key, name, {run: one[name] for run, one in known.items() if name in one}, changed)
        for name in names
    ]
    family = replace(family, correction="bh")
    adjusted = family.adjusted([case.p_value for case, _ in own])
    found = [
        replace(case, p_adjusted=float(p), shown=bool(family.significant(p)))
        for (case, _), p in zip(own, adjusted, strict=True)
    ]
    lost = sum(case.shown for case in found)
    flaky = sum(case.flips >= _FLAKY and not case.shown for case in found)
    pairs = sum(counted for _, counted in own)
    share = sum(case.flips for case in found) / pairs if pairs else None
    told = sorted((case for case in found if case.flips or case.shown), key=_surest)
    return replace(line, cases=len(names), flaky=flaky, lost=lost, flip_share=share), told


def _passed(column: RunColumn) -> dict[str, bool] | None:
    """Whether each sample passed, of several tries most of them; None of other scores."""
    metric, table = column.table.metrics[column.metric], column.table
    values = column.values()
    if not np.isin(values * metric.sign, (0.0, 1.0)).all():
        return None
    own = np.searchsorted(column.samples, table.row_samples[column.model])
    means = Repeats(values, own).means + (metric.sign < 0)
    return dict(zip(column.names, (means >= 0.5).tolist(), strict=True))


def _history(key: Key, name: str, own: Mapping[str, bool], changed: Collection[str]) -> tuple[TrendCase, int]:
    """What a case did run by run, and how many steps to the next run count: into `changed` none does."""
    runs, passed = [*own], np.array([*own.values()])
    counted = np.array([run not in changed for run in runs[1:]], dtype=bool)
    last, p_value = lost_for_good(passed)
    since = runs[len(runs) - last] if p_value < 1 else None
    flipped = flips(passed, counted)
    return TrendCase(*key, name, len(runs), int(passed.sum()), flipped, since, p_value), int(counted.sum())


def _surest(case: TrendCase) -> tuple[bool, float, int, str]:
    return not case.shown, case.p_adjusted if case.shown else 0.0, -case.flips, case.sample
