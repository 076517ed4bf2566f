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


@pytest.mark.parametrize("make", [fuzz.structured_case, fuzz.known_case])
@pytest.mark.parametrize("start", range(0, 60, 20))
def test_exports_that_are_nearly_whole_and_trials_with_known_answers(start, make):
    found = fuzz.fuzz(0, range(start, start + 20), make=make)
    assert [(number, text) for number, _, text in found] == []


@pytest.mark.parametrize(
    ("kind", "wall", "before", "said"),
    [
        (
            outside.partial_write,
            "riskrank.render.staging.write_whole",
            lambda stream, data: stream.write(data),
            "not all is written",
        ),
        (outside.build, "riskrank.render.escapes.for_ci_log", lambda text, *_: text, "a command to"),
        (
            outside.found_configuration,
            "riskrank.cli.config.refuse_reaching_out",
            lambda *_: None,
            "a found file reaches out",
        ),
        (
            outside.database,
            "riskrank.scores.files.databases._quiet_address",
            lambda path: (f"{path.as_uri()}?mode=ro", ()),
            "files left",
        ),
        (
            outside.pipe,
            "riskrank.scores.files.opening.read_stream",
            lambda stream, label, limit: stream.read(limit + 1),
            "an endless pipe",
        ),
    ],
)
def test_a_wall_that_is_gone_is_missed(tmp_path, monkeypatch, kind, wall, before, said):
    """With each wall taken away the fuzzer finds the hole, and with it there it finds none as far as that."""

    def found(number, name):
        folder = tmp_path / f"{name}{number}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        return [text for _, text in kind(Random(number), folder)]

    with monkeypatch.context() as gone:
        gone.setattr(wall, before)
        first = next(number for number in range(6) if any(said in text for text in found(number, "gone")))
    assert [text for number in range(first + 1) for text in found(number, "there")] == []


@pytest.mark.slow
def test_a_run_as_a_process_keeps_the_contract(tmp_path):
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert [text for _, text in outside.environment(Random(number), folder)] == []


def test_what_a_build_obeys():
    for text in ("::error::x", " ::a", "x ##[y", "##VSO[z", "a\n##teamcity[x]"):
        assert oracles.obeyed(text)
    for text in ("a::b", "## [x]", "::error title=riskrank gate::fail: x", os.linesep):
        assert not oracles.obeyed(text)


def test_the_oracles_see_what_is_wrong():
    def told(**changes):
        return oracles.violations(oracles.Run(**GOOD | {"status": 0} | changes))

    assert told() == []
    assert told(status=1) == ["exit status 1"]
    assert told(status=1, gated=True) == []
    assert told(stdout='{"x": NaN}') == ["no strict JSON: NaN"]
    assert told(stdout='{"x": "\x7f"}') == ["'\\x7f' in json"]
    assert told(stderr="a\u202eb\n") == ["'\\u202e' on standard error"]
    assert "an error is not three lines" in told(status=2, stdout="", stderr="error: x\nfound: y\n")[0]
    assert told(status=2, stdout="", stderr="error: x\nfound: y\nhint: z\n") == []
    defect = "error: riskrank failed in a way it should not\nfound: y\nhint: z"
    assert "a defect" in told(status=3, stdout="", stderr=defect)[0]
    assert told(warnings=("RuntimeWarning: x",)) == ["a warning of Python: RuntimeWarning: x"]
    assert told(seconds=10.1, memory=2 << 30) == ["over 10 s: 10.1", "over 1 GiB: 2048 MiB"]
    assert oracles.exact_ratios([0.0, 3.0], [1.0, 1.0]) == {1: Fraction(1, 5), 2: Fraction(3, 4)}
