"""What people say of a judge, against SciPy; and how often chance alone looks like chosen labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from riskrank.engine.judges.correction import Correction
from riskrank.engine.judges.inspection import inspect_judge


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
