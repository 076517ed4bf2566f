"""The judge of a tail: its λ by the plain formulas, and what it leaves alone."""

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.dominance.column_tests import study_dominance
from riskrank.engine.dominance.inference import DIRECT, Claim, Inference
from riskrank.engine.dominance.ranking import estimate
from riskrank.engine.judges.correction import Correction, for_differences
from riskrank.engine.judges.inspection import inspect_judge
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


def judged(rng, k=3, n=60, total=400, bias=(0.0, 0.5, 0.0)):
    shared = rng.normal(3, 0.7, total)
    corrections, raw = [], []
    for model in range(k):
        human = np.clip(np.rint(shared + 0.3 * model + rng.normal(0, 0.7, total)), 1, 5)
        judge = np.clip(np.rint(human + bias[model] + rng.normal(0, 0.6, total)), 1, 5)
        corrections.append(Correction.of(human[:n], judge))
        raw.append(judge)
    return corrections, raw


def test_agreement_bias_and_shift_against_scipy():
    corrections, raw = judged(np.random.default_rng(0))
    found = inspect_judge(corrections, raw, mapped=False)
    p_values = []
    for i, (one, own) in enumerate(zip(corrections, raw, strict=True)):
        assert found.agreement[i] == pytest.approx(stats.spearmanr(one.human, own[:60]).statistic)
        assert found.same[i] == np.mean(one.human == own[:60])
        errors = own[:60] - one.human
        interval = stats.ttest_1samp(errors, 0).confidence_interval(1 - 0.05 / 3)
        assert [found.bias_low[i], found.bias_high[i]] == pytest.approx([interval.low, interval.high])
        p_values.append(stats.ttest_ind(own[:60], own[60:], equal_var=False).pvalue)
        assert found.shift[i] == pytest.approx(own[:60].mean() - own[60:].mean())
    assert found.shift_p.min() == pytest.approx(min(1, 3 * min(p_values)))


def test_pairs_told_by_labels_against_paired_t_tests():
    corrections, raw = judged(np.random.default_rng(1))
    pairs = [(0, 1), (0, 2), (1, 2)]
    p = [stats.ttest_rel(corrections[i].human, corrections[j].human).pvalue for i, j in pairs]
    adjusted = np.sort(p) * [3, 2, 1]
    wanted = int(np.count_nonzero(np.maximum.accumulate(adjusted) <= 0.05))
    assert inspect_judge(corrections, raw, mapped=False).told_by_labels == wanted


def test_scores_of_many_values_are_never_the_same():
    rng = np.random.default_rng(2)
    human = rng.normal(size=40)
    one = Correction.of(human, np.concatenate((human, rng.normal(size=100))))
    assert inspect_judge([one, one], [one.judge, one.judge], mapped=False).same is None


@pytest.mark.slow
def test_labels_chosen_by_chance_are_seldom_called_chosen():
    rng = np.random.default_rng(3)
    called = [inspect_judge(*judged(rng), mapped=False).shift_p.min() <= 0.05 for _ in range(300)]
    assert np.mean(called) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_a_judge_without_noise_has_no_doubt():
    human = np.tile([1.0, 2.0, 3.0], 10)
    one = Correction.of(human, np.concatenate((human, human)))
    found = inspect_judge([one, one], [one.judge, one.judge], mapped=False)
    assert found.agreement.tolist() == pytest.approx([1, 1])
    assert found.bias.tolist() == found.bias_high.tolist() == [0, 0]
    assert found.told == found.told_by_labels == 0
