"""Tables of cases: the scores of both models, and the test of each case with repeats."""

from collections.abc import Sequence

from riskrank.errors import single_line
from riskrank.render import numbers
from riskrank.render.escapes import escape_controls
from riskrank.render.junit import Suite, TestCase
from riskrank.render.view import Cell, Column, RowColumn, Table, build_table
from riskrank.studies.diff.document import WORSE, CaseRow, DiffDocument

# Display width of a text in the table of texts.
_WIDTH = 60
# Maximum length of a text in the log of a CI server.
_MOST_LOG_CHARACTERS = 2000


def cases_table(cases: Sequence[CaseRow], new: str, old: str, title: str) -> Table:
    """Return a table with one row per case.

    Uninformative columns are omitted.
    """
    several = len({row.metric for row in cases}) > 1
    grouped = len({row.group for row in cases}) > 1
    is_tested = any(row.p_value is not None for row in cases)
    columns: list[RowColumn | None] = [
        (Column("case", "left"), lambda row: row.sample),
        (Column("metric", "left"), lambda row: row.metric) if several else None,
        (Column("of", "left"), lambda row: row.group or "") if grouped else None,
        (Column(old), lambda row: numbers.format_single_score(row.old)),
        (Column(new), lambda row: numbers.format_single_score(row.new)),
        (Column("p"), _p_value_cell) if is_tested else None,
    ]
    return build_table(title, columns, cases)


def texts_tables(cases: Sequence[CaseRow], new: str, old: str, source: str) -> list[Table]:
    """Return a table with the input and outputs of the cases, or an empty list if there are no texts."""
    rows: list[tuple[str, ...]] = []
    for row in cases:
        lines = [(label, _shorten(text)) for label, text in _texts(row, new, old)]
        rows += [(row.sample if index == 0 else "", *line) for index, line in enumerate(lines)]
    columns = (Column("case", "left"), Column("", "left", name="of"), Column("text", "left"))
    return [Table(f"Texts of these cases: {source}", columns, tuple(rows), stub=1)] if rows else []


def text_lines(row: CaseRow, new: str, old: str) -> tuple[str, ...]:
    """Return the input and outputs of a case as single lines for a log.

    Each line starts with a label, so that no text can imitate a command to the CI server.
    """
    return tuple(_text_line(label, text) for label, text in _texts(row, new, old))


def _texts(row: CaseRow, new: str, old: str) -> list[tuple[str, str]]:
    """Return the labelled input and outputs of a case, without missing ones."""
    texts = (("input", row.input), (old, row.output_old), (new, row.output_new))
    return [(label, text) for label, text in texts if text is not None]


def _text_line(label: str, text: str) -> str:
    """Join a label and a text in one line, limited in length."""
    line = single_line(f"{label}: {text[:_MOST_LOG_CHARACTERS]}")
    return line if len(text) <= _MOST_LOG_CHARACTERS else f"{line}…"


def _shorten(text: str) -> str:
    """Shorten a text to one line of limited display width, without control characters."""
    from rich.cells import cell_len, set_cell_size

    line = escape_controls(single_line(text[: 4 * _WIDTH]))
    if cell_len(line) <= _WIDTH and len(text) <= 4 * _WIDTH:
        return line
    return f"{set_cell_size(line, _WIDTH - 1).rstrip()}…"


def _p_value_cell(row: CaseRow) -> Cell | str:
    """Return the cell with the adjusted p-value of a case, red for a significant loss."""
    if row.p_adjusted is None:
        return "–"
    return Cell(
        numbers.format_p_value(row.p_adjusted), "red" if row.significant and row.change == WORSE else ""
    )


def suite(document: DiffDocument) -> Suite:
    """Return a JUnit suite with one test case per sample and metric.

    A case that got worse is a failure.

    With repeats, a case that is worse but not significantly so is skipped.
    """
    return Suite("riskrank diff", [_test_case(document, row) for row in document.rows])


def _test_case(document: DiffDocument, row: CaseRow) -> TestCase:
    """Return the JUnit test case for one row."""
    kind = ""
    if row.change == WORSE:
        kind = "skipped" if row.significant is False else "failure"
    group_text = f" in {row.group}" if row.group else ""
    new, old = map(numbers.format_single_score, (row.new, row.old))
    message = f"{row.change}: {document.new} {new}, {document.old} {old} on {row.metric}"
    texts = text_lines(row, document.new, document.old)
    return TestCase(
        kind, f"riskrank.diff.{row.metric}", f"{row.sample}{group_text}", message, row.change, texts
    )
