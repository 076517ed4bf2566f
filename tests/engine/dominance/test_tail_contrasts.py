"""One model's worst samples on every metric against everybody's: what is shown, by hand and by invariance."""

import numpy as np
import pytest

from riskrank.engine.dominance.contrasts import contrasts
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.metric_tails import MetricTails
from riskrank.engine.dominance.tail_contrasts import tail_contrasts
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.degrees_of_freedom import expanded_p_value

INFERENCE = Inference(resamples=2000, jobs=1)
N = 200


def disaster(seed=0, metrics=2, bad=(0, 1), gain=2.9):
    """The first of four models is better on most samples, and very bad on one in fifteen."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(0, 1, (N, metrics))
    values = [shared + rng.normal(0, 1.5, (N, metrics)) - 0.4 * i for i in range(4)]
    for m in bad:
        values[0][:, m] += gain
        values[0][rng.choice(N, N // 15, replace=False), m] -= 40
    return values


def held(values, inference=INFERENCE, against=0, weights=None):
    names = [f"m{m}" for m in range(values[0].shape[1])]
    tables = ScoreTables.build(values, [np.arange(N)] * len(values), names, weights=weights)
    means = contrasts(tables, against)
    return tail_contrasts(MetricTails.of(tables, inference), means, inference)


def test_against_brute_force():
    """The p-value of a hidden risk, counted one resample at a time, in a family of six by Holm's rule."""
    values = disaster(bad=(), seed=4)
    values[1] += 1.6
    found = held(values)
    rng_free = MetricTails.of(
        ScoreTables.build(values, [np.arange(N)] * 4, ["m0", "m1"]), INFERENCE
    ).resampled(2000)
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
    p[(found.tails[1:] <= found.tails[0]).ravel()] = 1.0
    order, adjusted, worst = np.argsort(p), np.ones(6), 0.0
    for place, at in enumerate(order):
        worst = max(worst, min(1.0, (6 - place) * p[at]))
        adjusted[at] = worst
    np.testing.assert_allclose(found.p_milder[1:].ravel(), adjusted, rtol=1e-9)
    assert (found.milder[1:].ravel() == (adjusted <= 0.05)).all()
    assert found.milder.any()
    assert not found.milder.all()


def test_a_disaster_is_shown_and_nothing_makes_up_for_it():
    found = held(disaster())
    assert found.milder[1:].all()
    assert 1 in found.milder_for_nothing
    assert not held(disaster(), against=1).milder[0].any()


def test_a_better_mean_of_a_worse_tail_makes_up_for_nothing():
    """Better where it is good: its mean is surely better on one metric, but the tail of the others."""
    values = disaster(gain=7.0)
    values[0][:, 1] -= 4.1
    tables = ScoreTables.build(values, [np.arange(N)] * 4, ["p", "q"])
    assert contrasts(tables, 0).worse[1].tolist() == [True, False]
    found = held(values)
    assert found.milder[1].all()
    assert not found.gains[1].any()
    assert 1 in found.milder_for_nothing


def test_better_means_on_every_metric_are_a_trade_as_on_one():
    values = disaster(gain=7.0)
    tables = ScoreTables.build(values, [np.arange(N)] * 4, ["p", "q"])
    assert contrasts(tables, 0).worse[1:].all()
    found = held(values)
    assert found.milder_for_nothing.size == 0
    assert found.traded[1:].all()
    assert not found.gains[1].any()


def test_a_gain_on_another_metric_is_a_trade():
    values = disaster(metrics=3)
    values[0][:, 2] += 3
    found = held(values)
    assert found.milder[1, :2].all()
    assert found.gains[1].tolist() == [False, False, True]
    assert found.milder_for_nothing.size == 0


def test_a_milder_tail_on_another_metric_is_a_trade():
    """All others have disasters of their own on the second metric, and as good a mean."""
    values = disaster(bad=(0,))
    for other in values[1:]:
        other[:, 1] += 1.8 + values[0][:, 1].mean() - other[:, 1].mean()
        other[:12, 1] -= 30
    found = held(values)
    assert found.milder[1].tolist() == [True, False]
    assert found.gains[1].tolist() == [False, True]
    assert found.milder_for_nothing.size == 0


def test_a_milder_tail_of_a_worse_mean_makes_up_for_nothing():
    """The others vary more on the second metric, and are better on it nevertheless."""
    values, rng = disaster(bad=(0,)), np.random.default_rng(1)
    for other in values[1:]:
        other[:, 1] = values[0][:, 1] + 1.5 + rng.normal(0, 4, N)
    found = held(values)
    assert found.milder[1].tolist() == [True, False]
    assert found.tails[1, 1] < found.tails[0, 1] - 1
    assert not found.gains[1].any()
    assert 1 in found.milder_for_nothing


def test_equal_models_show_nothing():
    rng = np.random.default_rng(2)
    one = rng.standard_t(3, (N, 2))
    found = held([one, one.copy(), one[::-1].copy()])
    assert not found.milder.any()


def test_names_and_units_change_nothing():
    values, order = disaster(seed=5, metrics=3), [2, 0, 3, 1]
    plain = held(values)
    relabelled = held([values[i] for i in order], against=order.index(0))
    np.testing.assert_array_equal(relabelled.p_milder, plain.p_milder[order])
    scaled = held([value * [1000, 1, 2.0**40] for value in values])
    np.testing.assert_array_equal(scaled.p_milder, plain.p_milder)
    np.testing.assert_array_equal(scaled.gains, plain.gains)


@pytest.mark.filterwarnings("error")
def test_scores_at_the_end_of_the_range():
    values = [np.maximum(value, -30) for value in disaster(seed=5)]
    large = [value / 30 * np.finfo(np.float64).max for value in values]
    tables = ScoreTables.build(large, [np.arange(N)] * 4, ["p", "q"])
    means = contrasts(ScoreTables.build(values, [np.arange(N)] * 4, ["p", "q"]), 0)
    found = tail_contrasts(MetricTails.of(tables, INFERENCE), means, INFERENCE)
    np.testing.assert_array_equal(found.milder, held(values).milder)


@pytest.mark.parametrize("weights", [[1.0, 0.0], [0.0, 1.0]])
def test_a_metric_of_no_weight_speaks_against_nobody(weights):
    found = held(disaster(), weights=weights)
    assert found.milder[1].tolist() == [weight > 0 for weight in weights]


def test_more_metrics_and_models_need_more_resamples_and_get_them():
    """With 1,000 resamples no p-value of 60 is below 1/1001·60: the number follows the family."""
    values = disaster(metrics=20)
    assert held(values, Inference(jobs=1)).milder[1, :2].all()
    assert not held(values, Inference(resamples=600, jobs=1)).milder.any()
