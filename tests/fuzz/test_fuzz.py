"""A few seeded cases of the fuzzer; ``make fuzz`` runs thousands."""

import os
from fractions import Fraction
from random import Random

import pytest

from tests.fuzz import fuzz, oracles, outside

GOOD = {"args": ("rank",), "stdout": "{}", "stderr": "", "warnings": (), "kind": "json", "gated": False}


@pytest.mark.parametrize("start", range(0, 80, 20))
def test_generated_inputs_break_nothing(start):
    assert [(number, text) for number, _, text in fuzz.fuzz(0, range(start, start + 20))] == []


@pytest.mark.parametrize("make", [fuzz.structured_case, fuzz.exact_case])
@pytest.mark.parametrize("start", range(0, 60, 20))
def test_damaged_exports_and_exact_trials_break_nothing(start, make):
    violations = fuzz.fuzz(0, range(start, start + 20), make=make)
    assert [(number, text) for number, _, text in violations] == []


@pytest.mark.parametrize(
    ("kind", "guard", "before", "expected"),
    [
        (
            outside.partial_write,
            "riskrank.render.files.write_fully",
            lambda stream, data: stream.write(data),
            "not all is written",
        ),
        (outside.build, "riskrank.render.escapes.escape_for_ci_log", lambda text, *_: text, "a command to"),
        (
            outside.discovered_configuration,
            "riskrank.cli.config.refuse_unsafe_settings",
            lambda *_: None,
            "a found file reaches out",
        ),
        pytest.param(
            outside.database,
            "riskrank.scores.files.databases._read_only_uri",
            lambda path: (f"{path.as_uri()}?mode=ro", ()),
            "files left",
            marks=pytest.mark.slow,
        ),
        (
            outside.pipe,
            "riskrank.scores.files.opening.read_stream",
            lambda stream, label, limit: stream.read(limit + 1),
            "an endless pipe",
        ),
    ],
)
def test_fuzzer_detects_a_missing_guard(tmp_path, monkeypatch, kind, guard, before, expected):
    """Without a guard the fuzzer finds a violation; with the guard the same cases have none."""

    def violations(number, name):
        folder = tmp_path / f"{name}{number}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        return [text for _, text in kind(Random(number), folder)]

    with monkeypatch.context() as patch:
        patch.setattr(guard, before)
        first = next(
            number for number in range(6) if any(expected in text for text in violations(number, "gone"))
        )
    assert [text for number in range(first + 1) for text in violations(number, "there")] == []


@pytest.mark.slow
def test_a_run_as_a_process_keeps_the_contract(tmp_path):
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert [text for _, text in outside.environment(Random(number), folder)] == []


def test_ci_commands_are_recognised():
    for text in ("::error::x", " ::a", "x ##[y", "##VSO[z", "a\n##teamcity[x]"):
        assert oracles.obeyed(text)
    for text in ("a::b", "## [x]", "::error title=riskrank gate::fail: x", os.linesep):
        assert not oracles.obeyed(text)


def test_oracles_detect_violations():
    def violations(**changes):
        return oracles.violations(oracles.Run(**GOOD | {"status": 0} | changes))

    assert violations() == []
    assert violations(status=1) == ["exit status 1"]
    assert violations(status=1, gated=True) == []
    assert violations(stdout='{"x": NaN}') == ["no strict JSON: NaN"]
    assert violations(stdout='{"x": "\x7f"}') == ["'\\x7f' in json"]
    assert violations(stderr="a\u202eb\n") == ["'\\u202e' on standard error"]
    assert "an error is not three lines" in violations(status=2, stdout="", stderr="error: x\nfound: y\n")[0]
    assert violations(status=2, stdout="", stderr="error: x\nfound: y\nhint: z\n") == []
    defect = "error: internal error in riskrank\nfound: y\nhint: z"
    assert "a defect" in violations(status=3, stdout="", stderr=defect)[0]
    assert violations(warnings=("RuntimeWarning: x",)) == ["a warning of Python: RuntimeWarning: x"]
    assert violations(seconds=10.1, memory=2 << 30) == ["over 10 s: 10.1", "over 1 GiB: 2048 MiB"]
    assert oracles.exact_ratios([0.0, 3.0], [1.0, 1.0]) == {1: Fraction(1, 5), 2: Fraction(3, 4)}
