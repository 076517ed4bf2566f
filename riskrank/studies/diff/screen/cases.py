"""Cases in a table: what either model scored, and the test of each where it has several runs."""

from collections.abc import Sequence

from riskrank.errors import one_line
from riskrank.render import numbers
from riskrank.render.escapes import visible
from riskrank.render.junit import Suite, TestCase
from riskrank.render.view import Cell, Column, OfRow, Table, by_row
from riskrank.studies.diff.document import WORSE, CaseRow, DiffDocument

# Columns of a text that has a line beside the names of its case and model.
_WIDTH = 60
# Characters of a text that a log of a CI server gets.
_IN_LOG = 2000


def cases_table(cases: Sequence[CaseRow], new: str, old: str, title: str) -> Table:
    """A line a case; its metric, group and p-value where they say something."""
    several = len({row.metric for row in cases}) > 1
    grouped = len({row.group for row in cases}) > 1
    tested = any(row.p_value is not None for row in cases)
    columns: list[OfRow | None] = [
        (Column("case", "left"), lambda row: row.sample),
        (Column("metric", "left"), lambda row: row.metric) if several else None,
        (Column("of", "left"), lambda row: row.group or "") if grouped else None,
        (Column(old), lambda row: numbers.single_score(row.old)),
        (Column(new), lambda row: numbers.single_score(row.new)),
        (Column("p"), _p) if tested else None,
    ]
    return by_row(title, columns, cases)


def texts_of_cases(cases: Sequence[CaseRow], new: str, old: str, where: str) -> list[Table]:
    """What was asked and answered, a line each; none where the files tell nothing."""
    rows: list[tuple[str, ...]] = []
    for row in cases:
        lines = [(whose, _shortened(text)) for whose, text in _texts(row, new, old)]
        rows += [(row.sample if at == 0 else "", *line) for at, line in enumerate(lines)]
    columns = (Column("case", "left"), Column("", "left", name="of"), Column("text", "left"))
    return [Table(f"Their texts: {where}", columns, tuple(rows), stub=1)] if rows else []


def told(row: CaseRow, new: str, old: str) -> tuple[str, ...]:
    """What was asked and answered in a case, for a log: a line each, so that none can begin as it likes."""
    return tuple(_line(whose, text) for whose, text in _texts(row, new, old))


def _texts(row: CaseRow, new: str, old: str) -> list[tuple[str, str]]:
    texts = (("input", row.input), (old, row.output_old), (new, row.output_new))
    return [(whose, text) for whose, text in texts if text is not None]


def _line(whose: str, text: str) -> str:
    line = one_line(f"{whose}: {text[:_IN_LOG]}")
    return line if len(text) <= _IN_LOG else f"{line}…"


def _shortened(text: str) -> str:
    """The beginning of a text on one line, its marks harmless, however wide its letters are."""
    from rich.cells import cell_len, set_cell_size

    line = visible(one_line(text[: 4 * _WIDTH]))
    if cell_len(line) <= _WIDTH and len(text) <= 4 * _WIDTH:
        return line
    return f"{set_cell_size(line, _WIDTH - 1).rstrip()}…"


def _p(row: CaseRow) -> Cell | str:
    if row.p_adjusted is None:
        return "–"
    return Cell(numbers.p_value(row.p_adjusted), "red" if row.shown and row.change == WORSE else "")


def suite(document: DiffDocument) -> Suite:
    """Tests of a CI server, one a sample and metric: one that got worse is a failure.

    With repeated runs only where its own test shows it, else it is skipped.
    """
    return Suite("riskrank diff", [_case(document, row) for row in document.rows])


def _case(document: DiffDocument, row: CaseRow) -> TestCase:
    kind = ""
    if row.change == WORSE:
        kind = "skipped" if row.shown is False else "failure"
    where = f" in {row.group}" if row.group else ""
    new, old = map(numbers.single_score, (row.new, row.old))
    message = f"{row.change}: {document.new} {new}, {document.old} {old} on {row.metric}"
    said = told(row, document.new, document.old)
    return TestCase(kind, f"riskrank.diff.{row.metric}", f"{row.sample}{where}", message, row.change, said)
