"""The first screen of a trend: the last run against the baseline, the runs in a strip, and restless cases."""

from __future__ import annotations

from collections.abc import Sequence

from riskrank.errors import option
from riskrank.shown.all_rows import unshown
from riskrank.shown.text_pictures import sparklines
from riskrank.shown.view import MOST_ROWS, Cell, Column, Line, Section, Table, asked_for, headed
from riskrank.studies.trend.document import BETTER, WORSE, TrendCase, TrendDocument, TrendLine, TrendRow
from riskrank.studies.trend.words import difference, mean_words
from riskrank.studies.wording import counted, percent

_STYLES = {WORSE: "red", BETTER: "green"}
# Runs that a strip has room for, the last ones.
_STRIP = 40


def view(document: TrendDocument) -> list[Section]:
    """A line a metric and model, how sure it is, cases; then every run for who asks."""
    lines = sorted(document.lines, key=lambda line: line.state != WORSE and not line.drop)
    return [
        _lines(document, lines[:MOST_ROWS]),
        *unshown(len(lines) - MOST_ROWS, "line"),
        Line(_tests(document)),
        *_restless(document),
        Line(option("explain", True), "Also:"),
        *asked_for([_runs(line) for line in document.lines]),
        *asked_for(_cases(document.found_cases, "All of these cases")),
    ]


def _lines(document: TrendDocument, lines: Sequence[TrendLine]) -> Table:
    failed, several = any(line.last.failed for line in lines), len({line.model for line in lines}) > 1
    shown: tuple[tuple[Cell | str, ...], ...] = tuple(
        (
            line.metric,
            *([line.model] if several else []),
            mean_words(line.last, ends=False),
            difference(line.last, "baseline"),
            _answer(line.last.against_baseline_answer),
            _answer(line.last.against_last_answer),
            *([f"{line.last.scored:,} of {line.last.samples:,}"] if failed else []),
            sparklines([[row.mean for row in line.rows[-_STRIP:]]])[0],
        )
        for line in lines
    )
    columns = (
        *headed("metric", *(["model"] if several else []), right=("mean", "difference")),
        *headed("answer", "to run\nbefore"),
        *([Column("scored", spare=True)] if failed else []),
        Column("runs", "left", only="terminal", least=90),
    )
    who = "" if several else f"{lines[0].model}, "
    title = f"{who}{document.runs[-1]} against {document.baseline}"
    return Table(title, columns, shown, stub=1 + several)


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
    if not cases:
        return []
    rows = tuple(
        (
            case.sample,
            case.metric,
            case.model,
            f"{case.passed} of {case.runs}",
            f"{case.flips}",
            Cell(case.lost_since or "–", "red" if case.shown else "") if case.shown else "–",
        )
        for case in cases
    )
    columns = (
        *headed("case", "metric", "model", right=("passed", "flips")),
        Column("lost since", "left"),
    )
    return [Table(title, columns, rows, stub=1)]


def _runs(line: TrendLine) -> Table:
    """Every run of a line."""
    columns = headed(
        "run",
        right=("mean", "against the baseline", "answer", "against the run before", "answer", "scored"),
    )
    return Table(f"{line.metric} of {line.model}", columns, tuple(_cells(row) for row in line.rows))


def _cells(row: TrendRow) -> tuple[Cell | str, ...]:
    return (
        row.run,
        mean_words(row),
        difference(row, "baseline"),
        _answer(row.against_baseline_answer),
        difference(row, "last"),
        _answer(row.against_last_answer),
        f"{row.scored:,} of {row.samples:,}",
    )
