import numpy as np
import pytest

from riskrank.engine.dominance.column_tests import study_columns
from riskrank.engine.dominance.contrasts import contrasts
from riskrank.engine.dominance.inference import Claim, ColumnClaims, Inference
from riskrank.engine.dominance.recommendation import (
    RankedColumn,
    compare_model,
    leader_changing_factors,
    leaders_without_metric,
    leaders_without_model,
    recommend,
)
from riskrank.engine.dominance.violation import one_versus_all, violation_matrices
from riskrank.engine.portfolio.score_tables import ScoreTables

INFERENCE = Inference(resamples=1000, jobs=1)


def ranked(values, order=2, inference=INFERENCE, name=None):
    n = len(values[0])
    names = [f"m{i}" for i in range(values[0].shape[1])]
    tables = ScoreTables.from_arrays(values, [np.arange(n)] * len(values), names)
    name = name or (names[0] if len(names) == 1 else "P(IC)")
    scores = tables.clustered_column(name)
    (study,) = study_columns([ColumnClaims(scores, (Claim(order),))], inference)
    leader = int(np.argmin(one_versus_all(study.estimates.ratios[order - 1])))
    return RankedColumn(tables, name, scores, study, order), leader


def _from(leader, models):
    """Return an order with the given leader."""
    return [leader, *(i for i in range(models) if i != leader)]


def clones():
    """Return A ~ N(.1, 1), B ~ N(.65, 2) and eight clones ~ N(0, 1); A leads, but B beats it head to head."""
    rng = np.random.default_rng(0)
    values = [rng.normal(0.1, 1, (1500, 1)), rng.normal(0.65, 2, (1500, 1))]
    return [*values, *(rng.normal(0, 1, (1500, 1)) for _ in range(8))]


@pytest.mark.parametrize("variance", ["bootstrap", "clt"])
def test_clones_do_not_carry_a_model(variance):
    inference = Inference(resamples=400, jobs=1, variance=variance)
    column, leader = ranked(clones(), inference=inference)
    assert leader == 0
    recommendation = recommend(column, _from(leader, 10), inference)
    assert not recommendation.confirmed
    assert recommendation.leader.beaten_by == (1,)
    assert recommendation.choice == 1


def often_ahead(n=600):
    """Return a model that is often slightly better and sometimes much worse, and the random generator."""
    rng = np.random.default_rng(1)
    often = rng.normal(0, 0.05, (n, 2)) + 0.1
    rare = rng.random(n) < 0.3
    often[rare] = rng.normal([-4, -5], 0.1, (rare.sum(), 2))
    return often, rng


def test_model_better_on_every_metric_beats_the_leader():
    """A portfolio of ranks ignores the size of failures, but the means of both metrics favour B."""
    often, rng = often_ahead()
    steady = rng.normal(0, 0.05, often.shape)
    weak = rng.normal(-3, 0.05, often.shape)
    column, leader = ranked([often, steady, weak])
    comparison = compare_model(column, 0, INFERENCE)
    assert comparison.better == (1,)
    if leader == 0:
        assert recommend(column, _from(0, 3), INFERENCE).choice == 1


def trade_off():
    """No model beats m1 or m2 overall: m1 is slightly better on one metric, m2 clearly on the other."""
    often, rng = often_ahead()
    noise_1, noise_2 = rng.normal(0, 0.05, (2, *often.shape))
    hair = noise_1.mean(axis=0) - noise_2.mean(axis=0)
    return [
        often,
        noise_1 - hair * [1, 0] + np.array([1e-4, 0]),
        noise_2 + np.array([0, 0.02]),
        rng.normal(-3, 0.05, often.shape),
    ]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0)])
def test_significant_difference_outweighs_ranks(order):
    values = trade_off()
    column, _ = ranked([values[i] for i in order])
    recommendation = recommend(column, _from(order.index(0), 4), INFERENCE)
    assert not recommendation.confirmed
    assert set(recommendation.unbeaten) >= {order.index(1), order.index(2)}
    assert recommendation.choice == order.index(2)
    assert len(recommendation.passed_over) == recommendation.unbeaten.index(recommendation.choice)
    for rejected in recommendation.passed_over:
        result = contrasts(column.tables, rejected.model)
        assert (result.answers.p_adjusted[rejected.rival, list(rejected.metrics)] <= 0.05).all()
        assert not result.worse[rejected.rival].any()


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3)])
def test_names_do_not_decide_ties(order):
    """Each model is slightly better on one metric, so only their names could break the tie."""
    values = trade_off()
    hair = (values[1] - values[2]).mean(axis=0)
    values[2] = values[2] + hair + np.array([-1e-4, 1e-4])
    column, _ = ranked([values[i] for i in order])
    recommendation = recommend(column, _from(0, 4), INFERENCE)
    assert {recommendation.choice, recommendation.tied} == {1, 2}
    assert recommendation.alternative is None
    assert recommendation.first_by_metrics is None
    assert recommendation.deciding == ()


