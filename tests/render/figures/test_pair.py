from dataclasses import replace

import numpy as np
import pytest

from riskrank.engine.dominance.pair_curves import pair_curves
from riskrank.render.figures.pair import draw_pair
from tests.engine.dominance.helpers import violation_ratio


def both(winner, loser):
    return [violation_ratio(winner, loser, order=order) for order in (1, 2)]


def test_legible(legible, names):
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
