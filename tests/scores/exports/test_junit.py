"""JUnit's XML: passed, failed, neither; models by label or file; documents that attack their reader."""

import pytest

from riskrank.errors import InputError
from tests.scores.exports.helpers import assert_long, only_reader_of, read, scores

PASSES = '<testcase classname="t.A" name="adds" time="0.5"/>'
FAILS = '<testcase classname="t.A" name="adds" time="1,000.5"><failure message="!=">at</failure></testcase>'
SKIPPED = '<testcase name="reads" file="t.py"><skipped/></testcase>'


def report(path, *cases, start="<?xml version='1.0'?>"):
    path.parent.mkdir(exist_ok=True)
    inner = f'<testsuite name="t">{"".join(cases)}</testsuite>'
    path.write_text(f'{start}<testsuites><testsuite name="pytest">{inner}</testsuite></testsuites>')
    return path


def test_a_test_passes_fails_or_has_no_score(tmp_path):
    error = '<testcase classname="t.A" name="divides"><error type="OSError"/><failure/></testcase>'
    again = '<testcase classname="t.A" name="flaky"><flakyFailure/><system-out>x</system-out></testcase>'
    disabled = '<testcase classname="t.A" name="off" status="notrun"/>'
    report(tmp_path / "a" / "junit.xml", PASSES, error, again, SKIPPED, disabled)
    path = report(tmp_path / "b" / "junit.xml", FAILS, PASSES.replace("adds", "off"), SKIPPED)
    assert only_reader_of(path) == "junit"
    export = read("junit", tmp_path)
    assert_long(export)
    assert scores(export, "unscored", "suite") == {
        ("a", "t.A::adds", "passed", None, "pytest/t"): 1.0,
        ("a", "t.A::divides", "passed", "error", "pytest/t"): None,
        ("a", "t.A::flaky", "passed", None, "pytest/t"): 1.0,
        ("a", "t.A::off", "passed", "skipped test", "pytest/t"): None,
        ("b", "t.A::adds", "passed", None, "pytest/t"): 0.0,
        ("b", "t.A::off", "passed", None, "pytest/t"): 1.0,
    }
    assert (export.directions, export.bounds) == ({"passed": "higher"}, {"passed": (0.0, 1.0)})
    for note in (
        "passed: tests without a score, skipped tests: 3",
        "passed: tests without a score, errors: 1",
        "passed: tests that passed when they were run again: 1",
        "passed: tests that all models skipped, left out: 1",
    ):
        assert note in export.notes


def test_how_long_it_took_counts_where_somebody_asks(tmp_path):
    export = read("junit", f"m={report(tmp_path / 'x.xml', FAILS, SKIPPED)}", metrics=("time",))
    found = scores(export)
    assert found["m", "t.A::adds", "time"] == 1000.5
    assert found["m", "t.py::reads", "time"] is None
    assert export.directions == {"passed": "higher", "time": "lower"}


def test_a_file_alone_does_not_name_its_model_and_several_do(tmp_path):
    one = report(tmp_path / "gpt.xml", PASSES)
    with pytest.raises(InputError, match="does not say which model"):
        read("junit", one)
    other = report(tmp_path / "opus.xml", FAILS)
    assert {key[0] for key in scores(read("junit", one, other))} == {"gpt", "opus"}
    assert {key[0] for key in scores(read("junit", f"m={one}"))} == {"m"}
    parts = read("junit", f"m={one}", f"m={other}").rows
    assert parts["draw"].to_list() == ["1", "2"], "files of one label are runs of one model"


@pytest.mark.parametrize(
    ("start", "cases", "message"),
    [
        ('<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>', [PASSES], "a document type is declared"),
        ('<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>', [PASSES], "a document type is declared"),
        ("", ["<testcase name='&unknown;'/>"], "not valid XML"),
        ("", ["<testcase>"], "not valid XML"),
        ("<?xml version='1.0' encoding='no-such'?>", [PASSES], "not valid XML"),
        ("", ["<properties>" * 99], "elements without end"),
        ("", [], "there are no tests"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path, start, cases, message):
    path = report(tmp_path / "x.xml", *cases, start=start)
    with pytest.raises(InputError, match=message):
        read("junit", f"m={path}")
    good = report(tmp_path / "y.xml", PASSES)
    assert read("junit", f"m={path}", f"m={good}", skip_bad=True).rows.height == 1


def test_its_size_is_bounded(tmp_path):
    path = report(tmp_path / "x.xml", PASSES * 100)
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        read("junit", f"m={path}", max_bytes=1000)
