"""Power on suites compared with simulated data sets, t tests of macro means, and closed forms."""

import itertools

import numpy as np
import pytest
from scipy.special import ndtr

from riskrank.engine.dominance.column_tests import Inference, combine_task_means, study_dominance
from riskrank.engine.dominance.inference import Claim, ColumnClaims
from riskrank.engine.evidence.mean_differences import PairDifferences, sampled_task_p_values
from riskrank.engine.family import Family
from riskrank.engine.power.closed_form import ClosedForm, estimate_effects
from riskrank.engine.power.planning import plan_from_pilot
from riskrank.engine.power.study import study_power
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.pilot_sampler import PilotSampler
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.suites import TaskScores, between_task_shares, macro_differences, task_differences
from riskrank.errors import InputError
from tests.engine.power.helpers import full_test_verdicts

SIZES = (60, 90, 120, 400)
DIRECT = Claim(2, "direct")


def suite(sizes=SIZES, gap=0.4, effect=0.0, *, weights=None, random=False, paired=True, seed=3):
    """Return two models; the lead of the first varies over tasks around a gap."""
    rng = np.random.default_rng(seed)
    task_of = np.repeat(np.arange(len(sizes)), sizes)
    shared = rng.normal(size=task_of.size)
    ahead = gap + effect * rng.normal(size=len(sizes))
    values = [shared + ahead[task_of] + rng.normal(size=task_of.size), shared + rng.normal(size=task_of.size)]
    design = TaskDesign.build(
        [str(t) for t in range(len(sizes))], [task_of] * 2, weights=weights, random=random
    )
    return ClusteredScores.build(values, paired=paired, tasks=design)


def estimated_power(scores, size, inference, repeats=200, claim=DIRECT):
    plan = plan_from_pilot(scores, claim, inference, pair=(0, 1))
    return study_power(plan, [size], limit=size, repeats=repeats).curve.power[0, 0]


@pytest.mark.parametrize("paired", [True, False])
def test_table_draws_equal_samples_per_task(paired):
    scores = suite(paired=paired)
    sampler = PilotSampler(scores)
    units = sampler.draw_units(np.random.default_rng(0), 7)
    table, rows = sampler.build_table(units), sampler.drawn_scores(units)
    assert scores.strata.has_several_tasks
    assert table.strata.has_several_tasks
    for model, (value, clusters) in enumerate(rows):
        assert sorted(table.values[model].tolist()) == sorted(value.tolist())
        tasks = clusters % 4
        assert np.bincount(tasks).tolist() == [7] * 4
        assert np.bincount(table.strata.cluster_tasks[model]).tolist() == [7] * 4
        # Any four consecutive samples are from different tasks.
        assert tasks.reshape(7, 4).tolist() == [[0, 1, 2, 3]] * 7
        for task in range(4):
            task_values = scores.values[model][
                scores.strata.cluster_tasks[model][scores.clusters[model]] == task
            ]
            assert np.isin(value[tasks == task], task_values).all()
    together = {tuple(pair) for pair in np.transpose(scores.values).tolist()}
    assert (
        all(tuple(pair) in together for pair in np.transpose([value for value, _ in rows]).tolist()) == paired
    )


def test_random_tasks_are_resampled_with_their_weights():
    scores = suite((6, 8, 7, 9, 6, 10), weights=np.arange(1, 7), random=True, paired=False)
    sampler = PilotSampler(scores)
    table = sampler(np.random.default_rng(0), 9)
    assert table.strata.random
    task_of = scores.clusters[0]
    matches = []
    for task in range(9):
        sampled = [value[rows == task] for value, rows in zip(table.values, table.clusters, strict=True)]
        same = [all(map(np.array_equal, sampled, (v[task_of == t] for v in scores.values))) for t in range(6)]
        matches.append(same.index(True))
    share = np.array(matches) + 1.0
    assert table.strata.weights == pytest.approx(share / share.sum())
    assert len(set(matches)) < 9


