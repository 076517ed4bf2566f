"""JUnit XML, which CI servers show as tests: a test case a claim, or a sample."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from riskrank.shown.escapes import visible

# Characters XML 1.0 has no way to write.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class TestCase:
    """One test case.

    Attributes
    ----------
    kind : str
        ``failure``, ``error``, ``skipped``, or empty where it passed.
    of : str
        Class the servers list it under.
    name, message : str
    outcome : str
        Type of a failure or an error.
    output : tuple of str
        Lines beside the message: of single cases, what was asked and answered.
    """

    kind: str
    of: str
    name: str
    message: str
    outcome: str = ""
    output: tuple[str, ...] = ()


def junit(name: str, cases: Sequence[TestCase], properties: Mapping[str, str] | None = None) -> bytes:
    """Write test cases as one suite."""
    kinds = [case.kind for case in cases]
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(kinds)),
        failures=str(kinds.count("failure")),
        errors=str(kinds.count("error")),
        skipped=str(kinds.count("skipped")),
    )
    if properties:
        told = ElementTree.SubElement(suite, "properties")
        for key, value in properties.items():
            ElementTree.SubElement(told, "property", name=key, value=_text(value))
    for case in cases:
        node = ElementTree.SubElement(suite, "testcase", classname=case.of, name=_text(case.name))
        lines = case.output
        if not case.kind:
            lines = (case.message, *lines)
        else:
            outcome = ElementTree.SubElement(node, case.kind, message=_text(case.message))
            if case.kind != "skipped":
                outcome.set("type", case.outcome)
        if lines:
            ElementTree.SubElement(node, "system-out").text = "\n".join(map(_text, lines))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "utf-8") + b"\n"


def _text(text: str) -> str:
    return _UNWRITABLE.sub("\ufffd", visible(text))
