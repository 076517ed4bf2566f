import numpy as np
import pytest

from riskrank.engine.dominance.pair_curves import pair_curves
from tests.engine.dominance.helpers import violation_ratio


def both(winner, loser):
    return [violation_ratio(winner, loser, order=order) for order in (1, 2)]


def test_the_ratio_is_the_share_of_the_area_plotted():
    rng = np.random.default_rng(1)
    winner, loser = rng.normal(0.3, 1, 30), rng.normal(0, 1.5, 17)
    found = pair_curves(winner, loser, both(winner, loser))
    levels = np.concatenate([[0], found.levels])
    difference = found.winner - found.loser
    first = np.diff(levels) * difference[0] ** 2
    assert np.sum(first[difference[0] < 0]) / np.sum(first) == pytest.approx(found.ratios[0])
    # The second order's is piecewise linear: integrate it on a fine grid.
    line = np.interp(np.linspace(0, 1, 200_001), levels, np.concatenate([[0], difference[1]]))
    assert np.mean(np.minimum(line, 0) ** 2) / np.mean(line**2) == pytest.approx(found.ratios[1], rel=1e-3)


def test_many_samples_are_thinned():
    rng = np.random.default_rng(2)
    winner, loser = rng.normal(0, 1, 3000), rng.normal(0, 1, 2000)
    found = pair_curves(winner, loser, (0.4, 0.4))
    assert found.levels.size == 1000
    assert found.winner[0].tolist() == np.sort(winner)[2::3].tolist()
