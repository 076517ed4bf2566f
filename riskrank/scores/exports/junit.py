"""JUnit: XML reports of test runners; each test is a sample that passed or failed."""

from collections.abc import Mapping
from pathlib import Path
from xml.parsers import expat

import polars as pl

from riskrank.errors import InputError, option
from riskrank.options.values import number_or_nan
from riskrank.scores.exports.reader import ExportFile, RowCollector, Rows
from riskrank.scores.files.contents import first_bytes
from riskrank.scores.files.parsing import ERROR, UNSCORED

PASSED, TIME, SKIPPED = "passed", "time", "skipped test"
# Deepest nesting of suites; test runners stay far below it.
_MAX_DEPTH = 64
# Statuses of GoogleTest for a test that was not run.
_NOT_RUN = ("notrun", "disabled", "skipped", "suppressed")


def recognises(path: Path) -> bool:
    """Return whether a file is a JUnit report."""
    head = first_bytes(path)
    return head[:1] == b"<" and any(mark in head for mark in (b"<testsuite", b"<testcase"))


def finish(rows: pl.DataFrame, collector: RowCollector) -> pl.DataFrame:
    """Return the rows without the JUnit tests that every model skipped; `collector` counts these."""
    if UNSCORED not in rows.columns:
        return rows
    all_skipped = (pl.col(UNSCORED) == SKIPPED).fill_null(value=False).all().over("sample", "metric")
    skipped = (pl.col("metric") == PASSED) & all_skipped
    n_excluded = rows.filter(skipped)["sample"].n_unique()
    collector.count(f"{PASSED}: ignored tests that all models skipped", n_excluded)
    return rows.filter(~skipped)


def read(file: ExportFile) -> Rows:
    """Yield one row per JUnit test, with the score 1 if it passed.

    Tests that were skipped or ended in an error have no score; a failed assertion is a failure. A sample is
    named by class and test, and the enclosing suites are a column. If there are several files, each is one
    model, named by the part of its path that differs.
    """
    model = file.model_name()
    for suite, case, outcomes in _TestParser(file.path).read(file.data):
        name = "::".join(filter(None, (case.get("classname") or case.get("file"), case.get("name"))))
        about = {"model": model, "sample": name, "suite": suite}
        yield {"metric": TIME, "score": number_or_nan(case.get(TIME, "").replace(",", "")), **about}
        reason = ERROR if "error" in outcomes else SKIPPED if "skipped" in outcomes else ""
        if reason:
            file.count(f"{PASSED}: tests without a score, {reason}s")
            about[UNSCORED] = reason
        elif "flakyFailure" in outcomes or "flakyError" in outcomes:
            file.count(f"{PASSED}: tests that passed when repeated")
        yield {"metric": PASSED, "score": None if reason else "failure" not in outcomes, **about}


class _TestParser:
    """XML parser for test reports, which neither expands nor fetches entities."""

    def __init__(self, path: Path) -> None:
        """Create a parser; `path` is for messages."""
        self._path = path
        self._open: list[tuple[str, Mapping[str, str]]] = []
        self._tests: list[tuple[str, Mapping[str, str], set[str]]] = []

    def read(self, data: bytes) -> list[tuple[str, Mapping[str, str], set[str]]]:
        """Return the suite, attributes and outcomes of every test.

        Raises
        ------
        InputError
            If the file is not XML, declares entities, is nested too deeply, or does not contain a test.
        """
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start_element
        parser.EndElementHandler = lambda _name: self._open.pop()
        parser.StartDoctypeDeclHandler = self._reject_declarations
        try:
            parser.Parse(data, True)
        except (expat.ExpatError, ValueError, LookupError) as error:
            raise self._error("the file is not valid XML", str(error)) from None
        if not self._tests:
            raise self._error("there are no tests", "no <testcase>")
        return self._tests

    def _start_element(self, name: str, attributes: Mapping[str, str]) -> None:
        """Record a test with its attributes, or an outcome of the current test, at a start tag."""
        if len(self._open) == _MAX_DEPTH:
            raise self._error("elements nested too deeply", f"more than {_MAX_DEPTH} levels")
        if name == "testcase":
            suites = [element.get("name") or "" for kind, element in self._open if kind == "testsuite"]
            statuses = {attributes.get("status"), attributes.get("result")}
            outcomes = {"skipped"} if statuses & {*_NOT_RUN} else set[str]()
            self._tests.append(("/".join(filter(None, suites)), attributes, outcomes))
        elif self._open and self._open[-1][0] == "testcase":
            self._tests[-1][2].add(name)
        self._open.append((name, attributes))

    def _reject_declarations(self, *_declared: object) -> None:
        """Raise InputError, because test reports do not contain document type declarations."""
        raise self._error("a document type is declared", "<!DOCTYPE …>, which test runners do not write")

    def _error(self, message: str, detail: str) -> InputError:
        """Return the error for a file that is not a valid report, with a message and the detail found."""
        hint = f"check that the file is a complete test report; {option('skip_bad', True)} ignores such files"
        return InputError(f"{self._path}: {message}", found=detail, hint=hint)
