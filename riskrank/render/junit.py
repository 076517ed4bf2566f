"""Results for CI servers: JUnit XML and GitHub Actions annotations."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree

from riskrank.render.escapes import escape_controls, escape_for_ci_log

# Characters that XML 1.0 cannot represent.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Maximum number of annotations, and kinds of test cases by severity.
_MOST_ANNOTATIONS = 10
_SEVERITY_ORDER = ("failure", "error", "skipped")


@dataclass(frozen=True)
class TestCase:
    """A JUnit test case: one claim or one sample.

    Attributes
    ----------
    kind : str
        ``failure``, ``error`` or ``skipped``, or empty if the case passed.
    classname : str
        Class name under which CI servers list the test case.
    name, message : str
        Name of the test case, and the reason for its failure.
    outcome : str
        Type of the failure or error.
    output : tuple of str
        Further lines of output, such as a sample's prompt and answer.
    """

    kind: str
    classname: str
    name: str
    message: str
    outcome: str = ""
    output: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suite:
    """JUnit test suite: the test cases of one command, with properties of the run."""

    name: str
    cases: Sequence[TestCase]
    properties: Mapping[str, str] = field(default_factory=dict)


def workflow_annotations(suite: Suite, *, failed: bool) -> list[str]:
    """Return GitHub Actions workflow commands that annotate a run with its most severe test cases.

    Each line describes one test case that did not pass.

    Parameters
    ----------
    suite : Suite
        JUnit suite to write.
    failed : bool
        Whether the run failed; otherwise, all annotations are warnings.
    """
    reported = [case for kind in _SEVERITY_ORDER for case in suite.cases if case.kind == kind]
    lines = []
    for case in reported[:_MOST_ANNOTATIONS]:
        level = "error" if failed and case.kind != "skipped" else "warning"
        # The line is a workflow command; its text must not contain another one.
        message = escape_for_ci_log(f"{case.outcome}: {case.message}").replace("%", "%25")
        message = message.replace("\r", "%0D").replace("\n", "%0A")
        lines.append(f"::{level} title={suite.name}::{message}")
    return lines


def write_junit(suite: Suite) -> bytes:
    """Render a test suite as JUnit XML."""
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
        properties = ElementTree.SubElement(top, "properties")
        for key, value in suite.properties.items():
            ElementTree.SubElement(properties, "property", name=key, value=_to_xml_text(value))
    for case in suite.cases:
        node = ElementTree.SubElement(top, "testcase", classname=case.classname, name=_to_xml_text(case.name))
        lines = case.output
        if not case.kind:
            lines = (case.message, *lines)
        else:
            outcome = ElementTree.SubElement(node, case.kind, message=_to_xml_text(case.message))
            if case.kind != "skipped":
                outcome.set("type", case.outcome)
        if lines:
            ElementTree.SubElement(node, "system-out").text = "\n".join(map(_to_xml_text, lines))
    root = ElementTree.Element("testsuites")
    root.append(top)
    ElementTree.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "utf-8") + b"\n"


def _to_xml_text(text: str) -> str:
    """Escape characters that are invalid in XML."""
    return _UNWRITABLE.sub("\ufffd", escape_controls(text))
