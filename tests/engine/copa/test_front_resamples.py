"""Fronts and choices of resampled objectives: against one ranking a resample, loops, closed forms, a gate."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from riskrank.engine.copa.choice import rank_models
from riskrank.engine.copa.front_evidence import objective_evidence
from riskrank.engine.copa.front_shares import front_shares
from riskrank.engine.copa.population import population
from riskrank.engine.copa.replicates import _means, replicates
from riskrank.engine.gates.caution import Comparison
from riskrank.engine.gates.replicates import differences, statistics
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from tests.engine.copa.test_front_states import measured, priced


def front_by_loops(values, allowed):
    return [
        able
        and not any(
            free and (other >= own).all() and (other > own).any()
            for other, free in zip(values, allowed, strict=True)
        )
        for own, able in zip(values, allowed, strict=True)
    ]


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.int8, (5, 6, 3), elements=st.integers(0, 3)),
    arrays(bool, (5, 6)),
    st.sampled_from([1, 2, np.inf]),
    st.sampled_from(["min", "average", "max"]),
)
def test_shares_against_one_ranking_a_resample(drawn, allowed, p, ties):
    drawn = drawn.astype(float)
    models = population(drawn[0], ties=ties)
    weights = [0.5, 0.3, 0.2]
    found = front_shares(models, drawn, allowed, weights, p=p)
    front, chosen = np.zeros(6), np.zeros(6)
    for values, able in zip(drawn, allowed, strict=True):
        front += front_by_loops(values, able)
        if able.any():
            chosen[rank_models(population(values, feasible=able, ties=ties), weights, p=p).chosen] += 1
    assert found.front == pytest.approx(front / 5)
    assert found.chosen == pytest.approx(chosen / 5)


def test_many_resamples_at_once_are_those_one_by_one(monkeypatch):
    drawn = np.random.default_rng(0).normal(size=(50, 7, 2))
    models = population(drawn[0])
    whole = front_shares(models, drawn, np.ones((50, 7), dtype=bool), p=2)
    monkeypatch.setattr("riskrank.engine.copa.front_shares._PAIRS", 60)
    parts = front_shares(models, drawn, np.ones((50, 7), dtype=bool), p=2)
    assert np.array_equal(whole.front, parts.front)
    assert np.array_equal(whole.chosen, parts.chosen)


def test_replicates_spread_as_theory_says_and_share_their_samples():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=200)
    objectives = [
        measured([scores, scores + 1, rng.normal(size=200)]),
        measured([scores] * 3),
        priced(1, 2, 3),
    ]
    found = replicates(objectives, [200] * 3, together=True, resamples=4000, seed=0)
    plain = found.plain
    error = scores.std() / np.sqrt(201)
    assert plain[:, 0, 0].std() == pytest.approx(error, rel=0.05)
    assert plain[:, 0, 0].mean() == pytest.approx(scores.mean(), abs=4 * error / np.sqrt(4000))
    assert plain[:, 1, 0] == pytest.approx(plain[:, 0, 0] + 1)
    assert plain[:, 0, 1] == pytest.approx(plain[:, 0, 0])
    assert np.corrcoef(plain[:, 0, 0], plain[:, 2, 0])[0, 1] == pytest.approx(
        np.corrcoef(objectives[0].scores.values[0], objectives[0].scores.values[2])[0, 1], abs=0.05
    )
    assert (plain[..., 2] == [1, 2, 3]).all()
    assert (found.low[..., :2] <= found.high[..., :2]).mean() > 0.99


def test_unpaired_models_are_drawn_apart():
    scores = np.random.default_rng(3).normal(size=60)
    found = replicates(
        [measured([scores, scores], paired=False)], [60, 60], together=False, resamples=2000, seed=0
    )
    assert abs(np.corrcoef(found.plain[:, 0, 0], found.plain[:, 1, 0])[0, 1]) < 0.1


def test_the_same_numbers_whatever_is_made_at_once(monkeypatch):
    objectives = [measured(list(np.random.default_rng(2).normal(size=(3, 30))), level=0.2)]
    whole = replicates(objectives, [30] * 3, together=True, resamples=130, seed=5)
    monkeypatch.setattr("riskrank.engine.copa.replicates._WEIGHTS", 31)
    parts = replicates(objectives, [30] * 3, together=True, resamples=130, seed=5)
    for one, other in ((whole.plain, parts.plain), (whole.low, parts.low), (whole.high, parts.high)):
        assert np.array_equal(one, other)


def test_means_of_tasks_and_clusters_against_the_weights_of_a_gate():
    rng = np.random.default_rng(8)
    of = np.repeat([0, 1, 2], [10, 25, 15])
    clusters = np.arange(50) // 2
    design = TaskDesign.build("abc", [of] * 2, weights=[1, 3, 2])
    values = [rng.normal(size=50), rng.normal(size=50)]
    scores = ClusteredScores.build(values, [clusters] * 2, samples=[np.arange(50)] * 2, tasks=design)
    objective = replace(measured(values), scores=scores, units=(np.arange(scores.cluster_counts[0]),) * 2)
    drawn = rng.standard_exponential((40, scores.cluster_counts[0] + 1))
    for model in range(2):
        sides = objective.sides(model)
        fast = _means(drawn[:, :-1], drawn[:, -1], sides)
        for value, side in zip(fast, sides, strict=True):
            assert value == pytest.approx(statistics(side, drawn[:, : len(side.sizes)], None))


def test_tail_means_against_the_resamples_of_a_gate():
    rng = np.random.default_rng(7)
    scores = [rng.normal(0.5, 1, 120), rng.normal(0, 1.2, 120)]
    objective = measured(scores, level=0.25, limits=(-6.0, 6.0))
    drawn = replicates([objective], [120, 120], together=True, resamples=8000, seed=0)
    ours = drawn.low[:, 0, 0] - drawn.high[:, 1, 0]
    comparison = Comparison.of(objective.scores, 0, 1, 0.25, (-6.0, 6.0), True).against()
    theirs = differences([comparison], resamples=8000, seed=1)[0]
    for level in (0.02, 0.2, 0.5, 0.9):
        assert np.quantile(ours, level) == pytest.approx(np.quantile(theirs, level), abs=0.03)
    found = objective_evidence(objective, drawn.low[..., 0], drawn.high[..., 0])
    assert found.better[0, 1] < 0.05
    assert found.better[1, 0] == 1


def test_intervals_of_shares_hold_what_clopper_and_pearson_do():
    from scipy import stats

    scores = np.array([1.0] * 38 + [0.0] * 2)
    objective = measured([scores, scores[::-1]], limits=(0.0, 1.0))
    drawn = replicates([objective], [40, 40], together=True, resamples=20_000, seed=0)
    low, high = drawn.interval(objective, 0, 0.95)
    exact = stats.binomtest(38, 40).proportion_ci(method="exact")
    assert low[0] == pytest.approx(exact.low, abs=0.015)
    assert high[0] == pytest.approx(exact.high, abs=0.015)
    without = measured([np.ones(40), scores], limits=(0.0, 1.0))
    drawn = replicates([without], [40, 40], together=True, resamples=4000, seed=0)
    low, high = drawn.interval(without, 0, 0.95)
    assert low[0] < 0.95
    assert high[0] == 1


def test_too_few_replicates_say_nothing_of_an_end():
    objective = measured(list(np.random.default_rng(0).normal(size=(2, 12))))
    drawn = replicates([objective], [12, 12], together=True, resamples=20, seed=0)
    low, high = drawn.interval(objective, 0, 0.95)
    assert np.isnan([*low, *high]).all()


def test_means_over_drawn_tasks_spread_as_theory_says():
    rng = np.random.default_rng(9)
    of = np.repeat(np.arange(8), [3, 5, 20, 4, 9, 2, 12, 6])
    design = TaskDesign.build("abcdefgh", [of] * 2, random=True)
    values = [rng.normal(of, 1), rng.normal(size=of.size)]
    scores = ClusteredScores.build(values, tasks=design)
    objective = replace(measured(values), scores=scores, units=(np.arange(8),) * 2)
    found = replicates([objective], [8, 8], together=True, resamples=20_000, seed=0).plain[..., 0]
    means = np.array([[own[of == task].mean() for task in range(8)] for own in values])
    # Weights of a Bayesian bootstrap are uniform on the simplex: their variance is that of Dirichlet's.
    assert found.mean(0) == pytest.approx(means.mean(1), abs=0.03)
    assert found.std(0) == pytest.approx(means.std(1) / 3, rel=0.03)
