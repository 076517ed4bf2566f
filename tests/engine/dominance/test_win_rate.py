import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from riskrank.engine.dominance.win_rate import beaten_on_sample, best_on_sample, model_win_rate
from riskrank.engine.sampling.design import ClusteredScores

tables = st.tuples(st.integers(2, 5), st.integers(1, 8)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(0, 3).map(float))
)


@given(tables)
def test_win_rates_against_loops(table):
    k, n = table.shape
    means = table.mean(axis=1)
    model = [sum(means[j] <= means[i] for j in range(k) if j != i) / (k - 1) for i in range(k)]
    np.testing.assert_allclose(model_win_rate(means), model)
    best = [[max(table[j, t] for j in range(k) if j != i) <= table[i, t] for t in range(n)] for i in range(k)]
    np.testing.assert_array_equal(best_on_sample(table), best)
    for i in range(k):
        for t in range(n):
            others = [table[j, t] for j in range(k) if j != i]
            share = sum(1.0 if x < table[i, t] else 0.5 if x == table[i, t] else 0.0 for x in others)
            assert abs(beaten_on_sample(table)[i, t] - share / (k - 1)) < 1e-12


def test_share_of_samples_one_model_is_better_on():
    from riskrank.engine.dominance.win_rate import share_better

    pair = [np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 4.0, 0.0])]
    assert share_better(ClusteredScores.build(pair), 1, 0) == pytest.approx((2 + 0.5) / 4)
    assert share_better(ClusteredScores.build(pair), 0, 1) == pytest.approx(1 - (2 + 0.5) / 4)
    assert share_better(ClusteredScores.build(pair, paired=False), 0, 1) is None
