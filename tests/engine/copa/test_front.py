"""Front membership compared with a plain implementation of its rules, and invariances."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from riskrank.engine.copa.front import (
    ObjectiveEvidence,
    ObjectiveScores,
    front_membership,
    front_shares,
    objective_evidence,
    resample_objectives,
)
from riskrank.engine.copa.population import build_population
from riskrank.engine.copa.ranking import rank_models
from riskrank.engine.evidence.mean_differences import MeanContrast, mean_evidence
from riskrank.engine.family import Answer, Family
from riskrank.engine.gates import Comparison, resampled_differences
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign


def sampled_objective(scores, margin=0.0, level=None, limits=None, paired=True):
    """Return an objective from one list of scores per model."""
    scores = [np.asarray(row, dtype=float) for row in scores]
    worst = [np.sort(row)[: max(round((level or 1) * row.size), 1)] for row in scores]
    return ObjectiveScores(
        values=np.array([row.mean() for row in worst]),
        scores=ClusteredScores.build(scores, paired=paired),
        models=np.arange(len(scores)),
        units=tuple(np.arange(row.size) for row in scores),
        level=level,
        limits=limits,
        margin=margin,
    )


def fixed_objective(*values, margin=0.0):
    return ObjectiveScores(values=np.array(values, dtype=float), margin=margin)


def holm(p_values):
    """Return Holm's adjusted p-values, computed by a loop."""
    adjusted, largest = [0.0] * len(p_values), 0.0
    for place, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[at]))
        adjusted[at] = largest
    return adjusted


def states_by_loops(evidence, alpha):
    """Return the states of method §7 by loops, without margins, if all pairs are tested on all objectives."""
    models = range(len(evidence[0].noninferior))
    pairs = list(itertools.permutations(models, 2))
    dominated = holm([max(objective.noninferior[j, i] for objective in evidence) for j, i in pairs])
    off = {i for (_, i), p in zip(pairs, dominated, strict=True) if p <= alpha}
    largest = [
        max(
            min(1.0, len(evidence) * min(objective.better[i, j] for objective in evidence))
            for j in models
            if j != i
        )
        for i in models
    ]
    on = {i for i, p in zip(models, holm(largest), strict=True) if p <= alpha}
    return tuple("off" if i in off else "on" if i in on else "undecided" for i in models)


P_VALUES = st.sampled_from([1e-9, 1e-5, 0.001, 0.004, 0.01, 0.02, 0.05, 0.3, 0.9])


@st.composite
def pair_p_values(draw):
    """Draw p-values of all pairs on several objectives; at most one direction of a pair is small."""
    N, K = draw(st.integers(2, 6)), draw(st.integers(1, 4))
    p_values = []
    for _ in range(K):
        p = draw(arrays(float, (N, N), elements=P_VALUES))
        p = np.where(np.triu(np.ones((N, N), dtype=bool)), p, np.maximum(p, 1 - p.T))
        np.fill_diagonal(p, 1.0)
        p_values.append(ObjectiveEvidence(p, p, ~np.eye(N, dtype=bool), 0.0))
    return p_values


@settings(max_examples=60, deadline=None)
@given(pair_p_values(), st.sampled_from([0.01, 0.05, 0.2]))
def test_states_match_the_plain_rules(evidence, alpha):
    assert front_membership(evidence, Family(alpha)).state_words == states_by_loops(evidence, alpha)


@settings(max_examples=40, deadline=None)
@given(pair_p_values(), st.randoms(use_true_random=False))
def test_states_are_invariant_to_order(evidence, random):
    order = list(range(len(evidence[0].noninferior)))
    random.shuffle(order)
    at = np.ix_(order, order)
    moved = [
        ObjectiveEvidence(objective.noninferior[at], objective.better[at], objective.tested[at], 0.0)
        for objective in evidence[::-1]
    ]
    before, after = front_membership(evidence), front_membership(moved)
    assert after.state_words == tuple(before.state_words[i] for i in order)
    assert np.array_equal(after.p_nondominated, before.p_nondominated[order])


@settings(deadline=None)
@given(arrays(float, (4, 20, 2), elements=st.floats(-5, 5, width=16)), st.sampled_from([0.0, 0.5]))
def test_domination_is_antisymmetric_and_the_best_stays_on(scores, margin):
    objectives = [sampled_objective(list(scores[..., k]), margin) for k in range(2)]
    result = front_membership([objective_evidence(objective) for objective in objectives], Family(0.2))
    for i, j in itertools.combinations(range(4), 2):
        assert not (result.p_dominates[i, j] <= 0.2 and result.p_dominates[j, i] <= 0.2)
    assert result.state_words[int(objectives[0].values.argmax())] != "off"


