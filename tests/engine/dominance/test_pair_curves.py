"""The distance of two integrated quantile functions, compared with numerical integration."""

import numpy as np
import pytest
from scipy.special import ndtri

from riskrank.engine.dominance.influence import (
    MergedGrid,
    integrated_distance,
    pair_curves,
    quantile_difference,
)
from riskrank.engine.sampling.design import ClusteredScores
from tests.engine.dominance.helpers import violation_ratio


@pytest.mark.parametrize("sizes", [(5, 5), (4, 6), (7, 3)])
def test_integrated_distance(sizes):
    rng = np.random.default_rng(1)
    x, y = (np.sort(rng.normal(size=n)) for n in sizes)
    steps = 840_000
    at = (np.arange(steps) + 0.5) / steps
    first, second = (row[np.floor(at * len(row)).astype(int)] for row in (x, y))
    # At the middle of each fine step, where its own half is in the sum.
    difference = (np.cumsum(first - second) - 0.5 * (first - second)) / steps
    grid = MergedGrid(*(np.full(n, 1 / n) for n in sizes))
    assert integrated_distance(x, y, grid) == pytest.approx((difference**2).mean(), rel=1e-9)


def test_the_ratio_is_the_share_of_the_area_plotted():
    rng = np.random.default_rng(1)
    winner, loser = rng.normal(0.3, 1, 30), rng.normal(0, 1.5, 17)
    ratios = [violation_ratio(winner, loser, order=order) for order in (1, 2)]
    curves = pair_curves(winner, loser, ratios)
    levels = np.concatenate([[0], curves.levels])
    difference = curves.winner - curves.loser
    first = np.diff(levels) * difference[0] ** 2
    assert np.sum(first[difference[0] < 0]) / np.sum(first) == pytest.approx(curves.ratios[0])
    # The second order's is piecewise linear: integrate it on a fine grid.
    line = np.interp(np.linspace(0, 1, 200_001), levels, np.concatenate([[0], difference[1]]))
    assert np.mean(np.minimum(line, 0) ** 2) / np.mean(line**2) == pytest.approx(curves.ratios[1], rel=1e-3)


def test_many_samples_are_thinned():
    rng = np.random.default_rng(2)
    winner, loser = rng.normal(0, 1, 3000), rng.normal(0, 1, 2000)
    curves = pair_curves(winner, loser, (0.4, 0.4))
    assert curves.levels.size == 1000
    assert curves.winner[0].tolist() == np.sort(winner)[2::3].tolist()


LEVELS = np.array([0.1, 0.25, 0.5, 0.75, 0.9])


def test_estimate_is_the_difference_of_order_statistics():
    scores = ClusteredScores.build([[4.0, 1, 3, 2], [10.0, 40, 20, 30]])
    band = quantile_difference(scores, 0, 1, [0.25, 0.5, 0.6, 1], resamples=10)
    assert band.estimate.tolist() == [-9, -18, -27, -36]


def test_a_shift_of_paired_samples_has_no_uncertainty():
    x = np.random.default_rng(0).normal(size=50)
    paired = quantile_difference(ClusteredScores.build([x + 2, x]), 0, 1, LEVELS, resamples=200)
    for values in (paired.estimate, paired.low, paired.high):
        assert values == pytest.approx(2)
    unpaired = quantile_difference(
        ClusteredScores.build([x + 2, x], paired=False), 0, 1, LEVELS, resamples=200
    )
    assert np.all(unpaired.low < 2 - 0.1)
    assert np.all(unpaired.high > 2 + 0.1)


def test_band_matches_a_plain_bootstrap():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=40), rng.normal(0.5, 2, size=40)
    band = quantile_difference(ClusteredScores.build([x, y]), 0, 1, LEVELS, resamples=4000, level=0.1)
    picks = rng.integers(0, 40, (4000, 40))
    places = np.ceil(40 * LEVELS).astype(int) - 1
    plain = np.sort(x[picks], axis=1)[:, places] - np.sort(y[picks], axis=1)[:, places]
    low, high = np.quantile(plain, [0.05, 0.95], axis=0)
    assert band.low == pytest.approx(low, abs=0.12)
    assert band.high == pytest.approx(high, abs=0.12)
    assert np.all(band.high - band.low >= 0.9 * (high - low))


def test_reversed_pair_mirrors_the_band():
    rng = np.random.default_rng(2)
    scores = ClusteredScores.build([rng.normal(size=30), rng.normal(size=30)])
    forward, reverse = (
        quantile_difference(scores, *pair, LEVELS, resamples=300) for pair in ((0, 1), (1, 0))
    )
    assert reverse.estimate == pytest.approx(-forward.estimate)
    assert reverse.low == pytest.approx(-forward.high)


def test_models_of_different_sizes_and_draws():
    rng = np.random.default_rng(3)
    uneven = ClusteredScores.build(
        [rng.normal(size=30), rng.normal(size=20)],
        [np.repeat(np.arange(15), 2), np.repeat(np.arange(10), [1, 3] * 5)],
        paired=False,
    )
    band = quantile_difference(uneven, 0, 1, LEVELS, resamples=100)
    assert np.all(band.low <= band.high)


@pytest.mark.slow
def test_coverage_at_every_level():
    """In 300 tables, the coverage of the band is close to its nominal level."""
    truth = 0.5 + ndtri(LEVELS) * (2 - 1)
    covered = np.zeros(LEVELS.size)
    for seed in range(300):
        rng = np.random.default_rng(seed)
        scores = ClusteredScores.build([rng.normal(0.5, 2, 80), rng.normal(0, 1, 80)], paired=False)
        band = quantile_difference(scores, 0, 1, LEVELS, resamples=200, seed=seed)
        covered += (band.low <= truth) & (truth <= band.high)
    assert covered / 300 == pytest.approx(0.95, abs=0.045)
