"""Three answers to a family: p-values and intervals that agree, whatever the correction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.gates.decision import Evidence, answers, samples_needed


def normal_evidence(estimate, *, boundary=0.0, error=1.0, n=50, resamples=4000, seed=0) -> Evidence:
    drawn = estimate + error * np.random.default_rng(seed).normal(size=resamples)
    return Evidence.of_replicates(
        estimate, boundary, plain=drawn, against=drawn, in_favour=drawn, samples=n, behind=n
    )


FAMILIES = st.lists(st.tuples(st.floats(-6, 6), st.sampled_from([-1.0, 0.0, 1.0])), min_size=1, max_size=6)


@given(FAMILIES, st.sampled_from(["holm", "bonferroni", "none", "bh"]), st.sampled_from([0.05, 0.2]))
def test_a_claim_is_decided_exactly_if_its_interval_says_so(family, correction, alpha):
    evidence = [
        normal_evidence(estimate, boundary=boundary, seed=at)
        for at, (estimate, boundary) in enumerate(family)
    ]
    for one, answer in zip(evidence, answers(evidence, alpha=alpha, correction=correction), strict=True):
        assert (answer.p_adjusted <= alpha) == (answer.side != 0)
        if answer.side > 0:
            assert one.boundary <= answer.low < answer.high
        elif answer.side < 0:
            assert answer.low < answer.high <= one.boundary
        else:
            assert answer.low <= one.boundary <= answer.high


def test_holm_by_hand():
    """p-values .01, .03, .2 at 5 %: .03 is adjusted to .06."""
    family = [Evidence(1.0, 0.0, 1.0, 50, p / 2, 1 - p / 2) for p in (0.01, 0.03, 0.2)]
    found = answers(family)
    np.testing.assert_allclose([one.p_adjusted for one in found], [0.03, 0.06, 0.2])
    assert [one.side for one in found] == [1, 0, 0]


def test_an_end_that_the_resamples_cannot_tell():
    found = normal_evidence(5.0, resamples=100)
    assert found.interval(0.001) == (None, None)
    assert None not in found.interval(0.05)


def test_the_samples_needed_by_hand():
    """Half a standard error away: (1.96 + 0.84)²/0.25 = 31.4 times as many."""
    assert samples_needed(Evidence(0.5, 0.0, 1.0, 100, 0.3, 0.7), 0.05) == pytest.approx(3140, rel=0.001)
    assert samples_needed(Evidence(0.0, 0.0, 1.0, 100, 0.5, 0.5), 0.05) is None
    assert samples_needed(Evidence(9.0, 0.0, 1.0, 100, 0.5, 0.5), 0.05) is None


@pytest.mark.parametrize("shift", [0.2, 0.3])
def test_the_samples_needed_do_decide_four_times_out_of_five(shift):
    """Against simulated t tests of so many samples."""
    n = samples_needed(Evidence(shift, 0.0, 1 / np.sqrt(20), 20, 0.3, 0.7), 0.05)
    rng = np.random.default_rng(0)
    scores = rng.normal(shift, 1, (4000, n))
    t = scores.mean(axis=1) / scores.std(axis=1, ddof=1) * np.sqrt(n)
    assert np.mean(np.abs(t) > 1.97) == pytest.approx(0.8, abs=0.03)
