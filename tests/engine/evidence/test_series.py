"""Means in order against cosines written plainly, and against series whose dependence is known."""

import math

import numpy as np
import pytest

from riskrank.engine.evidence.series import (
    FEWEST_COSINES,
    blocks_in_order,
    cosines_of,
    mean_in_order,
    worth_in_order,
)


def series(rng, n, alike, tables=1):
    noise = rng.normal(size=(tables, n + 100))
    found = np.zeros_like(noise)
    for at in range(1, n + 100):
        found[:, at] = alike * found[:, at - 1] + noise[:, at]
    return found[:, 100:]


def test_against_sums_written_plainly():
    d = np.random.default_rng(0).normal(size=60)
    away = d - d.mean()
    r = sum(away[1:] * away[:-1]) / sum(away**2)
    rho = min(max(r + (1 + 3 * r) / 60, 0.001), 0.99)
    nu = min(math.floor(0.4 * 60 ** (2 / 3)), math.floor(60 * (1 - rho) / math.pi * math.sqrt(0.3 / rho)))
    parts = [
        math.sqrt(2 / 60) * sum(d[s] * math.cos(math.pi * j * (s + 0.5) / 60) for s in range(60))
        for j in range(1, nu + 1)
    ]
    found = mean_in_order(d)
    assert found.df == nu == cosines_of(d)
    assert found.error == pytest.approx(math.sqrt(np.mean(np.square(parts)) / 60), rel=1e-10)


@pytest.mark.parametrize(("n", "alike", "most"), [(50, 0.0, 0.075), (250, 0.6, 0.075), (250, 0.9, 0.085)])
def test_equal_series_are_rarely_told_apart(n, alike, most):
    """Of 1,000 tables, ± 0.007, refused ones among them; as independent .33 err at 0.6."""
    false, refused = 0, 0
    for d in series(np.random.default_rng(1), n, alike, 1000):
        if cosines_of(d) < FEWEST_COSINES:
            refused += 1
            continue
        found = mean_in_order(d)
        false += 2 * min(found.p_above(), found.mirrored.p_above()) <= 0.05
    assert false / 1000 <= most
    assert (refused > 100) == (alike == 0.9)


def test_power_where_an_oracle_has_four_out_of_five():
    """At AR(.6) and n = 250: at least .72 of 1,000 tables, ± 0.014."""
    n, alike = 250, 0.6
    sd = 1 / (1 - alike) / math.sqrt(n)
    shown = [
        mean_in_order(d + 2.8 * sd).p_above() <= 0.025
        for d in series(np.random.default_rng(2), n, alike, 1000)
    ]
    assert np.mean(shown) >= 0.72


def test_what_rows_in_order_are_worth():
    """AR(.6) is worth a quarter of its rows, independent ones about all."""
    rng = np.random.default_rng(3)
    alike = np.median([worth_in_order(d) for d in series(rng, 1000, 0.6, 60)])
    assert 180 < alike < 330
    assert np.median([worth_in_order(d) for d in series(rng, 1000, 0.0, 60)]) > 900


def test_blocks_are_consecutive():
    blocks = blocks_in_order(23, 4)
    assert blocks.tolist() == [0] * 5 + [1] * 5 + [2] * 5 + [3] * 5 + [4] * 3
