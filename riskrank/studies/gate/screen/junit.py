"""A gate as tests of a CI server: one a claim.

A refuted claim is a failure. An inconclusive one is what it counts as: a failure, skipped where it may pass,
and by default an error, so that no server takes it for a pass.
"""

from collections.abc import Iterator

from riskrank.errors import one_line
from riskrank.options.tiers import ADVISORY
from riskrank.render import numbers
from riskrank.render.junit import Suite, TestCase
from riskrank.studies.diff.screen.cases import text_lines
from riskrank.studies.gate.document import GateDocument, GateRow
from riskrank.studies.gate.sentences import row_sentence
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS


def suite(document: GateDocument) -> Suite:
    """A test case a claim."""
    cases = [
        TestCase(
            kind_of(*_counts_as(row, document)),
            f"riskrank.gate.{row.claim}",
            row.name,
            row_sentence(row),
            row.verdict,
            tuple(_lost(document, row)),
        )
        for row in document.rows
    ]
    looks = document.looks
    told = {} if looks is None else {"looks": f"{looks.number}; answers hold at every look"}
    return Suite("riskrank gate", cases, told)


def _counts_as(row: GateRow, document: GateDocument) -> tuple[str, str | None]:
    """The answer, and what an open one counts as; what is advisory fails nothing, nor who is not taken."""
    beside = document.choice is not None and document.failed is None and row.new != document.choice.model
    lenient = (beside or row.tier == ADVISORY) and row.verdict != PASS
    return (INCONCLUSIVE, "pass") if lenient else (row.verdict, document.inconclusive)


def _lost(document: GateDocument, row: GateRow) -> Iterator[str]:
    """The cases behind a claim that did not pass, where they were asked for."""
    if row.verdict == PASS:
        return
    place = (row.new, row.old, row.metric, row.group, row.task)
    for lost in document.lost:
        if (lost.new, lost.old, lost.metric, lost.group, lost.task) == place:
            for case in lost.cases:
                new, old = map(numbers.format_single_score, (case.new, case.old))
                yield one_line(f"{case.sample}: {row.new} {new}, {row.old} {old}")
                yield from (f"  {line}" for line in text_lines(case, row.new, row.old))


def kind_of(verdict: str, inconclusive: str | None) -> str:
    """What a test case is by its answer, and by what an inconclusive one counts as."""
    if verdict == FAIL:
        return "failure"
    if verdict == INCONCLUSIVE:
        return {"pass": "skipped", "fail": "failure"}.get(inconclusive or "", "error")
    return ""
