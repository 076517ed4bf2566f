"""A gate as JUnit XML: a test case a claim, or a sample.

A refuted claim is a failure. An inconclusive one is what it counts as: a failure, skipped where it may pass,
and by default an error, so that no server takes it for a pass.
"""

from __future__ import annotations

from riskrank.shown.junit import TestCase, junit
from riskrank.studies.gate.document import FAIL, INCONCLUSIVE, GateDocument
from riskrank.studies.gate.each_sample import SampleDocument
from riskrank.studies.gate.words import row_sentence


def to_junit(document: GateDocument) -> bytes:
    """Write a test case a claim."""
    cases = [
        TestCase(
            _kind(row.verdict, document.inconclusive),
            f"riskrank.gate.{row.claim}",
            row.name,
            row_sentence(row, document.metrics),
            row.verdict,
        )
        for row in document.rows
    ]
    looks = document.looks
    told = {} if looks is None else {"looks": f"{looks.number}; answers hold at every look"}
    return junit("riskrank gate", cases, told)


def samples_to_junit(document: SampleDocument) -> bytes:
    """Write a test case a sample."""
    cases = [
        TestCase(
            _kind(row.verdict, document.inconclusive),
            "riskrank.gate.each-sample",
            row.name,
            row.sentence,
            row.verdict,
        )
        for row in document.rows
    ]
    return junit("riskrank gate", cases)


def _kind(verdict: str, inconclusive: str | None) -> str:
    if verdict == FAIL:
        return "failure"
    if verdict == INCONCLUSIVE:
        return {"pass": "skipped", "fail": "failure"}.get(inconclusive or "", "error")
    return ""
