"""Families of claims: levels, sides, and intervals that agree with the verdicts."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtr, ndtri

from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.family import Answer, Family, adjust

METHODS = ("bonferroni", "holm", "bh", "none")


def normal_evidence(estimate, error=1.0, boundary=0.0):
    """Return normal evidence with a known error, for which intervals and p-values are closed forms."""
    values = np.asarray(estimate, dtype=float)

    def limits(level):
        width = -ndtri(level / 2) * error
        return values - width, values + width

    z = (values - boundary) / error
    return Evidence.build(values, ndtr(-z), ndtr(z), error=error, boundary=boundary, interval=limits)


def test_decisions_and_p_values_of_single_claims():
    answers = Family(0.05, "none").answer(normal_evidence([2.0, -2.0, 1.9]))
    assert answers.side.tolist() == [1, -1, 0]
    assert [Answer(side).word for side in answers.side] == ["significant", "contradicted", "undecided"]
    assert answers.p_value[0] == pytest.approx(2 * ndtr(-2.0))


@pytest.mark.parametrize("correction", METHODS)
def test_interval_excludes_the_boundary_of_decided_claims(correction):
    rng = np.random.default_rng(3)
    for _ in range(50):
        answers = Family(0.1, correction).answer(normal_evidence(rng.normal(0, 2.5, 7), boundary=0.3))
        outside = (answers.low >= 0.3) | (answers.high <= 0.3)
        assert outside.tolist() == (answers.side != 0).tolist()


def test_masked_claims_stay_undecided_at_no_cost():
    estimate = np.array([[0.0, 9.0], [2.4, 0.0]])
    off_diagonal = ~np.eye(2, dtype=bool)
    answers = Family().answer(normal_evidence(estimate), mask=off_diagonal)
    assert answers.side.tolist() == [[0, 1], [1, 0]]
    assert answers.p_adjusted[off_diagonal].tolist() == adjust(answers.p_value[off_diagonal], "holm").tolist()
    assert answers.p_adjusted[~off_diagonal].tolist() == [1.0, 1.0]


def test_directional_families_answer_directions_separately():
    evidence = normal_evidence([1.8, -1.8])
    assert Family(0.05, "none").answer(evidence).side.tolist() == [0, 0]
    answers = Family(0.05, "none", sides=1).answer(evidence)
    assert answers.side.tolist() == [1, -1]
    assert answers.p_against.tolist() == evidence.p_below.tolist()


@pytest.mark.parametrize("correction", METHODS)
def test_levels_are_the_rejection_thresholds(correction):
    family, m = Family(0.05, correction), 6
    for count in range(m):
        level = family.level_after_rejections(m, count)
        rejected = [1e-9] * count
        for p_value, significant in ((level * (1 - 1e-9), True), (level * (1 + 1e-6), False)):
            p_values = [*rejected, p_value, *[0.999] * (m - count - 1)]
            assert family.significant(family.adjust_p_values(p_values))[count] == significant


def test_required_size_is_computed_for_undecided_claims():
    evidence = Evidence.build(
        [3.0, 0.5], [0.001, 0.3], [0.999, 0.7], samples_needed=lambda level: np.array([9.0, 40.0])
    )
    assert Family().answer(evidence).needed.tolist() == [np.inf, 40.0]


p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(p_values, st.floats(0.001, 0.5))
def test_holm_matches_the_step_down_procedure(p, alpha):
    rejected = np.zeros(len(p), dtype=bool)
    for step, index in enumerate(np.argsort(p, kind="stable")):
        if p[index] * (len(p) - step) > alpha:
            break
        rejected[index] = True
    np.testing.assert_array_equal(adjust(p, "holm") <= alpha, rejected)


@given(p_values)
def test_benjamini_hochberg_matches_scipy(p):
    np.testing.assert_allclose(adjust(p, "bh"), stats.false_discovery_control(p), rtol=1e-12)


@given(p_values)
def test_bonferroni_multiplies_p_values(p):
    np.testing.assert_allclose(adjust(p, "bonferroni"), np.minimum(np.array(p) * len(p), 1))
    np.testing.assert_array_equal(adjust(p, "none"), p)


@pytest.mark.parametrize("method", METHODS)
@given(p=p_values)
def test_adjustment_is_monotone_and_conservative(method, p):
    adjusted = adjust(p, method)
    assert np.all(adjusted >= np.array(p) - 1e-15)
    assert np.all(np.diff(adjusted[np.argsort(p, kind="stable")]) >= -1e-15)


def closed_test(p_values, alpha):
    """Return closed testing: a pair is rejected if Bonferroni rejects every set that contains it."""
    k = len(p_values)
    two_sided = {
        pair: 2 * min(p_values[pair], p_values[pair[::-1]]) for pair in itertools.combinations(range(k), 2)
    }
    subsets = [
        chosen for size in range(1, len(two_sided) + 1) for chosen in itertools.combinations(two_sided, size)
    ]
    rejected = {chosen: len(chosen) * min(two_sided[pair] for pair in chosen) <= alpha for chosen in subsets}
    significant = np.zeros((k, k), dtype=bool)
    for i, j in two_sided:
        if all(rejected[chosen] for chosen in subsets if (i, j) in chosen):
            winner = (i, j) if p_values[i, j] < p_values[j, i] else (j, i)
            significant[winner] = True
    return significant


@given(st.lists(st.floats(0.0, 0.3), min_size=6, max_size=6), st.lists(st.booleans(), min_size=6, max_size=6))
def test_holm_over_pairs_is_closed_testing(smaller, swaps):
    p_values = np.ones((4, 4))
    for p_value, swap, pair in zip(smaller, swaps, itertools.combinations(range(4), 2), strict=True):
        winner = pair[::-1] if swap else pair
        p_values[winner], p_values[winner[::-1]] = p_value, 1 - p_value
    for alpha in (0.03, 0.05000001, 0.2):
        family = Family(alpha)
        significant = closed_test(p_values, alpha)
        assert np.array_equal(family.significant(family.adjust_pairs(p_values)), significant)
        # Claims in a list, in both directions, are adjusted in the same way.
        claims = ~np.eye(4, dtype=bool)
        listed = replace(family, per_rejection=2).adjust_p_values(p_values[claims])
        assert np.array_equal(family.significant(listed), significant[claims])


@pytest.mark.parametrize("correction", METHODS)
def test_pairs_that_cannot_be_significant_leave_the_level_of_the_next_pair(correction):
    family, pairs = Family(0.05, correction, per_rejection=2), 5
    for rejected in range(pairs):
        # The opposites of all pairs and the remaining pairs cannot be significant.
        excluded = np.array([2 * pairs - rejected - 1])
        level = family.level_after_rejections(2 * pairs, rejected)
        assert family.largest_levels(2 * pairs, excluded)[0] == pytest.approx(level)
        p_values = [*[1e-9] * rejected, level * (1 - 1e-9), *[0.45] * (pairs - rejected - 1), *[0.9] * pairs]
        assert family.significant(family.adjust_p_values(p_values)).sum() == rejected + 1


@pytest.mark.parametrize("groups", [(6,), (3, 3), (2, 2, 2), (1, 4, 1)])
def test_pairs_have_few_false_claims(groups):
    rng, k, tables = np.random.default_rng(5), sum(groups), 2000
    group = np.repeat(range(len(groups)), groups)
    means = rng.normal(0.0, 1.0, (tables, k)) + 6.0 * group
    p_values = stats.norm.sf((means[:, :, None] - means[:, None]) / np.sqrt(2))
    false = group[:, None] <= group
    wrong = [(Family().adjust_pairs(p) <= 0.05)[false].any() for p in p_values]
    assert np.mean(wrong) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / tables)