def test_means_are_compared_like_those_of_a_gate():
    scores = np.random.default_rng(2).normal([[0.9], [0.6], [0.5]], size=(3, 40))
    objective = sampled_objective(list(scores), margin=0.2)
    result = objective_evidence(objective, seed=3)
    for i, j in itertools.permutations(range(3), 2):
        contrast = [MeanContrast.from_scores(objective.scores, i, j)]
        assert result.better[i, j] == mean_evidence(contrast, 0.2, seed=3).p_above[0]
        assert result.noninferior[i, j] == mean_evidence(contrast, -0.2, seed=3).p_above[0]


def test_equal_scores_and_prices_are_undecided():
    same = np.ones((2, 30))
    result = front_membership([objective_evidence(sampled_objective(list(same), limits=(0.0, 1.0)))])
    assert result.state_words == ("undecided", "undecided")
    both = [fixed_objective(3, 3), fixed_objective(1, 1)]
    assert front_membership([objective_evidence(objective) for objective in both]).state_words == (
        "undecided",
        "undecided",
    )


def test_prices_are_compared_exactly():
    evidence = [objective_evidence(fixed_objective(-1, -2, -3)), objective_evidence(fixed_objective(5, 6, 4))]
    result = front_membership(evidence)
    assert result.state_words == ("on", "on", "off")
    assert result.dominator.tolist() == [-1, -1, 0]
    assert result.p_nondominated[:2].tolist() == [0, 0]


def test_fixed_price_costs_no_power():
    rng = np.random.default_rng(1)
    score = rng.normal(size=60)
    quality = sampled_objective([score + 1, score + rng.normal(size=60) * 0.1])
    expensive, cheap = (
        objective_evidence(fixed_objective(-2, -1)),
        objective_evidence(fixed_objective(-1, -2)),
    )
    assert front_membership([objective_evidence(quality), expensive]).state_words == ("on", "on")
    result = front_membership([objective_evidence(quality), cheap])
    assert result.state_words == ("on", "off")
    assert result.best_on[0, 1] == 1  # known, not only shown


def test_missing_value_ranks_worst():
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(2, 50))
    complete = sampled_objective([scores[0] + 1, scores[1], scores[1] - 3])
    part = ObjectiveScores(
        values=np.array([scores[0].mean(), scores[1].mean(), -np.inf]),
        scores=ClusteredScores.build(list(scores)),
        models=np.arange(2),
        units=(np.arange(50),) * 2,
    )
    result = front_membership([objective_evidence(complete), objective_evidence(part)])
    assert result.state_words[2] == "off"


def test_margin_lets_a_cheaper_model_dominate():
    rng = np.random.default_rng(5)
    shared = rng.normal(size=400)
    near = [shared + 0.01, shared + rng.normal(size=400) * 0.05]
    price = objective_evidence(fixed_objective(-5, -1))
    assert front_membership([objective_evidence(sampled_objective(near)), price]).state_words != ("off", "on")
    assert front_membership([objective_evidence(sampled_objective(near, margin=0.1)), price]).state_words == (
        "off",
        "on",
    )


def test_models_within_all_margins_stay_undecided():
    rng = np.random.default_rng(6)
    shared = rng.normal(size=300)
    first = sampled_objective([shared + 0.02, shared + rng.normal(size=300) * 0.01], margin=0.5)
    second = sampled_objective([shared, shared + 0.02 + rng.normal(size=300) * 0.01], margin=0.5)
    assert front_membership([objective_evidence(first), objective_evidence(second)]).state_words == (
        "undecided",
        "undecided",
    )


def test_infeasible_models_dominate_no_model():
    evidence = [objective_evidence(fixed_objective(3, 2, 1))]
    allowed = np.array([False, True, True])
    result = front_membership(
        evidence,
        feasible=allowed,
        constraint_answers=(Answer.CONTRADICTED, Answer.SIGNIFICANT, Answer.SIGNIFICANT),
    )
    assert result.state_words == ("off", "on", "off")
    result = front_membership(
        evidence,
        feasible=allowed,
        constraint_answers=(Answer.UNDECIDED, Answer.UNDECIDED, Answer.SIGNIFICANT),
    )
    assert result.state_words == ("undecided", "undecided", "off")


def test_more_pairs_require_more_evidence():
    rng = np.random.default_rng(8)
    noise = rng.normal(size=(9, 40))
    noise = (noise - noise.mean(axis=1, keepdims=True)) / noise.std(axis=1, keepdims=True)
    near = [np.full(40, 0.45), *noise]
    few = front_membership([objective_evidence(sampled_objective(near[:2]))])
    many = front_membership([objective_evidence(sampled_objective(near))])
    assert few.state_words == ("on", "off")
    assert many.state_words[1] == "undecided"


