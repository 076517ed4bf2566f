from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from scipy.stats import norm, t

from riskrank.engine.dominance.column_tests import study_dominance
from riskrank.engine.dominance.inference import Claim, Inference
from riskrank.engine.dominance.ranking import estimate_violation
from riskrank.engine.dominance.resampled_tests import logit_p_value, paper_test
from riskrank.engine.dominance.sign_flips import flip_p_values, mean_utility
from riskrank.engine.dominance.tests import arrange_tests, sample_dominance, significant_across_groups
from riskrank.engine.dominance.violation import one_versus_all
from riskrank.engine.family import Family
from riskrank.engine.portfolio.quantiles import tail_value_at_risk
from riskrank.engine.sampling.design import ClusteredScores
from tests.engine.dominance.helpers import bootstrap_test, replicate
from tests.engine.dominance.test_bootstrap import brute_force

CLAIMS = [
    Claim(1),
    Claim(2),
    Claim(1, "direct"),
    Claim(2, "direct"),
    Claim(1, "absolute", 0.25),
    Claim(2, "absolute", 0.08),
]


def normal_scores(means, n=100, seed=0):
    rng = np.random.default_rng(seed)
    return ClusteredScores.build([rng.normal(mean, 1, size=n) for mean in means])


@pytest.fixture(scope="module", params=[True, False])
def brute_forced(request):
    """Return scores of three models, and the ratios of individually drawn resamples."""
    rng, paired = np.random.default_rng(0), request.param
    sizes = (50, 50, 50) if paired else (50, 20, 35)
    values = [rng.normal(0.2 * i, 1, size=n) for i, n in enumerate(sizes)]
    scores = ClusteredScores.build(values, paired=paired)
    return scores, brute_force(scores, resamples=199, seed=2)[0]


def claim_replicates(scores, claim, resamples, seed=0):
    return replicate(scores, resamples=resamples, seed=seed, thresholds=(claim.boundary,))


def verdicts(scores, claim, resamples=200, *, seed=0, pairs=None, **how):
    inference = Inference(resamples=resamples, **how)
    return bootstrap_test(
        scores, claim_replicates(scores, claim, resamples, seed), claim, inference, pairs=pairs
    )


@pytest.mark.parametrize("order", [1, 2])
def test_relative_statistic_against_its_definition(order):
    estimates = estimate_violation(normal_scores([0, 0.2, 0.5]))
    tests = sample_dominance(estimates, Claim(order))
    ratios = estimates.ratios[order - 1]
    for i in range(3):
        for j in range(3):
            overall = [np.mean([ratios[m, o] for o in range(3) if o != m]) for m in (i, j)]
            assert tests.statistic[i, j] == pytest.approx(overall[0] - overall[1], abs=1e-15)
            assert tests.dominates[i, j] == (i != j and overall[0] < overall[1])


def test_estimates_contain_means_and_tail_means():
    scores = normal_scores([0, 1], n=50)
    estimates = estimate_violation(scores)
    assert estimates.tail_level == 0.1
    np.testing.assert_allclose(estimates.means, [value.mean() for value in scores.values])
    np.testing.assert_allclose(estimates.tails, [tail_value_at_risk(value, 0.1) for value in scores.values])
    assert estimate_violation(normal_scores([0, 1], n=400)).tail_level == 0.05


def test_for_two_models_relative_is_direct():
    scores = normal_scores([0, 0.25], n=60)
    for order in (1, 2):
        relative, direct = (verdicts(scores, Claim(order, kind)) for kind in ("relative", "direct"))
        np.testing.assert_allclose(relative.p_value, direct.p_value, rtol=1e-9)
        np.testing.assert_array_equal(relative.crossings, direct.crossings)
        np.testing.assert_array_equal(relative.dominates, direct.dominates)


