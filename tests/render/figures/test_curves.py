"""Curves of distributions, of differences between two models, and with error bars."""

from dataclasses import replace

import numpy as np
import pytest

from riskrank.engine.dominance.influence import pair_curves
from riskrank.engine.dominance.method_rankings import Stability
from riskrank.engine.portfolio.summary import summarise_curves
from riskrank.render.figures.curves import ErrorBars, draw_curves, draw_error_bars, draw_pair
from riskrank.render.figures.style import MARKERS
from riskrank.studies.rank.figures import stability_curves
from tests.engine.dominance.helpers import violation_ratio

KINDS = ("quantiles", "tvar", "cdf")


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 12, 60])
def test_curves_are_legible(legible, names, samples, count):
    curves = summarise_curves(samples(count))
    for kind in KINDS:
        words = legible(lambda kind=kind: draw_curves(kind, curves, names(count), "P(IC)"))
        assert (f"{count - 7} others" in words) == (count > 7)


@pytest.mark.parametrize("factor", [1e-300, 1e154, 1e300])
def test_scores_of_any_size(legible, samples, factor):
    curves = summarise_curves([column * factor for column in samples(3)])
    words = legible(lambda: draw_curves("quantiles", curves, "abc", "cost"))
    assert any("×10" in word for word in words)


def test_the_computed_curves_are_plotted(samples):
    curves = summarise_curves(samples(3))
    lines = draw_curves("quantiles", curves, "abc", "acc").axes[0].get_lines()
    for line, heights in zip(lines, curves.quantiles, strict=True):
        assert line.get_drawstyle() == "steps-pre"
        assert np.array_equal(line.get_xdata()[1:], curves.levels)
        assert np.array_equal(line.get_ydata()[1:], heights)


def both(winner, loser):
    return [violation_ratio(winner, loser, order=order) for order in (1, 2)]


def test_differences_are_legible(legible, names):
    rng = np.random.default_rng(3)
    winner, loser = rng.normal(0.3, 1, 30), rng.normal(0, 1.5, 30)
    pair = tuple(names(12)[-2:])
    words = legible(lambda: draw_pair(pair_curves(winner, loser, both(winner, loser)), pair, "P(IC)"))
    assert f"Second order: ε = {both(winner, loser)[1]:.3f}" in words


@pytest.mark.parametrize(
    ("ratio", "text"), [(0.0, "= 0.000"), (1e-5, "<0.001"), (0.0364, "= 0.036"), (0.99999, ">0.999")]
)
def test_a_ratio_is_that_of_the_tables(ratio, text):
    curves = replace(pair_curves(np.arange(4.0), np.arange(4.0), (0.5, 0.5)), ratios=(ratio, 0.5))
    titles = [axes.get_title(loc="left") for axes in draw_pair(curves, ("a", "b"), "acc").axes]
    assert f"First order: ε {text}" in titles


@pytest.mark.parametrize("loser", [[1.0, 2.0, 3.0], [0.0, 1.0, 2.0]])
def test_identical_and_dominated(legible, loser):
    winner = np.array([1.0, 2.0, 3.0])
    legible(lambda: draw_pair(pair_curves(winner, np.array(loser), both(winner, loser)), ("a", "b"), "acc"))


def example(curves, sizes=(20, 50, 100, 105, 1000)):
    values = np.random.default_rng(curves).random((curves, len(sizes)))
    values[0, 0] = 0.99
    return ErrorBars(np.array(sizes), values, np.full(values.shape, 0.03), tuple(range(curves)))


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 12, 60])
def test_error_bars_are_legible(legible, names, count):
    target = (0.8, 320)
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
