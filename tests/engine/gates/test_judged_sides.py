"""Sides of a gate whose judge is corrected by people: the corrected statistics, and resamples of them."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from riskrank.engine.evidence.bootstrap import ResampledDifference
from riskrank.engine.gates.judged_sides import TailSide, calibration_residuals
from riskrank.engine.gates.replicates import observed_difference, resampled_differences
from riskrank.engine.gates.worst_case_sample import Comparison
from riskrank.engine.judges.correction import Correction
from riskrank.engine.judges.tails import tune_for_tail
from riskrank.engine.portfolio.quantiles import tail_value_at_risk
from tests.engine.judges.test_correction import column, scored


@pytest.fixture
def both():
    rng = np.random.default_rng(0)
    return [Correction.fit(*scored(rng, 60, 400)) for _ in range(2)]


def test_side_mean_is_the_corrected_mean(both):
    scores = column(both)
    for model, correction in enumerate(both):
        assert calibration_residuals(scores, model)[0].mean == pytest.approx(correction.mean)
    compared = Comparison.from_scores(scores, 0, 1, None, (1.0, 5.0), True)
    assert observed_difference(compared) == pytest.approx(both[0].mean - both[1].mean)
    assert compared.samples == 60


def test_resampled_means_have_the_analytic_variance(both):
    compared = Comparison.from_scores(column(both), 0, 1, None, (1.0, 5.0), True)
    resampled = resampled_differences([compared], resamples=4000, seed=1)[0]
    parts = [first - second for first, second in zip(both[0].parts, both[1].parts, strict=True)]
    assert resampled.var() == pytest.approx(sum(part.var() / part.size for part in parts), rel=0.12)


def test_added_sample_moves_the_mean_like_a_human_score(both):
    """Against the new model: the worst difference there can be, on a sample that people scored."""
    compared = Comparison.from_scores(column(both), 0, 1, None, (1.0, 5.0), True)
    assert (
        observed_difference(compared.with_adverse_sample())
        < observed_difference(compared)
        < observed_difference(compared.with_favourable_sample())
    )
    assert observed_difference(compared) - observed_difference(compared.with_adverse_sample()) < 4 / 61
    alone = [Correction(correction.human, correction.judge, 0.0, 0.0) for correction in both]
    without = Comparison.from_scores(column(alone), 0, 1, None, (1.0, 5.0), True)
    assert observed_difference(without) == pytest.approx(both[0].human.mean() - both[1].human.mean())


def test_tail_uses_the_corrected_distribution(both):
    scores = tune_for_tail(column(both), 0.4)
    for model in (0, 1):
        side = TailSide.from_scores(scores, model)
        units = len(np.unique(scores.clusters[model]))
        expected = tail_value_at_risk(scores.values[model], 0.4, scores.weights[model])
        assert side.tails(np.ones((1, units)), 0.4)[0] == pytest.approx(float(expected))
        assert side.observed.tolist() == both[model].human.tolist()
    compared = Comparison.from_scores(column(both), 0, 1, 0.4, (1.0, 5.0), True)
    assert (
        observed_difference(compared.with_adverse_sample())
        < observed_difference(compared)
        < observed_difference(compared.with_favourable_sample())
    )


def test_required_samples_respect_the_variance_floor():
    """With share B of the variance kept: A·n/n' + B is what decides four times out of five."""
    evidence = ResampledDifference(0.3, 0.0, 100, 0.15, 0.02, 0.98, variance_floor=0.2)
    expected = (NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)) * 0.15 / 0.3
    needed = evidence.samples_needed(0.05)
    assert 0.8 * 100 / needed + 0.2 == pytest.approx(1 / expected**2, abs=0.01)
    few = ResampledDifference(0.3, 0.0, 100, 0.15, 0.02, 0.98, variance_floor=0.2, max_samples=needed)
    assert few.samples_needed(0.05) == needed
    assert replace(few, max_samples=needed - 1).samples_needed(0.05) == np.inf
    assert (
        ResampledDifference(0.3, 0.0, 100, 0.3, 0.1, 0.9, variance_floor=0.2).samples_needed(0.05) == np.inf
    )
    assert (
        ResampledDifference(0.3, 0.0, 100, 0.15, 0.02, 0.98, variance_floor=1.0).samples_needed(0.05)
        == np.inf
    )


def test_more_labels_leave_the_variance_of_the_judge(both):
    compared = Comparison.from_scores(column(both), 0, 1, None, (1.0, 5.0), True)
    errors, judge_parts = (a - b for a, b in zip(both[0].parts, both[1].parts, strict=True))
    variance = errors.var(ddof=1) / errors.size + judge_parts.var(ddof=1) / judge_parts.size
    people = (both[0].human - both[1].human).var(ddof=1)
    assert 0 < compared.irreducible_proportion < 1
    assert variance * (
        compared.irreducible_proportion + (1 - compared.irreducible_proportion) * 60 / 400
    ) == pytest.approx(people / 400)
    assert compared.max_samples == 398
    assert Comparison.from_scores(column(both), 0, 1, 0.4, (1.0, 5.0), True).irreducible_proportion == 1
