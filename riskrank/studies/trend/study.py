"""What changed over many runs of one evaluation, and since when: the study behind ``trend``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, takewhile

from riskrank.errors import RiskrankError, UsageError, listing, option
from riskrank.scores.table.runs import Runs, inputs_of
from riskrank.studies.directions import refuse_assumed_costs
from riskrank.studies.gate.document import FAIL, ends_with, overall
from riskrank.studies.provenance import described_inputs, provenance
from riskrank.studies.runtime import Runtime
from riskrank.studies.settings import family_of
from riskrank.studies.trend.cases import with_cases
from riskrank.studies.trend.compared import Key, columns_of, compared, line_rows
from riskrank.studies.trend.document import (
    MOVED,
    OPEN,
    WAS_WORSE,
    WORSE,
    TrendDocument,
    TrendLine,
    TrendRow,
)
from riskrank.studies.trend.findings import SENTENCES, trend_findings
from riskrank.studies.trend.options import TrendSettings
from riskrank.studies.trend.words import line_sentence

# Lines and cases that a screen has room for.
_ROOM = 6


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
    unknown = [metric for metric in runs.anchors if metric not in metrics]
    if unknown:
        raise UsageError(
            f"{option('anchor', f'{unknown[0]}=…')} is for a metric that no run has",
            found=f"the metrics are {listing(metrics)}",
            hint="name one of these",
        )
    rows, moved = compared(runs, family)
    columns = columns_of(runs.tables)
    most = settings.most_failed
    found = [
        with_cases(_line(key, own, runs.baseline, most), columns, family) for key, own in line_rows(rows)
    ]
    lines = [line for line, _ in found]
    every = {
        "inputs": inputs_of(
            [*tables, *(one for fixed in runs.anchors.values() for one in chain(*fixed.values()))]
        ),
        "models": [*dict.fromkeys(row.model for row in rows)],
        "samples": len({sample for table in tables for sample in table.samples}),
    }
    outcome = overall(lines)
    document = TrendDocument(
        provenance=provenance(
            "trend",
            tables[-1],
            settings,
            {
                "spending": "alpha/(j(j + 1)) at look j, 0.8 of it for the baseline, 0.2 for the run before",
                "cases": "Benjamini-Hochberg a metric and model",
            },
            warnings=[*dict.fromkeys(line for table in tables[:-1] for line in table.warnings)],
            **(described_inputs(tables[-1], [*metrics.values()]) | every),
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
    return replace(document, **SENTENCES.told(trend_findings(document), document, about))


def _line(key: Key, rows: Sequence[TrendRow], baseline: str, most_failed: float) -> TrendLine:
    """What all runs of a line come to."""
    more = max((rows[-1].failed - row.failed for row in rows if row.run == baseline), default=0.0)
    line = _answered(key, rows)
    return replace(line, more_failed=more) if more > 0 and more >= most_failed - 1e-12 else line


def _answered(key: Key, rows: Sequence[TrendRow]) -> TrendLine:
    """What is shown of a line."""
    compared_rows = [row for row in rows if row.against_baseline_answer is not None]
    drop = rows[-1].against_last_answer == WORSE
    if not compared_rows:
        return TrendLine(*key, OPEN, drop, rows)
    last = str(compared_rows[-1].against_baseline_answer)
    below = takewhile(
        lambda row: row.loss > 0 and row.against_baseline_answer != MOVED, reversed(compared_rows)
    )
    shown = [row for row in below if row.against_baseline_answer == WORSE]
    if not shown:
        return TrendLine(*key, last, drop, rows)
    return TrendLine(*key, WAS_WORSE if last == OPEN else last, drop, rows, shown[-1].run, shown[0])


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
