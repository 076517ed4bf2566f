"""Mean-risk models with intervals: against a plain bootstrap, and at the bounds of what may be asked."""

from statistics import NormalDist

import numpy as np
import pytest

from riskrank.engine.portfolio import mean_risk_intervals
from riskrank.engine.portfolio.mean_risk import mean_risk
from riskrank.engine.portfolio.mean_risk_intervals import aggregate_over_metrics, study_mean_risk
from riskrank.engine.portfolio.risks import risk_columns
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import batches, blocks

NAMES = ("a", "b", "c")


def made(seed=0, n=40, k=3, paired=True, offset=0.0):
    rng = np.random.default_rng(seed)
    values = offset + rng.normal(size=(k, n)) - 0.3 * np.arange(k)[:, None]
    return ClusteredScores.build(list(values), paired=paired)


@pytest.mark.parametrize("offset", [0.0, 1000.0, -1000.0])
@pytest.mark.parametrize("paired", [True, False])
def test_intervals_against_a_plain_bootstrap(paired, offset):
    """Far from zero too: mean plus a tail mean moves twice as far as the scores do."""
    scores, columns = made(paired=paired, offset=offset), risk_columns()
    found = study_mean_risk(scores, columns, names=NAMES, resamples=60, level=0.2, seed=4)
    values = [
        mean_risk([rows[b] for rows in ordered], columns).value
        for ordered in batches(scores, blocks(60, 4), size=1)
        for b in range(len(ordered[0]))
    ]
    assert len(values) == 60
    low, high = np.quantile(values, [0.1, 0.9], axis=0)
    assert found.value_low == pytest.approx(low, rel=1e-12)
    assert found.value_high == pytest.approx(high, rel=1e-12)


def test_intervals_of_means_against_theory():
    """Mean minus h at level 1 is the mean itself: its interval is that of a normal mean."""
    scores = made(seed=1, n=400)
    found = study_mean_risk(scores, risk_columns(["quantile-deviation"], [1.0]), names=NAMES, resamples=2000)
    width = found.value_high[:, 0] - found.value_low[:, 0]
    expected = [2 * NormalDist().inv_cdf(0.975) * value.std() / 20 for value in scores.values]
    # A bootstrap quantile at 2.5 % from 2000 resamples has a relative error of about 4 %.
    assert width == pytest.approx(expected, rel=0.15)


def test_the_batch_changes_no_number(monkeypatch):
    scores = made()
    whole = study_mean_risk(scores, risk_columns(), names=NAMES, resamples=60)
    monkeypatch.setattr(mean_risk_intervals, "_BATCH", 1)
    alone = study_mean_risk(scores, risk_columns(), names=NAMES, resamples=60)
    assert whole.value_low.tolist() == alone.value_low.tolist()
    assert whole.value_high.tolist() == alone.value_high.tolist()


def test_no_resamples_no_intervals():
    found = study_mean_risk(made(), risk_columns(), names=NAMES, resamples=0)
    assert found.value_low is None
    assert found.value_high is None
    assert found.aggregation is not None


def test_without_consistent_risks_there_is_nothing_to_aggregate():
    columns = risk_columns(["standard-deviation", "negative-var"])
    found = study_mean_risk(made(), columns, names=NAMES, resamples=0)
    assert found.aggregation is None
    assert found.contradicted == ()
    assert aggregate_over_metrics([found, found], np.array([0.5, 0.5]), names=NAMES) is None


def test_progress_counts_every_resample():
    told = []
    study_mean_risk(
        made(), risk_columns(), names=NAMES, resamples=53, progress=lambda done, of: told.append((done, of))
    )
    assert told == [(25, 53), (50, 53), (53, 53)]


def test_a_metrics_weight_is_shared_by_its_risks():
    """One metric with five risks and one with a single risk count as their weights say."""
    many = study_mean_risk(
        ClusteredScores.build([np.arange(10.0), np.arange(10.0) - 1]),
        risk_columns(["semideviation", "gini-tail", "negative-tvar"]),
        names=("a", "b"),
        resamples=0,
    )
    one = study_mean_risk(
        ClusteredScores.build([np.arange(10.0) - 1, np.arange(10.0)]),
        risk_columns(["gini-tail"]),
        names=("a", "b"),
        resamples=0,
    )
    for weights, first in (((0.49, 0.51), 1), ((0.51, 0.49), 0)):
        found = aggregate_over_metrics([many, one], np.array(weights), names=("a", "b"))
        assert found.order[0] == first


def test_one_resample_is_an_interval_of_one_value():
    found = study_mean_risk(made(), risk_columns(), names=NAMES, resamples=1)
    assert found.value_low.shape == found.models.value.shape
    np.testing.assert_array_equal(found.value_low, found.value_high)
    told = []
    study_mean_risk(made(), risk_columns(), names=NAMES, progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (1000, 1000)


def test_one_consistent_risk_is_its_own_aggregation():
    found = study_mean_risk(made(), risk_columns(["gini-tail"]), names=NAMES, resamples=0)
    assert found.aggregation.ranks.tolist() == found.models.rank[:, 0].tolist()
