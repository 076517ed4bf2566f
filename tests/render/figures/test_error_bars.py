import numpy as np
import pytest

from riskrank.engine.dominance.method_rankings import Stability
from riskrank.render.figures.curves import ErrorBars, TargetLine, draw_error_bars
from riskrank.render.figures.style import MARKERS
from riskrank.studies.rank.figures import stability_curves


def example(curves, sizes=(20, 50, 100, 105, 1000)):
    values = np.random.default_rng(curves).random((curves, len(sizes)))
    values[0, 0] = 0.99
    return ErrorBars(np.array(sizes), values, np.full(values.shape, 0.03), tuple(range(curves)))


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 12, 60])
def test_legible(legible, names, count):
    target = TargetLine(0.8, 320)
    legible(
        lambda: draw_error_bars(example(count), names(count), "Power", "Read.", ylabel="power", target=target)
    )


def test_a_single_size(legible):
    legible(lambda: draw_error_bars(example(2, (50,)), "ab", "Power", "Read.", ylabel="Kendall's tau"))


def test_the_values_are_plotted():
    data = example(3)
    axes = draw_error_bars(data, "abc", "t", "r", ylabel="y").axes[0]
    for container, values, errors in zip(axes.containers, data.values, data.errors, strict=True):
        line, _, (bars,) = container.lines
        assert line.get_xdata() == pytest.approx(data.sizes, rel=0.1)  # side by side
        assert np.array_equal(line.get_ydata(), values)
        limits = np.array([segment[:, 1] for segment in bars.get_segments()])
        reach = np.column_stack([values - errors, values + errors])
        assert limits == pytest.approx(np.clip(reach, 0, 1))  # no bar leaves the range of the values
    places = np.array([container.lines[0].get_xdata() for container in axes.containers])
    assert np.all(np.diff(places, axis=0) > 0)
    assert np.exp(np.log(places).mean(axis=0)) == pytest.approx(data.sizes)


def test_the_key_shows_markers():
    figure = draw_error_bars(example(3), "abc", "t", "r", ylabel="y")
    (canvas,) = [axes for axes in figure.axes if not axes.axison]
    assert [line.get_marker() for line in canvas.get_lines()] == list(MARKERS[:3])


def test_stability_is_the_engine_s():
    tau = np.array([[[0.1, 0.3], [0.5, 0.5]], [[0.9, 0.7], [1.0, 1.0]]])
    curves = stability_curves(Stability(("A", "B"), (10, 20), tau))
    assert curves.sizes.tolist() == [10, 20]
    assert curves.values == pytest.approx(np.array([[0.2, 0.5], [0.8, 1.0]]))
    assert curves.errors == pytest.approx(np.array([[np.sqrt(0.02), 0], [np.sqrt(0.02), 0]]))
    assert curves.order == (1, 0)
