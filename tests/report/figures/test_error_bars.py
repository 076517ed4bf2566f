import numpy as np
import pytest

from riskrank.engine.dominance.stability import Stability
from riskrank.report.figures.error_bars import ErrorBars, Target, draw_error_bars
from riskrank.report.figures.rank import stability_curves


def example(curves, sizes=(20, 50, 100, 105, 1000)):
    values = np.random.default_rng(curves).random((curves, len(sizes)))
    return ErrorBars(np.array(sizes), values, np.full(values.shape, 0.03), tuple(range(curves)))


@pytest.mark.parametrize("count", [1, 2, 12, 60])
def test_legible(legible, names, count):
    target = Target(0.8, 320)
    legible(
        lambda: draw_error_bars(example(count), names(count), "Power", "Read.", ylabel="power", target=target)
    )


def test_one_size(legible):
    legible(lambda: draw_error_bars(example(2, (50,)), "ab", "Power", "Read.", ylabel="Kendall's tau"))


def test_what_is_drawn_is_what_was_given():
    found = example(3)
    axes = draw_error_bars(found, "abc", "t", "r", ylabel="y").axes[0]
    for container, values, errors in zip(axes.containers, found.values, found.errors, strict=True):
        line, _, (bars,) = container.lines
        assert np.array_equal(line.get_xdata(), found.sizes)
        assert np.array_equal(line.get_ydata(), values)
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        assert ends == pytest.approx(np.column_stack([values - errors, values + errors]))


def test_stability_is_the_engine_s():
    tau = np.array([[[0.1, 0.3], [0.5, 0.5]], [[0.9, 0.7], [1.0, 1.0]]])
    found = stability_curves(Stability(("A", "B"), (10, 20), tau))
    assert found.sizes.tolist() == [10, 20]
    assert found.values == pytest.approx(np.array([[0.2, 0.5], [0.8, 1.0]]))
    assert found.errors == pytest.approx(np.array([[np.sqrt(0.02), 0], [np.sqrt(0.02), 0]]))
    assert found.order == (1, 0)
    assert np.all(stability_curves(Stability(("A",), (10,), tau[:1, :1, :1])).errors == 0)