@pytest.mark.parametrize("claim", CLAIMS)
def test_p_values_against_counting_replicates_pair_by_pair(claim, brute_forced):
    """Rules 1, 2 and 4 are computed by loops for every pair, on individually drawn resamples."""
    scores, every = brute_forced
    sizes = [value.size for value in scores.values]
    tests = verdicts(scores, claim, 199, seed=2, family=Family(correction="none", sides=1))
    ratios = every[:, claim.order - 1]
    for i in range(3):
        for j in range(3):
            if i == j:
                continue
            statistics, n = ratios[:, i, j], min(sizes[i], sizes[j])
            floor = flip_p_values(scores, [(i, j)], mean_utility(claim.order), level=0.05, seed=0)[i, j]
            if claim.kind == "relative":
                overall = one_versus_all(ratios)
                statistics = overall[:, i] - overall[:, j]
            crossing = sum(value >= claim.boundary for value in statistics)
            p_value = t.cdf(np.sqrt((n - 1) / n) * norm.ppf((1 + crossing) / 200), n - 1)
            assert tests.crossings[i, j] == crossing
            assert tests.standard_error[i, j] == pytest.approx(np.std(statistics, ddof=1))
            if not tests.extrapolated[i, j]:
                assert tests.p_value[i, j] == pytest.approx(max(p_value, floor), rel=0.02)
            assert tests.dominates[i, j] == (tests.p_adjusted[i, j] <= 0.05)


def test_lower_bound_is_skipped_for_lax_thresholds():
    scores = normal_scores([0, 3.0], n=200)
    lax = verdicts(scores, Claim(1, "absolute", 0.999), 500)
    assert lax.p_value[0, 1] == 1
    even = ClusteredScores.build(list(np.random.default_rng(1).normal(size=(2, 400)) * [[1], [1.05]]))
    tests = verdicts(even, Claim(2, "absolute", 0.999), 500)
    floor = flip_p_values(even, [(0, 1)], mean_utility(2), level=0.025, seed=0)
    assert tests.p_value.min() < floor.min()


def test_corrections_count_the_requested_pairs():
    scores = normal_scores([0, 0.1, 0.2, 0.3])
    off = ~np.eye(4, dtype=bool)
    claim, family = Claim(2, "direct"), Family(correction="bonferroni", sides=1)
    every = verdicts(scores, claim, family=family)
    np.testing.assert_allclose(every.p_adjusted[off], np.minimum(1, 12 * every.p_value[off]))
    assert every.family == 12
    subset = verdicts(
        scores,
        Claim(2, "direct"),
        family=Family(correction="bonferroni", sides=1),
        pairs=[(3, 0), (2, 1), (3, 0)],
    )
    assert subset.family == 2
    for pair in ((3, 0), (2, 1)):
        assert subset.p_value[pair] == every.p_value[pair]
        assert subset.p_adjusted[pair] == min(1, 2 * subset.p_value[pair])
    assert subset.p_value[3, 1] == subset.p_adjusted[0, 3] == 1


def test_pairs_that_are_not_requested_are_not_tested():
    pairs = [(3, 0), (2, 1)]
    tests = verdicts(normal_scores([0, 0.1, 0.2, 0.3]), Claim(2, "direct"), 100, pairs=pairs)
    tested = np.zeros((4, 4), dtype=bool)
    tested[tuple(zip(*pairs, strict=True))] = True
    expected = {
        "dominates": False,
        "standard_error": 0,
        "p_value": 1,
        "p_adjusted": 1,
        "extrapolated": False,
        "decided": True,
        "crossings": 0,
        "resamples": 0,
        "resamples_needed": 0,
    }
    for name, elsewhere in expected.items():
        np.testing.assert_array_equal(getattr(tests, name)[~tested], elsewhere, err_msg=name)
    assert (tests.resamples[tested] == 100).all()
    assert (tests.standard_error[tested] > 0).all()
    assert (tests.p_value[tested] < 1).all()
    assert tests.family == 2
    every = verdicts(normal_scores([0, 0.1, 0.2, 0.3]), Claim(2, "direct"), 100)
    assert every.resamples[~np.eye(4, dtype=bool)].tolist() == [100] * 12


