"""Families of claims: levels, sides, and intervals that agree with the answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtr, ndtri

from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.family import Family, Side, adjust

METHODS = ("bonferroni", "holm", "bh", "none")


def normal_evidence(estimate, error=1.0, boundary=0.0):
    """Normal estimates of known error, whose intervals and p-values are closed forms."""
    values = np.asarray(estimate, dtype=float)

    def ends(level):
        width = -ndtri(level / 2) * error
        return values - width, values + width

    z = (values - boundary) / error
    return Evidence.of(values, ndtr(-z), ndtr(z), error=error, boundary=boundary, ends=ends)


def test_answers_against_theory():
    answers = Family(0.05, "none").answer(normal_evidence([2.0, -2.0, 1.9]))
    assert answers.side.tolist() == [1, -1, 0]
    assert [Side(side).word for side in answers.side] == ["shown", "refuted", "open"]
    assert answers.p_value[0] == pytest.approx(2 * ndtr(-2.0))


@pytest.mark.parametrize("correction", METHODS)
def test_an_interval_leaves_out_the_boundary_exactly_where_a_claim_is_decided(correction):
    rng = np.random.default_rng(3)
    for _ in range(50):
        answers = Family(0.1, correction).answer(normal_evidence(rng.normal(0, 2.5, 7), boundary=0.3))
        outside = (answers.low >= 0.3) | (answers.high <= 0.3)
        assert outside.tolist() == (answers.side != 0).tolist()


def test_claims_that_are_not_asked_stay_open_and_cost_nothing():
    estimate = np.array([[0.0, 9.0], [2.4, 0.0]])
    off = ~np.eye(2, dtype=bool)
    answers = Family().answer(normal_evidence(estimate), asked=off)
    assert answers.side.tolist() == [[0, 1], [1, 0]]
    assert answers.p_adjusted[off].tolist() == adjust(answers.p_value[off], "holm").tolist()
    assert answers.p_adjusted[~off].tolist() == [1.0, 1.0]


def test_one_sided_families_answer_each_direction_on_its_own():
    evidence = normal_evidence([1.8, -1.8])
    assert Family(0.05, "none").answer(evidence).side.tolist() == [0, 0]
    answers = Family(0.05, "none", sides=1).answer(evidence)
    assert answers.side.tolist() == [1, -1]
    assert answers.p_against.tolist() == evidence.p_below.tolist()


@pytest.mark.parametrize("correction", METHODS)
def test_levels_are_those_the_correction_rejects_at(correction):
    family, m = Family(0.05, correction), 6
    for shown in range(m):
        level = family.next_level(m, shown)
        rejected = [1e-9] * shown
        for p_value, significant in ((level * (1 - 1e-9), True), (level * (1 + 1e-6), False)):
            p_values = [*rejected, p_value, *[0.999] * (m - shown - 1)]
            assert family.significant(family.adjusted(p_values))[shown] == significant


def test_needed_is_asked_only_of_open_claims():
    evidence = Evidence.of([3.0, 0.5], [0.001, 0.3], [0.999, 0.7], needed=lambda level: np.array([9.0, 40.0]))
    assert Family().answer(evidence).needed.tolist() == [np.inf, 40.0]


p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(p_values, st.floats(0.001, 0.5))
def test_holm_against_the_step_down_procedure(p, alpha):
    rejected = np.zeros(len(p), dtype=bool)
    for step, index in enumerate(np.argsort(p, kind="stable")):
        if p[index] * (len(p) - step) > alpha:
            break
        rejected[index] = True
    np.testing.assert_array_equal(adjust(p, "holm") <= alpha, rejected)


@given(p_values)
def test_benjamini_hochberg_against_scipy(p):
    np.testing.assert_allclose(adjust(p, "bh"), stats.false_discovery_control(p), rtol=1e-12)


@given(p_values)
def test_bonferroni_multiplies_and_none_keeps(p):
    np.testing.assert_allclose(adjust(p, "bonferroni"), np.minimum(np.array(p) * len(p), 1))
    np.testing.assert_array_equal(adjust(p, "none"), p)


@pytest.mark.parametrize("method", METHODS)
@given(p=p_values)
def test_adjusting_keeps_the_order_and_never_helps(method, p):
    adjusted = adjust(p, method)
    assert np.all(adjusted >= np.array(p) - 1e-15)
    assert np.all(np.diff(adjusted[np.argsort(p, kind="stable")]) >= -1e-15)