def test_heavy_tailed_costs_need_many_samples():
    """Costs are lognormal; those of the other model are larger by one standard deviation."""
    above, p = np.exp(0.5) * (1 + np.sqrt(np.e - 1)), []
    for n in (50, 400, 4000):
        p_values = []
        for seed in range(15):
            draws = np.random.default_rng([n, seed])
            costs = draws.lognormal(size=n), above + 0.1 * draws.normal(size=n)
            p_values.append(
                objective_evidence(sampled_objective([-cost for cost in costs])).noninferior[0, 1]
            )
        p.append(float(np.median(p_values)))
    assert p[0] > 1e-4, "the distance is seven standard errors"
    assert p[1] < 0.001
    assert p[2] < 1e-12


def test_unpaired_models_have_separate_samples():
    rng = np.random.default_rng(9)
    scores = [rng.normal(1, 1, 40), rng.normal(0, 1, 25)]
    result = front_membership([objective_evidence(sampled_objective(scores, paired=False))])
    assert result.state_words == ("on", "off")


def test_tail_within_the_margin_is_noninferior_but_not_better():
    """All replicates are −0.3: non-inferior within a margin of 0.5, inferior beyond a margin of 0.1."""
    rng = np.random.default_rng(10)
    scores = rng.normal(size=(2, 200)) - [[0.3], [0.0]]
    low = high = np.tile([-0.3, 0.0], (999, 1))
    result = {
        margin: objective_evidence(sampled_objective(list(scores), margin=margin, level=0.5), low, high)
        for margin in (0.1, 0.5)
    }
    assert result[0.5].noninferior[0, 1] < 0.01
    assert result[0.5].better[0, 1] == 1
    assert result[0.1].noninferior[0, 1] == 1
    for at, claim in ((0.5, "better"), (-0.5, "noninferior")):  # what lies at the margin is not beyond it
        low = high = np.tile([at, 0.0], (999, 1))
        within = objective_evidence(sampled_objective(list(scores), margin=0.5, level=0.5), low, high)
        assert getattr(within, claim)[0, 1] == 1


def front_by_loops(values, allowed):
    return [
        allowed_here
        and not any(
            other_allowed and (other >= row).all() and (other > row).any()
            for other, other_allowed in zip(values, allowed, strict=True)
        )
        for row, allowed_here in zip(values, allowed, strict=True)
    ]


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.int8, (5, 6, 3), elements=st.integers(0, 3)),
    arrays(bool, (5, 6)),
    st.sampled_from([1, 2, np.inf]),
    st.sampled_from(["min", "average", "max"]),
)
def test_shares_match_separate_rankings_of_resamples(resampled, allowed, p, ties):
    resampled = resampled.astype(float)
    models = build_population(resampled[0], ties=ties)
    weights = [0.5, 0.3, 0.2]
    result = front_shares(models, rank_models(models, weights, p=p), resampled, allowed)
    front, chosen, tied = np.zeros(6), np.zeros(6), 0
    for values, mask in zip(resampled, allowed, strict=True):
        front += front_by_loops(values, mask)
        if mask.any():  # a choice by name only changes if the names are reversed
            first, second = (
                rank_models(
                    build_population(values[::way], feasible=mask[::way], ties=ties), weights, p=p
                ).chosen
                for way in (1, -1)
            )
            chosen[first] += first == 5 - second
            tied += first != 5 - second
    assert result.front == pytest.approx(front / 5)
    assert result.chosen == pytest.approx(chosen / 5)
    assert result.tied == pytest.approx(tied / 5)


def test_resamples_in_parts_match_a_single_batch(monkeypatch):
    resampled = np.random.default_rng(0).normal(size=(50, 7, 2))
    models = build_population(resampled[0])
    full = front_shares(models, rank_models(models, p=2), resampled, np.ones((50, 7), dtype=bool))
    monkeypatch.setattr("riskrank.engine.copa.front._PAIRS", 60)
    parts = front_shares(models, rank_models(models, p=2), resampled, np.ones((50, 7), dtype=bool))
    assert np.array_equal(full.front, parts.front)
    assert np.array_equal(full.chosen, parts.chosen)


def test_replicates_have_the_theoretical_spread():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=200)
    objectives = [
        sampled_objective([scores, scores + 1, rng.normal(size=200)]),
        sampled_objective([scores] * 3),
        fixed_objective(1, 2, 3),
    ]
    result = resample_objectives(objectives, [200] * 3, shared_units=True, resamples=4000, seed=0)
    plain = result.plain
    error = scores.std() / np.sqrt(201)
    assert plain[:, 0, 0].std() == pytest.approx(error, rel=0.05)
    assert plain[:, 0, 0].mean() == pytest.approx(scores.mean(), abs=4 * error / np.sqrt(4000))
    assert plain[:, 1, 0] == pytest.approx(plain[:, 0, 0] + 1)
    assert plain[:, 0, 1] == pytest.approx(plain[:, 0, 0])
    assert np.corrcoef(plain[:, 0, 0], plain[:, 2, 0])[0, 1] == pytest.approx(
        np.corrcoef(objectives[0].scores.values[0], objectives[0].scores.values[2])[0, 1], abs=0.05
    )
    assert (plain[..., 2] == [1, 2, 3]).all()
    assert (result.low[..., :2] <= result.high[..., :2]).mean() > 0.99


