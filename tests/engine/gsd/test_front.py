import numpy as np
import pytest

from riskrank.engine.gsd.front import empirical_front, run_front_test, find_witness
from riskrank.engine.gsd.null_optima import Relabelling
from riskrank.engine.gsd.preference_system import Threshold
from riskrank.engine.gsd.quality import quality_table
from riskrank.engine.gsd.relabelling import dominance_relation, run_relabelling_tests
from riskrank.engine.gsd.relation import Utilities


def three_models(samples=20):
    rng = np.random.default_rng(0)
    base = rng.normal(size=(samples, 2))
    best = base + 1.5 + 0.1 * rng.normal(size=(samples, 2))
    mixed = base + np.array([3.0, 0.0])
    return quality_table(np.stack([base, best, mixed]).round(2), ordinal=[False, False])


def test_empirical_front_against_definition():
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
    how = Relabelling(resamples=59, contamination=True)
    found = run_front_test(Utilities(table), 2, how)
    expected = run_relabelling_tests(Utilities(table), [(0, 2), (1, 2)], how, side="less")
    assert found.tests == expected
    assert found.p_value == max(test.p_value for test in expected)
    assert found.in_front(0.05)
    assert found.rejected(0.05) == (0, 1)
    assert found.rejected(2 * found.p_value - 1e-9) == tuple(
        test.winner for test in expected if test.p_value < found.p_value
    )
    assert found.survives(0.05) == min(test.survives(0.05) for test in expected)
    outside = run_front_test(Utilities(table), 0, how)
    assert not outside.in_front(0.05)
    assert outside.survives(0.05) is None


def test_witness_is_a_utility_under_which_the_model_is_worse():
    table = three_models()
    threshold = Threshold(1e-3)
    found = find_witness(Utilities(table, threshold), 1, 2)
    relation, _ = dominance_relation(Utilities(table, threshold))
    assert found.optimum == pytest.approx(relation.optimum[1, 2], abs=1e-9)
    assert found.optimum < 0
    np.testing.assert_allclose(
        found.contribution, (found.winner_share - found.loser_share) * found.utility, atol=1e-15
    )
    assert found.contribution.sum() == pytest.approx(found.optimum, abs=1e-9)
    assert np.all(np.diff(np.abs(found.contribution)) <= 0)
    # Monotone with the slack asked for, on a scale from 0 to 1.
    above = np.all(found.values[:, None] >= found.values[None], axis=2) & ~np.eye(
        len(found.values), dtype=bool
    )
    rise = found.utility[:, None] - found.utility[None]
    assert rise[above].min() >= 1e-3 - 1e-9
    assert (found.utility.min(), found.utility.max()) == (0.0, 1.0)
    assert found.slack == 1e-3


def test_a_competitor_that_is_matched_exactly_is_not_beaten():
    """Outside only where the own optimum is negative: 0 both ways is a tie, and a tie keeps both."""
    tied = np.array([[np.nan, 0.0], [0.0, np.nan]])
    np.testing.assert_array_equal(empirical_front(tied), [True, True])
    beaten = np.array([[np.nan, 0.0], [-0.1, np.nan]])
    np.testing.assert_array_equal(empirical_front(beaten), [True, False])
