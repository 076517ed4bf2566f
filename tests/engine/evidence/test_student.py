"""Student's t of any estimate against t tests of SciPy, and what could have been shown against tables."""

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.evidence.student import Student, sum_of, weighted_mean
from riskrank.engine.family import Family


def test_against_a_t_test():
    x = np.random.default_rng(0).normal(0.3, 1, 25)
    found = weighted_mean(x, np.full(25, 1 / 25))
    plain = Student(found.value, found.error, found.df)
    expected = stats.ttest_1samp(x, 0.1, alternative="greater")
    assert plain.p_above(0.1) == pytest.approx(expected.pvalue, rel=1e-10)
    ends = stats.ttest_1samp(x, 0).confidence_interval(0.9)
    assert np.array(plain.interval(0.1)).ravel() == pytest.approx([ends.low, ends.high], rel=1e-10)


@pytest.mark.parametrize("boundary", [-0.2, 0.0, 0.4])
def test_an_interval_leaves_out_the_boundary_exactly_where_the_claim_is_decided(boundary):
    rng = np.random.default_rng(1)
    found = weighted_mean(rng.exponential(size=(200, 12)) - 1, np.full(12, 1 / 12))
    answers = Family(0.1, "none").answer(found.evidence(boundary, 12))
    np.testing.assert_array_equal(answers.shown, answers.low > boundary)
    np.testing.assert_array_equal(answers.refuted, answers.high < boundary)
    assert answers.shown.any() or answers.refuted.any()


def test_sums_against_welch():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=8), rng.normal(0.5, 3, 15)
    means, errors = np.array([x.mean(), -y.mean()]), np.array([stats.sem(x), stats.sem(y)])
    found = sum_of(means, errors, np.array([7.0, 14.0]), 1.0)
    expected = stats.ttest_ind(x, y, equal_var=False)
    assert 2 * min(found.p_above(), found.mirrored.p_above()) == pytest.approx(expected.pvalue, rel=1e-10)
    assert sum_of(means, 0 * errors, np.array([7.0, 14.0]), 3.0).df == 3.0


def test_a_visible_difference_is_shown_four_times_out_of_five():
    """Of 4,000 tables whose true difference is what an average table could have shown, ± 0.006."""
    rng = np.random.default_rng(3)
    noise, level = rng.normal(size=(4000, 20)), 0.01
    spread = Student(np.zeros(1), np.array([1 / np.sqrt(20)]), np.array([19.0]))
    found = weighted_mean(noise + spread.visible(level), np.full(20, 1 / 20))
    shown = Student(found.value, found.error, found.df).p_above() <= level / 2
    assert 0.77 <= shown.mean() <= 0.83