def test_unpaired_models_are_resampled_separately():
    scores = np.random.default_rng(3).normal(size=60)
    result = resample_objectives(
        [sampled_objective([scores, scores], paired=False)],
        [60, 60],
        shared_units=False,
        resamples=2000,
        seed=0,
    )
    assert abs(np.corrcoef(result.plain[:, 0, 0], result.plain[:, 1, 0])[0, 1]) < 0.1


def test_batches_and_processes_change_no_number(monkeypatch):
    objectives = [sampled_objective(list(np.random.default_rng(2).normal(size=(3, 30))), level=0.2)]
    full = resample_objectives(objectives, [30] * 3, shared_units=True, resamples=130, seed=5)
    monkeypatch.setattr("riskrank.engine.copa.front._WEIGHTS", 31)
    monkeypatch.setattr("riskrank.engine.copa.front._BATCHES_PER_PROCESS", 1)
    parts = resample_objectives(objectives, [30] * 3, shared_units=True, resamples=130, seed=5, jobs=2)
    for first, second in ((full.plain, parts.plain), (full.low, parts.low), (full.high, parts.high)):
        assert np.array_equal(first, second)


def test_tail_means_match_gate_resamples():
    rng = np.random.default_rng(7)
    scores = [rng.normal(0.5, 1, 120), rng.normal(0, 1.2, 120)]
    objective = sampled_objective(scores, level=0.25, limits=(-6.0, 6.0))
    resampled = resample_objectives([objective], [120, 120], shared_units=True, resamples=8000, seed=0)
    ours = resampled.low[:, 0, 0] - resampled.high[:, 1, 0]
    comparison = Comparison.from_scores(objective.scores, 0, 1, 0.25, -6.0).with_adverse_sample()
    theirs = resampled_differences([comparison], resamples=8000, seed=1)[0]
    for level in (0.02, 0.2, 0.5, 0.9):
        assert np.quantile(ours, level) == pytest.approx(np.quantile(theirs, level), abs=0.03)
    result = objective_evidence(objective, resampled.low[..., 0], resampled.high[..., 0])
    assert result.better[0, 1] < 0.05
    assert result.better[1, 0] == 1


@pytest.mark.parametrize("successes", [38, 40])
def test_intervals_of_shares_are_wilsons(successes):
    scores = np.repeat([1.0, 0.0], [successes, 40 - successes])
    objective = sampled_objective([scores, scores[::-1]])
    resampled = resample_objectives([objective], [40, 40], shared_units=True, resamples=100, seed=0)
    low, high = resampled.interval(objective, 0, 0.95)
    wilson = stats.binomtest(successes, 40).proportion_ci(method="wilson")
    assert (low[0], high[0]) == pytest.approx((wilson.low, wilson.high))


def test_too_few_replicates_give_no_interval():
    objective = sampled_objective(list(np.random.default_rng(0).normal(size=(2, 12))), level=0.5)
    resampled = resample_objectives([objective], [12, 12], shared_units=True, resamples=20, seed=0)
    low, high = resampled.interval(objective, 0, 0.95)
    assert np.isnan([*low, *high]).all()


def test_means_of_random_tasks_have_the_theoretical_spread():
    rng = np.random.default_rng(9)
    task_of = np.repeat(np.arange(8), [3, 5, 20, 4, 9, 2, 12, 6])
    design = TaskDesign.build("abcdefgh", [task_of] * 2, random=True)
    values = [rng.normal(task_of, 1), rng.normal(size=task_of.size)]
    scores = ClusteredScores.build(values, tasks=design)
    objective = replace(sampled_objective(values), scores=scores, units=(np.arange(8),) * 2)
    result = resample_objectives([objective], [8, 8], shared_units=True, resamples=20_000, seed=0).plain[
        ..., 0
    ]
    means = np.array([[value[task_of == task].mean() for task in range(8)] for value in values])
    # Weights of a Bayesian bootstrap are uniform on the simplex: their variance is that of Dirichlet's.
    assert result.mean(0) == pytest.approx(means.mean(1), abs=0.03)
    assert result.std(0) == pytest.approx(means.std(1) / 3, rel=0.03)