def test_trade_off_of_metrics_rejects_no_leader():
    rng = np.random.default_rng(2)
    a, b = rng.normal([1, -1], 1, (400, 2)), rng.normal([-1, 1], 1, (400, 2))
    column, leader = ranked([a, b])
    comparison = compare_model(column, leader, INFERENCE)
    assert comparison.better == ()
    assert comparison.contrasts.better.any()
    assert comparison.contrasts.worse.any()


def test_milder_tail_may_cost_some_mean_on_a_single_metric():
    """The alternative has a significantly higher mean, but the leader is better in second order."""
    rng = np.random.default_rng(3)
    calm, wild = rng.normal(0, 0.2, (2000, 1)), rng.normal(0.15, 3, (2000, 1))
    wild += 0.3 - wild.mean()
    column, leader = ranked([calm, wild])
    assert leader == 0
    comparison = compare_model(column, 0, INFERENCE)
    assert comparison.contrasts.better[1, 0]
    assert comparison.behind == (1,)
    assert comparison.better == ()


def test_leaders_without_a_model_or_metric_by_brute_force():
    rng = np.random.default_rng(4)
    for seed in range(5):
        values = [rng.normal(0.05 * (seed == i), 1 + 0.3 * i, (60, 2)) for i in range(4)]
        column, leader = ranked(values)
        plain = {}
        for out in range(4):
            if out == leader:
                continue
            left = [i for i in range(4) if i != out]
            pooled = np.concatenate([values[i] for i in left])
            folded = [
                np.exp(np.mean([np.log((pooled[:, m] <= x[m]).mean()) for m in range(2)]))
                for i in left
                for x in values[i]
            ]
            ratios = violation_matrices(list(np.sort(np.reshape(folded, (3, 60)))), orders=(2,))[0]
            first = left[int(np.argmin(ratios.sum(axis=1)))]
            if first != leader:
                plain[out] = first
        assert leaders_without_model(column, leader) == plain
        assert leaders_without_metric(column, leader) == _leaders_without_metric(values, leader)
        more = leader_changing_factors(column, leader).items()
        for at, model, times in [(at, *entry) for at, leaders in more for entry in leaders.items()]:
            weights = np.where(np.arange(2) == at, times, 1.0)
            pooled = np.concatenate(values)
            folded = [
                np.exp(np.average([np.log((pooled[:, m] <= x[m]).mean()) for m in range(2)], weights=weights))
                for x in pooled
            ]
            ratios = violation_matrices(list(np.sort(np.reshape(folded, (4, 60)))), orders=(2,))[0]
            assert int(np.argmin(ratios.sum(axis=1))) == model != leader


def _leaders_without_metric(values, leader):
    """Return for each of two omitted metrics the new leader and its scores, if the leader changes."""
    leaders = {}
    for out in range(2):
        pooled = np.concatenate([x[:, 1 - out] for x in values])
        folded = [np.sort([(pooled <= score).mean() for score in x[:, 1 - out]]) for x in values]
        first = int(np.argmin(violation_matrices(folded, orders=(2,))[0].sum(axis=1)))
        if first != leader:
            leaders[out] = first
    return leaders


def test_two_models_have_no_leader_without_another():
    rng = np.random.default_rng(5)
    column, leader = ranked([rng.normal(size=(30, 1)), rng.normal(1, 1, (30, 1))])
    assert leaders_without_model(column, leader) is None
    assert recommend(column, _from(leader, 2), INFERENCE).confirmed


def test_a_metric_that_decides():
    """Of three unbeaten models, the third metric alone favours one."""
    rng = np.random.default_rng(6)
    noise = [rng.normal(0, 1, (300, 3)) for _ in range(3)]
    shifts = ([1.0, 0, 0], [0, 1.0, 0], [0.2, 0.2, 1.0])
    values = [values_of_model + shift for values_of_model, shift in zip(noise, shifts, strict=True)]
    from riskrank.engine.dominance.recommendation import _deciding_metrics, metric_ranks

    column, _ = ranked(values)
    places = metric_ranks(column.tables, 2)
    deciding = _deciding_metrics(places, column.tables.weights)
    first = [places[[m for m in range(3) if m != out]].sum(axis=0) for out in range(3)]
    assert 2 in deciding or min(first[2]) == first[2][2]


@pytest.mark.slow
def test_identical_models_rarely_challenge_the_leader():
    """At most .05 of the tables, ± .016, have a false challenge, although the data select the leader."""
    rng = np.random.default_rng(7)
    false = 0
    for _ in range(200):
        column, leader = ranked([rng.normal(size=(40, 2)) for _ in range(4)], inference=INFERENCE)
        false += bool(compare_model(column, leader, INFERENCE).beaten_by)
    assert false / 200 <= 0.05 + 2 * 0.016
