"""Who is on the front for sure: against rules written out plainly, and what may never happen."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from riskrank.engine.copa.front_membership import ObjectiveEvidence, front_membership, objective_evidence
from riskrank.engine.copa.front_shares import front_shares
from riskrank.engine.copa.population import build_population
from riskrank.engine.copa.ranking import rank_models
from riskrank.engine.copa.replicates import ObjectiveScores, _mean_replicates, resample_objectives
from riskrank.engine.family import Family, Side
from riskrank.engine.gates.replicates import differences, statistics
from riskrank.engine.gates.worst_case_sample import Comparison
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign


def measured(scores, margin=0.0, level=None, limits=None, paired=True):
    """An objective of models, a list of scores each."""
    scores = [np.asarray(own, dtype=float) for own in scores]
    worst = [np.sort(own)[: max(round((level or 1) * own.size), 1)] for own in scores]
    return ObjectiveScores(
        values=np.array([own.mean() for own in worst]),
        scores=ClusteredScores.build(scores, paired=paired),
        models=np.arange(len(scores)),
        units=tuple(np.arange(own.size) for own in scores),
        level=level,
        limits=limits,
        margin=margin,
    )


def priced(*values, margin=0.0):
    return ObjectiveScores(values=np.array(values, dtype=float), margin=margin)


def holm(p_values):
    """Holm's adjusted p-values, one after the other."""
    found, largest = [0.0] * len(p_values), 0.0
    for place, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[at]))
        found[at] = largest
    return found


def states_by_loops(evidence, alpha):
    """Method §7 word by word, without margins: every objective was tested for every pair."""
    models = range(len(evidence[0].noninferior))
    pairs = list(itertools.permutations(models, 2))
    dominated = holm([max(one.noninferior[j, i] for one in evidence) for j, i in pairs])
    off = {i for (_, i), p in zip(pairs, dominated, strict=True) if p <= alpha}
    largest = [
        max(min(1.0, len(evidence) * min(one.better[i, j] for one in evidence)) for j in models if j != i)
        for i in models
    ]
    on = {i for i, p in zip(models, holm(largest), strict=True) if p <= alpha}
    return tuple("off" if i in off else "on" if i in on else "open" for i in models)


P_VALUES = st.sampled_from([1e-9, 1e-5, 0.001, 0.004, 0.01, 0.02, 0.05, 0.3, 0.9])


@st.composite
def p_values_of_pairs(draw):
    """P-values of all pairs on some objectives, of which not both directions can be small."""
    N, K = draw(st.integers(2, 6)), draw(st.integers(1, 4))
    found = []
    for _ in range(K):
        p = draw(arrays(float, (N, N), elements=P_VALUES))
        p = np.where(np.triu(np.ones((N, N), dtype=bool)), p, np.maximum(p, 1 - p.T))
        np.fill_diagonal(p, 1.0)
        found.append(ObjectiveEvidence(p, p, ~np.eye(N, dtype=bool), 0.0))
    return found


@settings(max_examples=60, deadline=None)
@given(p_values_of_pairs(), st.sampled_from([0.01, 0.05, 0.2]))
def test_against_the_method_word_by_word(evidence, alpha):
    assert front_membership(evidence, Family(alpha)).state_words == states_by_loops(evidence, alpha)


@settings(max_examples=40, deadline=None)
@given(p_values_of_pairs(), st.randoms(use_true_random=False))
def test_names_and_order_of_models_and_objectives_change_nothing(evidence, random):
    order = list(range(len(evidence[0].noninferior)))
    random.shuffle(order)
    at = np.ix_(order, order)
    moved = [
        ObjectiveEvidence(one.noninferior[at], one.better[at], one.tested[at], 0.0) for one in evidence[::-1]
    ]
    before, after = front_membership(evidence), front_membership(moved)
    assert after.state_words == tuple(before.state_words[i] for i in order)
    assert np.array_equal(after.p_nondominated, before.p_nondominated[order])


@settings(deadline=None)
@given(arrays(float, (4, 20, 2), elements=st.floats(-5, 5, width=16)), st.sampled_from([0.0, 0.5]))
def test_no_model_is_off_by_one_that_is_off_by_it_and_the_best_is_never_off(scores, margin):
    objectives = [measured(list(scores[..., k]), margin) for k in range(2)]
    found = front_membership([objective_evidence(one) for one in objectives], Family(0.2))
    for i, j in itertools.combinations(range(4), 2):
        assert not (found.p_dominates[i, j] <= 0.2 and found.p_dominates[j, i] <= 0.2)
    assert found.state_words[int(objectives[0].values.argmax())] != "off"


