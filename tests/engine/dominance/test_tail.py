import math

import numpy as np
import pytest
from scipy.special import logit, ndtr

from riskrank.engine.dominance.tail import (
    FEWEST_FOR_A_TAIL,
    mean_difference_p_value,
    percentile_p_value,
    tail_p_value,
)


def test_percentile_p_value_counts_with_one_added():
    replicates = np.array([[0.1], [0.5], [0.4], [0.3]])
    assert percentile_p_value(replicates, 0.4) == pytest.approx([3 / 5])


def test_no_extrapolation_once_a_replicate_crosses():
    replicates = np.linspace(0.1, 0.5, 101)[:, None]
    found = tail_p_value(replicates, 0.5, samples=50, fallback=np.array([1e-9]))
    assert not found.extrapolated[0]
    assert found.p_value[0] == 2 / 102


def test_continued_tail_against_the_formula_written_out():
    rng = np.random.default_rng(0)
    replicates = rng.beta(2, 30, size=(1000, 1))
    replicates = replicates[replicates[:, 0] < 0.4][:, :1]
    n, threshold = 100, 0.4
    scaled = sorted(logit(min(max(t, 1 / 400), 1 - 1 / 400)) for t in replicates[:, 0])
    q = float(np.quantile(scaled, 0.95))
    excess = [x - q for x in scaled if x > q]
    expected = 0.05 * math.exp(-(logit(threshold) - q) / (sum(excess) / len(excess)))
    found = tail_p_value(replicates, threshold, samples=n, fallback=np.array([1.0]))
    assert found.extrapolated[0]
    assert found.p_value[0] == pytest.approx(min(1 / (len(replicates) + 1), expected), rel=1e-12)


def test_extrapolation_never_exceeds_the_floor_of_counting():
    replicates = np.full((99, 1), 0.39)
    replicates[:5] = 0.399
    found = tail_p_value(replicates, 0.4, samples=50, fallback=np.array([1.0]))
    assert found.p_value[0] <= 1 / 100


def test_a_tail_of_few_replicates_is_not_continued():
    replicates = np.random.default_rng(0).beta(2, 30, size=(FEWEST_FOR_A_TAIL - 1, 1))
    found = tail_p_value(replicates, 0.9, samples=100, fallback=np.array([1e-9]))
    assert found.p_value[0] == 1 / FEWEST_FOR_A_TAIL


def test_a_single_point_tail_takes_the_fallback():
    found = tail_p_value(np.zeros((200, 1)), 0.5, samples=50, fallback=np.array([1e-6]))
    assert found.p_value[0] == 1e-6


def test_mean_difference_against_the_normal_formula_and_its_floor():
    means = np.array([1.0, 0.0, 0.0])
    rng = np.random.default_rng(1)
    replicates = means + rng.normal(scale=0.25, size=(500, 3))
    found = mean_difference_p_value(means, replicates, samples=1000)
    error = np.std(replicates[:, 0] - replicates[:, 1], ddof=1)
    assert found[0, 1] == pytest.approx(ndtr(-1 / error))
    assert found[1, 2] == 0.5
    constant = np.tile(means, (500, 1))
    assert mean_difference_p_value(means, constant, samples=12)[0, 1] == 2.0**-12
