"""Judge scores of a tail mean: λ by the formulas, and unchanged quantities."""

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.dominance.column_tests import study_dominance
from riskrank.engine.dominance.inference import DIRECT, Claim, Inference
from riskrank.engine.dominance.ranking import estimate_violation
from riskrank.engine.judges import (
    Correction,
    inspect_judge,
    judged_tail_means,
    tune_for_differences,
    tune_for_tail,
)
from riskrank.engine.portfolio.quantiles import tail_value_at_risk
from riskrank.engine.sampling.design import ClusteredScores
from tests.engine.judges.test_correction import column, scored


@pytest.mark.parametrize("level", [0.2, 0.5, 1.0])
def test_weights_use_the_power_of_the_tail(level):
    rng = np.random.default_rng(4)
    both = [Correction.fit(*scored(rng, 40, 300)) for _ in range(2)]
    tuned = tune_for_differences(both)
    result = tune_for_tail(column(tuned), level)
    tails = []
    for correction in both:
        edge = np.sort(correction.human)[int(np.ceil(40 * level)) - 1]
        h, j = np.minimum(correction.human, edge), np.minimum(correction.judge, edge)
        power = np.clip(np.mean((h - h.mean()) * (j[:40] - j[:40].mean())) / j.var(ddof=1), 0, 1)
        tails.append(Correction(h, j, float(power), 0.0))
    for model, (correction, tail) in enumerate(zip(both, tune_for_differences(tails), strict=True)):
        expected = column([Correction(correction.human, correction.judge, tail.judge_weight, 0.0)] * 2)
        np.testing.assert_allclose(result.strata.signed[model], expected.strata.signed[0], atol=1e-15)
        assert result.weights[model].sum() == pytest.approx(1)
    if level == 1.0:
        np.testing.assert_allclose(result.strata.signed[0], column(tuned).strata.signed[0], atol=1e-15)


def test_scores_without_a_judge_are_unchanged():
    scores = ClusteredScores.build([[1.0, 2.0], [2.0, 3.0]])
    assert tune_for_tail(scores, 0.5) is scores


def test_resampled_tails_use_the_tail_weights():
    rng = np.random.default_rng(5)
    scores = column([Correction.fit(*scored(rng, 60, 400)) for _ in range(2)])
    claims, inference = (Claim(1, DIRECT),), Inference(resamples=200)
    result = study_dominance(scores, claims, inference).replicates
    weighed = study_dominance(tune_for_tail(scores, result.tail_level), claims, inference).replicates
    assert result.tails == pytest.approx(weighed.tails, rel=1e-12)
    assert np.abs(result.means - weighed.means).max() > 1e-3


def test_tail_curve_agrees_with_the_tested_tails():
    rng = np.random.default_rng(6)
    scores = column([Correction.fit(*scored(rng, 60, 400)) for _ in range(3)])
    result = estimate_violation(scores)
    at_tail, at_end = judged_tail_means(scores, np.array([result.tail_level, 1.0])).T
    assert at_tail == pytest.approx(result.tails, rel=1e-12)
    assert at_end == pytest.approx(result.means, rel=1e-12)
    expected = [
        tail_value_at_risk(values, result.tail_level, w)
        for values, w in zip(scores.values, scores.weights, strict=True)
    ]
    assert np.abs(np.array(expected) - result.tails).max() > 1e-3  # the λ of means is another


def judged(rng, k=3, n=60, total=400, bias=(0.0, 0.5, 0.0)):
    shared = rng.normal(3, 0.7, total)
    corrections, raw = [], []
    for model in range(k):
        human = np.clip(np.rint(shared + 0.3 * model + rng.normal(0, 0.7, total)), 1, 5)
        judge = np.clip(np.rint(human + bias[model] + rng.normal(0, 0.6, total)), 1, 5)
        corrections.append(Correction.fit(human[:n], judge))
        raw.append(judge)
    return corrections, raw


def test_agreement_bias_and_shift_match_scipy():
    corrections, raw = judged(np.random.default_rng(0))
    result = inspect_judge(corrections, raw, mapped=False)
    p_values = []
    for i, (correction, raw_scores) in enumerate(zip(corrections, raw, strict=True)):
        assert result.agreement[i] == pytest.approx(
            stats.spearmanr(correction.human, raw_scores[:60]).statistic
        )
        assert result.identical[i] == np.mean(correction.human == raw_scores[:60])
        errors = raw_scores[:60] - correction.human
        interval = stats.ttest_1samp(errors, 0).confidence_interval(1 - 0.05 / 3)
        assert [result.bias_low[i], result.bias_high[i]] == pytest.approx([interval.low, interval.high])
        p_values.append(stats.ttest_ind(raw_scores[:60], raw_scores[60:], equal_var=False).pvalue)
        assert result.shift[i] == pytest.approx(raw_scores[:60].mean() - raw_scores[60:].mean())
    assert result.shift_p.min() == pytest.approx(min(1, 3 * min(p_values)))


def test_pairs_separated_by_labels_match_paired_t_tests():
    corrections, raw = judged(np.random.default_rng(1))
    pairs = [(0, 1), (0, 2), (1, 2)]
    p = [stats.ttest_rel(corrections[i].human, corrections[j].human).pvalue for i, j in pairs]
    adjusted = np.sort(p) * [3, 2, 1]
    expected = int(np.count_nonzero(np.maximum.accumulate(adjusted) <= 0.05))
    assert inspect_judge(corrections, raw, mapped=False).separated_by_labels == expected


def test_agreement_needs_scores_of_few_values():
    rng = np.random.default_rng(2)
    human = rng.normal(size=40)
    correction = Correction.fit(human, np.concatenate((human, rng.normal(size=100))))
    assert (
        inspect_judge([correction, correction], [correction.judge, correction.judge], mapped=False).identical
        is None
    )


@pytest.mark.slow
def test_random_labels_are_rarely_reported_as_selected():
    rng = np.random.default_rng(3)
    called = [inspect_judge(*judged(rng), mapped=False).shift_p.min() <= 0.05 for _ in range(300)]
    assert np.mean(called) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_noise_free_judge_has_no_uncertainty():
    human = np.tile([1.0, 2.0, 3.0], 10)
    correction = Correction.fit(human, np.concatenate((human, human)))
    result = inspect_judge([correction, correction], [correction.judge, correction.judge], mapped=False)
    assert result.agreement.tolist() == pytest.approx([1, 1])
    assert result.bias.tolist() == result.bias_high.tolist() == [0, 0]
    assert result.separated == result.separated_by_labels == 0
