"""A trend as tests of a CI server: one a metric and model, of the last run."""

from riskrank.render.junit import Suite, TestCase
from riskrank.studies.gate.screen.junit import kind_of
from riskrank.studies.trend.document import TrendDocument
from riskrank.studies.trend.findings import line_sentence


def suite(document: TrendDocument) -> Suite:
    """A test case a line; what is open after a loss, or as the ruler moved, is what it counts as."""
    cases = [
        TestCase(
            kind_of(line.verdict, document.inconclusive),
            f"riskrank.trend.{line.metric}",
            line.model,
            line_sentence(line),
            line.verdict,
        )
        for line in document.lines
    ]
    return Suite("riskrank trend", cases, {"runs": str(len(document.runs)), "baseline": document.baseline})
