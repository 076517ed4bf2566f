"""A gate as JUnit XML, which CI servers show as tests.

A refuted claim is a failure. An inconclusive one is what it counts as: a failure, skipped where it may pass,
and by default an error, so that no server takes it for a pass.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from riskrank.shown.escapes import visible
from riskrank.studies.gate.document import FAIL, INCONCLUSIVE, GateDocument, GateRow
from riskrank.studies.gate.words import row_sentence

# Characters XML 1.0 has no way to write.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(document: GateDocument) -> bytes:
    """Write a test case a claim."""
    kinds = [_kind(document, row) for row in document.rows]
    suite = ElementTree.Element(
        "testsuite",
        name="riskrank gate",
        tests=str(len(kinds)),
        failures=str(kinds.count("failure")),
        errors=str(kinds.count("error")),
        skipped=str(kinds.count("skipped")),
    )
    if document.looks is not None:
        told = ElementTree.SubElement(ElementTree.SubElement(suite, "properties"), "property", name="looks")
        told.set("value", f"{document.looks.number}; answers hold at every look")
    for row, kind in zip(document.rows, kinds, strict=True):
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"riskrank.gate.{row.claim}", name=_text(row.name)
        )
        sentence = _text(row_sentence(row, document.metrics))
        if kind is None:
            ElementTree.SubElement(case, "system-out").text = sentence
        else:
            outcome = ElementTree.SubElement(case, kind, message=sentence)
            if kind != "skipped":
                outcome.set("type", row.verdict)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "utf-8") + b"\n"


def _kind(document: GateDocument, row: GateRow) -> str | None:
    if row.verdict == FAIL:
        return "failure"
    if row.verdict == INCONCLUSIVE:
        return {"pass": "skipped", "fail": "failure"}.get(document.inconclusive or "", "error")
    return None


def _text(text: str) -> str:
    return _UNWRITABLE.sub("\ufffd", visible(text))
