"""pass^k and pass@k, against brute force over subsets of the runs, and unbiased for any number of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.sampling.passes import Passes, mean_interval

RUNS = st.lists(st.booleans(), min_size=3, max_size=7)


def passes(*samples):
    numbers = np.repeat(np.arange(len(samples)), [len(one) for one in samples])
    return Passes.of(np.concatenate([np.asarray(one, dtype=bool) for one in samples]), numbers)


@given(st.lists(RUNS, min_size=1, max_size=4), st.integers(1, 3))
def test_every_subset_of_the_runs(samples, k):
    found = passes(*samples)
    subsets = [list(combinations(runs, k)) for runs in samples]
    assert found.all_of(k) == pytest.approx([np.mean([all(part) for part in parts]) for parts in subsets])
    assert found.one_of(k) == pytest.approx([np.mean([any(part) for part in parts]) for parts in subsets])


@pytest.mark.parametrize("runs", [4, 7, 10])
def test_unbiased_for_any_number_of_runs(runs):
    rng = np.random.default_rng(runs)
    shares = rng.beta(0.7, 0.7, 4000)
    found = passes(*(rng.random((4000, runs)) < shares[:, None]))
    for k in (1, 3):
        # The standard error of a mean of 4,000 shares is below .008.
        assert found.all_of(k).mean() == pytest.approx(np.mean(shares**k), abs=0.02)
        assert found.one_of(k).mean() == pytest.approx(np.mean(1 - (1 - shares) ** k), abs=0.02)


def test_the_least_run_depends_on_their_number_where_this_does_not():
    rng = np.random.default_rng(0)
    few, many = (passes(*(rng.random((3000, runs)) < 0.8)) for runs in (3, 9))
    assert abs(few.all_of(3).mean() - many.all_of(3).mean()) < 0.03
    assert np.mean(few.passed == few.runs) - np.mean(many.passed == many.runs) > 0.3


def test_flaky_samples_are_neither_always_nor_never():
    assert passes([1, 1], [0, 0], [1, 0]).flaky == 1


def test_too_few_runs_are_refused():
    with pytest.raises(ValueError, match="2 runs"):
        passes([1, 1], [1, 0, 1]).all_of(3)


def test_an_interval_has_a_width_even_where_all_pass():
    mean, low, high = mean_interval(np.ones(20))
    assert (mean, high) == (1.0, 1.0)
    assert 0.8 < low < 0.9


def test_intervals_hold():
    rng, inside = np.random.default_rng(3), 0
    for _ in range(400):
        shares = rng.beta(2, 1, 40)
        found = passes(*(rng.random((40, 5)) < shares[:, None])).all_of(3)
        _, low, high = mean_interval(found)
        inside += low <= 2 / (2 + 3) <= high
    # E p³ of Beta(2, 1) is 2/5; of 400 intervals 380 are expected to hold, give or take 9.
    assert inside >= 362
