"""Calibrated judge scores in a gate: corrected statistics and their resamples."""

from statistics import NormalDist

import numpy as np
import pytest

from riskrank.engine.evidence.bootstrap import ResampledDifference, samples_needed
from riskrank.engine.evidence.mean_differences import MeanContrast
from riskrank.engine.gates import Comparison, LabelledPair, TailSide, observed_difference
from riskrank.engine.judges import Correction, tune_for_tail
from riskrank.engine.portfolio.quantiles import tail_value_at_risk
from tests.engine.judges.test_correction import column, scored


@pytest.fixture
def both():
    rng = np.random.default_rng(0)
    return [Correction.fit(*scored(rng, 60, 400)) for _ in range(2)]


def test_tail_uses_the_corrected_distribution(both):
    scores = tune_for_tail(column(both), 0.4)
    for model in (0, 1):
        side = TailSide.from_scores(scores, model)
        units = len(np.unique(scores.clusters[model]))
        expected = tail_value_at_risk(scores.values[model], 0.4, scores.weights[model])
        assert side.tails(np.ones((1, units)), 0.4)[0] == pytest.approx(float(expected))
        assert side.observed.tolist() == both[model].human.tolist()
    compared = Comparison.from_scores(column(both), 0, 1, 0.4, 1.0)
    assert (
        observed_difference(compared.with_adverse_sample())
        < observed_difference(compared)
        < observed_difference(compared.with_favourable_sample())
    )


def test_required_samples_respect_the_variance_floor():
    """Let B be the share of the variance that stays: power .8 requires the variance factor A·n/n' + B."""
    evidence = ResampledDifference(0.3, 0.0, 100, 0.15, 0.02, 0.98, variance_floor=0.2)
    expected = (NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)) * 0.15 / 0.3
    needed = evidence.samples_needed(0.05)
    assert 0.8 * 100 / needed + 0.2 == pytest.approx(1 / expected**2, abs=0.01)
    assert samples_needed(0.3, 0.15, 0.05, 0.4, 100, 0.2, needed) == needed
    assert samples_needed(0.3, 0.15, 0.05, 0.4, 100, 0.2, needed - 1) == np.inf
    assert (
        ResampledDifference(0.3, 0.0, 100, 0.3, 0.1, 0.9, variance_floor=0.2).samples_needed(0.05) == np.inf
    )
    assert (
        ResampledDifference(0.3, 0.0, 100, 0.15, 0.02, 0.98, variance_floor=1.0).samples_needed(0.05)
        == np.inf
    )


def test_more_labels_leave_the_variance_of_the_judge(both):
    pair = LabelledPair.from_scores(column(both), 0, 1)
    errors, judge_parts = (a - b for a, b in zip(both[0].parts, both[1].parts, strict=True))
    variance = errors.var(ddof=1) / errors.size + judge_parts.var(ddof=1) / judge_parts.size
    people = (both[0].human - both[1].human).var(ddof=1)
    share = pair.irreducible_proportion(variance)
    assert 0 < share < 1
    assert variance * (share + (1 - share) * 60 / 400) == pytest.approx(people / 400)
    assert pair.max_labels == 398


def test_difference_is_the_corrected_one(both):
    difference = MeanContrast.from_scores(column(both), 0, 1)
    assert difference.estimate == pytest.approx(both[0].mean - both[1].mean)
    parts = [first - second for first, second in zip(both[0].parts, both[1].parts, strict=True)]
    variances = [part.var(ddof=1) / part.size for part in parts]
    error, df = difference.error_and_df
    assert error == pytest.approx(np.sqrt(sum(variances)))
    welch = sum(variances) ** 2 / sum(
        v**2 / (part.size - 1) for v, part in zip(variances, parts, strict=True)
    )
    assert df == pytest.approx(welch - 1)  # one for the weight of the judge
