"""The distance of two integrated quantile functions, against plain numerical integration."""

import numpy as np
import pytest

from riskrank.engine.dominance.pair_influence import MergedGrid, integrated_distance


@pytest.mark.parametrize("sizes", [(5, 5), (4, 6), (7, 3)])
def test_integrated_distance(sizes):
    rng = np.random.default_rng(1)
    x, y = (np.sort(rng.normal(size=n)) for n in sizes)
    steps = 840_000
    at = (np.arange(steps) + 0.5) / steps
    first, second = (row[np.floor(at * len(row)).astype(int)] for row in (x, y))
    # At the middle of each fine step, where its own half is in the sum.
    difference = (np.cumsum(first - second) - 0.5 * (first - second)) / steps
    assert integrated_distance(x, y, MergedGrid(*sizes)) == pytest.approx((difference**2).mean(), rel=1e-9)
