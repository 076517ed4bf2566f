"""Tails of one model against all others on every metric, compared with manual results and invariances."""

import numpy as np
import pytest

from riskrank.engine.dominance.contrasts import MetricTails, contrasts, tail_contrasts
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.sign_flips import flipped_tail_p_values
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.degrees_of_freedom import expanded_p_value
from riskrank.engine.sampling.design import ClusteredScores

INFERENCE = Inference(resamples=2000, jobs=1)
N = 200


def disaster(seed=0, metrics=2, bad=(0, 1), gain=2.9):
    """Return four models; the first is better on most samples, and very bad on one in fifteen."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(0, 1, (N, metrics))
    values = [shared + rng.normal(0, 1.5, (N, metrics)) - 0.4 * i for i in range(4)]
    for m in bad:
        values[0][:, m] += gain
        values[0][rng.choice(N, N // 15, replace=False), m] -= 40
    return values


def contrast_tails(values, inference=INFERENCE, against=0, weights=None):
    names = [f"m{m}" for m in range(values[0].shape[1])]
    tables = ScoreTables.from_arrays(values, [np.arange(N)] * len(values), names, weights=weights)
    means = contrasts(tables, against)
    return tail_contrasts(MetricTails.from_tables(tables, inference), means, inference)


def test_against_brute_force():
    """The p-values of six hidden risks are counted by a loop over resamples and adjusted by Holm."""
    values = disaster(bad=(), seed=4)
    values[1] += 1.6
    contrast = contrast_tails(values)
    rng_free = MetricTails.from_tables(
        ScoreTables.from_arrays(values, [np.arange(N)] * 4, ["m0", "m1"]), INFERENCE
    ).replicates(2000)
    p = np.array(
        [
            [
                float(
                    expanded_p_value(
                        (1 + sum(row[0, m] >= row[i, m] for row in rng_free)) / 2001, np.array(float(N))
                    )
                )
                for m in range(2)
            ]
            for i in range(1, 4)
        ]
    ).ravel()
    for m in range(2):
        scores = ClusteredScores.build([x[:, m] for x in values])
        pairs = [(0, 1), (0, 2), (0, 3)]
        flipped = flipped_tail_p_values(scores, pairs, contrast.level, level=0.05 / 6, seed=INFERENCE.seed)
        p[m::2] = np.maximum(p[m::2], flipped[0, 1:])
    p[(contrast.tails[1:] <= contrast.tails[0]).ravel()] = 1.0
    order, adjusted, worst = np.argsort(p), np.ones(6), 0.0
    for place, at in enumerate(order):
        worst = max(worst, min(1.0, (6 - place) * p[at]))
        adjusted[at] = worst
    np.testing.assert_allclose(contrast.p_milder[1:].ravel(), adjusted, rtol=1e-9)
    assert (contrast.milder[1:].ravel() == (adjusted <= 0.05)).all()
    assert contrast.milder.any()
    assert not contrast.milder.all()


def test_disaster_is_significant_and_not_offset():
    contrast = contrast_tails(disaster())
    assert contrast.milder[1:].all()
    assert 1 in contrast.milder_models
    assert not contrast_tails(disaster(), against=1).milder[0].any()


def test_better_mean_of_a_worse_tail_offsets_nothing():
    """Its mean is significantly better on one metric, but its tail is worse on the others."""
    values = disaster(gain=7.0)
    values[0][:, 1] -= 4.1
    tables = ScoreTables.from_arrays(values, [np.arange(N)] * 4, ["p", "q"])
    assert contrasts(tables, 0).worse[1].tolist() == [True, False]
    contrast = contrast_tails(values)
    assert contrast.milder[1].all()
    assert not contrast.advantages[1].any()
    assert 1 in contrast.milder_models


def test_better_means_on_every_metric_are_a_trade():
    values = disaster(gain=7.0)
    tables = ScoreTables.from_arrays(values, [np.arange(N)] * 4, ["p", "q"])
    assert contrasts(tables, 0).worse[1:].all()
    contrast = contrast_tails(values)
    assert contrast.milder_models.size == 0
    assert contrast.trade_offs[1:].all()
    assert not contrast.advantages[1].any()


def test_a_gain_on_another_metric_is_a_trade():
    values = disaster(metrics=3)
    values[0][:, 2] += 3
    contrast = contrast_tails(values)
    assert contrast.milder[1, :2].all()
    assert contrast.advantages[1].tolist() == [False, False, True]
    assert contrast.milder_models.size == 0


def test_a_milder_tail_on_another_metric_is_a_trade():
    """All other models have their own disasters on the second metric, and an equal mean."""
    values = disaster(bad=(0,))
    for other in values[1:]:
        other[:, 1] += 1.8 + values[0][:, 1].mean() - other[:, 1].mean()
        other[:12, 1] -= 30
    contrast = contrast_tails(values)
    assert contrast.milder[1].tolist() == [True, False]
    assert contrast.advantages[1].tolist() == [False, True]
    assert contrast.milder_models.size == 0


def test_worse_tail_of_a_better_mean_offsets_nothing():
    """The others vary more on the second metric, and have a better mean there."""
    values, rng = disaster(bad=(0,)), np.random.default_rng(1)
    for other in values[1:]:
        other[:, 1] = values[0][:, 1] + 1.5 + rng.normal(0, 4, N)
    contrast = contrast_tails(values)
    assert contrast.milder[1].tolist() == [True, False]
    assert contrast.tails[1, 1] < contrast.tails[0, 1] - 1
    assert not contrast.advantages[1].any()
    assert 1 in contrast.milder_models


def test_equal_models_have_no_milder_tails():
    rng = np.random.default_rng(2)
    scores = rng.standard_t(3, (N, 2))
    contrast = contrast_tails([scores, scores.copy(), scores[::-1].copy()])
    assert not contrast.milder.any()


def test_names_and_units_change_nothing():
    values, order = disaster(seed=5, metrics=3), [2, 0, 3, 1]
    plain = contrast_tails(values)
    relabelled = contrast_tails([values[i] for i in order], against=order.index(0))
    np.testing.assert_array_equal(relabelled.p_milder, plain.p_milder[order])
    scaled = contrast_tails([value * [1000, 1, 2.0**40] for value in values])
    np.testing.assert_array_equal(scaled.p_milder, plain.p_milder)
    np.testing.assert_array_equal(scaled.advantages, plain.advantages)


@pytest.mark.filterwarnings("error")
def test_scores_at_the_end_of_the_range():
    values = [np.maximum(value, -30) for value in disaster(seed=5)]
    large = [value / 30 * np.finfo(np.float64).max for value in values]
    tables = ScoreTables.from_arrays(large, [np.arange(N)] * 4, ["p", "q"])
    means = contrasts(ScoreTables.from_arrays(values, [np.arange(N)] * 4, ["p", "q"]), 0)
    contrast = tail_contrasts(MetricTails.from_tables(tables, INFERENCE), means, INFERENCE)
    np.testing.assert_array_equal(contrast.milder, contrast_tails(values).milder)


@pytest.mark.parametrize("weights", [[1.0, 0.0], [0.0, 1.0]])
def test_metric_of_weight_zero_is_ignored(weights):
    contrast = contrast_tails(disaster(), weights=weights)
    assert contrast.milder[1].tolist() == [weight > 0 for weight in weights]


def test_larger_families_get_more_resamples():
    """With 1,000 resamples no p-value among 60 is below 60/1001, so the number must grow with the family."""
    values = disaster(metrics=20)
    assert contrast_tails(values, Inference(jobs=1)).milder[1, :2].all()
    assert not contrast_tails(values, Inference(resamples=600, jobs=1)).milder.any()
