"""What CI servers show, a test case a claim or a sample: JUnit XML, and notes on a run of GitHub Actions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree

from riskrank.render.escapes import for_ci_log, visible

# Characters XML 1.0 has no way to write.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Test cases that a run is annotated with, and which of them first.
_MOST = 10
_GRAVITY = ("failure", "error", "skipped")


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


@dataclass(frozen=True)
class Suite:
    """Test cases of one command, and what is said of all of them."""

    name: str
    cases: Sequence[TestCase]
    properties: Mapping[str, str] = field(default_factory=dict)


def notes(suite: Suite, *, failed: bool) -> list[str]:
    """Workflow commands that annotate a run: a line a case that did not pass, those that fail first.

    Parameters
    ----------
    suite : Suite
    failed : bool
        Whether the run fails; where it does not, nothing that is said is an error.
    """
    told = [case for kind in _GRAVITY for case in suite.cases if case.kind == kind]
    lines = []
    for case in told[:_MOST]:
        level = "error" if failed and case.kind != "skipped" else "warning"
        # The line is a command, and what it quotes is none.
        message = for_ci_log(f"{case.outcome}: {case.message}").replace("%", "%25")
        message = message.replace("\r", "%0D").replace("\n", "%0A")
        lines.append(f"::{level} title={suite.name}::{message}")
    return lines


def junit(suite: Suite) -> bytes:
    """Write test cases as one suite."""
    kinds = [case.kind for case in suite.cases]
    top = ElementTree.Element(
        "testsuite",
        name=suite.name,
        tests=str(len(kinds)),
        failures=str(kinds.count("failure")),
        errors=str(kinds.count("error")),
        skipped=str(kinds.count("skipped")),
    )
    if suite.properties:
        told = ElementTree.SubElement(top, "properties")
        for key, value in suite.properties.items():
            ElementTree.SubElement(told, "property", name=key, value=_text(value))
    for case in suite.cases:
        node = ElementTree.SubElement(top, "testcase", classname=case.of, name=_text(case.name))
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
    root.append(top)
    ElementTree.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "utf-8") + b"\n"


def _text(text: str) -> str:
    return _UNWRITABLE.sub("\ufffd", visible(text))
