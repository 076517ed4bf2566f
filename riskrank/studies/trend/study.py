"""What changed over many runs of one evaluation, and since when: the study behind ``trend``."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain, takewhile

import numpy as np

from riskrank.engine.changes.cases import Runs as Repeats
from riskrank.engine.changes.cases import flips, lost_for_good
from riskrank.engine.family import Family
from riskrank.errors import RiskrankError, index_of, option
from riskrank.scores.table.runs import Runs, inputs_of
from riskrank.studies.directions import refuse_assumed_costs
from riskrank.studies.findings import Said
from riskrank.studies.gate.verdicts import FAIL, ends_with, overall
from riskrank.studies.runtime import Runtime
from riskrank.studies.sample_findings import sample_findings, warned
from riskrank.studies.settings import family_of, provenance
from riskrank.studies.trend.comparison import Key, RunColumn, columns_of, compared, drawn
from riskrank.studies.trend.document import TrendCase, TrendDocument, TrendLine, TrendRow
from riskrank.studies.trend.findings import SENTENCES, line_sentence, trend_findings
from riskrank.studies.trend.options import TrendSettings
from riskrank.studies.trend.states import BETTER, MOVED, OPEN, WAS_WORSE, WORSE

# Lines and cases that a screen has room for.
_ROOM = 5


def trend(runs: Runs, settings: TrendSettings, _runtime: Runtime | None = None) -> TrendDocument:
    """Compare runs with a baseline and with the run before, sure over all looks there will be.

    Parameters
    ----------
    runs : Runs
    settings : TrendSettings
    _runtime : Runtime, optional

    Returns
    -------
    TrendDocument

    Raises
    ------
    InputError
        If a run shares fewer than 10 samples with the baseline.
    UsageError
        If nobody declared the direction of a metric that sounds like a cost, or a fixed set is of no metric.
    """
    tables, family = [*chain(*runs.tables.values())], family_of(settings)
    metrics = {metric.name: metric for table in tables for metric in table.metrics}
    refuse_assumed_costs(metrics.values(), command="trend")
    for metric in runs.anchors:
        index_of(metric, [*metrics], kind="metric", parameter="anchor")
    rows, moved = compared(runs, family)
    columns, by_line = columns_of(runs.tables), dict[Key, list[TrendRow]]()
    for row in rows:
        by_line.setdefault((row.metric, row.model), []).append(row)
    made = (_line(key, own, runs.baseline, settings.most_failed) for key, own in by_line.items())
    found = [with_cases(line, columns, family) for line in made]
    lines = [line for line, _ in found]
    anchors = (one for fixed in runs.anchors.values() for one in chain(*fixed.values()))
    outcome, limits = overall(lines), _limits(runs, columns, lines)
    document = TrendDocument(
        provenance=provenance(
            "trend",
            tables[-1],
            settings,
            {
                "spending": "alpha/(j(j + 1)) at look j, 0.8 of it for the baseline, 0.2 for the run before",
                "cases": "Benjamini-Hochberg a metric and model",
            },
            warnings=[*dict.fromkeys(chain(*(one.warnings for one in tables[:-1]))), *warned(limits)],
            metrics=[*metrics.values()],
            inputs=inputs_of([*tables, *anchors]),
            models=[*dict.fromkeys(row.model for row in rows)],
            samples=len({sample for table in tables for sample in table.samples}),
        ),
        rows=rows,
        runs=[*runs.tables],
        baseline=runs.baseline,
        lines=lines,
        found_cases=[case for _, cases in found for case in cases],
        cases=max(_ROOM - len(lines), 0) if settings.cases is None else settings.cases,
        moved=moved,
        family=family,
        outcome=outcome,
        failed=_ending(lines, outcome, settings),
        inconclusive=settings.inconclusive,
    )
    about = document.provenance.models
    return replace(document, **SENTENCES.told(trend_findings(document), document, about, limits=limits))


def _limits(
    runs: Runs, columns: Mapping[str, Mapping[Key, RunColumn]], lines: Sequence[TrendLine]
) -> list[Said]:
    """What the samples that the last run shares with the baseline leave open."""
    here, there = columns[[*runs.tables][-1]], columns[runs.baseline]
    keys = [(one.metric, one.model) for one in lines if one.last.against_baseline is not None]
    return sample_findings([drawn(here[key], there[key]) for key in keys if key in here])


def _line(key: Key, rows: Sequence[TrendRow], baseline: str, most_failed: float) -> TrendLine:
    """What all runs of a line come to: what is shown of it, and whether far more of it failed."""
    more = max((rows[-1].failed - row.failed for row in rows if row.run == baseline), default=0.0)
    failed = more if more > 0 and more >= most_failed - 1e-12 else None
    compared_rows = [row for row in rows if row.against_baseline_answer is not None]
    drop = rows[-1].against_last_answer == WORSE
    last = str(compared_rows[-1].against_baseline_answer) if compared_rows else OPEN
    below = takewhile(
        lambda row: row.loss > 0 and row.against_baseline_answer != MOVED, reversed(compared_rows)
    )
    shown = [row for row in below if row.against_baseline_answer == WORSE]
    line = TrendLine(*key, last, drop, rows, more_failed=failed)
    state = WAS_WORSE if last == OPEN else last
    return replace(line, state=state, since=shown[-1].run, shown=shown[0]) if shown else line


def _ending(lines: Sequence[TrendLine], outcome: str, settings: TrendSettings) -> RiskrankError | None:
    """What the run of the command ends with, after its result is written."""
    kind = ends_with(outcome, settings.inconclusive)
    if settings.fail_on is None or kind is None:
        return None
    first = next(line for line in lines if line.verdict == outcome)
    hint = {
        WORSE: f"{option('explain', True)} has every run, and {option('cases', 20)} more cases",
        MOVED: "score the runs before anew by the ruler of now, or begin with a new baseline",
        WAS_WORSE: f"more runs decide it; {option('inconclusive', 'pass')} lets it through",
    }
    verb = "failed" if outcome == FAIL else "is inconclusive"
    return kind(
        f"trend {option('fail_on', 'worse')} {verb} on {first.metric} of {first.model}",
        found=line_sentence(first),
        hint="see why calls failed, and run them again: what did not answer says nothing of the model"
        if first.more_failed is not None
        else hint.get(first.state, hint[WORSE]),
    )


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
    told = [case for case in found if case.flips or case.shown]
    told.sort(key=lambda one: (not one.shown, one.p_adjusted if one.shown else 0.0, -one.flips, one.sample))
    return replace(line, cases=len(names), flaky=flaky, lost=lost, flip_share=share), told


def _passed(column: RunColumn) -> dict[str, bool] | None:
    """Whether each sample passed, of several tries most of them; None of other scores."""
    values, sign = column.values(), column.spec.sign
    if not np.isin(values * sign, (0.0, 1.0)).all():
        return None
    own = np.searchsorted(column.samples, column.table.row_samples[column.model])
    means = Repeats(values, own).means + (sign < 0)
    return dict(zip(column.names, (means >= 0.5).tolist(), strict=True))


def _history(key: Key, name: str, own: Mapping[str, bool], changed: Collection[str]) -> tuple[TrendCase, int]:
    """What a case did run by run, and how many steps to the next run count: into `changed` none does."""
    runs, passed = [*own], np.array([*own.values()])
    counted = np.array([run not in changed for run in runs[1:]], dtype=bool)
    last, p_value = lost_for_good(passed)
    since = runs[len(runs) - last] if p_value < 1 else None
    flipped = flips(passed, counted)
    return TrendCase(*key, name, len(runs), int(passed.sum()), flipped, since, p_value), int(counted.sum())