@pytest.mark.slow
@pytest.mark.parametrize("weights", [(1, 1, 2, 4), None])
def test_power_per_task_matches_simulated_data_sets(weights):
    """Samples are planned per task, for the gate's test and for Student's t of the macro means."""
    scores, size, repeats = suite(gap=0.7, weights=weights), 10, 150
    inference = Inference(variance="clt")
    result = estimated_power(scores, size, inference, repeats)
    rng, significant = np.random.default_rng(5), []
    task_of, bounds = np.repeat(np.arange(4), size), np.cumsum((0, *SIZES))
    tasks = TaskDesign.build("abcd", [task_of] * 2, weights=weights)
    for _ in range(repeats):
        rows = np.concatenate([rng.integers(*interval, size) for interval in itertools.pairwise(bounds)])
        values = [value[rows] for value in scores.values]
        (tested,) = study_dominance(ClusteredScores.build(values, tasks=tasks), [DIRECT], inference).tests
        sampled = TaskScores.build(values, [task_of] * 2, weights=weights)
        t = macro_differences(sampled, task_differences(sampled)).p_above()
        significant.append((tested.dominates[0, 1], t[0, 1] <= 0.025))
    dominance, means = np.mean(significant, axis=0)
    assert 0.3 < dominance < 0.95
    assert result == pytest.approx(dominance, abs=0.09)
    assert means > dominance
    weight = np.array(weights or (1,) * 4) / sum(weights or (1,) * 4)
    parts = [np.subtract(*scores.values)[low:high] for low, high in itertools.pairwise(bounds)]
    spread = np.sqrt(sum(w**2 * part.var() for w, part in zip(weight, parts, strict=True)) / size)
    effect = sum(w * part.mean() for w, part in zip(weight, parts, strict=True)) / spread
    assert means == pytest.approx(ndtr(effect - 1.96), abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "test", "tasks"),
    [(12, "direct", 8), (12, "relative", 8), (16, "direct", 12), (16, "absolute", 12)],
)
def test_power_of_random_tasks_matches_full_tests(size, test, tasks):
    """With fewer than ten tasks this is the test of a ranking, not resampling alone."""
    scores = suite((15,) * tasks, gap=0.5, effect=0.5, random=True)
    claim = Claim(2, test, 0.25 if test == "absolute" else None)
    plan = plan_from_pilot(scores, claim, Inference(resamples=200), pair=(0, 1))
    result = estimated_power(scores, size, Inference(resamples=200), 50, claim)
    expected = full_test_verdicts(plan, size, 150, seed=5).mean()
    assert 0.2 < expected < 0.97
    assert result == pytest.approx(expected, abs=0.12)


@pytest.mark.slow
def test_tables_are_adjusted_for_multiple_comparisons():
    """With nine tasks, resampling cannot separate seven models; the test of macro means replaces it."""
    rng = np.random.default_rng(4)
    task_of = np.repeat(np.arange(9), 20)
    ahead = np.linspace(1.3, 0.0, 7)[:, None]
    values = rng.normal(size=(7, 180)) + ahead + rng.normal(size=(7, 9))[:, task_of] * 0.2
    tasks = TaskDesign.build("abcdefghi", [task_of] * 7, weights=np.arange(6, 15), random=True)
    scores = ClusteredScores.build([*values], tasks=tasks)
    plan = plan_from_pilot(scores, Claim(2), Inference(), pair=(0, 3))
    closed = ClosedForm(plan, 1)
    assert plan.needs_means_test
    assert closed.is_powerless(7)
    significant = []
    for row in rng.integers(0, 9, (40, 7)):
        data = plan.sampler.build_table([row])
        tests = study_dominance(data, [Claim(2)], Inference(resamples=10)).tests[0]
        means = combine_task_means(ColumnClaims(data, (tests.claim,)), tests, Inference(), "instead")
        significant.append(bool(means.dominates[0, 3]))
        assert closed.significant_pairs_in([[row]], 7)[0, 0] == significant[-1]
    assert 0 < sum(significant) < 40


@pytest.mark.parametrize(("tasks", "alpha", "mean_test"), [(6, 0.02, "alongside"), (12, 0.001, "instead")])
def test_closed_form_is_powerless_with_few_tasks(tasks, alpha, mean_test):
    """All resamples of six tasks are enumerated (the rarest has 6⁻⁶); of twelve tasks as many as feasible."""
    inference = Inference(work_limit=3e6, family=Family(alpha=alpha))
    plan = plan_from_pilot(suite((6,) * 9, random=True), Claim(2), inference, pair=(0, 1))
    result = study_dominance(suite((6,) * tasks, random=True), [Claim(2)], inference).tests[0]
    assert result.mean_test == mean_test
    assert ClosedForm(plan, 1).is_powerless(tasks) == (mean_test == "instead")


