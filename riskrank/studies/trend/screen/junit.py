"""A trend as test cases of a CI server: one per metric and model, for the last run."""

from riskrank.render.junit import Suite, TestCase
from riskrank.studies.gate.screen.junit import kind_of
from riskrank.studies.trend.document import TrendDocument
from riskrank.studies.trend.findings import line_sentence


def suite(document: TrendDocument) -> Suite:
    """Return one test case per line; inconclusive lines are reported as the option says."""
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
