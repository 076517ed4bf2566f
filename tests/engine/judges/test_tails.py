"""The judge of a tail: its λ by the plain formulas, and what it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest

from riskrank.engine.dominance.claims import DIRECT, Claim
from riskrank.engine.dominance.column import study_dominance
from riskrank.engine.dominance.estimates import estimate
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.judges.correction import Correction, for_differences
from riskrank.engine.judges.tails import for_tail, tail_values
from riskrank.engine.portfolio.quantiles import tail_value_at_risk
from riskrank.engine.sampling.design import ClusteredScores
from tests.engine.judges.test_correction import column, scored


@pytest.mark.parametrize("level", [0.2, 0.5, 1.0])
def test_weights_are_those_of_the_tail_s_own_power(level):
    rng = np.random.default_rng(4)
    both = [Correction.of(*scored(rng, 40, 300)) for _ in range(2)]
    cut = for_differences(both)
    found = for_tail(column(cut), level)
    tails = []
    for one in both:
        edge = np.sort(one.human)[int(np.ceil(40 * level)) - 1]
        h, j = np.minimum(one.human, edge), np.minimum(one.judge, edge)
        power = np.clip(np.mean((h - h.mean()) * (j[:40] - j[:40].mean())) / j.var(ddof=1), 0, 1)
        tails.append(Correction(h, j, float(power), 0.0))
    for model, (one, tail) in enumerate(zip(both, for_differences(tails), strict=True)):
        wanted = column([Correction(one.human, one.judge, tail.power, 0.0)] * 2)
        np.testing.assert_allclose(found.strata.signed[model], wanted.strata.signed[0], atol=1e-15)
        assert found.weights[model].sum() == pytest.approx(1)
    if level == 1.0:
        np.testing.assert_allclose(found.strata.signed[0], column(cut).strata.signed[0], atol=1e-15)


def test_other_scores_stay_as_they_are():
    scores = ClusteredScores.build([[1.0, 2.0], [2.0, 3.0]])
    assert for_tail(scores, 0.5) is scores


def test_resampled_tails_are_those_of_their_own_weights():
    rng = np.random.default_rng(5)
    scores = column([Correction.of(*scored(rng, 60, 400)) for _ in range(2)])
    claims, inference = (Claim(1, DIRECT),), Inference(resamples=200)
    found = study_dominance(scores, claims, inference).replicates
    weighed = study_dominance(for_tail(scores, found.tail_level), claims, inference).replicates
    assert found.tails == pytest.approx(weighed.tails, rel=1e-12)
    assert np.abs(found.means - weighed.means).max() > 1e-3


def test_a_curve_of_worst_shares_passes_through_the_tails_that_are_tested():
    rng = np.random.default_rng(6)
    scores = column([Correction.of(*scored(rng, 60, 400)) for _ in range(3)])
    found = estimate(scores)
    at_tail, at_end = tail_values(scores, np.array([found.tail_level, 1.0])).T
    assert at_tail == pytest.approx(found.tails, rel=1e-12)
    assert at_end == pytest.approx(found.means, rel=1e-12)
    alike = [
        tail_value_at_risk(own, found.tail_level, w)
        for own, w in zip(scores.values, scores.weights, strict=True)
    ]
    assert np.abs(np.array(alike) - found.tails).max() > 1e-3  # the λ of means is another
