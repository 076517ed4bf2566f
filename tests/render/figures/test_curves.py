import numpy as np
import pytest

from riskrank.engine.portfolio.summary import summarise_curves
from riskrank.render.figures.curves import draw_curves

KINDS = ("quantiles", "tvar", "cdf")


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 12, 60])
def test_legible(legible, names, samples, count):
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
