"""Portfolios without each model, against folding again."""

import numpy as np

from riskrank.engine.portfolio.folding import portfolio, portfolios_without_each


def test_portfolios_without_each_against_folding_again():
    rng = np.random.default_rng(4)
    values = [rng.integers(0, 5, (n, 3)) / 4 for n in (20, 25, 30, 15)]
    weights = [0.5, 0.3, 0.2]
    for left, found in enumerate(portfolios_without_each(values, weights=weights)):
        again = portfolio([value for i, value in enumerate(values) if i != left], weights=weights)
        for one, other in zip(found, again, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
