"""JUnit report of ``trend``: one test case per metric and model, for the last run."""

from riskrank.render.junit import Suite, TestCase
from riskrank.studies.gate.screen.junit import result_kind
from riskrank.studies.trend.document import TrendDocument
from riskrank.studies.trend.findings import line_sentence


def suite(document: TrendDocument) -> Suite:
    """Return a JUnit suite with one test case per line.

    The option ``inconclusive`` determines how inconclusive lines count.
    """
    cases = [
        TestCase(
            result_kind(line.verdict, document.inconclusive),
            f"riskrank.trend.{line.metric}",
            line.model,
            line_sentence(line),
            line.verdict,
        )
        for line in document.lines
    ]
    return Suite("riskrank trend", cases, {"runs": str(len(document.runs)), "baseline": document.baseline})
