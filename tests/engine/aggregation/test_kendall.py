import numpy as np
import pytest
from scipy import stats

from riskrank.engine.aggregation import rank_aggregation
from riskrank.engine.aggregation.rank_aggregation import kendall_tau


@pytest.mark.parametrize("levels", [3, 10, 10**6])
def test_tau_b_matches_scipy(levels, monkeypatch):
    monkeypatch.setattr(rank_aggregation, "_PAIRS", 1000)
    scores = np.random.default_rng(levels).integers(0, levels, (5, 130)).astype(float)
    tau = kendall_tau(scores)
    for a in range(5):
        for b in range(5):
            assert tau[a, b] == pytest.approx(stats.kendalltau(scores[a], scores[b]).statistic, abs=1e-14)


def test_hand_computed_example():
    # Pairs: 12 agree, 13 agree, 23 tied in the second ranking.
    tau = kendall_tau([[1, 2, 3], [1, 2, 2]])
    np.testing.assert_allclose(tau, [[1, 2 / np.sqrt(3 * 2)], [2 / np.sqrt(6), 1]])


def test_invariance_under_increasing_transforms_and_sign():
    scores = np.random.default_rng(1).normal(size=(2, 50))
    tau = kendall_tau(scores)[0, 1]
    assert kendall_tau([np.exp(scores[0]), scores[1] * 3])[0, 1] == tau
    assert kendall_tau([-scores[0], scores[1]])[0, 1] == -tau
    assert kendall_tau([[1.0, 2, np.inf], [-np.inf, 0, 5]])[0, 1] == 1


def test_constant_ranking_has_no_tau():
    tau = kendall_tau([[1, 1, 1], [1, 2, 3]])
    assert np.isnan(tau[0]).all()
    assert np.isnan(tau[1, 0])
    assert tau[1, 1] == 1
