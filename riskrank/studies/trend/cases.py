"""Cases over all runs of a model: those that flip though nothing changed, and those lost for good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from riskrank.engine.changes.cases import Runs as Repeats
from riskrank.engine.changes.runs_in_order import flips, lost_for_good
from riskrank.engine.family import Family
from riskrank.engine.types import Booleans
from riskrank.studies.trend.compared import Key, RunColumn
from riskrank.studies.trend.document import BETTER, WORSE, TrendCase, TrendLine

# A case that flips so often came back, so that it is not one change for good.
_FLAKY = 2


def with_cases(
    line: TrendLine, columns: Mapping[str, Mapping[Key, RunColumn]], family: Family
) -> tuple[TrendLine, list[TrendCase]]:
    """A line with what its cases do, and those that flip or were lost; nothing of scores but 0 and 1."""
    key = line.metric, line.model
    runs = [row.run for row in line.rows]
    passed = [_passed(columns[run][key]) for run in runs]
    if any(one is None for one in passed):
        return line, []
    known = [one for one in passed if one is not None]
    changed = {row.run for row in line.rows if row.against_last_answer in (WORSE, BETTER)}
    found: list[TrendCase] = []
    pairs = flipped = 0
    names = sorted({name for one in known for name in one})
    for name in names:
        own = [(run, one[name]) for run, one in zip(runs, known, strict=True) if name in one]
        case, counted = _case(key, name, own, changed)
        found.append(case)
        pairs, flipped = pairs + counted, flipped + case.flips
    found = _tested(found, family)
    lost = sum(case.shown for case in found)
    flaky = sum(case.flips >= _FLAKY and not case.shown for case in found)
    share = flipped / pairs if pairs else None
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


def _case(key: Key, name: str, runs: Sequence[tuple[str, bool]], changed: set[str]) -> tuple[TrendCase, int]:
    """A case, and how many of its steps from a run to the next count."""
    passed: Booleans = np.array([one for _, one in runs])
    counted = np.array([run not in changed for run, _ in runs[1:]], dtype=bool)
    last, p_value = lost_for_good(passed)
    since = runs[len(runs) - last][0] if p_value < 1 else None
    case = TrendCase(
        *key,
        name,
        len(runs),
        int(passed.sum()),
        flips(passed, counted),
        since,
        p_value,
        1.0,
        shown=False,
    )
    return case, int(counted.sum())


def _tested(cases: Sequence[TrendCase], family: Family) -> list[TrendCase]:
    """Cases with what is shown of them, by Benjamini and Hochberg's correction."""
    family = replace(family, correction="bh")
    adjusted = family.adjusted([case.p_value for case in cases])
    return [
        replace(case, p_adjusted=float(p), shown=bool(family.significant(p)))
        for case, p in zip(cases, adjusted, strict=True)
    ]


def _surest(case: TrendCase) -> tuple[bool, float, int, str]:
    return not case.shown, case.p_adjusted if case.shown else 0.0, -case.flips, case.sample
