"""Sides of a gate whose judge is corrected by people: the corrected statistics, and resamples of them."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from riskrank.engine.evidence.bootstrap import ResampledDifference
from riskrank.engine.gates.judged_sides import TailSide, mean_side
from riskrank.engine.gates.replicates import difference, differences
from riskrank.engine.gates.worst_case_sample import Comparison
from riskrank.engine.judges.correction import Correction
from riskrank.engine.judges.tails import for_tail
from riskrank.engine.portfolio.quantiles import tail_value_at_risk
from tests.engine.judges.test_correction import column, scored


@pytest.fixture
def both():
    rng = np.random.default_rng(0)
    return [Correction.of(*scored(rng, 60, 400)) for _ in range(2)]


def test_a_mean_is_the_corrected_one(both):
    scores = column(both)
    for model, one in enumerate(both):
        assert mean_side(scores, model)[0].mean == pytest.approx(one.mean)
    compared = Comparison.of(scores, 0, 1, None, (1.0, 5.0), True)
    assert difference(compared) == pytest.approx(both[0].mean - both[1].mean)
    assert compared.samples == 60


def test_resampled_means_vary_as_the_formula_says(both):
    compared = Comparison.of(column(both), 0, 1, None, (1.0, 5.0), True)
    drawn = differences([compared], resamples=4000, seed=1)[0]
    parts = [first - second for first, second in zip(both[0].parts, both[1].parts, strict=True)]
    assert drawn.var() == pytest.approx(sum(part.var() / part.size for part in parts), rel=0.12)


def test_a_sample_more_moves_the_mean_as_people_s_score_would(both):
    """Against the new model: the worst difference there can be, on a sample that people scored."""
    compared = Comparison.of(column(both), 0, 1, None, (1.0, 5.0), True)
    assert difference(compared.against()) < difference(compared) < difference(compared.in_favour())
    assert difference(compared) - difference(compared.against()) < 4 / 61
    alone = [Correction(one.human, one.judge, 0.0, 0.0) for one in both]
    without = Comparison.of(column(alone), 0, 1, None, (1.0, 5.0), True)
    assert difference(without) == pytest.approx(both[0].human.mean() - both[1].human.mean())


def test_a_tail_is_that_of_the_corrected_distribution(both):
    scores = for_tail(column(both), 0.4)
    for model in (0, 1):
        side = TailSide.of(scores, model)
        units = len(np.unique(scores.clusters[model]))
        wanted = tail_value_at_risk(scores.values[model], 0.4, scores.weights[model])
        assert side.tails(np.ones((1, units)), 0.4)[0] == pytest.approx(float(wanted))
        assert side.seen.tolist() == both[model].human.tolist()
    compared = Comparison.of(column(both), 0, 1, 0.4, (1.0, 5.0), True)
    assert difference(compared.against()) < difference(compared) < difference(compared.in_favour())


def test_labels_needed_are_those_that_make_the_error_small_enough():
    """With share B of the variance kept: A·n/n' + B is what decides four times out of five."""
    evidence = ResampledDifference(0.3, 0.0, 100, 0.15, 0.02, 0.98, kept=0.2)
    wanted = (NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)) * 0.15 / 0.3
    needed = evidence.samples_needed(0.05)
    assert 0.8 * 100 / needed + 0.2 == pytest.approx(1 / wanted**2, abs=0.01)
    few = ResampledDifference(0.3, 0.0, 100, 0.15, 0.02, 0.98, kept=0.2, most=needed)
    assert few.samples_needed(0.05) == needed
    assert replace(few, most=needed - 1).samples_needed(0.05) == np.inf
    assert ResampledDifference(0.3, 0.0, 100, 0.3, 0.1, 0.9, kept=0.2).samples_needed(0.05) == np.inf
    assert ResampledDifference(0.3, 0.0, 100, 0.15, 0.02, 0.98, kept=1.0).samples_needed(0.05) == np.inf


def test_more_labels_leave_what_the_judge_s_own_samples_do_not_tell(both):
    compared = Comparison.of(column(both), 0, 1, None, (1.0, 5.0), True)
    errors, others = (a - b for a, b in zip(both[0].parts, both[1].parts, strict=True))
    whole = errors.var(ddof=1) / errors.size + others.var(ddof=1) / others.size
    people = (both[0].human - both[1].human).var(ddof=1)
    assert 0 < compared.kept < 1
    assert whole * (compared.kept + (1 - compared.kept) * 60 / 400) == pytest.approx(people / 400)
    assert compared.most == 398
    assert Comparison.of(column(both), 0, 1, 0.4, (1.0, 5.0), True).kept == 1
