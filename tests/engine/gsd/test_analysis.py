"""Significance needs dominance in the sample and p ≤ α; only significant pairs have a margin."""

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from riskrank.engine.family import Family
from riskrank.engine.gsd.analysis import analyse_dominance, empirical_front, find_witness, run_front_test
from riskrank.engine.gsd.preference_system import Threshold, quality_table
from riskrank.engine.gsd.rank_tests import run_criteria_tests
from riskrank.engine.gsd.relabelling import Relabelling, dominance_relation, run_relabelling_tests
from riskrank.engine.gsd.relation import Utilities
from riskrank.errors import InputError


def chain(n=12):
    """Return three models on one ordinal criterion: far above, slightly above, and below."""
    base = np.tile([0, 1, 2], n // 3)
    above = base.copy()
    above[0] += 1
    return quality_table(np.stack([base + 3, above, base])[:, :, None].astype(float), ordinal=[True])


@pytest.mark.parametrize("pairs", ["dominant", "all"])
def test_survival_is_reported_for_significant_pairs_only(pairs):
    # 19 relabellings: the smallest p-value is 1/20, the level itself.
    result = analyse_dominance(
        Utilities(chain()),
        Relabelling(pairs=pairs, resamples=19, family=Family(correction="none"), contamination=True),
    )
    p = {pair: test.p_value for pair, test in result.tests.items()}
    assert p[0, 1] == p[0, 2] == 0.05
    assert p[1, 2] > 0.05
    assert result.relation.dominates[1, 2]
    assert set(result.tolerated_samples) == {(0, 1), (0, 2)}
    assert {*map(tuple, np.argwhere(result.significant).tolist())} == {(0, 1), (0, 2)}


def test_survival_requires_contamination():
    options = Relabelling(resamples=19, family=Family(correction="none"))
    assert analyse_dominance(Utilities(chain()), options).tolerated_samples == {}


def test_options_reach_relation_tests_and_front():
    # The pair of 0 and 1 has room for a slack of 1, all for 1/6; 3 is above them in the other criterion.
    scores = np.zeros((4, 4, 2))
    scores[:3, :, 0] = [[0, 1, 0, 1], [0, 1, 1, 1], [2, 3, 4, 5]]
    scores[3, :, 1] = 1
    table, options = quality_table(scores, ordinal=[True, True]), Relabelling(pairs="dominant", resamples=4)
    for system, largest in (("pair", 1.0), ("all", 1 / 6)):
        utilities = Utilities(table, Threshold(0.1), system)
        relation, tests = dominance_relation(utilities, options)
        result = analyse_dominance(utilities, options, epsilon=2.0)
        assert result.relation.largest_slack[0, 1] == pytest.approx(largest)
        np.testing.assert_array_equal(result.relation.optimum, relation.optimum)
        assert (result.threshold, result.tests, result.family) == (Threshold(0.1), tests, options.family)
        assert empirical_front(relation.optimum).any()
        assert not result.front.any()


def scores_with_ties(k=4, s=9, n=2):
    return np.random.default_rng(0).integers(0, 5, size=(k, s, n)) + np.arange(k)[:, None, None] * 0.5


def test_friedman_matches_scipy():
    scores = scores_with_ties()
    result = run_criteria_tests(scores)
    for j in range(2):
        expected = friedmanchisquare(*scores[..., j])
        assert result.friedman_statistic[j] == pytest.approx(expected.statistic)
        assert result.friedman_p_value[j] == pytest.approx(expected.pvalue)


def test_mean_ranks_and_nemenyi_match_their_definition():
    scores = scores_with_ties()
    result = run_criteria_tests(scores)
    for j in range(2):
        ranks = np.mean([rankdata(-scores[:, sample, j]) for sample in range(9)], axis=0)
        np.testing.assert_allclose(result.mean_rank[j], ranks)
        q = abs(ranks[0] - ranks[3]) / np.sqrt(4 * 5 / (6 * 9)) * np.sqrt(2)
        assert result.nemenyi_p_value[j, 0, 3] == pytest.approx(studentized_range.sf(q, 4, np.inf))


def test_nemenyi_matches_the_published_critical_value():
    # Demšar (2006), Table 5: q_0.05 = 2.343 for three models; critical difference q sqrt(k(k+1)/6s).
    critical = 2.343 * np.sqrt(3 * 4 / (6 * 10))
    scores = np.zeros((3, 10, 1))
    # Mean ranks 1.9 - x, 2, 2.1 + x by letting the first model win some samples.
    for wins, significant in ((5, False), (9, True)):
        scores[:, :, 0] = 0.0
        scores[0, :wins, 0], scores[2, :wins, 0] = 1.0, -1.0
        result = run_criteria_tests(scores)
        gap = result.mean_rank[0, 2] - result.mean_rank[0, 0]
        assert (gap > critical) == significant
        assert (result.nemenyi_p_value[0, 0, 2] < 0.05) == significant


def test_aggregated_tests_of_criteria():
    rng = np.random.default_rng(1)
    noise = 0.01 * rng.normal(size=(3, 20, 2))
    levels = np.array([[3.0, 3.0], [2.0, 1.0], [1.0, 2.0]])
    result = run_criteria_tests(noise + levels[:, None, :])
    np.testing.assert_array_equal(result.all_test(0.05), [[0, 1, 1], [0, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(result.one_test(0.05), [[0, 1, 1], [0, 0, 0], [0, 0, 0]])
    single_criterion = run_criteria_tests((noise + levels[:, None, :])[..., :1])
    np.testing.assert_array_equal(single_criterion.one_test(0.05), single_criterion.all_test(0.05))
    conflict = run_criteria_tests((noise + levels[:, None, :])[1:])
    assert not conflict.one_test(0.05).any()


def test_models_that_never_differ():
    result = run_criteria_tests(np.ones((3, 5, 1)))
    assert result.friedman_p_value[0] == 1.0
    np.testing.assert_allclose(result.nemenyi_p_value, 1.0)


def test_two_samples_are_required():
    assert run_criteria_tests(np.array([[[1.0], [2.0]], [[0.0], [1.0]]])).friedman_statistic[
        0
    ] == pytest.approx(2)
    for shape in ((1, 2, 1), (2, 1, 1)):
        with pytest.raises(InputError, match="at least two models and two samples"):
            run_criteria_tests(np.zeros(shape))


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
