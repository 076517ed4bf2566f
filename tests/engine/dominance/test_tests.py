import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from riskrank.engine.dominance.bootstrap import Replicates, replicate
from riskrank.engine.dominance.tests import Claim, bootstrap_test, claims, compare, estimate, paper_test
from riskrank.engine.dominance.violation import one_versus_all
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.errors import UsageError


def normal_scores(means, n=100, seed=0):
    rng = np.random.default_rng(seed)
    return ClusteredScores.build([rng.normal(mean, 1, size=n) for mean in means])


@pytest.mark.parametrize("order", [1, 2])
def test_relative_statistic_against_its_definition(order):
    estimates = estimate(normal_scores([0, 0.2, 0.5]))
    found = compare(estimates, Claim(order))
    ratios = estimates.ratios[order - 1]
    for i in range(3):
        for j in range(3):
            overall = [np.mean([ratios[m, o] for o in range(3) if o != m]) for m in (i, j)]
            assert found.statistic[i, j] == pytest.approx(overall[0] - overall[1], abs=1e-15)
            assert found.dominates[i, j] == (i != j and overall[0] < overall[1])


def test_for_two_models_relative_is_absolute_at_one_half():
    scores = normal_scores([0, 0.25], n=60)
    estimates, replicates = estimate(scores), replicate(scores, resamples=200, seed=1)
    relative = bootstrap_test(estimates, replicates, Claim(1))
    absolute = bootstrap_test(estimates, replicates, Claim(1, 0.5))
    np.testing.assert_allclose(relative.p_value, absolute.p_value, rtol=1e-9)
    np.testing.assert_array_equal(relative.dominates, absolute.dominates)


@pytest.mark.parametrize("claim", [Claim(1), Claim(2), Claim(1, 0.25), Claim(2, 0.08)])
def test_p_values_against_counting_replicates_pair_by_pair(claim):
    scores = normal_scores([0, 0.05, 0.1], n=50)
    estimates, replicates = estimate(scores), replicate(scores, resamples=199, seed=2)
    found = bootstrap_test(estimates, replicates, claim, correction="none")
    boundary = 0.0 if claim.threshold is None else claim.threshold
    for i in range(3):
        for j in range(3):
            if i == j:
                continue
            statistics = replicates.ratios[:, claim.order - 1, i, j]
            if claim.threshold is None:
                overall = one_versus_all(replicates.ratios[:, claim.order - 1])
                statistics = overall[:, i] - overall[:, j]
            crossing = sum(t >= boundary for t in statistics)
            assert found.extrapolated[i, j] == (crossing == 0)
            if crossing:
                assert found.p_value[i, j] == pytest.approx((1 + crossing) / 200, abs=1e-15)
            assert found.standard_error[i, j] == pytest.approx(np.std(statistics, ddof=1))
            assert found.dominates[i, j] == (found.p_value[i, j] <= 0.05)


def test_bonferroni_takes_all_ordered_pairs():
    scores = normal_scores([0, 0.1, 0.2, 0.3])
    estimates, replicates = estimate(scores), replicate(scores, resamples=100, seed=0)
    found = bootstrap_test(estimates, replicates, Claim(2))
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(found.p_adjusted[off], np.minimum(1, 12 * found.p_value[off]))


def test_paper_test_against_algorithm_one_written_out():
    scores = normal_scores([0, 0.1, 0.4], n=80)
    estimates, replicates = estimate(scores), replicate(scores, resamples=150, seed=4)
    for claim in (Claim(1), Claim(2, 0.25)):
        found = paper_test(estimates, replicates, claim, alpha=0.05)
        statistics = claim.statistic(replicates.ratios[:, claim.order - 1])
        sigma = statistics.std(axis=0, ddof=1)
        boundary = 0.0 if claim.threshold is None else claim.threshold
        for i in range(3):
            for j in range(3):
                if i == j:
                    continue
                critical = sigma[i, j] / np.sqrt(80) * ndtri(0.05 / 9)
                assert found.dominates[i, j] == (found.statistic[i, j] - boundary <= critical)
                z = np.sqrt(80) * (found.statistic[i, j] - boundary) / sigma[i, j]
                assert found.p_value[i, j] == pytest.approx(ndtr(z), rel=1e-9)


@given(st.permutations(range(4)))
def test_verdicts_follow_relabelled_models(order):
    scores = normal_scores([0, 0.1, 0.2, 0.3], n=40)
    replicates = replicate(scores, resamples=50, seed=0)
    relabelled = ClusteredScores(tuple(scores.values[i] for i in order), scores.clusters, scores.paired)
    moved = replicate(relabelled, resamples=50, seed=0)
    plain = bootstrap_test(estimate(scores), replicates, Claim(2))
    other = bootstrap_test(estimate(relabelled), moved, Claim(2))
    np.testing.assert_allclose(other.p_value, plain.p_value[np.ix_(order, order)], rtol=1e-9)


def test_identical_models_are_flagged_and_never_separated():
    column = np.random.default_rng(0).normal(size=60)
    scores = ClusteredScores.build([column, column, column + 1])
    estimates = estimate(scores)
    assert estimates.identical[0, 1]
    assert not estimates.identical[0, 2]
    assert estimates.ratios[0, 0, 1] == estimates.ratios[1, 0, 1] == 0.5
    found = bootstrap_test(estimates, replicate(scores, resamples=100, seed=0), Claim(1))
    assert found.p_value[0, 1] == found.p_value[1, 0] == 1
    assert found.dominates[2, 0]


def test_a_draw_of_different_distributions_is_not_identical():
    scores = ClusteredScores.build([[2.0, 2.0], [1.0, 3.0]])
    assert not estimate(scores).identical.any()


def test_complete_separation_is_significant_even_among_many():
    rng = np.random.default_rng(0)
    scores = ClusteredScores.build([rng.normal(10 * i, 1, size=40) for i in range(8)])
    found = bootstrap_test(estimate(scores), replicate(scores, resamples=100, seed=0), Claim(1))
    assert np.all(found.dominates == np.tri(8, k=-1, dtype=bool))


def test_ten_samples_cannot_show_more_than_all_signs_alike():
    scores = ClusteredScores.build([np.arange(10.0), np.arange(10.0) + 100])
    found = bootstrap_test(estimate(scores), replicate(scores, resamples=5000, seed=0), Claim(1))
    assert found.p_value[1, 0] >= 2.0**-10


def test_claims_of_a_run():
    assert claims([1, 2], relative=True, thresholds=[0.25]) == (
        Claim(1),
        Claim(2),
        Claim(1, 0.25),
        Claim(2, 0.25),
    )
    assert claims([2], relative=False, thresholds=[]) == ()


@pytest.mark.parametrize("tau", [0, 1, -0.1, 2, float("nan")])
def test_thresholds_outside_the_unit_interval_are_refused(tau):
    with pytest.raises(UsageError, match="threshold"):
        Claim(1, tau)


def test_replicates_are_plain_arrays():
    scores = normal_scores([0, 1], n=20)
    assert isinstance(replicate(scores, resamples=3, seed=0), Replicates)
