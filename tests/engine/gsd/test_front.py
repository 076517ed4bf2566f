import numpy as np
import pytest

from riskrank.engine.gsd.analysis import empirical_front, find_witness, run_front_test
from riskrank.engine.gsd.preference_system import Threshold, quality_table
from riskrank.engine.gsd.relabelling import Relabelling, dominance_relation, run_relabelling_tests
from riskrank.engine.gsd.relation import Utilities


def three_models(samples=20):
    rng = np.random.default_rng(0)
    base = rng.normal(size=(samples, 2))
    best = base + 1.5 + 0.1 * rng.normal(size=(samples, 2))
    mixed = base + np.array([3.0, 0.0])
    return quality_table(np.stack([base, best, mixed]).round(2), ordinal=[False, False])


def test_empirical_front_matches_its_definition():
    rng = np.random.default_rng(1)
    for epsilon in (0.0, 0.1):
        optimum = rng.choice([-0.3, -0.05, 0.0, 0.2], size=(6, 6))
        np.fill_diagonal(optimum, 0.0)
        expected = [
            not any(
                optimum[other, c] >= -epsilon and optimum[c, other] < 0 for other in range(6) if other != c
            )
            for c in range(6)
        ]
        np.testing.assert_array_equal(empirical_front(optimum, epsilon=epsilon), expected)


def test_empirical_front_shrinks_with_epsilon():
    optimum = dominance_relation(Utilities(three_models()))[0].optimum
    np.testing.assert_array_equal(empirical_front(optimum), [False, True, True])
    assert np.all(empirical_front(optimum, epsilon=2.0) <= empirical_front(optimum))


@pytest.mark.slow
def test_front_tests_are_reversed_dominance_tests():
    table = three_models()
    options = Relabelling(resamples=59, contamination=True)
    result = run_front_test(Utilities(table), 2, options)
    expected = run_relabelling_tests(Utilities(table), [(0, 2), (1, 2)], options, side="less")
    assert result.tests == expected
    assert result.p_value == max(test.p_value for test in expected)
    assert result.in_front(0.05)
    assert result.rejected(0.05) == (0, 1)
    assert result.rejected(2 * result.p_value - 1e-9) == tuple(
        test.winner for test in expected if test.p_value < result.p_value
    )
    assert result.tolerated_samples(0.05) == min(test.tolerated_samples(0.05) for test in expected)
    outside = run_front_test(Utilities(table), 0, options)
    assert not outside.in_front(0.05)
    assert outside.tolerated_samples(0.05) is None


def test_witness_utility_ranks_the_model_lower():
    table = three_models()
    threshold = Threshold(1e-3)
    result = find_witness(Utilities(table, threshold), 1, 2)
    relation, _ = dominance_relation(Utilities(table, threshold))
    assert result.optimum == pytest.approx(relation.optimum[1, 2], abs=1e-9)
    assert result.optimum < 0
    np.testing.assert_allclose(
        result.contribution, (result.winner_share - result.loser_share) * result.utility, atol=1e-15
    )
    assert result.contribution.sum() == pytest.approx(result.optimum, abs=1e-9)
    assert np.all(np.diff(np.abs(result.contribution)) <= 0)
    # Monotone with the slack asked for, on a scale from 0 to 1.
    above = np.all(result.values[:, None] >= result.values[None], axis=2) & ~np.eye(
        len(result.values), dtype=bool
    )
    rise = result.utility[:, None] - result.utility[None]
    assert rise[above].min() >= 1e-3 - 1e-9
    assert (result.utility.min(), result.utility.max()) == (0.0, 1.0)
    assert result.slack == 1e-3


def test_equal_competitor_is_not_beaten():
    """A model is beaten only if its own optimum is negative; 0 in both directions is a tie."""
    tied = np.array([[np.nan, 0.0], [0.0, np.nan]])
    np.testing.assert_array_equal(empirical_front(tied), [True, True])
    beaten = np.array([[np.nan, 0.0], [-0.1, np.nan]])
    np.testing.assert_array_equal(empirical_front(beaten), [True, False])