def test_verdicts_are_arranged_as_matrices():
    """Values of a family fill the matrix cells of its pairs; missing values stay None."""
    estimates, pairs = estimate_violation(normal_scores([0, 0.1, 0.2])), (np.array([2, 1]), np.array([0, 2]))
    values = {"standard_error": [0.1, 0.2], "p_value": [0.01, 0.5], "p_adjusted": [0.02, 0.5]}
    values = {name: np.array(value) for name, value in values.items()}
    plain = arrange_tests(estimates, Claim(1), pairs, dominates=np.array([True, False]), **values)
    assert plain.dominates.tolist() == [[False] * 3, [False] * 3, [True, False, False]]
    assert plain.p_value.tolist() == [[1, 1, 1], [1, 1, 0.5], [0.01, 1, 1]]
    assert plain.p_adjusted.tolist() == [[1, 1, 1], [1, 1, 0.5], [0.02, 1, 1]]
    assert plain.standard_error.tolist() == [[0, 0, 0], [0, 0, 0.2], [0.1, 0, 0]]
    assert plain.crossings is plain.resamples is plain.resamples_needed is None
    assert plain.decided.all()
    assert not plain.extrapolated.any()
    counted = arrange_tests(
        estimates,
        Claim(1),
        pairs,
        dominates=np.array([True, False]),
        decided=np.array([True, False]),
        extrapolated=np.array([True, False]),
        crossings=np.array([3, 70]),
        resamples=np.array([1000, 200]),
        resamples_needed=np.array([0, 900]),
        **values,
    )
    assert counted.crossings.tolist() == [[0, 0, 0], [0, 0, 70], [3, 0, 0]]
    assert counted.resamples.tolist() == [[0, 0, 0], [0, 0, 200], [1000, 0, 0]]
    assert counted.resamples_needed.tolist() == [[0, 0, 0], [0, 0, 900], [0, 0, 0]]
    assert counted.decided.tolist() == [[True] * 3, [True, True, False], [True] * 3]
    assert counted.extrapolated.tolist() == [[False] * 3, [False] * 3, [True, False, False]]


def test_direct_claims_do_not_depend_on_other_models():
    rng = np.random.default_rng(0)
    pair = [rng.normal(size=60), rng.normal(size=60) + 0.3]
    alone = ClusteredScores.build(pair)
    company = ClusteredScores.build([*pair, *rng.standard_cauchy((3, 60))])
    for order in (1, 2):
        claim = Claim(order, "direct")
        without, within = (verdicts(table, claim, pairs=[(1, 0)]) for table in (alone, company))
        assert without.p_value[1, 0] == within.p_value[1, 0]
        assert without.crossings[1, 0] == within.crossings[1, 0]


def test_paper_test_matches_algorithm_1():
    scores = normal_scores([0, 0.1, 0.4], n=80)
    for claim in (Claim(1), Claim(2, "absolute", 0.25)):
        tests = paper_test(
            estimate_violation(scores), claim_replicates(scores, claim, 150, 4), claim, level=0.05
        )
        statistics = claim.statistic(brute_force(scores, resamples=150, seed=4)[0][:, claim.order - 1])
        sigma = statistics.std(axis=0, ddof=1)
        for i in range(3):
            for j in range(3):
                if i == j:
                    continue
                critical = sigma[i, j] / np.sqrt(80) * ndtri(0.05 / 9)
                assert tests.dominates[i, j] == (tests.statistic[i, j] - claim.boundary <= critical)
                z = np.sqrt(80) * (tests.statistic[i, j] - claim.boundary) / sigma[i, j]
                assert tests.p_value[i, j] == pytest.approx(ndtr(z), rel=1e-9)
                assert tests.p_adjusted[i, j] == pytest.approx(min(9 * ndtr(z), 1.0), rel=1e-9)
        assert tests.decided.all()


@given(st.permutations(range(4)))
@settings(max_examples=20)
def test_verdicts_follow_relabelled_models(order):
    scores = normal_scores([0, 0.1, 0.2, 0.3], n=40)
    relabelled = ClusteredScores(tuple(scores.values[i] for i in order), scores.clusters, scores.paired)
    for claim in (Claim(2), Claim(2, "direct")):
        plain, other = verdicts(scores, claim, 50), verdicts(relabelled, claim, 50)
        np.testing.assert_allclose(other.p_value, plain.p_value[np.ix_(order, order)], rtol=1e-9)


def test_identical_models_are_flagged_and_never_separated():
    column = np.random.default_rng(0).normal(size=60)
    scores = ClusteredScores.build([column, column, column + 1])
    estimates = estimate_violation(scores)
    assert estimates.identical[0, 1]
    assert not estimates.identical[0, 2]
    assert estimates.ratios[0, 0, 1] == estimates.ratios[1, 0, 1] == 0.5
    for kind in ("relative", "direct"):
        tests = verdicts(scores, Claim(1, kind), 1000)
        assert tests.p_value[0, 1] == tests.p_value[1, 0] == 1
        assert tests.dominates[2, 0]