@pytest.mark.parametrize("limits", [(0.0, 1.0), None])
def test_means_are_compared_as_a_gate_compares_them_with_one_sample_more(limits):
    rng = np.random.default_rng(2)
    scores = (rng.random((3, 40)) < [[0.9], [0.6], [0.5]]).astype(float)
    objective = measured(list(scores), limits=limits)
    found = objective_evidence(objective)
    for i, j in itertools.permutations(range(3), 2):
        away = scores[i] - scores[j]
        if away.mean() <= 0:
            assert found.better[i, j] == 1
            continue
        ends = limits or (scores[[i, j]].min(), scores[[i, j]].max())
        below = away[away < np.quantile(away, 0.5, method="inverted_cdf")]
        more = np.append(away, (ends[0] - ends[1] + below.sum()) / (1 + below.size))
        p_value = stats.ttest_1samp(more, 0, alternative="greater").pvalue
        if limits is None:
            third = stats.skew(away) * away.std() ** 3 / away.size**2
            kappa = third / (away.std(ddof=1) / np.sqrt(away.size)) ** 3
            t = stats.ttest_1samp(away, 0).statistic
            modified = t + kappa * (1 + 2 * t**2) / 6 if kappa >= 0 or t < -1.5 / kappa else -np.inf
            assert kappa >= 0 or t < -1.5 / kappa
            p_value = max(p_value, stats.t.sf(modified, away.size - 1))
        assert found.better[i, j] == pytest.approx(max(p_value, 0.5**away.size))


@pytest.mark.parametrize("n", [12, 30, 100, 1000])
@pytest.mark.parametrize("limits", [(0.0, 1.0), None])
def test_a_lead_on_every_sample_is_shown_the_surer_the_more_there_are(n, limits):
    """No p-value is below that of so many signs, and none is far above the exact one of a sample more."""
    objective = measured([np.ones(n), np.zeros(n)], limits=limits)
    found = objective_evidence(objective)
    assert 0.5**n <= found.better[0, 1] <= (n + 2) * 0.5**n + 1e-3 / n
    assert found.better[1, 0] == 1


def test_equal_scores_show_nothing_and_equal_prices_are_equal():
    same = np.ones((2, 30))
    found = front_membership([objective_evidence(measured(list(same), limits=(0.0, 1.0)))])
    assert found.state_words == ("open", "open")
    both = [priced(3, 3), priced(1, 1)]
    assert front_membership([objective_evidence(one) for one in both]).state_words == ("open", "open")


def test_prices_are_compared_as_they_are():
    evidence = [objective_evidence(priced(-1, -2, -3)), objective_evidence(priced(5, 6, 4))]
    found = front_membership(evidence)
    assert found.state_words == ("on", "on", "off")
    assert found.dominator.tolist() == [-1, -1, 0]
    assert found.p_nondominated[:2].tolist() == [0, 0]


def test_a_price_beside_scores_costs_no_power_and_may_be_what_keeps_a_model_on():
    rng = np.random.default_rng(1)
    score = rng.normal(size=60)
    quality = measured([score + 1, score + rng.normal(size=60) * 0.1])
    dear, cheap = objective_evidence(priced(-2, -1)), objective_evidence(priced(-1, -2))
    assert front_membership([objective_evidence(quality), dear]).state_words == ("on", "on")
    found = front_membership([objective_evidence(quality), cheap])
    assert found.state_words == ("on", "off")
    assert found.best_on[0, 1] == 1  # known, not only shown


def test_a_model_without_a_value_is_the_worst_there():
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(2, 50))
    whole = measured([scores[0] + 1, scores[1], scores[1] - 3])
    part = ObjectiveScores(
        values=np.array([scores[0].mean(), scores[1].mean(), -np.inf]),
        scores=ClusteredScores.build(list(scores)),
        models=np.arange(2),
        units=(np.arange(50),) * 2,
    )
    found = front_membership([objective_evidence(whole), objective_evidence(part)])
    assert found.state_words[2] == "off"