def test_few_effective_tasks_are_never_significant():
    heavy = suite((10,) * 7, gap=5.0, weights=(1, 1, 1, 1, 1, 1, 1.6), random=True)
    closed = ClosedForm(plan_from_pilot(heavy, DIRECT, Inference(), pair=(0, 1)), 1)
    assert closed.significant_pairs_in([[np.arange(6)]], 6).tolist() == [[True]]
    assert not closed.significant_pairs_in([[np.array([0, 1, 2, 3, 4, 6])]], 6).any()


def test_more_samples_leave_the_variance_between_tasks():
    rng = np.random.default_rng(2)
    scores = suite((25,) * 10, effect=0.5, random=True)
    differences = np.subtract(*scores.values).reshape(10, 25)
    total, within = differences.mean(axis=1).var(ddof=1), (differences.var(axis=1, ddof=1) / 25).mean()
    assert between_task_shares(scores)[0, 1] == pytest.approx(1 - within / total)
    many = [suite((200,) * 40, effect=0.5, random=True, seed=seed) for seed in range(5)]
    shares = [between_task_shares(table)[0, 1] for table in many]
    assert np.mean(shares) == pytest.approx(0.25 / (0.25 + 2 / 200), abs=0.02)
    tasks = TaskDesign.build("abcdef", [np.repeat(range(6), 10)] * 2, random=True)
    level = ClusteredScores.build([rng.normal(size=60)] * 2, tasks=tasks)
    assert (between_task_shares(level) == 0).all()


@pytest.mark.slow
def test_effect_is_the_standardised_macro_difference():
    """The effect is the macro difference over the standard deviation with one sample per task."""
    for weights in (None, (1, 1, 2)):
        scores = suite((1600, 1200, 2000), gap=0.2, weights=weights)
        share = np.array(weights or (1, 1, 1)) / sum(weights or (1, 1, 1))
        result = estimate_effects(scores, DIRECT, ((0, 1),), 0).mean
        assert result[0] == pytest.approx(0.2 / np.sqrt(2 * (share**2).sum()), abs=0.06)


def test_interval_of_samples_per_task_with_unequal_weights():
    equal = plan_from_pilot(suite(), DIRECT, Inference(variance="clt"), pair=(0, 1))
    study = study_power(equal, repeats=10)
    assert study.curve.sizes.tolist() == [20, 50, 100]
    assert study.interval is not None
    assert study.plan.unit == "samples per task"
    assert study.tasks_needed is None
    weighed = plan_from_pilot(suite(weights=(1, 1, 1, 3)), DIRECT, Inference(variance="clt"), pair=(0, 1))
    assert weighed.min_size == 4
    result = study_power(weighed, [20], limit=2000, repeats=20)
    assert result.interval.low < result.size < (result.interval.high or 2001)


def test_random_tasks_require_at_least_six():
    plan = plan_from_pilot(
        suite((20,) * 8, effect=0.3, random=True), DIRECT, Inference(resamples=40), pair=(0, 1)
    )
    assert (plan.unit, plan.min_size, plan.default_sizes) == ("tasks", 6, (10, 20, 50))
    study = study_power(plan, [12], limit=12, repeats=5)
    assert study.interval is None
    assert study.tasks_needed is not None
    with pytest.raises(InputError, match="at least 6 tasks"):
        plan_from_pilot(suite((20,) * 5, random=True), DIRECT, Inference(), pair=(0, 1))


def test_macro_means_of_a_table_have_the_p_values_of_the_full_test():
    """The differences of drawn tasks give the p-values of the table itself, for tasks of unequal weight."""
    rng = np.random.default_rng(8)
    means, weights = rng.normal([[0.8], [0.4], [0.0]], 1, (3, 9)), np.arange(3, 12)
    tasks = TaskDesign.build("abcdefghi", [np.arange(9)] * 3, weights=weights, random=True)
    expected = PairDifferences.from_scores(ClusteredScores.build([*means], tasks=tasks)).p_above()
    differences = np.array([means[0] - means[1], means[0] - means[2]])
    p_value = sampled_task_p_values(differences, weights / weights.sum())
    assert p_value == pytest.approx(expected[0, 1:], rel=1e-9)
    assert 0.001 < p_value.min() < 0.5