def test_tied_but_different_distributions_are_not_identical():
    scores = ClusteredScores.build([[2.0, 2.0], [1.0, 3.0]])
    assert not estimate_violation(scores).identical.any()


def test_complete_separation_of_few_resamples_is_not_decided():
    rng = np.random.default_rng(0)
    scores = ClusteredScores.build([rng.normal(10 * i, 1, size=40) for i in range(8)])
    few = verdicts(scores, Claim(1, "direct"), 100)
    better = np.tri(8, k=-1, dtype=bool)
    assert not few.dominates.any()
    np.testing.assert_array_equal(few.decided, ~better)
    assert few.resamples_needed[better].min() > 100
    enough = verdicts(scores, Claim(1, "direct"), int(few.resamples_needed.max()))
    np.testing.assert_array_equal(enough.dominates, better)


@pytest.mark.parametrize("claim", [Claim(1), Claim(2, "direct"), Claim(1, "absolute", 0.8)])
def test_no_claim_is_significant_if_the_estimate_contradicts_it(claim):
    """All replicates are below the boundary, but the estimate is not."""
    scores = normal_scores([2.0, 0.0])
    turned = replace(estimate_violation(scores), ratios=1 - estimate_violation(scores).ratios)
    tests = bootstrap_test(
        scores, claim_replicates(scores, claim, 200), claim, Inference(resamples=200), estimates=turned
    )
    assert tests.statistic[0, 1] >= claim.boundary
    assert tests.crossings[0, 1] == 0
    assert tests.p_value[0, 1] == 0.5
    assert not tests.dominates.any()


def group_tests(tables):
    return [
        study_dominance(ClusteredScores.build(list(table)), [Claim(2)], Inference()).tests[0]
        for table in tables
    ]


def test_opposite_differences_in_groups_are_both_significant():
    rng = np.random.default_rng(6)
    up, down = (rng.normal(size=(3, 150)) + np.array([[sign], [0], [0]]) for sign in (1.0, -1.0))
    tests = group_tests([up, rng.normal(size=(3, 150)), down])
    ahead = significant_across_groups([group.p_value for group in tests])
    assert [tuple(pair) for pair in np.argwhere(ahead).tolist()] == [
        (0, 0, 1),
        (0, 0, 2),
        (2, 1, 0),
        (2, 2, 0),
    ]


def test_groups_form_a_single_family():
    rng = np.random.default_rng(7)
    tests = group_tests(rng.normal(size=(4, 2, 60)) + np.array([0.35, 0])[None, :, None])
    raw = np.array([group.p_value[0, 1] for group in tests])
    for level in (0.001, 0.02, 0.2, 0.999):
        significant = significant_across_groups(
            [group.p_value for group in tests], Family(level, "bonferroni")
        )
        assert significant[:, 0, 1].tolist() == (8 * raw <= level).tolist()
        assert not significant[:, [0, 1], [0, 1]].any()


def test_logit_p_value_against_theory():
    z = (np.log(0.2 / 0.8) - np.log(0.3 / 0.7)) / (0.05 / (0.2 * 0.8))
    assert logit_p_value(0.2, 0.05, threshold=0.3, size=100) == pytest.approx(NormalDist().cdf(z))
    assert logit_p_value(0.3, 0.05, threshold=0.3, size=100) == pytest.approx(0.5)
    # A ratio of 0 has no error of its own, yet the p-value stays above 0 and shrinks with the sample.
    small, large = logit_p_value(np.zeros(2), np.zeros(2), threshold=0.25, size=np.array([20, 500]))
    assert 0 < large < small < 0.01


def test_a_logit_p_value_is_symmetric_and_grows_with_the_error():
    below, above = logit_p_value(np.array([0.2, 0.8]), np.array([0.05, 0.05]), threshold=0.5, size=100)
    assert below + above == pytest.approx(1)
    sure, unsure = logit_p_value(np.array([0.2, 0.2]), np.array([0.05, 0.2]), threshold=0.5, size=100)
    assert sure < unsure < 0.5
