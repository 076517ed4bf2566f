"""JUnit's XML, as test runners write it: a test a sample, passed or not."""

from collections.abc import Mapping
from pathlib import Path
from xml.parsers import expat

import polars as pl

from riskrank.errors import InputError, option
from riskrank.options.values import number_or_nan
from riskrank.scores.exports.collection import Gathering
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.files.parsing import ERROR, UNSCORED
from riskrank.scores.files.signatures import first_bytes

PASSED, TIME, SKIPPED = "passed", "time", "skipped test"
# Tests within suites within suites: no runner nests them deeper.
_DEEPEST = 64
# GoogleTest says so of a test that was not run.
_NOT_RUN = ("notrun", "disabled", "skipped", "suppressed")


def recognises(path: Path) -> bool:
    """Whether this is a report of tests."""
    head = first_bytes(path)
    return head[:1] == b"<" and any(mark in head for mark in (b"<testsuite", b"<testcase"))


def _without_unused(rows: pl.DataFrame, gathering: Gathering) -> pl.DataFrame:
    """Leave out tests that every model skipped: they say nothing of any."""
    if UNSCORED not in rows.columns:
        return rows
    every = (pl.col(UNSCORED) == SKIPPED).fill_null(value=False).all().over("sample", "metric")
    skipped = (pl.col("metric") == PASSED) & every
    gone = rows.filter(skipped)["sample"].n_unique()
    gathering.count(f"{PASSED}: tests that all models skipped, left out", gone)
    return rows.filter(~skipped)


@reads(
    recognises,
    directions={PASSED: "higher", TIME: "lower"},
    beside={TIME},
    by_file=True,
    then=_without_unused,
)
def read(file: ExportFile) -> Rows:
    """Whether each test passed; one that ended in an error or was skipped has no score.

    A failure is an assertion that does not hold. The sample is class and name, the suites around it are a
    column. Several files are a model each, called by what differs in their paths.
    """
    model = file.model()
    for suite, case, outcomes in _Tests(file.path).read(file.data):
        name = "::".join(filter(None, (case.get("classname") or case.get("file"), case.get("name"))))
        about = {"model": model, "sample": name, "suite": suite}
        seconds = number_or_nan(case.get(TIME, "").replace(",", ""))
        yield {"metric": TIME, "score": seconds, **about}
        why = ERROR if "error" in outcomes else SKIPPED if "skipped" in outcomes else ""
        if why:
            file.count(f"{PASSED}: tests without a score, {why}s")
            about[UNSCORED] = why
        elif "flakyFailure" in outcomes or "flakyError" in outcomes:
            file.count(f"{PASSED}: tests that passed when they were run again")
        yield {"metric": PASSED, "score": None if why else "failure" not in outcomes, **about}


class _Tests:
    """Tests in a document, whose entities are neither expanded nor fetched."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: list[tuple[str, Mapping[str, str]]] = []
        self._found: list[tuple[str, Mapping[str, str], set[str]]] = []

    def read(self, data: bytes) -> list[tuple[str, Mapping[str, str], set[str]]]:
        """The suite, attributes and outcomes of every test.

        Raises
        ------
        InputError
            If it is no XML, declares entities, is nested without end, or has no test.
        """
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.StartDoctypeDeclHandler = self._refuse_declarations
        try:
            parser.Parse(data, True)
        except (expat.ExpatError, ValueError, LookupError) as error:
            raise self._refused("the file is not valid XML", str(error)) from None
        if not self._found:
            raise self._refused("there are no tests", "no <testcase>")
        return self._found

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if len(self._open) == _DEEPEST:
            raise self._refused("elements without end", f"more than {_DEEPEST} within another")
        if name == "testcase":
            suites = [one.get("name") or "" for kind, one in self._open if kind == "testsuite"]
            said = {attributes.get("status"), attributes.get("result")}
            self._found.append(
                ("/".join(filter(None, suites)), attributes, {"skipped"} if said & {*_NOT_RUN} else set())
            )
        elif self._open and self._open[-1][0] == "testcase":
            self._found[-1][2].add(name)
        self._open.append((name, attributes))

    def _end(self, _name: str) -> None:
        self._open.pop()

    def _refuse_declarations(self, *_declared: object) -> None:
        raise self._refused("a document type is declared", "<!DOCTYPE …>, which no test runner writes")

    def _refused(self, what: str, found: str) -> InputError:
        hint = f"is it whole, and a test runner's? {option('skip_bad', True)} leaves such files out"
        return InputError(f"{self._path}: {what}", found=found, hint=hint)