def test_a_margin_lets_a_cheaper_model_beat_one_that_is_hardly_better():
    rng = np.random.default_rng(5)
    shared = rng.normal(size=400)
    near = [shared + 0.01, shared + rng.normal(size=400) * 0.05]
    price = objective_evidence(priced(-5, -1))
    assert front_membership([objective_evidence(measured(near)), price]).state_words != ("off", "on")
    assert front_membership([objective_evidence(measured(near, margin=0.1)), price]).state_words == (
        "off",
        "on",
    )


def test_two_models_within_all_margins_do_not_rule_each_other_out():
    rng = np.random.default_rng(6)
    shared = rng.normal(size=300)
    one = measured([shared + 0.02, shared + rng.normal(size=300) * 0.01], margin=0.5)
    other = measured([shared, shared + 0.02 + rng.normal(size=300) * 0.01], margin=0.5)
    assert front_membership([objective_evidence(one), objective_evidence(other)]).state_words == (
        "open",
        "open",
    )


def test_who_is_not_allowed_rules_nobody_out_and_is_off_if_that_is_shown():
    evidence = [objective_evidence(priced(3, 2, 1))]
    allowed = np.array([False, True, True])
    found = front_membership(
        evidence, feasible=allowed, constraint_answers=(Side.REFUTED, Side.SHOWN, Side.SHOWN)
    )
    assert found.state_words == ("off", "on", "off")
    found = front_membership(
        evidence, feasible=allowed, constraint_answers=(Side.OPEN, Side.OPEN, Side.SHOWN)
    )
    assert found.state_words == ("open", "open", "off")


def test_more_pairs_ask_for_more():
    rng = np.random.default_rng(8)
    noise = rng.normal(size=(9, 40))
    noise = (noise - noise.mean(axis=1, keepdims=True)) / noise.std(axis=1, keepdims=True)
    near = [np.full(40, 0.45), *noise]
    few = front_membership([objective_evidence(measured(near[:2]))])
    many = front_membership([objective_evidence(measured(near))])
    assert few.state_words == ("on", "off")
    assert many.state_words[1] == "open"


def test_a_heavy_tail_asks_for_samples_and_enough_of_them_decide():
    """Costs of the cheaper model are lognormal, those of the other lie one standard deviation above them."""
    above, p = np.exp(0.5) * (1 + np.sqrt(np.e - 1)), []
    for n in (50, 400, 4000):
        found = []
        for seed in range(15):
            draws = np.random.default_rng([n, seed])
            costs = draws.lognormal(size=n), above + 0.1 * draws.normal(size=n)
            found.append(objective_evidence(measured([-own for own in costs])).noninferior[0, 1])
        p.append(float(np.median(found)))
    assert p[0] > 1e-4, "the distance is seven standard errors"
    assert p[1] < 0.001
    assert p[2] < 1e-12


def test_unpaired_models_have_samples_of_their_own():
    rng = np.random.default_rng(9)
    scores = [rng.normal(1, 1, 40), rng.normal(0, 1, 25)]
    found = front_membership([objective_evidence(measured(scores, paired=False))])
    assert found.state_words == ("on", "off")


def test_a_tail_that_is_worse_within_its_margin_is_as_good_and_not_better():
    """Every resample says −0.3: within a margin of 0.5 that is as good, beyond one of 0.1 it is not."""
    rng = np.random.default_rng(10)
    scores = rng.normal(size=(2, 200)) - [[0.3], [0.0]]
    low = high = np.tile([-0.3, 0.0], (999, 1))
    found = {
        margin: objective_evidence(measured(list(scores), margin=margin, level=0.5), low, high)
        for margin in (0.1, 0.5)
    }
    assert found[0.5].noninferior[0, 1] < 0.01
    assert found[0.5].better[0, 1] == 1
    assert found[0.1].noninferior[0, 1] == 1
    for at, claim in ((0.5, "better"), (-0.5, "as_good")):  # what lies at the margin is not beyond it
        low = high = np.tile([at, 0.0], (999, 1))
        there = objective_evidence(measured(list(scores), margin=0.5, level=0.5), low, high)
        assert getattr(there, claim)[0, 1] == 1


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
    models = build_population(drawn[0], ties=ties)
    weights = [0.5, 0.3, 0.2]
    found = front_shares(models, rank_models(models, weights, p=p), drawn, allowed)
    front, chosen, tied = np.zeros(6), np.zeros(6), 0
    for values, able in zip(drawn, allowed, strict=True):
        front += front_by_loops(values, able)
        if able.any():  # whom only names choose is another one if names are the other way round
            one, other = (
                rank_models(
                    build_population(values[::way], feasible=able[::way], ties=ties), weights, p=p
                ).chosen
                for way in (1, -1)
            )
            chosen[one] += one == 5 - other
            tied += one != 5 - other
    assert found.front == pytest.approx(front / 5)
    assert found.chosen == pytest.approx(chosen / 5)
    assert found.tied == pytest.approx(tied / 5)


