import numpy as np
import pytest

from riskrank.report.figures.curves import curves, draw_curves

KINDS = ("quantiles", "tvar", "cdf")


def test_every_step_of_few_samples():
    found = curves([np.array([3.0, 1.0, 2.0, 2.0]), np.array([5.0, 0.0, 0.0, 1.0])])
    assert found.levels.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert found.quantiles.tolist() == [[1, 2, 2, 3], [0, 0, 1, 5]]
    assert found.tail_values == pytest.approx(np.array([[1, 1.5, 5 / 3, 2], [0, 0, 1 / 3, 1.5]]))
    assert found.order.tolist() == [0, 1]


def test_a_grid_of_many_samples(samples):
    scores = samples(3, size=1000)
    found = curves(scores)
    assert found.levels == pytest.approx(np.linspace(0.005, 1, 200))
    assert np.array_equal(found.quantiles, np.sort(scores, axis=1)[:, 4::5])
    assert found.tail_values[:, -1] == pytest.approx(np.mean(scores, axis=1))


def test_samples_of_different_sizes():
    found = curves([np.arange(10.0), np.arange(7.0) + 5])
    assert found.quantiles[:, -1].tolist() == [9, 11]
    assert found.order.tolist() == [1, 0]


@pytest.mark.parametrize("count", [2, 12, 60])
def test_legible(legible, names, samples, count):
    found = curves(samples(count))
    for kind in KINDS:
        words = legible(lambda kind=kind: draw_curves(kind, found, names(count), "P(IC)"))
        assert (f"{count - 7} others" in words) == (count > 7)


@pytest.mark.parametrize("factor", [1e-300, 1e154, 1e300])
def test_scores_of_any_size(legible, samples, factor):
    found = curves([column * factor for column in samples(3)])
    words = legible(lambda: draw_curves("quantiles", found, "abc", "cost"))
    assert any("×10" in word for word in words)


def test_what_is_drawn_is_what_was_computed(samples):
    found = curves(samples(3))
    lines = draw_curves("quantiles", found, "abc", "acc").axes[0].get_lines()
    for line, heights in zip(lines, found.quantiles, strict=True):
        assert line.get_drawstyle() == "steps-pre"
        assert np.array_equal(line.get_xdata()[1:], found.levels)
        assert np.array_equal(line.get_ydata()[1:], heights)
