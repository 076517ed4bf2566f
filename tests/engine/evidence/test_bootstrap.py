"""Families of claims with three verdicts: p-values agree with intervals, for each correction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskrank.engine.evidence.bootstrap import ResampledDifference, bootstrap_evidence
from riskrank.engine.family import Family


def _needed(evidence: ResampledDifference) -> float:
    return evidence.samples_needed(0.05)


def normal_evidence(
    estimate, *, boundary=0.0, error=1.0, n=50, resamples=4000, seed=0
) -> ResampledDifference:
    resampled = estimate + error * np.random.default_rng(seed).normal(size=resamples)
    return ResampledDifference(estimate, boundary, n, effective_size=n).with_replicates(
        resampled, resampled, resampled
    )


FAMILIES = st.lists(st.tuples(st.floats(-6, 6), st.sampled_from([-1.0, 0.0, 1.0])), min_size=1, max_size=6)


@given(FAMILIES, st.sampled_from(["holm", "bonferroni", "none", "bh"]), st.sampled_from([0.05, 0.2]))
def test_claims_are_decided_by_their_interval(family, correction, alpha):
    evidence = [
        normal_evidence(estimate, boundary=boundary, seed=at)
        for at, (estimate, boundary) in enumerate(family)
    ]
    answers = Family(alpha, correction).answer(bootstrap_evidence(evidence))
    assert ((answers.p_adjusted <= alpha) == (answers.side != 0)).all()
    for claim, side, low, high in zip(evidence, answers.side, answers.low, answers.high, strict=True):
        if side > 0:
            assert claim.boundary <= low < high
        elif side < 0:
            assert low < high <= claim.boundary
        else:
            assert low <= claim.boundary <= high


def test_hand_computed_holm():
    """With p-values .01, .03 and .2 at 5 %, .03 is adjusted to .06."""
    family = [ResampledDifference(1.0, 0.0, 50, 1.0, p / 2, 1 - p / 2) for p in (0.01, 0.03, 0.2)]
    answers = Family().answer(bootstrap_evidence(family))
    np.testing.assert_allclose(answers.p_adjusted, [0.03, 0.06, 0.2])
    assert answers.side.tolist() == [1, 0, 0]


def test_few_resamples_give_an_infinite_interval():
    result = normal_evidence(5.0, resamples=100)
    assert result.interval(0.001) == (-np.inf, np.inf)
    assert np.isfinite(result.interval(0.05)).all()


def test_hand_computed_required_size():
    """An estimate of half a standard error needs (1.96 + 0.84)²/0.25 = 31.4 times the samples."""
    assert _needed(ResampledDifference(0.5, 0.0, 100, 1.0, 0.3, 0.7)) == pytest.approx(3140, rel=0.001)
    assert _needed(ResampledDifference(0.0, 0.0, 100, 1.0, 0.5, 0.5)) == np.inf
    assert _needed(ResampledDifference(9.0, 0.0, 100, 1.0, 0.5, 0.5)) == np.inf


@pytest.mark.parametrize("shift", [0.2, 0.3])
def test_required_size_has_the_nominal_power(shift):
    """Compare with simulated t tests of the required size."""
    n = _needed(ResampledDifference(shift, 0.0, 20, 1 / np.sqrt(20), 0.3, 0.7))
    rng = np.random.default_rng(0)
    scores = rng.normal(shift, 1, (4000, n))
    t = scores.mean(axis=1) / scores.std(axis=1, ddof=1) * np.sqrt(n)
    assert np.mean(np.abs(t) > 1.97) == pytest.approx(0.8, abs=0.03)


def test_hand_computed_standard_error():
    plain = np.array([1.0, 2.0, 4.0, 9.0])
    result = ResampledDifference(4.0, 0.0, 11, effective_size=11).with_replicates(plain, plain, plain)
    # Exponential weights of 11 scores spread a mean by √(10/12) of its standard error.
    assert result.standard_error == pytest.approx(plain.std(ddof=1) * (12 / 10) ** 0.5)
