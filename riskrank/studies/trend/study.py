"""Entry point of ``trend``: compare many runs of one evaluation, and date significant changes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain, takewhile

import numpy as np

from riskrank.engine.changes.cases import Repeats, count_flips, trailing_failures
from riskrank.engine.family import Family
from riskrank.errors import RiskrankError, index_of, option
from riskrank.scores.table.runs import Runs, input_entries
from riskrank.studies.directions import refuse_assumed_costs
from riskrank.studies.findings import Remark
from riskrank.studies.gate.verdicts import FAIL, error_type, joint_verdict
from riskrank.studies.runtime import Runtime
from riskrank.studies.sample_findings import limit_warnings, sample_findings
from riskrank.studies.settings import family_from_settings, provenance
from riskrank.studies.trend.comparison import (
    LineKey,
    RunColumn,
    clustered_samples,
    columns_by_run,
    compare_runs,
)
from riskrank.studies.trend.document import (
    BETTER,
    SCORING_CHANGED,
    UNDECIDED,
    WAS_WORSE,
    WORSE,
    TrendCase,
    TrendDocument,
    TrendLine,
    TrendRow,
)
from riskrank.studies.trend.findings import SENTENCES, line_sentence, trend_findings
from riskrank.studies.trend.options import TrendSettings

# Lines and cases that fit a screen.
_SCREEN_ROWS = 5


def trend(runs: Runs, settings: TrendSettings, _runtime: Runtime | None = None) -> TrendDocument:
    """Compare each run with a baseline and the previous run, controlling the error rate over all looks.

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
        If a run has fewer than 10 samples in common with the baseline.
    UsageError
        If the direction of a cost-like metric is undeclared, or a fixed set has no matching metric.
    """
    tables, family = [*chain(*runs.tables.values())], family_from_settings(settings)
    metrics = {metric.name: metric for table in tables for metric in table.metrics}
    refuse_assumed_costs(metrics.values(), command="trend")
    for metric in runs.anchors:
        index_of(metric, [*metrics], kind="metric", parameter="anchor")
    rows, scoring_changes = compare_runs(runs, family)
    columns, by_line = columns_by_run(runs.tables), dict[LineKey, list[TrendRow]]()
    for row in rows:
        by_line.setdefault((row.metric, row.model), []).append(row)
    plain_lines = (
        _trend_line(key, line_rows, runs.baseline, settings.most_failed) for key, line_rows in by_line.items()
    )
    lines_with_cases = [add_cases(line, columns, family) for line in plain_lines]
    lines = [line for line, _ in lines_with_cases]
    anchors = (table for fixed in runs.anchors.values() for table in chain(*fixed.values()))
    outcome, limits = joint_verdict(lines), _sample_limits(runs, columns, lines)
    document = TrendDocument(
        provenance=provenance(
            "trend",
            tables[-1],
            settings,
            {
                "spending": "alpha/(j(j + 1)) at look j: 0.8 for the baseline, 0.2 for the previous run",
                "cases": "Benjamini-Hochberg per metric and model",
            },
            warnings=[
                *dict.fromkeys(chain(*(table.warnings for table in tables[:-1]))),
                *limit_warnings(limits),
            ],
            metrics=[*metrics.values()],
            inputs=input_entries([*tables, *anchors]),
            models=[*dict.fromkeys(row.model for row in rows)],
            samples=len({sample for table in tables for sample in table.samples}),
        ),
        rows=rows,
        runs=[*runs.tables],
        baseline=runs.baseline,
        lines=lines,
        changed_cases=[case for _, cases in lines_with_cases for case in cases],
        n_cases=max(_SCREEN_ROWS - len(lines), 0) if settings.cases is None else settings.cases,
        scoring_changes=scoring_changes,
        family=family,
        outcome=outcome,
        failed=_exit_error(lines, outcome, settings),
        inconclusive=settings.inconclusive,
    )
    models = document.provenance.models
    return replace(document, **SENTENCES.fields(trend_findings(document), document, models, limits=limits))


def _sample_limits(
    runs: Runs, columns: Mapping[str, Mapping[LineKey, RunColumn]], lines: Sequence[TrendLine]
) -> list[Remark]:
    """Return the limitations of the samples shared by the last run and the baseline."""
    last_columns, baseline_columns = columns[[*runs.tables][-1]], columns[runs.baseline]
    keys = [(line.metric, line.model) for line in lines if line.last.against_baseline is not None]
    return sample_findings(
        [clustered_samples(last_columns[key], baseline_columns[key]) for key in keys if key in last_columns]
    )


def _trend_line(key: LineKey, rows: Sequence[TrendRow], baseline: str, most_failed: float) -> TrendLine:
    """Return the history of one metric and model, with its state and any excess of failures."""
    increase = max(
        (rows[-1].failure_rate - row.failure_rate for row in rows if row.run == baseline), default=0.0
    )
    more_failed = increase if increase > 0 and increase >= most_failed - 1e-12 else None
    compared_rows = [row for row in rows if row.against_baseline_answer is not None]
    drop = rows[-1].against_last_answer == WORSE
    state = str(compared_rows[-1].against_baseline_answer) if compared_rows else UNDECIDED
    losing_rows = takewhile(
        lambda row: row.loss > 0 and row.against_baseline_answer != SCORING_CHANGED, reversed(compared_rows)
    )
    worse_rows = [row for row in losing_rows if row.against_baseline_answer == WORSE]
    line = TrendLine(*key, state, drop, rows, more_failed=more_failed)
    state = WAS_WORSE if state == UNDECIDED else state
    return (
        replace(line, state=state, since=worse_rows[-1].run, last_worse=worse_rows[0]) if worse_rows else line
    )


def _exit_error(lines: Sequence[TrendLine], outcome: str, settings: TrendSettings) -> RiskrankError | None:
    """Return the error to raise after the result has been written, or None for a pass."""
    kind = error_type(outcome, settings.inconclusive)
    if settings.fail_on is None or kind is None:
        return None
    first = next(line for line in lines if line.verdict == outcome)
    hint = {
        WORSE: f"{option('explain', True)} lists every run, and {option('cases', 20)} lists more cases",
        SCORING_CHANGED: "rescore the earlier runs with the current scoring, or start with a new baseline",
        WAS_WORSE: f"add runs to decide it, or use {option('inconclusive', 'pass')} to accept it",
    }
    verb = "failed" if outcome == FAIL else "is inconclusive"
    return kind(
        f"trend {option('fail_on', 'worse')} {verb} on {first.metric} of {first.model}",
        found=line_sentence(first),
        hint="find out why the calls failed, and repeat them: failed calls say nothing about the model"
        if first.more_failed is not None
        else hint.get(first.state, hint[WORSE]),
    )


# A case that flips this often has recovered, so it is not permanently lost.
_FLAKY = 2


def add_cases(
    line: TrendLine, columns: Mapping[str, Mapping[LineKey, RunColumn]], family: Family
) -> tuple[TrendLine, list[TrendCase]]:
    """Add the counts of cases to a line, and return it with the cases that flip or are lost.

    A line with scores other than 0 and 1 is returned unchanged, without cases.
    """
    key = line.metric, line.model
    passed = {row.run: _passed_samples(columns[row.run][key]) for row in line.rows}
    passed_by_run = {run: outcomes for run, outcomes in passed.items() if outcomes is not None}
    if len(passed_by_run) < len(passed):
        return line, []
    changed = {row.run for row in line.rows if row.against_last_answer in (WORSE, BETTER)}
    names = sorted({name for outcomes in passed_by_run.values() for name in outcomes})
    histories = [
        _case_history(
            key,
            name,
            {run: outcomes[name] for run, outcomes in passed_by_run.items() if name in outcomes},
            changed,
        )
        for name in names
    ]
    family = replace(family, correction="bh")
    adjusted = family.adjust_p_values([case.p_value for case, _ in histories])
    cases = [
        replace(case, p_adjusted=float(p), significant=bool(family.significant(p)))
        for (case, _), p in zip(histories, adjusted, strict=True)
    ]
    lost = sum(case.significant for case in cases)
    flaky = sum(case.flips >= _FLAKY and not case.significant for case in cases)
    pairs = sum(counted for _, counted in histories)
    share = sum(case.flips for case in cases) / pairs if pairs else None
    changed_cases = [case for case in cases if case.flips or case.significant]
    changed_cases.sort(
        key=lambda case: (
            not case.significant,
            case.p_adjusted if case.significant else 0.0,
            -case.flips,
            case.sample,
        )
    )
    return replace(line, cases=len(names), flaky=flaky, lost=lost, flip_share=share), changed_cases


def _passed_samples(column: RunColumn) -> dict[str, bool] | None:
    """Return whether each sample passed, by majority over its repeats.

    The result is None unless all scores are 0 or 1.
    """
    values, sign = column.values(), column.spec.sign
    if not np.isin(values * sign, (0.0, 1.0)).all():
        return None
    sample_indices = np.searchsorted(column.samples, column.table.row_samples[column.model])
    means = Repeats(values, sample_indices).means + (sign < 0)
    return dict(zip(column.sample_names, (means >= 0.5).tolist(), strict=True))


def _case_history(
    key: LineKey, name: str, passed_by_run: Mapping[str, bool], changed: Collection[str]
) -> tuple[TrendCase, int]:
    """Return the history of one case over all runs, and the number of steps between runs.

    Steps to the runs in `changed` are not counted.
    """
    runs, passed = [*passed_by_run], np.array([*passed_by_run.values()])
    counted = np.array([run not in changed for run in runs[1:]], dtype=bool)
    last, p_value = trailing_failures(passed)
    since = runs[len(runs) - last] if p_value < 1 else None
    flipped = count_flips(passed, counted)
    return TrendCase(*key, name, len(runs), int(passed.sum()), flipped, since, p_value), int(counted.sum())