def test_many_resamples_at_once_are_those_one_by_one(monkeypatch):
    drawn = np.random.default_rng(0).normal(size=(50, 7, 2))
    models = build_population(drawn[0])
    whole = front_shares(models, rank_models(models, p=2), drawn, np.ones((50, 7), dtype=bool))
    monkeypatch.setattr("riskrank.engine.copa.front_shares._PAIRS", 60)
    parts = front_shares(models, rank_models(models, p=2), drawn, np.ones((50, 7), dtype=bool))
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
    found = resample_objectives(objectives, [200] * 3, shared_units=True, resamples=4000, seed=0)
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
    found = resample_objectives(
        [measured([scores, scores], paired=False)], [60, 60], shared_units=False, resamples=2000, seed=0
    )
    assert abs(np.corrcoef(found.plain[:, 0, 0], found.plain[:, 1, 0])[0, 1]) < 0.1


def test_the_same_numbers_whatever_is_made_at_once(monkeypatch):
    objectives = [measured(list(np.random.default_rng(2).normal(size=(3, 30))), level=0.2)]
    whole = resample_objectives(objectives, [30] * 3, shared_units=True, resamples=130, seed=5)
    monkeypatch.setattr("riskrank.engine.copa.replicates._WEIGHTS", 31)
    parts = resample_objectives(objectives, [30] * 3, shared_units=True, resamples=130, seed=5)
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
        sides = objective.score_variants(model)
        fast = _mean_replicates(drawn[:, :-1], drawn[:, -1], sides)
        for value, side in zip(fast, sides, strict=True):
            assert value == pytest.approx(statistics(side, drawn[:, : len(side.sizes)], None))


def test_tail_means_against_the_resamples_of_a_gate():
    rng = np.random.default_rng(7)
    scores = [rng.normal(0.5, 1, 120), rng.normal(0, 1.2, 120)]
    objective = measured(scores, level=0.25, limits=(-6.0, 6.0))
    drawn = resample_objectives([objective], [120, 120], shared_units=True, resamples=8000, seed=0)
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
    drawn = resample_objectives([objective], [40, 40], shared_units=True, resamples=20_000, seed=0)
    low, high = drawn.interval(objective, 0, 0.95)
    exact = stats.binomtest(38, 40).proportion_ci(method="exact")
    assert low[0] == pytest.approx(exact.low, abs=0.015)
    assert high[0] == pytest.approx(exact.high, abs=0.015)
    without = measured([np.ones(40), scores], limits=(0.0, 1.0))
    drawn = resample_objectives([without], [40, 40], shared_units=True, resamples=4000, seed=0)
    low, high = drawn.interval(without, 0, 0.95)
    assert low[0] < 0.95
    assert high[0] == 1


def test_too_few_replicates_say_nothing_of_an_end():
    objective = measured(list(np.random.default_rng(0).normal(size=(2, 12))))
    drawn = resample_objectives([objective], [12, 12], shared_units=True, resamples=20, seed=0)
    low, high = drawn.interval(objective, 0, 0.95)
    assert np.isnan([*low, *high]).all()


def test_means_over_drawn_tasks_spread_as_theory_says():
    rng = np.random.default_rng(9)
    of = np.repeat(np.arange(8), [3, 5, 20, 4, 9, 2, 12, 6])
    design = TaskDesign.build("abcdefgh", [of] * 2, random=True)
    values = [rng.normal(of, 1), rng.normal(size=of.size)]
    scores = ClusteredScores.build(values, tasks=design)
    objective = replace(measured(values), scores=scores, units=(np.arange(8),) * 2)
    found = resample_objectives([objective], [8, 8], shared_units=True, resamples=20_000, seed=0).plain[
        ..., 0
    ]
    means = np.array([[own[of == task].mean() for task in range(8)] for own in values])
    # Weights of a Bayesian bootstrap are uniform on the simplex: their variance is that of Dirichlet's.
    assert found.mean(0) == pytest.approx(means.mean(1), abs=0.03)
    assert found.std(0) == pytest.approx(means.std(1) / 3, rel=0.03)
