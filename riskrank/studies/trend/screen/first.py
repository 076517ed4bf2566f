"""The first screen of a trend: the last run against the baseline, the runs in a strip, and restless cases."""

from collections.abc import Sequence

from riskrank.render.screens import MOST_ROWS, asked_for, offered, unseen, unshown
from riskrank.render.text_charts import sparklines
from riskrank.render.view import Cell, Column, Line, OfRow, Section, Table, by_row
from riskrank.studies.gate.verdicts import FAIL
from riskrank.studies.trend.document import TrendCase, TrendDocument, TrendLine, TrendRow
from riskrank.studies.trend.findings import difference, mean_words
from riskrank.studies.trend.states import BETTER, WORSE
from riskrank.studies.wording import counted, percent

_STYLES = {WORSE: "red", BETTER: "green"}
# Runs that a strip has room for, the last ones.
_STRIP = 40


def view(document: TrendDocument) -> list[Section]:
    """A line a metric and model, how sure it is, cases; then every run for who asks."""
    lines = sorted(document.lines, key=lambda line: line.verdict != FAIL)
    return [
        _lines(document, lines[:MOST_ROWS]),
        *unshown(len(lines) - MOST_ROWS, "line"),
        Line(_tests(document)),
        *unseen(document),
        *_restless(document),
        *offered([by_row(f"{line.metric} of {line.model}", _OF_RUN, line.rows) for line in document.lines]),
        *asked_for(_cases(document.found_cases, "All of these cases")),
    ]


def _lines(document: TrendDocument, lines: Sequence[TrendLine]) -> Table:
    failed, several = any(line.last.failed for line in lines), len({line.model for line in lines}) > 1
    columns: list[OfRow | None] = [
        (Column("metric", "left"), lambda line: line.metric),
        (Column("model", "left"), lambda line: line.model) if several else None,
        (Column("mean"), lambda line: mean_words(line.last, ends=False)),
        (Column("difference"), lambda line: difference(line.last, "baseline")),
        (Column("answer", "left"), lambda line: _answer(line.last.against_baseline_answer)),
        (Column("to run\nbefore", "left"), lambda line: _answer(line.last.against_last_answer)),
        (Column("scored", spare=True), lambda line: _scored(line.last)) if failed else None,
        (
            Column("runs", "left", only="terminal", least=90),
            lambda line: sparklines([[row.mean for row in line.rows[-_STRIP:]]])[0],
        ),
    ]
    who = "" if several else f"{lines[0].model}, "
    return by_row(f"{who}{document.runs[-1]} against {document.baseline}", columns, lines, stub=1 + several)


def _scored(row: TrendRow) -> str:
    return f"{row.scored:,} of {row.samples:,}"


def _answer(answer: str | None) -> Cell:
    return Cell((answer or "–").replace("-", " "), _STYLES.get(answer or "", ""))


def _tests(document: TrendDocument) -> str:
    looks, sure = len(document.runs) - 1, 100 * (1 - document.family.confidence)
    return (
        f"{counted(looks, 'look')} at {document.baseline} as the baseline; any false 'worse' over all looks "
        f"there will be: at most {sure:g} %, spent as look j has 1/(j(j + 1)) of it."
    )


def _restless(document: TrendDocument) -> list[Section]:
    """Cases that flip without a change of the model, and those that were lost for good."""
    told = [
        f"{line.flaky:,} of {line.cases:,} cases of {line.model} on {line.metric} flip to and fro "
        f"({percent(line.flip_share or 0.0)} from a run to the next), {line.lost} shown lost for good"
        for line in document.lines
        if line.cases is not None and (line.flaky or line.lost)
    ]
    if not told:
        return []
    shown = document.found_cases[: document.cases]
    more = f"; and {len(told) - 2} lines more" if len(told) > 2 else ""
    return [Line(f"{'; '.join(told[:2])}{more}.", "Cases:"), *_cases(shown, "Cases that flip or were lost")]


def _cases(cases: Sequence[TrendCase], title: str) -> list[Section]:
    columns: list[OfRow] = [
        (Column("case", "left"), lambda case: case.sample),
        (Column("metric", "left"), lambda case: case.metric),
        (Column("model", "left"), lambda case: case.model),
        (Column("passed"), lambda case: f"{case.passed} of {case.runs}"),
        (Column("flips"), lambda case: f"{case.flips}"),
        (Column("lost since", "left"), lambda case: Cell(case.lost_since, "red") if case.shown else "–"),
    ]
    return [by_row(title, columns, cases)] if cases else []


# What every run of a line says.
_OF_RUN: list[OfRow] = [
    (Column("run", "left"), lambda row: row.run),
    (Column("mean"), mean_words),
    (Column("against the baseline"), lambda row: difference(row, "baseline")),
    (Column("answer"), lambda row: _answer(row.against_baseline_answer)),
    (Column("against the run before"), lambda row: difference(row, "last")),
    (Column("answer"), lambda row: _answer(row.against_last_answer)),
    (Column("scored"), _scored),
]
