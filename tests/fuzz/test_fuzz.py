"""A few seeded cases of the fuzzer; ``make fuzz`` runs thousands."""

from fractions import Fraction

import pytest

from tests.fuzz import fuzz, oracles

GOOD = {"args": ("rank",), "stdout": "{}", "stderr": "", "warnings": (), "kind": "json", "gated": False}
DEFECT = "error: riskrank failed in a way it should not\nfound: y\nhint: z"


@pytest.mark.parametrize("start", range(0, 80, 20))
def test_generated_inputs_break_nothing(start):
    assert [(number, text) for number, _, text in fuzz.fuzz(0, range(start, start + 20))] == []


def test_the_oracles_see_what_is_wrong():
    def told(**changes):
        return oracles.violations(oracles.Run(**GOOD | {"status": 0} | changes))

    assert told() == []
    assert told(status=1) == ["exit status 1"]
    assert told(status=1, gated=True) == []
    assert told(stdout='{"x": NaN}') == ["no strict JSON: NaN"]
    assert told(stdout='{"x": "\x7f"}') == ["'\\x7f' in json"]
    assert told(stderr="a\u202eb\n") == ["'\\u202e' on standard error"]
    assert "not three lines" in told(status=2, stdout="", stderr="error: x\nfound: y\n")[0]
    assert told(status=2, stdout="", stderr="error: x\nfound: y\nhint: z\n") == []
    assert (
        "a defect"
        in told(
            status=3, stdout="", stderr="error: riskrank failed in a way it should not\nfound: y\nhint: z"
        )[0]
    )
    assert told(warnings=("RuntimeWarning: x",)) == ["a warning of Python: RuntimeWarning: x"]
    assert oracles.exact_ratios([0.0, 3.0], [1.0, 1.0]) == {1: Fraction(1, 5), 2: Fraction(3, 4)}
