"""JUnit report of a gate, with one test case per claim.

A failed claim is a failure. An inconclusive claim is a failure or skipped if the option ``inconclusive`` is
"fail" or "pass". Otherwise it is an error, so that no CI server counts it as a pass.
"""

from collections.abc import Iterator

from riskrank.errors import single_line
from riskrank.options.inference import ADVISORY
from riskrank.render import numbers
from riskrank.render.junit import Suite, TestCase
from riskrank.studies.diff.screen import text_lines
from riskrank.studies.gate.document import GateDocument, GateRow
from riskrank.studies.gate.sentences import row_sentence
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS


def suite(document: GateDocument) -> Suite:
    """Return a JUnit test suite with one test case per claim."""
    cases, choice = [], document.choice
    for row in document.rows:
        # Advisory claims and candidates that were not chosen cannot fail.
        rejected = choice is not None and document.failed is None and row.new != choice.model
        lenient = (rejected or row.tier == ADVISORY) and row.verdict != PASS
        kind = "skipped" if lenient else result_kind(row.verdict, document.inconclusive)
        name, lines = f"riskrank.gate.{row.claim}", tuple(_case_lines(document, row))
        cases.append(TestCase(kind, name, row.name, row_sentence(row), row.verdict, lines))
    looks = document.looks
    properties = {} if looks is None else {"looks": f"{looks.number}; verdicts hold at every look"}
    return Suite("riskrank gate", cases, properties)


def _case_lines(document: GateDocument, row: GateRow) -> Iterator[str]:
    """Yield lines on the cases with the largest losses for a claim that did not pass, if requested."""
    if row.verdict == PASS:
        return
    key = (row.new, row.old, row.metric, row.group, row.task)
    for lost in document.lost_cases:
        if (lost.new, lost.old, lost.metric, lost.group, lost.task) == key:
            for case in lost.cases:
                new, old = map(numbers.format_single_score, (case.new, case.old))
                yield single_line(f"{case.sample}: {row.new} {new}, {row.old} {old}")
                yield from (f"  {line}" for line in text_lines(case, row.new, row.old))


def result_kind(verdict: str, inconclusive: str | None) -> str:
    """Return the JUnit result for a verdict: "failure", "error" or "skipped", or an empty string for a pass.

    Parameters
    ----------
    verdict : str
    inconclusive : {"pass", "fail"} or None
        Treatment of an inconclusive verdict; None makes it an error.
    """
    if verdict == FAIL:
        return "failure"
    if verdict == INCONCLUSIVE:
        return {"pass": "skipped", "fail": "failure"}.get(inconclusive or "", "error")
    return ""
