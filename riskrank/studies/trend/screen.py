"""Terminal output of ``trend``: last run against baseline, sparklines, changed cases, and a JUnit report."""

from collections.abc import Callable, Sequence

from riskrank.render import screens
from riskrank.render.junit import Suite, TestCase
from riskrank.render.text_charts import sparklines
from riskrank.render.view import Cell, Column, Line, RowColumn, Section, Table, build_table
from riskrank.studies.gate.verdicts import FAIL, result_kind
from riskrank.studies.trend.document import (
    BETTER,
    NOT_SCORED,
    WORSE,
    TrendCase,
    TrendDocument,
    TrendLine,
    TrendRow,
    format_difference,
    format_mean,
    line_sentence,
)
from riskrank.studies.wording import counted, format_percent

_STYLES = {WORSE: "red", BETTER: "green"}
# Number of latest runs that fit a sparkline.
_SPARKLINE_RUNS = 40


def build_sections(document: TrendDocument) -> list[Section]:
    """Return the sections of the screen: last run, error rate and changed cases, then all runs as details."""
    lines = sorted(document.lines, key=lambda line: line.verdict != FAIL)
    error_rate = 100 * (1 - document.family.confidence)
    runs = [build_table(f"{line.metric} of {line.model}", _RUN_COLUMNS, line.rows) for line in document.lines]
    return [
        _lines_table(document, lines[: screens.MOST_ROWS]),
        *screens.hidden_count_lines(len(lines) - screens.MOST_ROWS, "line"),
        Line(
            f"{counted(len(document.runs) - 1, 'look')} with baseline {document.baseline}; the probability "
            f"of any false 'worse' over all looks is at most {error_rate:g} %, of which look j uses the "
            "share 1/(j(j + 1))."
        ),
        *screens.detection_limit_lines(document),
        *_changed_case_sections(document),
        *screens.follow_up_sections(runs),
        *screens.as_details(_cases_tables(document.changed_cases, "All cases that flip or are lost")),
    ]


def _lines_table(document: TrendDocument, lines: Sequence[TrendLine]) -> Table:
    """Return a table that compares the last run with the baseline, one row per metric and model."""
    failed, several = any(line.last.failure_rate for line in lines), len({line.model for line in lines}) > 1
    columns: list[RowColumn | None] = [
        (Column("metric", "left"), lambda line: line.metric),
        (Column("model", "left"), lambda line: line.model) if several else None,
        (Column("mean"), _when_scored(lambda row: format_mean(row, with_interval=False))),
        (Column("difference"), _when_scored(lambda row: format_difference(row, "baseline"))),
        (
            Column("answer", "left"),
            _when_scored(lambda row: _answer_cell(row.against_baseline_answer), _answer_cell(NOT_SCORED)),
        ),
        (Column("previous\nrun", "left"), _when_scored(lambda row: _answer_cell(row.against_last_answer))),
        (Column("scored", optional=True), _when_scored(_format_scored)) if failed else None,
        (
            Column("runs", "left", medium="terminal", min_width=90),
            lambda line: sparklines([[row.mean for row in line.rows[-_SPARKLINE_RUNS:]]])[0],
        ),
    ]
    subject = "" if several else f"{lines[0].model}, "
    title = f"{subject}{document.runs[-1]} against {document.baseline}"
    return build_table(title, columns, lines, stub=1 + several)


def _when_scored(
    cell: Callable[[TrendRow], Cell | str], otherwise: Cell | str = "–"
) -> Callable[[TrendLine], Cell | str]:
    """Return a function of a line: the cell of its last run, or another text if that run has no scores."""
    return lambda line: otherwise if line.state == NOT_SCORED else cell(line.last)


def _format_scored(row: TrendRow) -> str:
    """Format the number of samples with a score and the total, such as ``98 of 100``."""
    return f"{row.scored:,} of {row.samples:,}"


def _answer_cell(answer: str | None) -> Cell:
    """Return a coloured cell with the result of a comparison, or with a dash if there is none."""
    return Cell((answer or "–").replace("-", " "), _STYLES.get(answer or "", ""))


def _changed_case_sections(document: TrendDocument) -> list[Section]:
    """Return a line about cases that change between runs or fail for good, and a table of some of them."""
    sentences = [
        f"{line.flaky:,} of {line.cases:,} cases of {line.model} on {line.metric} flip repeatedly "
        f"({format_percent(line.flip_share or 0.0)} per run), {line.lost} significantly lost for good"
        for line in document.lines
        if line.cases is not None and (line.flaky or line.lost)
    ]
    if not sentences:
        return []
    cases = document.changed_cases[: document.n_cases]
    more = f"; and {counted(len(sentences) - 2, 'more line')}" if len(sentences) > 2 else ""
    return [
        Line(f"{'; '.join(sentences[:2])}{more}.", "Cases:"),
        *_cases_tables(cases, "Cases that flip or are lost"),
    ]


def _cases_tables(cases: Sequence[TrendCase], title: str) -> list[Section]:
    """Return a list with a table of cases, or an empty list if there are no cases."""
    columns: list[RowColumn] = [
        (Column("case", "left"), lambda case: case.sample),
        (Column("metric", "left"), lambda case: case.metric),
        (Column("model", "left"), lambda case: case.model),
        (Column("passed"), lambda case: f"{case.passed} of {case.runs}"),
        (Column("flips"), lambda case: f"{case.flips}"),
        (Column("lost since", "left"), lambda c: Cell(c.lost_since, "red") if c.significant else "–"),
    ]
    return [build_table(title, columns, cases)] if cases else []


# Columns of the table of all runs.
_RUN_COLUMNS: list[RowColumn] = [
    (Column("run", "left"), lambda row: row.run),
    (Column("mean"), format_mean),
    (Column("against the baseline"), lambda row: format_difference(row, "baseline")),
    (Column("answer"), lambda row: _answer_cell(row.against_baseline_answer)),
    (Column("against the previous run"), lambda row: format_difference(row, "last")),
    (Column("answer"), lambda row: _answer_cell(row.against_last_answer)),
    (Column("scored"), _format_scored),
]


def suite(document: TrendDocument) -> Suite:
    """Return a JUnit suite with one test case per metric and model."""
    cases = []
    for line in document.lines:
        kind, name = result_kind(line.verdict, document.inconclusive), f"riskrank.trend.{line.metric}"
        cases.append(TestCase(kind, name, line.model, line_sentence(line), line.verdict))
    return Suite("riskrank trend", cases, {"runs": str(len(document.runs)), "baseline": document.baseline})
