"""A diff as tests of a CI server: one a sample.

A sample that got worse is a failure; with repeated runs only where its own test shows it, else it is skipped.
"""

from riskrank.shown import numbers
from riskrank.shown.junit import Suite, TestCase
from riskrank.studies.diff.document import WORSE, CaseRow, DiffDocument
from riskrank.studies.diff.screen.cases import told


def suite(document: DiffDocument) -> Suite:
    """A test case a sample and metric."""
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
