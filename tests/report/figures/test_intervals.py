import numpy as np
import pytest

from riskrank.report.figures.intervals import Gates, draw_gates


def gates(claims):
    count = len(claims)
    rng = np.random.default_rng(count)
    estimate = rng.normal(0, 0.05, count)
    high = estimate + 0.03
    high[0] = np.inf
    return Gates(
        tuple(claims),
        estimate,
        estimate - 0.03,
        high,
        np.where(np.arange(count) % 2, -0.02, 0.0),
        tuple(("pass", "fail", "inconclusive")[at % 3] for at in range(count)),
    )


@pytest.mark.parametrize("count", [1, 2, 12, 60])
def test_legible(legible, names, count):
    words = legible(lambda: draw_gates(gates(names(count))))
    assert words.count("pass") == (count + 2) // 3


def test_what_is_drawn_is_what_was_given():
    found = gates(["a", "b", "c"])
    axes = draw_gates(found).axes[0]
    drawn = [line.get_xdata() for line in axes.get_lines()]
    for at in range(3):
        assert any(np.array_equal(line, [found.estimate[at]]) for line in drawn)
        assert any(np.array_equal(line, [found.margin[at]] * 2) for line in drawn)
        assert any(len(line) == 2 and line[0] == found.low[at] for line in drawn)
    assert max(np.max(line) for line in drawn if len(line) == 2 and line[0] != 0) <= axes.get_xlim()[1]
