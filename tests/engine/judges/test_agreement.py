"""Agreement of judges: Cohen's weighted κ by its definition, and the coverage of its interval."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from riskrank.engine.judges import JudgeAgreement, weighted_kappa


def kappa_from_table(first, second, grades):
    """Return κ from observed and expected disagreements, with quadratic weights."""
    table = np.zeros((grades, grades))
    np.add.at(table, (first, second), 1)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    weights = (np.arange(grades)[:, None] - np.arange(grades)) ** 2
    return 1 - (weights * table).sum() / (weights * expected).sum()


def judged(n, rng, noise=0.8):
    quality = rng.normal(size=n)
    scores = [np.clip(np.rint(2 + quality + rng.normal(0, noise, n) + bias), 0, 4) for bias in (0, 0.3)]
    return scores[0], scores[1]


def test_kappa_matches_its_definition():
    first, second = judged(200, np.random.default_rng(0))
    expected = kappa_from_table(first.astype(int), second.astype(int), 5)
    assert weighted_kappa(first, second) == pytest.approx(expected, abs=1e-12)
    agreement = JudgeAgreement.measure(("a", "b"), (first, second), np.arange(200))
    assert agreement.statistic == "weighted kappa"
    assert agreement.value == pytest.approx(expected, abs=1e-12)
    assert agreement.low < expected < agreement.high


def test_scores_on_other_scales_have_a_rank_correlation():
    first, second = judged(60, np.random.default_rng(1))
    for pair, same_scale in (((first + 1e-3 * np.arange(60), second), True), ((first, 10 * second), False)):
        agreement = JudgeAgreement.measure(("a", "b"), pair, np.arange(60), same_scale=same_scale)
        assert agreement.statistic == "rank correlation"
        assert agreement.value == pytest.approx(spearmanr(*pair).statistic, abs=1e-12)


def test_answers_to_a_sample_count_as_one_unit():
    pair = judged(40, np.random.default_rng(2))
    alone = JudgeAgreement.measure(("a", "b"), pair, np.arange(40))
    copied = JudgeAgreement.measure(
        ("a", "b"), (np.tile(pair[0], 9), np.tile(pair[1], 9)), np.tile(np.arange(40), 9)
    )
    assert (copied.low, copied.high) == pytest.approx((alone.low, alone.high), abs=1e-10)
    assert copied.answers == 360


def test_constant_scores_have_no_agreement():
    agreement = JudgeAgreement.measure(("a", "b"), (np.ones(20), np.ones(20)), np.arange(20))
    assert (agreement.value, agreement.low, agreement.high) == (None, None, None)


@pytest.mark.slow
def test_intervals_cover():
    truth = weighted_kappa(*judged(1_000_000, np.random.default_rng(3)))
    for n in (40, 150):
        draws = [
            JudgeAgreement.measure(("a", "b"), judged(n, np.random.default_rng(seed)), np.arange(n))
            for seed in range(400)
        ]
        assert 0.92 <= np.mean([draw.low <= truth <= draw.high for draw in draws]) <= 0.98
