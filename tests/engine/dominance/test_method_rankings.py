import numpy as np
import pytest

from riskrank.engine.aggregation.rank_aggregation import aggregate_rankings, kendall_tau
from riskrank.engine.dominance.inference import Claim, Inference
from riskrank.engine.dominance.method_rankings import (
    assess_stability,
    methods_for_scope,
    parse_method,
    study_methods,
)
from riskrank.engine.portfolio.mean_risk import mean_risk
from riskrank.engine.portfolio.risks import risk_columns
from riskrank.engine.portfolio.score_tables import ScoreTables
from tests.engine.dominance.helpers import study_ranking

NAMES = ["a", "b", "c", "d"]
QUICK = Inference(resamples=60)


def tables(n=60, weights=None, paired=True):
    rng = np.random.default_rng(0)
    steps = np.linspace(0, 1.5, 4)[:, None, None]
    values = rng.normal(size=(4, n, 3)) + steps + rng.normal(size=(4, 1, 3)) * 0.3
    return ScoreTables.from_arrays(
        list(values), [np.arange(n)] * 4, ["x", "y", "z"], weights=weights, paired=paired
    )


def test_method_on_a_single_column_equals_its_study():
    data = tables()
    rankings = study_methods(data, [parse_method("R-SSD", default_scope="P(IC)")], QUICK, names=NAMES)
    alone = study_ranking(data.clustered_column("P(IC)"), [Claim(2)], QUICK)
    np.testing.assert_array_equal(rankings.rankings["R-SSD@P(IC)"].rank, alone.rankings["R-SSD"].rank)
    np.testing.assert_array_equal(rankings.rankings["R-SSD@P(IC)"].score, alone.rankings["R-SSD"].score)


@pytest.mark.parametrize("aggregator", ["kemeny", "footrule", "pearson", "borda"])
def test_aggregation_uses_the_rankings_and_weights_of_metrics(aggregator):
    weights = np.array([0.5, 0.3, 0.2])
    data = tables(weights=weights)
    method = parse_method("RA(R-SSD@M)", default_scope="P(IC)")
    rankings = study_methods(data, [method], QUICK, names=NAMES, aggregator=aggregator)
    lists = [study_ranking(data.clustered_column(m), [Claim(2)], QUICK).rankings["R-SSD"].rank for m in "xyz"]
    expected = aggregate_rankings(np.array(lists), method=aggregator, weights=weights, names=NAMES)
    np.testing.assert_array_equal(rankings.rankings["RA(R-SSD@M)"].rank, expected.ranks)
    np.testing.assert_allclose(rankings.rankings["RA(R-SSD@M)"].score, weights @ np.array(lists))


def test_mean_risk_aggregation_takes_the_consistent_risks_only():
    data = tables()
    rankings = study_methods(data, [parse_method("MRM", default_scope="P(IC)")], QUICK, names=NAMES)
    columns = [column for column in risk_columns() if column.risk.ssd_consistent]
    lists = mean_risk(data.clustered_column("P(IC)").values, columns).rank.T
    expected = aggregate_rankings(lists, names=NAMES)
    np.testing.assert_array_equal(rankings.rankings["RA(MRM@P(IC))"].rank, expected.ranks)
    assert rankings.studies == {}


def test_mean_risk_aggregation_weights_all_metrics_equally():
    weights = np.array([0.6, 0.3, 0.1])
    data = tables(weights=weights)
    method = parse_method("RA(MRM@M)", default_scope="P(IC)")
    rankings = study_methods(data, [method], QUICK, names=NAMES, aggregator="borda")
    columns = [column for column in risk_columns() if column.risk.ssd_consistent]
    mean_rank = [
        mean_risk(data.clustered_column(metric).values, columns).rank.mean(axis=1) for metric in "xyz"
    ]
    np.testing.assert_allclose(rankings.rankings["RA(MRM@M)"].score, weights @ np.array(mean_rank))


def test_agreement_is_kendalls_tau_between_orders():
    methods = methods_for_scope("P(IC)", [Claim(1), Claim(2)], paired=True)
    rankings = study_methods(tables(), methods, QUICK, names=NAMES)
    orders = [ranking.positions for ranking in rankings.rankings.values()]
    np.testing.assert_allclose(rankings.agreement, kendall_tau(np.array(orders)))
    assert np.diag(rankings.agreement) == pytest.approx(1)


def test_asymptotic_tests_agree_on_clear_cases():
    rankings = study_methods(
        tables(n=400),
        methods_for_scope("P(IC)", [Claim(2)], paired=True),
        Inference(variance="clt"),
        names=NAMES,
    )
    study = rankings.studies["P(IC)"]
    assert study.dominance.replicates is None
    assert rankings.rankings["R-SSD@P(IC)"].tier is not None
    assert study.hidden_risks is study.effects["R-SSD"].mean_difference.low is None
    boot = study_methods(
        tables(n=400),
        methods_for_scope("P(IC)", [Claim(2)], paired=True),
        Inference(resamples=400),
        names=NAMES,
    )
    np.testing.assert_array_equal(rankings.rankings["R-SSD@P(IC)"].rank, boot.rankings["R-SSD@P(IC)"].rank)


def test_subsamples_keep_pairs_and_repeat_no_sample():
    data = tables()
    part = data.subsample(20, np.random.default_rng(0))
    assert part.samples == 20
    for cluster in part.clusters:
        np.testing.assert_array_equal(cluster, part.clusters[0])
    assert len(np.unique(part.clusters[0])) == 20
    row = int(np.flatnonzero(data.clusters[0] == part.clusters[0][3])[0])
    np.testing.assert_array_equal(part.values[2][3], data.values[2][row])


def test_stability_of_the_full_sample_is_1():
    data, methods = tables(), methods_for_scope("P(IC)", [Claim(2)], paired=True)
    untested = Inference(test=False)
    full = study_methods(data, methods, untested, names=NAMES)
    stability = assess_stability(data, methods, untested, full, names=NAMES, sizes=[20, 60], repeats=3)
    assert stability.sizes == (20, 60)
    assert stability.tau.shape == (4, 2, 3)
    np.testing.assert_array_equal(stability.tau[:, 1], 1)
    assert np.all(stability.tau[:, 0] <= 1)


@pytest.mark.slow
def test_stability_does_not_depend_on_the_number_of_processes():
    data, methods = tables(n=30), methods_for_scope("P(IC)", [Claim(1)], paired=True)
    full = study_methods(data, methods, QUICK, names=NAMES)
    serial, parallel = (
        assess_stability(
            data, methods, Inference(resamples=60, jobs=jobs), full, names=NAMES, sizes=[15], repeats=4
        )
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(serial.tau, parallel.tau)


def test_metric_named_like_a_portfolio_is_a_metric():
    data = ScoreTables.from_arrays([[[1.0], [2.0]], [[3.0], [4.0]]], [[0, 1]] * 2, ["P(IC)"])
    assert data.clustered_column("P(IC)").values[1].tolist() == [3.0, 4.0]
